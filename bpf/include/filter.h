/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0 */
/*
 * The estimator of Westwood: a sample for each ACK, through a filter (Mascolo et al., Mobicom 2001,
 * section 2.1; polypath-core's `estimator/bandwidth/{westwood,filter}.rs`). Rates in bytes/ns.
 *
 *	fixed pole	B = 0.9 B + 0.1 b
 *	Tustin		B = a B + (1 - a) (b + b_before) / 2,	a = (1 s - dt) / (1 s + dt), at least 0;
 *			each 0.25 s of silence is a sample of zero
 *
 * Error: a step adds 2^-46 of B and keeps a of what was wrong before, so that B is right to
 * 2^-46 / (1 - a). The fixed pole: 1.5e-13. Tustin, where ACKs are 1 us apart: 1 - a = 2e-6, and
 * 7e-9; 1 ns apart: 7e-6. With mantissas of 32 bits the latter would be 47 %. 1 - a is calculated
 * as 2 dt / (1 s + dt), without cancellation.
 */
#ifndef PP_FILTER_H
#define PP_FILTER_H

#include "scaled.h"

/* Twice the time constant of 0.5 s. */
#define PP_TWICE_CUTOFF_NS 1000000000ULL
/* The time constant by two. */
#define PP_SILENCE_NS 250000000ULL
/* 0.6 to this power is 1e-57, and counts as that of more periods as well. */
#define PP_MOST_SILENCES 256

enum pp_filter_kind { PP_FIXED_POLE, PP_TUSTIN };

struct pp_filtered {
	pp_scaled_t estimate;
	pp_scaled_t sample;
	/* 1 at first. */
	pp_scaled_t start_share;
};

/* Bytes acknowledged from one time to another, not yet filtered. */
struct pp_filter {
	struct pp_filtered before;
	u64 from_ns;
	u64 to_ns;
	u64 bytes;
	bool begun;
};

struct pp_weights {
	pp_scaled_t old;
	pp_scaled_t new;
};

PP_INLINE struct pp_weights pp_weights(enum pp_filter_kind kind, u64 interval_ns)
{
	u64 sum = PP_TWICE_CUTOFF_NS + interval_ns;

	if (kind == PP_FIXED_POLE)
		return (struct pp_weights){ pp_ratio(9, 10), pp_ratio(1, 10) };
	if (interval_ns >= PP_TWICE_CUTOFF_NS)
		return (struct pp_weights){ 0, pp_of(1) };
	return (struct pp_weights){ pp_ratio(PP_TWICE_CUTOFF_NS - interval_ns, sum),
				    pp_ratio(2 * interval_ns, sum) };
}

PP_INLINE void pp_filter_step(enum pp_filter_kind kind, struct pp_filtered *state,
			      pp_scaled_t sample, u64 interval_ns)
{
	struct pp_weights weights = pp_weights(kind, interval_ns);
	pp_scaled_t input = sample;

	if (kind == PP_TUSTIN)
		input = pp_mul(pp_add(sample, state->sample), pp_scaled(1, -1));
	state->estimate = pp_add(pp_mul(weights.old, state->estimate), pp_mul(weights.new, input));
	state->sample = sample;
	state->start_share = pp_mul(weights.old, state->start_share);
}

/* The filter with the sample that is not in it yet. */
PP_INLINE struct pp_filtered pp_filtered(enum pp_filter_kind kind, const struct pp_filter *filter)
{
	struct pp_filtered state = filter->before;
	u64 interval_ns = filter->to_ns - filter->from_ns;

	if (!filter->begun)
		state.start_share = pp_of(1);
	else if (interval_ns)
		pp_filter_step(kind, &state, pp_ratio(filter->bytes, interval_ns), interval_ns);
	return state;
}

/* 0.6^count: what a silence of so many periods leaves. */
PP_ARITHMETIC pp_scaled_t pp_silence_leaves(u64 count)
{
	pp_scaled_t power = pp_of(1), factor = pp_ratio(6, 10);

	for (u32 bit = 0; bit < 9; bit++) {
		if (count >> bit & 1)
			power = pp_mul(power, factor);
		factor = pp_square(factor);
	}
	return power;
}

/* Feeds zeros for what was silent before `now_ns`. */
PP_INLINE void pp_filter_on_silence(enum pp_filter_kind kind, struct pp_filter *filter, u64 now_ns)
{
	struct pp_filtered state;
	pp_scaled_t rest, kept;
	u64 count, end_ns;

	if (kind != PP_TUSTIN || !filter->begun || now_ns <= filter->to_ns)
		return;
	/* What arrives at the end of a period ends the silence. */
	count = (now_ns - filter->to_ns - 1) / PP_SILENCE_NS;
	if (!count)
		return;
	end_ns = filter->to_ns + count * PP_SILENCE_NS;
	state = pp_filtered(kind, filter);
	rest = pp_silence_leaves(pp_least(count - 1, PP_MOST_SILENCES));
	kept = pp_mul(pp_sub(pp_of(1), state.start_share), pp_mul(pp_ratio(6, 10), rest));
	pp_filter_step(kind, &state, 0, PP_SILENCE_NS);
	state.estimate = pp_mul(state.estimate, rest);
	state.start_share = pp_sub(pp_of(1), kept);
	*filter = (struct pp_filter){
		.before = state, .from_ns = end_ns, .to_ns = end_ns, .begun = true
	};
}

PP_INLINE void pp_filter_on_ack(enum pp_filter_kind kind, struct pp_filter *filter, u64 now_ns,
				u64 acked)
{
	u64 from_ns;

	pp_filter_on_silence(kind, filter, now_ns);
	if (filter->begun && now_ns <= filter->to_ns) {
		filter->bytes += acked;
		return;
	}
	from_ns = filter->begun ? filter->to_ns : now_ns;
	*filter = (struct pp_filter){ .before = pp_filtered(kind, filter), .from_ns = from_ns,
				      .to_ns = now_ns, .bytes = acked, .begun = true };
}

#endif
