/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0 */
/* Westwood (polypath-core's `congestion/westwood.rs`) with either filter: growth is Reno's. */
#ifndef PP_WESTWOOD_H
#define PP_WESTWOOD_H

#include "filter.h"
#define PP_PRIVATE struct pp_filter
#include "measured.h"

PP_INLINE struct pp_measure pp_westwood_measure(enum pp_filter_kind kind, struct pp_flow *flow,
						u64 now_ns)
{
	struct pp_filtered state;

	pp_filter_on_silence(kind, &flow->own, now_ns);
	state = pp_filtered(kind, &flow->own);
	return (struct pp_measure){ .known = state.start_share < pp_of(1), .rate = state.estimate,
				    .min_rtt_ns = flow->min_rtt_ns,
				    .start_share = state.start_share };
}

PP_INLINE void pp_westwood_on_loss(enum pp_filter_kind kind, struct pp_flow *flow,
				   const struct pp_loss *loss)
{
	struct pp_measure measure = pp_westwood_measure(kind, flow, loss->now_ns);

	pp_measured_on_loss(flow, &measure, loss);
}

PP_INLINE void pp_westwood_on_timeout(enum pp_filter_kind kind, struct pp_flow *flow,
				      const struct pp_loss *loss)
{
	struct pp_measure measure = pp_westwood_measure(kind, flow, loss->now_ns);

	pp_measured_on_timeout(flow, &measure, loss);
}

#endif
