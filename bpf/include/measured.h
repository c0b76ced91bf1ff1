/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0 */
/*
 * The loss response of the Westwood family: what a path was measured to carry remains, not half.
 * At least two segments, and not below Reno's threshold while the start of the filter weighs more
 * than 2 % in the estimate.
 *
 * Error: 2^-47 for the product beside that of the estimate. Whether the start weighs more than 2 %
 * may be judged otherwise than in core where it weighs that to 1e-12.
 */
#ifndef PP_MEASURED_H
#define PP_MEASURED_H

#include "coupling.h"

struct pp_measure {
	bool known;
	/* Bytes/ns. */
	pp_scaled_t rate;
	/* 0: none. */
	u64 min_rtt_ns;
	/* The weight of the filter's start, 0 to 1. */
	pp_scaled_t start_share;
};

/* The window; `halved` is what Reno would leave. */
PP_INLINE u64 pp_measured_window(const struct pp_flow *flow, const struct pp_measure *measure,
				 u64 halved)
{
	u64 product;

	if (!measure->known || !measure->min_rtt_ns)
		return halved;
	product = pp_window_of(pp_mul(measure->rate, pp_of(measure->min_rtt_ns)));
	product = pp_most(product, pp_segments(flow, 2));
	return measure->start_share > pp_ratio(2, 100) ? pp_most(product, halved) : product;
}

/* Lowers the window to the threshold, but never raises it. */
PP_INLINE void pp_measured_on_loss(struct pp_flow *flow, const struct pp_measure *measure,
				   const struct pp_loss *loss)
{
	flow->threshold = pp_measured_window(flow, measure, pp_reno_threshold(flow, loss));
	flow->window = pp_least(flow->window, flow->threshold);
}

PP_INLINE void pp_measured_on_timeout(struct pp_flow *flow, const struct pp_measure *measure,
				      const struct pp_loss *loss)
{
	flow->threshold = pp_measured_window(flow, measure, pp_reno_threshold(flow, loss));
	flow->window = pp_segments(flow, 1);
}

#endif
