/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0 */
/*
 * Sums over the subflows that take part in coupling, growth by them, and what coupled algorithms
 * have of Reno. Rates are in bytes/ns; the formulas are ratios of them.
 *
 * Error: sums have at most 8 terms of 2 operations each and 7 additions, so that they are right to
 * 11 * 2^-48, and growth (at most 8 operations on them) to 60 * 2^-48 < 2.2e-13 of itself, before
 * it is rounded to the last place of the window.
 */
#ifndef PP_COUPLING_H
#define PP_COUPLING_H

#include "connection.h"

struct pp_totals {
	pp_scaled_t rate;
	pp_scaled_t max_rate;
	/* max_i(w_i / rtt_i^2) */
	pp_scaled_t max_acceleration;
};

PP_INLINE void pp_total(struct pp_totals *sum, u64 window, u64 srtt_ns)
{
	pp_scaled_t rtt = pp_of(srtt_ns), rate = pp_div(pp_bytes(window), rtt);

	sum->rate = pp_add(sum->rate, rate);
	sum->max_rate = pp_most(sum->max_rate, rate);
	sum->max_acceleration = pp_most(sum->max_acceleration, pp_div(rate, rtt));
}

/* The windows of sums: those that count in coupling, or as they are, also in recovery. */
enum pp_windows { PP_COUPLING_WINDOWS, PP_PRESENT_WINDOWS };

PP_INLINE struct pp_totals pp_totals(const struct pp_connection *connection, enum pp_windows of)
{
	struct pp_totals sum = {};

	for (u32 i = 0; i < PP_FLOWS; i++) {
		const struct pp_flow *flow = &connection->flows[i];
		u64 window = of == PP_COUPLING_WINDOWS ? pp_coupling_window(flow) : flow->window;

		if (pp_is_coupled(flow))
			pp_total(&sum, window, flow->srtt_ns);
	}
	return sum;
}

/* Whether others than `self` take part in coupling. */
PP_INLINE bool pp_has_others(const struct pp_connection *connection, const struct pp_flow *self)
{
	for (u32 i = 0; i < PP_FLOWS; i++) {
		const struct pp_flow *flow = &connection->flows[i];

		if (flow != self && pp_is_coupled(flow))
			return true;
	}
	return false;
}

/* MSS * acked, in square bytes. */
PP_INLINE pp_scaled_t pp_acked(const struct pp_flow *flow, const struct pp_ack *ack)
{
	return pp_mul(pp_of(flow->mss), pp_of(ack->acked));
}

/* Adds to the window, and takes from it. */
PP_INLINE void pp_change(struct pp_flow *flow, pp_scaled_t more, pp_scaled_t less)
{
	u64 window = flow->window + pp_window_of(more);
	u64 taken = pp_window_of(less);

	flow->window = window > taken ? window - taken : 0;
}

/* About a segment in a round trip. */
PP_INLINE pp_scaled_t pp_reno_increase(const struct pp_flow *flow, const struct pp_ack *ack)
{
	return pp_div(pp_acked(flow, ack), pp_bytes(flow->window));
}

PP_INLINE void pp_reno_on_ack(struct pp_flow *flow, const struct pp_ack *ack)
{
	if (pp_may_grow(flow, ack))
		pp_change(flow, pp_reno_increase(flow, ack), 0);
}

/* RFC 5681 equation (4). */
PP_INLINE u64 pp_reno_threshold(const struct pp_flow *flow, const struct pp_loss *loss)
{
	return pp_most(pp_fixed(loss->in_flight) / 2, pp_segments(flow, 2));
}

PP_INLINE void pp_reno_on_loss(struct pp_flow *flow, const struct pp_loss *loss)
{
	flow->threshold = pp_reno_threshold(flow, loss);
	flow->window = flow->threshold;
}

PP_INLINE void pp_reno_on_timeout(struct pp_flow *flow, const struct pp_loss *loss)
{
	flow->threshold = pp_reno_threshold(flow, loss);
	flow->window = pp_segments(flow, 1);
}

/* Sets the threshold: at least one segment where others take part in coupling, else two. */
PP_INLINE void pp_lower_threshold(const struct pp_connection *connection, struct pp_flow *flow,
				  u64 threshold)
{
	u32 least = pp_has_others(connection, flow) ? 1 : 2;

	flow->threshold = pp_most(threshold, pp_segments(flow, least));
}

/* LIA, RFC 6356 equations (1) and (2): also the growth of CABE. */
PP_INLINE void pp_linked_on_ack(struct pp_connection *connection, struct pp_flow *flow,
				const struct pp_ack *ack)
{
	pp_scaled_t growth, alone;
	struct pp_totals totals;

	if (!pp_may_grow(flow, ack))
		return;
	growth = alone = pp_reno_increase(flow, ack);
	if (pp_is_coupled(flow)) {
		totals = pp_totals(connection, PP_COUPLING_WINDOWS);
		/* a / w_tot = max_i(w_i / rtt_i^2) / (sum_i w_i / rtt_i)^2 */
		growth = pp_div(totals.max_acceleration, pp_square(totals.rate));
		growth = pp_least(pp_mul(growth, pp_acked(flow, ack)), alone);
	}
	pp_change(flow, growth, 0);
}

#endif
