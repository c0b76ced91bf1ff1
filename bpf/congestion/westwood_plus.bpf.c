// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0
// Westwood+ (Linux `tcp_westwood.c`; Grieco and Mascolo, CCR 34(2), 2004): polypath-core's
// `congestion/westwood_plus.rs`. A sample for each round trip of more than 50 ms, through two poles
// of 7/8, which are right to 8 * 2^-46.

#include "interval.h"
#include "scaled.h"

struct westwood_plus {
	struct pp_interval interval;
	u64 rtt_ns;
	u64 min_rtt_ns;
	// Bytes/ns after the first and the second pole, and the weight of the first sample in both.
	pp_scaled_t once;
	pp_scaled_t twice;
	pp_scaled_t share_once;
	pp_scaled_t share_twice;
	bool known;
	// The next RTT sample replaces the smallest one.
	bool resets_min_rtt;
};

#define PP_PRIVATE struct westwood_plus
#include "measured.h"

#define WESTWOOD_PLUS_LEAST_NS 50000000ULL

// (7 old + new) / 8
PP_INLINE pp_scaled_t westwood_plus_blend(pp_scaled_t old, pp_scaled_t new)
{
	return pp_mul(pp_add(pp_mul(pp_of(7), old), new), pp_scaled(1, -3));
}

PP_INLINE void westwood_plus_sample(struct westwood_plus *own, pp_scaled_t rate)
{
	if (!own->known || (!own->once && !own->twice)) {
		own->once = own->twice = rate;
		own->share_once = own->share_twice = pp_of(1);
		own->known = true;
		return;
	}
	own->once = westwood_plus_blend(own->once, rate);
	own->twice = westwood_plus_blend(own->twice, own->once);
	own->share_once = westwood_plus_blend(own->share_once, 0);
	own->share_twice = westwood_plus_blend(own->share_twice, own->share_once);
}

PP_INLINE void westwood_plus_note_rtt(struct westwood_plus *own, u64 rtt_ns)
{
	if (!rtt_ns)
		return;
	own->rtt_ns = rtt_ns;
	if (!own->min_rtt_ns || own->resets_min_rtt || rtt_ns < own->min_rtt_ns)
		own->min_rtt_ns = rtt_ns;
	own->resets_min_rtt = false;
}

PP_INLINE void westwood_plus_on_delivery(struct pp_flow *flow, const struct pp_ack *ack)
{
	struct westwood_plus *own = &flow->own;
	u64 elapsed_ns;

	westwood_plus_note_rtt(own, ack->rtt_ns);
	elapsed_ns = pp_interval_add(&own->interval, ack->now_ns, ack->acked);
	if (own->rtt_ns && elapsed_ns > pp_most(own->rtt_ns, WESTWOOD_PLUS_LEAST_NS))
		westwood_plus_sample(own, pp_ratio(pp_interval_restart(&own->interval, ack->now_ns),
						   elapsed_ns));
}

PP_INLINE struct pp_measure westwood_plus_measure(const struct pp_flow *flow)
{
	const struct westwood_plus *own = &flow->own;

	return (struct pp_measure){ .known = own->known, .rate = own->twice,
				    .min_rtt_ns = own->min_rtt_ns,
				    .start_share = own->share_twice };
}

PP_INLINE void westwood_plus_on_timeout(struct pp_flow *flow, const struct pp_loss *loss)
{
	struct pp_measure measure = westwood_plus_measure(flow);

	pp_measured_on_timeout(flow, &measure, loss);
	flow->own.resets_min_rtt = true;
}

// May raise the window.
PP_INLINE void westwood_plus_on_recovery_exit(struct pp_flow *flow)
{
	struct pp_measure measure = westwood_plus_measure(flow);

	flow->threshold = pp_measured_window(flow, &measure, flow->threshold);
	flow->window = flow->threshold;
}

PP_INLINE void westwood_plus_on_idle_restart(struct pp_flow *flow)
{
	pp_interval_forget(&flow->own.interval);
}

#define PP_NAME westwoodplus
#define PP_ON_ACK(connection, flow, ack) pp_reno_on_ack(flow, ack)
#define PP_ON_LOSS(connection, flow, loss) pp_reno_on_loss(flow, loss)
#define PP_ON_TIMEOUT(connection, flow, loss) westwood_plus_on_timeout(flow, loss)
#define PP_ON_DELIVERY westwood_plus_on_delivery
#define PP_ON_RECOVERY_EXIT westwood_plus_on_recovery_exit
#define PP_ON_IDLE_RESTART westwood_plus_on_idle_restart

#include "register.h"
