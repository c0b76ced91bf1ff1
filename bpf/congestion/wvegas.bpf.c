// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0
// wVegas, weighted Vegas (Cao, Xu, Fu, ICNP 2012, algorithm 1): polypath-core's
// `congestion/wvegas.rs` with its defaults. Loss and timeout are Reno's.
//
// Backlogs are right to 3 * 2^-48. Where one is as close as that to what the subflow aims at, the
// window may take another step than in core. A share within 2^-30 of a whole number is that number:
// a subflow alone has all of it, which is 10 * r / r.

#include "types.h"

struct wvegas {
	// 0: none.
	u64 base_rtt_ns;
	u64 rtt_sum_ns;
	u32 samples;
	// Segments that it aims to have in queues; 0: the initial ones.
	u32 alpha;
	// Segments/ns in the last round that reached alpha.
	u64 rate;
	// The least queueing delay since the last drain; 0: none.
	u64 least_queueing_ns;
	bool as_reno;
};

#define PP_PRIVATE struct wvegas
#include "coupling.h"

#define WVEGAS_TOTAL_ALPHA 10
#define WVEGAS_INITIAL_ALPHA 2
#define WVEGAS_LEAST_SEGMENTS 2
#define WVEGAS_LEAST_SAMPLES 3

// What a round showed.
struct wvegas_delay {
	u64 rtt_ns;
	u64 base_ns;
};

PP_INLINE u64 wvegas_queueing_ns(const struct wvegas_delay *delay)
{
	return delay->rtt_ns > delay->base_ns ? delay->rtt_ns - delay->base_ns : 0;
}

// What of a window is in queues, in bytes.
PP_INLINE pp_scaled_t wvegas_backlog(const struct wvegas_delay *delay, u64 window)
{
	return pp_mul(pp_bytes(window), pp_ratio(wvegas_queueing_ns(delay), delay->rtt_ns));
}

// What of a window fits without queues, in bytes.
PP_INLINE pp_scaled_t wvegas_without_queue(const struct wvegas_delay *delay, u64 window)
{
	return pp_mul(pp_bytes(window), pp_ratio(delay->base_ns, delay->rtt_ns));
}

PP_INLINE pp_scaled_t wvegas_alpha(const struct wvegas *own)
{
	return pp_of(own->alpha ? own->alpha : WVEGAS_INITIAL_ALPHA);
}

// The threshold stays a segment below the window.
PP_INLINE void wvegas_lower_threshold(struct pp_flow *flow)
{
	u64 segment = pp_segments(flow, 1);
	u64 below = flow->window > segment ? flow->window - segment : 0;

	flow->threshold = pp_most(pp_least(flow->threshold, below), segment);
}

PP_INLINE void wvegas_keep_least(struct pp_flow *flow)
{
	flow->window = pp_most(flow->window, pp_segments(flow, WVEGAS_LEAST_SEGMENTS));
}

// Congestion is over: rates are no longer known, but the propagation time is.
PP_INLINE void wvegas_restart(struct pp_flow *flow)
{
	flow->own = (struct wvegas){ .base_rtt_ns = flow->own.base_rtt_ns };
}

PP_INLINE void wvegas_on_delivery(struct pp_flow *flow, const struct pp_ack *ack)
{
	struct wvegas *own = &flow->own;

	if (!ack->rtt_ns)
		return;
	if (!own->base_rtt_ns || ack->rtt_ns < own->base_rtt_ns)
		own->base_rtt_ns = ack->rtt_ns;
	own->rtt_sum_ns += ack->rtt_ns;
	own->samples++;
}

// Ends the round; false if it had too few samples.
PP_INLINE bool wvegas_end_round(struct wvegas *own, struct wvegas_delay *delay)
{
	u32 samples = own->samples;

	own->as_reno = samples < WVEGAS_LEAST_SAMPLES;
	if (!own->as_reno)
		*delay = (struct wvegas_delay){ own->rtt_sum_ns / samples, own->base_rtt_ns };
	own->rtt_sum_ns = 0;
	own->samples = 0;
	return !own->as_reno;
}

// Whether the queue has doubled since the last drain.
PP_INLINE bool wvegas_must_drain(struct wvegas *own, u64 queueing_ns)
{
	u64 least = own->least_queueing_ns ? pp_least(own->least_queueing_ns, queueing_ns) :
					     queueing_ns;
	bool drain = least && queueing_ns >= 2 * least;

	own->least_queueing_ns = drain ? 0 : least;
	return drain;
}

PP_INLINE void wvegas_share_backlog(struct pp_connection *connection, struct pp_flow *self,
				    pp_scaled_t rate)
{
	pp_scaled_t all = rate, share;
	u64 whole;

	self->own.rate = rate;
	for (u32 i = 0; i < PP_FLOWS; i++) {
		const struct pp_flow *flow = &connection->flows[i];

		if (flow != self && pp_is_coupled(flow))
			all = pp_add(all, flow->own.rate);
	}
	share = pp_div(pp_mul(pp_of(WVEGAS_TOTAL_ALPHA), rate), all);
	whole = pp_floor(pp_add(share, pp_scaled(1, -30)), 0);
	self->own.alpha = pp_most(whole, WVEGAS_LEAST_SEGMENTS);
}

// A round of congestion avoidance.
PP_INLINE void wvegas_adjust(struct pp_connection *connection, struct pp_flow *flow,
			     const struct wvegas_delay *delay, bool may_grow)
{
	pp_scaled_t segments = pp_div(pp_bytes(flow->window), pp_of(flow->mss)), backlog, alpha;
	u64 segment = pp_segments(flow, 1);

	backlog = pp_mul(segments, pp_ratio(wvegas_queueing_ns(delay), delay->rtt_ns));
	if (backlog >= wvegas_alpha(&flow->own))
		wvegas_share_backlog(connection, flow, pp_div(segments, pp_of(delay->rtt_ns)));
	alpha = wvegas_alpha(&flow->own);
	if (backlog > alpha) {
		flow->window -= pp_least(flow->window, segment);
		wvegas_lower_threshold(flow);
	} else if (backlog < alpha && may_grow) {
		flow->window += segment;
	}
	if (backlog >= alpha && wvegas_must_drain(&flow->own, wvegas_queueing_ns(delay)))
		flow->window = pp_window_of(wvegas_without_queue(delay, flow->window)) / 2;
	wvegas_keep_least(flow);
}

// The end of slow start: the window that causes no queue, and a segment.
PP_INLINE void wvegas_leave_slow_start(struct pp_flow *flow, const struct wvegas_delay *delay)
{
	u64 fits = pp_window_of(wvegas_without_queue(delay, flow->window));

	flow->window = pp_least(flow->window, fits + pp_segments(flow, 1));
	wvegas_lower_threshold(flow);
	wvegas_keep_least(flow);
}

PP_INLINE void wvegas_on_round(struct pp_connection *connection, struct pp_flow *flow,
			       const struct pp_ack *ack)
{
	struct wvegas_delay delay;

	if (!wvegas_end_round(&flow->own, &delay) || flow->in_recovery)
		return;
	if (!pp_in_slow_start(flow))
		wvegas_adjust(connection, flow, &delay, pp_may_grow(flow, ack));
	else if (wvegas_backlog(&delay, flow->window) > pp_of(flow->mss))
		wvegas_leave_slow_start(flow, &delay);
}

PP_INLINE void wvegas_on_ack(struct pp_connection *connection, struct pp_flow *flow,
			     const struct pp_ack *ack)
{
	if (ack->round_start && flow->own.as_reno)
		pp_reno_on_ack(flow, ack);
}

PP_INLINE void wvegas_on_timeout(struct pp_flow *flow, const struct pp_loss *loss)
{
	wvegas_restart(flow);
	pp_reno_on_timeout(flow, loss);
}

PP_INLINE void wvegas_on_idle_restart(struct pp_flow *flow)
{
	flow->own = (struct wvegas){};
}

#define PP_NAME wvegas
#define PP_ON_ACK wvegas_on_ack
#define PP_ON_LOSS(connection, flow, loss) pp_reno_on_loss(flow, loss)
#define PP_ON_TIMEOUT(connection, flow, loss) wvegas_on_timeout(flow, loss)
#define PP_ON_DELIVERY wvegas_on_delivery
#define PP_ON_RECOVERY_EXIT wvegas_restart
#define PP_ON_ROUND wvegas_on_round
#define PP_ON_IDLE_RESTART wvegas_on_idle_restart

#include "register.h"
