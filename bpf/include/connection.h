/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0 */
/*
 * A connection and its subflows, as the decisions see them, and the events that they are told:
 * those of polypath-core's `congestion/events.rs` that the kernel gives as well.
 *
 * Windows and thresholds are bytes with 22 fraction bits. Each change rounds to nearest: an
 * error of at most 2^-23 bytes for an event, 0.012 bytes for 100,000 of them. The smallest
 * growth that paths of up to 100 Gbit/s and 5 s know, a segment in a window of 62.5 GB, is 3e-5
 * bytes for an ACK, 140 times the last place. The largest window is 2^40 bytes, as in core, so
 * that twice of it fits; that is also the largest threshold but for the infinite one.
 *
 * Times are nanoseconds, as in core. The kernel's smoothed RTT has units of 1/8 us and its RTT
 * samples units of 1 us: on paths of 10 us they are wrong by up to 1.25 % and 10 %, which no
 * arithmetic makes up for.
 */
#ifndef PP_CONNECTION_H
#define PP_CONNECTION_H

#include "scaled.h"

#define PP_FRACTION_BITS 22
#define PP_MAX_BYTES (1ULL << 40)
#define PP_MAX_WINDOW (PP_MAX_BYTES << PP_FRACTION_BITS)
/* The threshold before the first loss. */
#define PP_INFINITE (~0ULL)
/* A subflow beyond these is a connection of its own. */
#define PP_FLOWS 8

/* An ACK train (BESS). */
struct pp_train {
	u64 began_ns;
	u64 ended_ns;
	u64 acked;
	u64 sent;
	u32 acks;
	bool under_way;
};

/* What slow starts keep for a subflow; zeros at first. */
struct pp_slow_start {
	/* HyStart++: least RTT of the last round, of this one, of conservative slow start; 0: none. */
	u64 last_min_ns;
	u64 round_min_ns;
	u64 base_ns;
	u32 samples;
	u32 rounds;
	/* Of HyStart++ or CSS. */
	u32 phase;
	/* BESS. */
	u64 min_delay_ns;
	struct pp_train train;
	bool left;
	bool was_idle;
};

/* What the last episode of losses took. */
struct pp_undo {
	u64 window;
	u64 threshold;
	bool known;
};

struct pp_flow {
	u64 window;
	u64 threshold;
	u64 initial_window;
	/* 0: no sample yet. */
	u64 srtt_ns;
	u64 min_rtt_ns;
	/* Bytes. */
	u64 in_flight;
	u32 mss;
	bool used;
	bool in_recovery;
	/* Whether data may be sent on it. The kernel calls the opposite stale. */
	bool usable;
	struct pp_undo undo;
	struct pp_slow_start slow_start;
#ifdef PP_PRIVATE
	PP_PRIVATE own;
#endif
};

enum pp_slow_start_kind { PP_STANDARD, PP_BESS, PP_CSS, PP_HYSTART_PP };

/*
 * Each subflow changes only its own entry, but for the phase of CSS, and reads those of the others
 * without a lock. It may so see a window and an RTT of two adjacent ACKs; each word is whole.
 */
struct pp_connection {
	/* enum pp_slow_start_kind */
	u32 slow_start;
	/* CSS: the sum of thresholds after a loss; 0: none yet. */
	u64 learned;
	struct pp_flow flows[PP_FLOWS];
};

struct pp_ack {
	u64 now_ns;
	/* Bytes newly acknowledged. */
	u64 acked;
	/* The RTT sample of this ACK, 0 if there is none; the others are as in `pp_flow`. */
	u64 rtt_ns;
	u64 srtt_ns;
	u64 min_rtt_ns;
	/* Bytes in flight after it. */
	u64 in_flight;
	bool cwnd_limited;
	/* Whether a packet-timed round, a recovery episode ended with it. */
	bool round_start;
	bool recovered;
};

struct pp_loss {
	u64 now_ns;
	/* Bytes in flight before the loss and before the ACK that showed it. */
	u64 in_flight;
};

PP_INLINE u64 pp_fixed(u64 bytes)
{
	return pp_least(bytes, PP_MAX_BYTES) << PP_FRACTION_BITS;
}

PP_INLINE u64 pp_segments(const struct pp_flow *flow, u32 count)
{
	return pp_fixed((u64)flow->mss * count);
}

PP_INLINE pp_scaled_t pp_bytes(u64 window)
{
	return pp_scaled(window, -PP_FRACTION_BITS);
}

PP_INLINE u64 pp_window_of(pp_scaled_t bytes)
{
	return pp_least(pp_nearest(bytes, PP_FRACTION_BITS), PP_MAX_WINDOW);
}

/* Keeps a window between so many segments and the largest. */
PP_INLINE void pp_bound(struct pp_flow *flow, u32 segments)
{
	flow->window = pp_least(pp_most(flow->window, pp_segments(flow, segments)), PP_MAX_WINDOW);
}

PP_INLINE bool pp_in_slow_start(const struct pp_flow *flow)
{
	return flow->window < flow->threshold;
}

PP_INLINE bool pp_may_grow(const struct pp_flow *flow, const struct pp_ack *ack)
{
	return ack->cwnd_limited && !flow->in_recovery;
}

/* Whether it takes part in coupling. */
PP_INLINE bool pp_is_coupled(const struct pp_flow *flow)
{
	return flow->used && flow->usable && flow->srtt_ns;
}

/* The window that counts in coupling: the threshold during recovery (RFC 6356 section 3). */
PP_INLINE u64 pp_coupling_window(const struct pp_flow *flow)
{
	bool threshold = flow->in_recovery && flow->threshold != PP_INFINITE;

	return threshold ? flow->threshold : flow->window;
}

#endif
