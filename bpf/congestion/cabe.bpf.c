// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0
// CABE: LIA's growth, and a decrease to what an adaptive estimator measured (CABE-MPTCP, J. ICT
// Standardization 12(1), 2024, equations 1 to 12): polypath-core's `congestion/cabe.rs` and
// `estimator/bandwidth/adaptive.rs`.
//
// Error: the pole is right to 2^-42, but where samples differ by less than 1e-12 of themselves,
// what they differ by is noise, in core as here. Of bytes and time smoothed a step adds 2^-46 and
// keeps at most 0.999 of what was wrong before: 1.5e-11 in all.

#include "interval.h"
#include "scaled.h"

#define CABE_RECENT 10
#define CABE_LEAST_NS 10000000ULL

struct cabe {
	struct pp_interval interval;
	// Bytes and nanoseconds, smoothed.
	pp_scaled_t bytes;
	pp_scaled_t time;
	// Bytes/ns.
	pp_scaled_t last_sample;
	pp_scaled_t start_share;
	// How much the samples differ: now, and the last ten values of that, oldest first.
	pp_scaled_t restless;
	pp_scaled_t recent[CABE_RECENT];
	bool known;
	bool begun;
};

#define PP_PRIVATE struct cabe
#include "measured.h"

// Equation (9); returns its share of the largest of the last ten.
PP_INLINE pp_scaled_t cabe_noise(struct cabe *own, pp_scaled_t distance)
{
	pp_scaled_t largest;

	own->restless = pp_add(pp_mul(pp_ratio(6, 10), own->restless),
			       pp_mul(pp_ratio(4, 10), distance));
	largest = own->restless;
	for (u32 i = 0; i + 1 < CABE_RECENT; i++) {
		own->recent[i] = own->recent[i + 1];
		largest = pp_most(largest, own->recent[i]);
	}
	own->recent[CABE_RECENT - 1] = own->restless;
	return largest ? pp_div(own->restless, largest) : 0;
}

// Equations (7) and (8).
PP_INLINE pp_scaled_t cabe_pole(u64 srtt_ns, pp_scaled_t noise, u64 elapsed_ns)
{
	pp_scaled_t stretch = pp_add(pp_of(1), pp_mul(pp_of(10), noise));
	pp_scaled_t twice_tau = pp_mul(pp_of(2 * srtt_ns), stretch), time = pp_of(elapsed_ns);

	return pp_least(pp_div(pp_sub(twice_tau, time), pp_add(twice_tau, time)),
			pp_ratio(999, 1000));
}

PP_INLINE pp_scaled_t cabe_blend(pp_scaled_t pole, pp_scaled_t old, pp_scaled_t new)
{
	return pp_add(pp_mul(pole, old), pp_mul(pp_sub(pp_of(1), pole), new));
}

PP_INLINE void cabe_sample(struct cabe *own, u64 bytes, u64 elapsed_ns, u64 srtt_ns)
{
	pp_scaled_t sample = pp_ratio(bytes, elapsed_ns), pole;

	if (own->known) {
		pole = cabe_pole(srtt_ns, cabe_noise(own, pp_distance(sample, own->last_sample)),
				 elapsed_ns);
		own->bytes = cabe_blend(pole, own->bytes, pp_of(bytes));
		own->time = cabe_blend(pole, own->time, pp_of(elapsed_ns));
		own->start_share = pp_mul(pole, own->start_share);
	} else {
		own->bytes = pp_of(bytes);
		own->time = pp_of(elapsed_ns);
		own->start_share = pp_of(1);
		own->known = true;
	}
	own->last_sample = sample;
}

PP_INLINE void cabe_on_delivery(struct pp_flow *flow, const struct pp_ack *ack)
{
	struct cabe *own = &flow->own;
	u64 elapsed_ns = pp_interval_add(&own->interval, ack->now_ns, ack->acked), bytes;

	own->begun = true;
	if (!elapsed_ns || !flow->srtt_ns || elapsed_ns < pp_most(flow->srtt_ns, CABE_LEAST_NS))
		return;
	bytes = pp_interval_restart(&own->interval, ack->now_ns);
	if (bytes)
		cabe_sample(own, bytes, elapsed_ns, flow->srtt_ns);
}

PP_INLINE struct pp_measure cabe_measure(const struct pp_flow *flow)
{
	const struct cabe *own = &flow->own;

	return (struct pp_measure){ .known = own->known, .rate = pp_div(own->bytes, own->time),
				    .min_rtt_ns = flow->min_rtt_ns,
				    .start_share = own->start_share };
}

PP_INLINE void cabe_on_loss(struct pp_flow *flow, const struct pp_loss *loss)
{
	struct pp_measure measure = cabe_measure(flow);

	pp_measured_on_loss(flow, &measure, loss);
}

PP_INLINE void cabe_on_timeout(struct pp_flow *flow, const struct pp_loss *loss)
{
	struct pp_measure measure = cabe_measure(flow);

	pp_measured_on_timeout(flow, &measure, loss);
	if (flow->own.begun)
		pp_interval_restart(&flow->own.interval, loss->now_ns);
}

PP_INLINE void cabe_on_idle_restart(struct pp_flow *flow)
{
	pp_interval_forget(&flow->own.interval);
}

#define PP_NAME cabe
#define PP_ON_ACK pp_linked_on_ack
#define PP_ON_LOSS(connection, flow, loss) cabe_on_loss(flow, loss)
#define PP_ON_TIMEOUT(connection, flow, loss) cabe_on_timeout(flow, loss)
#define PP_ON_DELIVERY cabe_on_delivery
#define PP_ON_IDLE_RESTART cabe_on_idle_restart

#include "register.h"
