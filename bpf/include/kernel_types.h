/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0 */
/*
 * What is used of the kernel: types with the fields that are read, found in the kernel at hand by
 * their names (CO-RE), helpers by the numbers of the kernel's interface, and sections.
 */
#ifndef PP_KERNEL_TYPES_H
#define PP_KERNEL_TYPES_H

#include "types.h"

#define SEC(name) __attribute__((section(name), used))
#define __ksym __attribute__((section(".ksyms")))
#define __uint(name, value) int (*name)[value]
#define __type(name, type) typeof(type) *name

enum { BPF_MAP_TYPE_HASH = 1, BPF_MAP_TYPE_ARRAY = 2 };
enum { BPF_NOEXIST = 1, BPF_F_NO_PREALLOC = 1 };

static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*const bpf_map_update_elem)(void *map, const void *key, const void *value,
					 u64 flags) = (void *)2;
static long (*const bpf_map_delete_elem)(void *map, const void *key) = (void *)3;
static u64 (*const bpf_ktime_get_ns)(void) = (void *)5;
static long (*const bpf_probe_read_kernel)(void *to, u32 size, const void *from) = (void *)113;

/* Reno, as the kernel has it: functions that congestion controls may call. */
struct sock;
extern u32 tcp_reno_ssthresh(struct sock *sk) __ksym;
extern void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked) __ksym;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

/* enum tcp_ca_event */
enum { CA_EVENT_CWND_RESTART = 1, CA_EVENT_LOSS = 3 };
/* enum tcp_ca_state */
enum { TCP_CA_Open = 0, TCP_CA_Loss = 4 };

#define TCP_INFINITE_SSTHRESH 0x7fffffff
#define AF_INET 2

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
	u32 inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct in6_addr {
	u8 bytes[16];
};

struct sock_common {
	u32 skc_daddr;
	u32 skc_rcv_saddr;
	/* In network order; the local one is in that of the host. */
	u16 skc_dport;
	u16 skc_num;
	u16 skc_family;
	int skc_bound_dev_if;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
};

struct inet_sock {
	struct sock sk;
};

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
	u32 in_flight;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	void *icsk_ulp_data;
	u64 icsk_ca_priv[13];
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 srtt_us;
	u32 snd_una;
	u32 snd_nxt;
	u32 snd_cwnd;
	u32 snd_cwnd_clamp;
	u32 snd_ssthresh;
	u32 mss_cache;
	u32 packets_out;
	u32 retrans_out;
	u32 sacked_out;
	u32 lost_out;
	u32 max_packets_out;
	u32 delivered;
	u64 bytes_sent;
	u8 is_cwnd_limited : 1;
	_Bool is_mptcp;
};

struct mptcp_subflow_context {
	struct sock *conn;
	u32 stale : 1;
};

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 new_state);
	void (*cwnd_event)(struct sock *sk, u32 event);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	u32 (*undo_cwnd)(struct sock *sk);
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
	char name[16];
};

#pragma clang attribute pop

/* Kinds of __builtin_preserve_field_info. */
enum { FIELD_BYTE_OFFSET = 0, FIELD_BYTE_SIZE = 1, FIELD_LSHIFT = 4, FIELD_RSHIFT = 5 };

#define PP_FIELD_INFO(structure, field, kind) \
	__builtin_preserve_field_info((structure)->field, kind)

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "bit fields are read as on little-endian machines"
#endif

/* A bit field that is read with probe reads, from any address. */
#define PP_PROBE_BITS(structure, field)                                                           \
	({                                                                                         \
		u64 bits = 0;                                                                      \
		bpf_probe_read_kernel(&bits, PP_FIELD_INFO(structure, field, FIELD_BYTE_SIZE),     \
				      (const u8 *)(structure) +                                    \
					      PP_FIELD_INFO(structure, field, FIELD_BYTE_OFFSET)); \
		bits <<= PP_FIELD_INFO(structure, field, FIELD_LSHIFT);                            \
		bits >> PP_FIELD_INFO(structure, field, FIELD_RSHIFT);                             \
	})

#endif
