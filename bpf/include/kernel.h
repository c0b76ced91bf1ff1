/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0 */
/*
 * The kernel's callbacks of an algorithm: what they tell becomes the events of `congestion.h`, and
 * its windows become those of the socket.
 *
 *	pkts_acked	an ACK that acknowledged something, selectively or not: also in recovery, where
 *			cong_avoid is not called. Before the state machine has seen the ACK, so that
 *			the end of a recovery counts from the next ACK on
 *	cong_avoid	the window is written; not in recovery, where the kernel follows PRR (RFC 6937)
 *	ssthresh	a loss or a mark, or a timeout that CA_EVENT_LOSS then tells: that goes back to
 *			before and decides anew
 *	set_state	to TCP_CA_Loss without that event: a timeout that was repeated, or came in a
 *			recovery, for which the kernel keeps the threshold. To TCP_CA_Open: a recovery
 *			is over
 *	cwnd_event	also the pause after which the kernel restarts the window
 *	undo_cwnd	the loss was spurious
 *
 * Rounds are by sequence number, as in the kernel's HyStart. Packets count for an MSS each.
 *
 * A socket that finds no room in the map of connections is one of the kernel's Reno until it does.
 */
#ifndef PP_KERNEL_H
#define PP_KERNEL_H

#include "socket.h"

#define PP_STRING(name) #name
#define PP_KERNEL_NAME(name) "pp_" PP_STRING(name)

/* A connection with the sockets of its subflows, and what these were before the last loss. */
struct pp_shared {
	u64 owners[PP_FLOWS];
	struct pp_ends ends[PP_FLOWS];
	struct pp_connection connection;
	struct pp_flow before[PP_FLOWS];
};

/* What the loader has chosen. */
struct pp_settings {
	/* enum pp_slow_start_kind */
	u32 slow_start;
	u32 uncoupled;
	/* Which build of the program these are of, and so what the maps look like. */
	u64 build;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, u64);
	__type(value, struct pp_shared);
} connections SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct pp_settings);
} settings SEC(".maps");

/* Templates of new entries. */
const struct pp_shared pp_no_subflows = {};

/* The kernel asks for one that is compatible with its own (GPL-2.0). */
char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* The connection of a key, made if there is none. */
PP_INLINE struct pp_shared *pp_shared(u64 key, u32 slow_start)
{
	struct pp_shared *shared = bpf_map_lookup_elem(&connections, &key);

	if (shared)
		return shared;
	bpf_map_update_elem(&connections, &key, &pp_no_subflows, BPF_NOEXIST);
	shared = bpf_map_lookup_elem(&connections, &key);
	if (shared)
		shared->connection.slow_start = slow_start;
	return shared;
}

/* A free entry of a connection for a socket; PP_FLOWS if there is none. */
PP_INLINE u32 pp_claim(struct pp_shared *shared, struct tcp_sock *tp)
{
	for (u32 i = 0; i < PP_FLOWS; i++) {
		if (!__sync_val_compare_and_swap(&shared->owners[i], 0, (u64)tp))
			return i;
	}
	return PP_FLOWS;
}

/* Enters a socket into its connection, or a connection of its own. */
static __attribute__((noinline)) int pp_join(struct tcp_sock *tp)
{
	struct pp_socket *socket = pp_socket(tp);
	struct pp_settings *chosen;
	struct pp_shared *shared;
	struct pp_flow *flow;
	u32 zero = 0, slot;
	u64 key;

	chosen = bpf_map_lookup_elem(&settings, &zero);
	if (!chosen)
		return 0;
	key = chosen->uncoupled ? (u64)tp : pp_key(tp);
	shared = pp_shared(key, chosen->slow_start);
	slot = shared ? pp_claim(shared, tp) : PP_FLOWS;
	if (slot >= PP_FLOWS) {
		key = (u64)tp;
		shared = pp_shared(key, chosen->slow_start);
		slot = shared ? pp_claim(shared, tp) : PP_FLOWS;
	}
	if (!shared || slot >= PP_FLOWS)
		return 0;
	flow = &shared->connection.flows[slot];
	pp_on_join(flow, tp->mss_cache, (u64)tp->snd_cwnd * tp->mss_cache);
	if (tp->snd_ssthresh < TCP_INFINITE_SSTHRESH)
		flow->threshold = pp_segments(flow, tp->snd_ssthresh);
	pp_note_ends(&shared->ends[slot], tp);
	socket->key = key;
	socket->slot = slot;
	socket->sent = tp->bytes_sent;
	socket->delivered = tp->delivered;
	socket->round_end = tp->snd_nxt;
	return 1;
}

PP_INLINE struct pp_shared *pp_find(struct tcp_sock *tp)
{
	struct pp_socket *socket = pp_socket(tp);
	u64 key = socket->key;
	struct pp_shared *shared = key ? bpf_map_lookup_elem(&connections, &key) : (void *)0;
	u32 slot = socket->slot;

	if (shared && slot < PP_FLOWS && shared->owners[slot] == (u64)tp)
		return shared;
	return (void *)0;
}

/* The connection of a socket, which enters it if need be. */
PP_INLINE struct pp_shared *pp_connected(struct tcp_sock *tp)
{
	struct pp_shared *shared = pp_find(tp);

	if (shared)
		return shared;
	return pp_join(tp) ? pp_find(tp) : (void *)0;
}

/* The entry of a socket in its connection. */
PP_INLINE struct pp_flow *pp_entry(struct pp_shared *shared, struct tcp_sock *tp)
{
	u32 slot = pp_socket(tp)->slot;

	return &shared->connection.flows[slot < PP_FLOWS ? slot : 0];
}

PP_INLINE struct pp_flow *pp_entry_before(struct pp_shared *shared, struct tcp_sock *tp)
{
	u32 slot = pp_socket(tp)->slot;

	return &shared->before[slot < PP_FLOWS ? slot : 0];
}

PP_INLINE void pp_write_threshold(struct tcp_sock *tp, const struct pp_flow *flow)
{
	if (flow->threshold != PP_INFINITE)
		tp->snd_ssthresh = pp_packets(flow, flow->threshold);
}

SEC("struct_ops")
int pp_ops_init(u64 *arguments)
{
	struct tcp_sock *tp = (void *)arguments[0];
	struct pp_socket *socket = pp_socket(tp);

	/* The ACK of the SYN comes before: the socket may have entered its connection already. */
	if (pp_find(tp))
		return 0;
	socket->key = 0;
	socket->slot = 0;
	socket->min_rtt_us = 0;
	socket->recovered = 0;
	socket->timed_out = 0;
	return 0;
}

SEC("struct_ops")
int pp_ops_release(u64 *arguments)
{
	struct tcp_sock *tp = (void *)arguments[0];
	struct pp_shared *shared = pp_find(tp);
	struct pp_socket *socket = pp_socket(tp);
	u64 key = socket->key;
	u32 slot = socket->slot;

	if (!shared || slot >= PP_FLOWS)
		return 0;
	pp_on_leave(&shared->connection, &shared->connection.flows[slot]);
	shared->owners[slot] = 0;
	socket->key = 0;
	for (u32 i = 0; i < PP_FLOWS; i++) {
		if (shared->owners[i])
			return 0;
	}
	/* A socket that enters at this moment finds itself without one, and enters again. */
	bpf_map_delete_elem(&connections, &key);
	return 0;
}

/*
 * With the first ACK of what was sent after the round began, as core has it. The ACK before that
 * one ends the flight before: a train of BESS that began there would last a round trip more.
 */
PP_INLINE bool pp_round_has_ended(struct pp_socket *socket, struct tcp_sock *tp)
{
	if ((s32)(tp->snd_una - socket->round_end) <= 0)
		return false;
	socket->round_end = tp->snd_nxt;
	return true;
}

PP_INLINE void pp_note_path(struct pp_socket *socket, struct pp_flow *flow, struct tcp_sock *tp)
{
	flow->usable = !pp_is_stale(tp);
	if (flow->mss != tp->mss_cache && tp->mss_cache)
		pp_on_mss(flow, tp->mss_cache, (u64)10 * tp->mss_cache);
	pp_on_sent(flow, tp->bytes_sent - socket->sent, flow->in_flight);
	socket->sent = tp->bytes_sent;
}

SEC("struct_ops")
int pp_ops_pkts_acked(u64 *arguments)
{
	struct tcp_sock *tp = (void *)arguments[0];
	const struct ack_sample *sample = (void *)arguments[1];
	struct pp_shared *shared = pp_connected(tp);
	struct pp_socket *socket = pp_socket(tp);
	s32 rtt_us = sample->rtt_us;
	struct pp_flow *flow;
	struct pp_ack ack = {};

	if (!shared)
		return 0;
	flow = pp_entry(shared, tp);
	pp_note_path(socket, flow, tp);
	if (rtt_us > 0 && (!socket->min_rtt_us || (u32)rtt_us < socket->min_rtt_us))
		socket->min_rtt_us = rtt_us;
	ack.now_ns = bpf_ktime_get_ns();
	ack.acked = (u64)(tp->delivered - socket->delivered) * flow->mss;
	ack.rtt_ns = rtt_us > 0 ? (u64)(u32)rtt_us * 1000 : 0;
	ack.srtt_ns = (u64)tp->srtt_us * 125;
	ack.min_rtt_ns = (u64)socket->min_rtt_us * 1000;
	ack.in_flight = (u64)pp_packets_in_flight(tp) * flow->mss;
	ack.cwnd_limited = pp_is_cwnd_limited(tp);
	ack.round_start = pp_round_has_ended(socket, tp);
	ack.recovered = socket->recovered && flow->in_recovery;
	socket->recovered = 0;
	socket->delivered = tp->delivered;
	pp_on_ack(&shared->connection, flow, &ack);
	return 0;
}

SEC("struct_ops")
int pp_ops_cong_avoid(u64 *arguments)
{
	struct tcp_sock *tp = (void *)arguments[0];
	struct pp_shared *shared = pp_find(tp);
	struct pp_flow *flow;

	if (!shared) {
		tcp_reno_cong_avoid((void *)tp, arguments[1], arguments[2]);
		return 0;
	}
	flow = pp_entry(shared, tp);
	tp->snd_cwnd = pp_least(pp_packets(flow, flow->window), tp->snd_cwnd_clamp);
	pp_write_threshold(tp, flow);
	return 0;
}

PP_INLINE struct pp_loss pp_loss(const struct pp_flow *flow, struct tcp_sock *tp)
{
	u64 in_flight = (u64)(pp_packets_in_flight(tp) + tp->lost_out) * flow->mss;

	return (struct pp_loss){ .now_ns = bpf_ktime_get_ns(),
				 .in_flight = pp_most(in_flight, flow->in_flight) };
}

SEC("struct_ops")
int pp_ops_ssthresh(u64 *arguments)
{
	struct tcp_sock *tp = (void *)arguments[0];
	struct pp_shared *shared = pp_connected(tp);
	struct pp_flow *flow;
	struct pp_loss loss;

	if (!shared)
		return tcp_reno_ssthresh((void *)tp);
	flow = pp_entry(shared, tp);
	__builtin_memcpy(pp_entry_before(shared, tp), flow, sizeof(*flow));
	loss = pp_loss(flow, tp);
	pp_on_loss(&shared->connection, flow, &loss);
	return pp_packets(flow, flow->threshold);
}

SEC("struct_ops")
int pp_ops_cwnd_event(u64 *arguments)
{
	struct tcp_sock *tp = (void *)arguments[0];
	u32 event = arguments[1];
	struct pp_shared *shared;
	struct pp_flow *flow;
	struct pp_loss loss;

	if (event != CA_EVENT_LOSS && event != CA_EVENT_CWND_RESTART)
		return 0;
	shared = pp_find(tp);
	if (!shared)
		return 0;
	flow = pp_entry(shared, tp);
	if (event == CA_EVENT_CWND_RESTART) {
		pp_on_idle_restart(flow);
		return 0;
	}
	__builtin_memcpy(flow, pp_entry_before(shared, tp), sizeof(*flow));
	loss = pp_loss(flow, tp);
	pp_on_timeout(&shared->connection, flow, &loss, false);
	pp_write_threshold(tp, flow);
	pp_socket(tp)->timed_out = 1;
	return 0;
}

PP_INLINE void pp_time_out_again(struct tcp_sock *tp)
{
	struct pp_shared *shared = pp_find(tp);
	struct pp_flow *flow;
	struct pp_loss loss;

	if (!shared)
		return;
	flow = pp_entry(shared, tp);
	loss = pp_loss(flow, tp);
	pp_on_timeout(&shared->connection, flow, &loss, true);
}

SEC("struct_ops")
int pp_ops_set_state(u64 *arguments)
{
	struct tcp_sock *tp = (void *)arguments[0];
	u8 state = arguments[1];

	if (state == TCP_CA_Open)
		pp_socket(tp)->recovered = 1;
	if (state == TCP_CA_Loss && !pp_socket(tp)->timed_out)
		pp_time_out_again(tp);
	if (state == TCP_CA_Loss)
		pp_socket(tp)->timed_out = 0;
	return 0;
}

SEC("struct_ops")
int pp_ops_undo_cwnd(u64 *arguments)
{
	struct tcp_sock *tp = (void *)arguments[0];
	struct pp_shared *shared = pp_find(tp);
	struct pp_flow *flow;

	if (!shared)
		return tcp_reno_undo_cwnd((void *)tp);
	flow = pp_entry(shared, tp);
	pp_on_spurious_loss(flow);
	return pp_packets(flow, flow->window);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops pp_ops = {
	.init = (void *)pp_ops_init,
	.release = (void *)pp_ops_release,
	.ssthresh = (void *)pp_ops_ssthresh,
	.cong_avoid = (void *)pp_ops_cong_avoid,
	.set_state = (void *)pp_ops_set_state,
	.cwnd_event = (void *)pp_ops_cwnd_event,
	.pkts_acked = (void *)pp_ops_pkts_acked,
	.undo_cwnd = (void *)pp_ops_undo_cwnd,
	.name = PP_KERNEL_NAME(PP_NAME),
};

#endif
