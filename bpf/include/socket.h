/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0 */
/*
 * What a socket of the kernel tells, and what is kept in it.
 */
#ifndef PP_SOCKET_H
#define PP_SOCKET_H

#include "kernel_types.h"

/* What a socket keeps (icsk_ca_priv). */
struct pp_socket {
	/* Of its connection in the map; 0: none yet. */
	u64 key;
	u64 sent;
	u32 slot;
	u32 delivered;
	u32 round_end;
	u32 min_rtt_us;
	/* A recovery has ended since the last ACK; CA_EVENT_LOSS came since the last state. */
	u32 recovered;
	u32 timed_out;
};

/* Whose an entry is, for whoever shows it: as sock_diag(7) tells the socket. */
struct pp_ends {
	/* The MPTCP socket, also where the subflow is uncoupled. */
	u64 multipath;
	/* The inode number of the network namespace. */
	u32 name_space;
	u32 interface;
	u16 family;
	u16 local_port;
	u16 remote_port;
	u8 local[16];
	u8 remote[16];
};

PP_INLINE struct pp_socket *pp_socket(struct tcp_sock *tp)
{
	return (struct pp_socket *)tp->inet_conn.icsk_ca_priv;
}

/* The subflow's MPTCP socket, or the socket itself where there is none. */
PP_INLINE u64 pp_key(struct tcp_sock *tp)
{
	const struct mptcp_subflow_context *subflow = tp->inet_conn.icsk_ulp_data;
	u64 key = 0;

	if (tp->is_mptcp && subflow)
		bpf_probe_read_kernel(&key, sizeof(key), &subflow->conn);
	return key ? key : (u64)tp;
}

PP_INLINE bool pp_is_stale(struct tcp_sock *tp)
{
	const struct mptcp_subflow_context *subflow = tp->inet_conn.icsk_ulp_data;

	return tp->is_mptcp && subflow && PP_PROBE_BITS(subflow, stale);
}

PP_INLINE u32 pp_packets_in_flight(struct tcp_sock *tp)
{
	return tp->packets_out + tp->retrans_out - tp->sacked_out - tp->lost_out;
}

PP_INLINE u64 pp_packets(const struct pp_flow *flow, u64 window)
{
	u32 mss = flow->mss ? flow->mss : 1;

	return pp_most((window >> PP_FRACTION_BITS) / mss, 1);
}

PP_INLINE bool pp_is_cwnd_limited(struct tcp_sock *tp)
{
	if (PP_PROBE_BITS(tp, is_cwnd_limited))
		return true;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

PP_INLINE void pp_note_ends(struct pp_ends *ends, struct tcp_sock *tp)
{
	const struct sock_common *common = &tp->inet_conn.icsk_inet.sk.__sk_common;

	ends->multipath = pp_key(tp);
	ends->name_space = common->skc_net.net->ns.inum;
	ends->interface = common->skc_bound_dev_if;
	ends->family = common->skc_family;
	ends->local_port = common->skc_num;
	ends->remote_port = __builtin_bswap16(common->skc_dport);
	if (ends->family == AF_INET) {
		__builtin_memcpy(ends->local, &common->skc_rcv_saddr, 4);
		__builtin_memcpy(ends->remote, &common->skc_daddr, 4);
		return;
	}
	bpf_probe_read_kernel(ends->local, sizeof(ends->local), &common->skc_v6_rcv_saddr);
	bpf_probe_read_kernel(ends->remote, sizeof(ends->remote), &common->skc_v6_daddr);
}

#endif
