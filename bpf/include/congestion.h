/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0 */
/*
 * What happens to a subflow at each event: slow start and one algorithm of congestion avoidance put
 * together, after polypath-core's `congestion/{group,control}.rs`.
 *
 * An algorithm includes `connection.h` (after PP_PRIVATE is the type of what it keeps for a
 * subflow), defines those of the following that it has, and then includes this file.
 *
 *	PP_ON_ACK(connection, flow, ack)	growth outside slow start; needed
 *	PP_ON_LOSS(connection, flow, loss)	threshold and window after a loss; needed
 *	PP_ON_TIMEOUT(connection, flow, loss)	after a timeout; needed
 *	PP_ON_DELIVERY(flow, ack)		of each ACK, before all else
 *	PP_ON_RECOVERY_EXIT(flow)		an episode of losses is over
 *	PP_ON_ROUND(connection, flow, ack)	a packet-timed round is over
 *	PP_ON_IDLE_RESTART(flow)		data is sent again after a pause
 *	PP_ON_SPURIOUS_LOSS(flow)		the last loss was none
 *	PP_LEAST_SEGMENTS			least window after a loss; 2 otherwise
 */
#ifndef PP_CONGESTION_H
#define PP_CONGESTION_H

#include "slow_start.h"

#ifndef PP_LEAST_SEGMENTS
#define PP_LEAST_SEGMENTS 2
#endif

/* A subflow joins with `window` bytes. */
PP_INLINE void pp_on_join(struct pp_flow *flow, u32 mss, u64 window)
{
	*flow = (struct pp_flow){ .window = pp_fixed(window), .initial_window = pp_fixed(window),
				  .threshold = PP_INFINITE, .mss = mss, .used = true,
				  .usable = true };
}

/* Bytes were sent, and now so many are in flight. */
PP_INLINE void pp_on_sent(struct pp_flow *flow, u64 bytes, u64 in_flight)
{
	pp_slow_start_on_sent(flow, bytes);
	flow->in_flight = in_flight;
}

/* A subflow is gone, and with the last one what the connection has learned. */
PP_INLINE void pp_on_leave(struct pp_connection *connection, struct pp_flow *flow)
{
	*flow = (struct pp_flow){};
	for (u32 i = 0; i < PP_FLOWS; i++) {
		if (connection->flows[i].used)
			return;
	}
	connection->learned = 0;
}

/* The path MTU changed: no window below the new segment. `window` is the initial one, in bytes. */
PP_INLINE void pp_on_mss(struct pp_flow *flow, u32 mss, u64 window)
{
	flow->mss = mss;
	flow->initial_window = pp_fixed(window);
	flow->window = pp_most(flow->window, pp_segments(flow, 1));
	flow->threshold = pp_most(flow->threshold, pp_segments(flow, 1));
}

PP_INLINE void pp_grow_to(struct pp_flow *flow, u64 growth, u64 *acked)
{
	u64 room = flow->threshold - flow->window;

	if (growth < room) {
		flow->window += growth;
		*acked = 0;
		return;
	}
	flow->window = flow->threshold;
	*acked = pp_floor(pp_mul(pp_of(*acked), pp_ratio(growth - room, growth)), 0);
}

/* Grows in slow start and returns the bytes that are left for congestion avoidance. */
PP_STEP u64 pp_grow_in_slow_start(struct pp_connection *connection, struct pp_flow *flow,
				  const struct pp_ack *ack)
{
	u64 acked, growth;

	if (!connection || !flow || !ack)
		return 0;
	acked = ack->acked;
	if (!pp_in_slow_start(flow) || flow->in_recovery)
		return acked;
	if (!ack->cwnd_limited)
		return 0;
	growth = pp_slow_start_on_ack(connection, flow, ack);
	if (growth == PP_LEAVE) {
		flow->threshold = pp_most(flow->window, pp_segments(flow, 2));
		return 0;
	}
	pp_grow_to(flow, growth, &acked);
	return acked;
}

PP_INLINE void pp_observe(struct pp_flow *flow, const struct pp_ack *ack)
{
	flow->srtt_ns = ack->srtt_ns;
	flow->min_rtt_ns = ack->min_rtt_ns;
	flow->in_flight = ack->in_flight;
	if (ack->recovered)
		flow->in_recovery = false;
}

/* What is done of each ACK, before windows grow. */
PP_STEP int pp_deliver(struct pp_flow *flow, const struct pp_ack *ack)
{
	if (!flow || !ack)
		return 0;
#ifdef PP_ON_DELIVERY
	PP_ON_DELIVERY(flow, ack);
#endif
#ifdef PP_ON_RECOVERY_EXIT
	if (ack->recovered)
		PP_ON_RECOVERY_EXIT(flow);
#endif
	return 0;
}

/* A packet-timed round is over. */
PP_STEP int pp_end_round(struct pp_connection *connection, struct pp_flow *flow,
			 const struct pp_ack *ack)
{
	if (!connection || !flow || !ack)
		return 0;
#ifdef PP_ON_ROUND
	PP_ON_ROUND(connection, flow, ack);
#endif
	pp_slow_start_on_round(connection, flow, ack->now_ns);
	return 0;
}

/* Congestion avoidance. */
PP_STEP int pp_avoid(struct pp_connection *connection, struct pp_flow *flow,
		     const struct pp_ack *ack)
{
	if (!connection || !flow || !ack)
		return 0;
	PP_ON_ACK(connection, flow, ack);
	return 0;
}

/* Data was acknowledged. */
PP_INLINE void pp_on_ack(struct pp_connection *connection, struct pp_flow *flow,
			 const struct pp_ack *ack)
{
	struct pp_ack rest = *ack;

	rest.acked = pp_least(rest.acked, PP_MAX_BYTES);
	pp_observe(flow, ack);
	pp_deliver(flow, &rest);
	if (ack->round_start)
		pp_end_round(connection, flow, &rest);
	rest.acked = pp_grow_in_slow_start(connection, flow, &rest);
	if (rest.acked)
		pp_avoid(connection, flow, &rest);
	pp_bound(flow, 1);
}

PP_INLINE void pp_remember(struct pp_flow *flow)
{
	flow->undo = (struct pp_undo){ .window = flow->window, .threshold = flow->threshold,
				       .known = true };
}

/* A loss or an ECN mark begins an episode. */
PP_STEP int pp_on_loss(struct pp_connection *connection, struct pp_flow *flow,
		       const struct pp_loss *loss)
{
	if (!connection || !flow || !loss)
		return 0;
	pp_remember(flow);
	pp_slow_start_on_congestion(connection, flow);
	flow->in_recovery = true;
	PP_ON_LOSS(connection, flow, loss);
	pp_bound(flow, PP_LEAST_SEGMENTS);
	pp_slow_start_on_threshold(connection, flow);
	return 0;
}

/* The retransmission timer expired; `again`: and nothing was acknowledged since it last did. */
PP_STEP int pp_on_timeout(struct pp_connection *connection, struct pp_flow *flow,
			  const struct pp_loss *loss, bool again)
{
	u64 threshold;

	if (!connection || !flow || !loss)
		return 0;
	threshold = flow->threshold;
	if (!again)
		pp_remember(flow);
	pp_slow_start_on_congestion(connection, flow);
	PP_ON_TIMEOUT(connection, flow, loss);
	pp_slow_start_on_timeout(connection, flow);
	flow->in_recovery = false;
	if (again)
		flow->threshold = threshold;
	pp_bound(flow, 1);
	pp_slow_start_on_threshold(connection, flow);
	return 0;
}

/* The last episode was none: its window and threshold come back. */
PP_INLINE void pp_on_spurious_loss(struct pp_flow *flow)
{
#ifdef PP_ON_SPURIOUS_LOSS
	PP_ON_SPURIOUS_LOSS(flow);
#endif
	flow->in_recovery = false;
	if (!flow->undo.known)
		return;
	flow->window = pp_most(flow->window, flow->undo.window);
	flow->threshold = pp_most(flow->threshold, flow->undo.threshold);
	flow->undo.known = false;
}

/* Data is sent again after idling for longer than one retransmission timeout. */
PP_INLINE void pp_on_idle_restart(struct pp_flow *flow)
{
	flow->threshold = pp_most(flow->threshold, flow->window - flow->window / 4);
	flow->window = pp_least(flow->window, flow->initial_window);
#ifdef PP_ON_IDLE_RESTART
	PP_ON_IDLE_RESTART(flow);
#endif
	pp_bound(flow, 1);
}

#endif
