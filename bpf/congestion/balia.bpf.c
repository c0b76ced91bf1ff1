// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0
// BALIA, the balanced linked adaptation of MPTCP (Peng et al., IEEE/ACM ToN 24(1), 2016;
// draft-walid-mptcp-congestion-control-04 section 3): polypath-core's `congestion/balia.rs`.

#include "coupling.h"

// How many times faster the fastest subflow is; 1 for one that takes no part in coupling.
PP_INLINE pp_scaled_t balia_lag(const struct pp_flow *flow, const struct pp_totals *totals)
{
	if (!pp_is_coupled(flow))
		return pp_of(1);
	return pp_div(totals->max_rate, pp_div(pp_bytes(flow->window), pp_of(flow->srtt_ns)));
}

// acked * MSS * x / (rtt * (sum x)^2) * (1 + a) / 2 * (4 + a) / 5
PP_INLINE pp_scaled_t balia_growth(const struct pp_connection *connection,
				   const struct pp_flow *flow, const struct pp_ack *ack)
{
	struct pp_totals totals = pp_totals(connection, PP_PRESENT_WINDOWS);
	pp_scaled_t lag = balia_lag(flow, &totals), rtt = pp_of(flow->srtt_ns);
	pp_scaled_t rate = pp_div(pp_bytes(flow->window), rtt);
	pp_scaled_t linked = pp_div(pp_div(rate, rtt), pp_square(totals.rate));
	pp_scaled_t balance = pp_mul(pp_add(pp_of(1), lag), pp_add(pp_of(4), lag));

	return pp_mul(pp_mul(pp_acked(flow, ack), linked), pp_div(balance, pp_of(10)));
}

PP_INLINE void balia_on_ack(struct pp_connection *connection, struct pp_flow *flow,
			    const struct pp_ack *ack)
{
	if (!pp_may_grow(flow, ack))
		return;
	pp_change(flow, pp_is_coupled(flow) ? balia_growth(connection, flow, ack) :
					      pp_reno_increase(flow, ack), 0);
}

// Takes min(a, 1.5) / 2 of the window.
PP_INLINE void balia_decrease(struct pp_connection *connection, struct pp_flow *flow)
{
	struct pp_totals totals = pp_totals(connection, PP_PRESENT_WINDOWS);
	pp_scaled_t share = pp_least(balia_lag(flow, &totals), pp_ratio(3, 2));
	u64 taken = pp_window_of(pp_mul(pp_bytes(flow->window), pp_mul(share, pp_scaled(1, -1))));

	pp_lower_threshold(connection, flow, flow->window - pp_least(taken, flow->window));
}

PP_INLINE void balia_on_loss(struct pp_connection *connection, struct pp_flow *flow,
			     const struct pp_loss *loss)
{
	balia_decrease(connection, flow);
	flow->window = flow->threshold;
}

PP_INLINE void balia_on_timeout(struct pp_connection *connection, struct pp_flow *flow,
				const struct pp_loss *loss)
{
	balia_decrease(connection, flow);
	flow->window = pp_segments(flow, 1);
}

#define PP_NAME balia
#define PP_ON_ACK balia_on_ack
#define PP_ON_LOSS balia_on_loss
#define PP_ON_TIMEOUT balia_on_timeout
#define PP_LEAST_SEGMENTS 1

#include "register.h"
