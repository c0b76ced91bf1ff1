/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0 */
/*
 * The slow starts `standard`, `bess`, `css` and `hystart_pp` with the defaults of the registry,
 * after polypath-core's `slow_start/`. Of BESS and CSS that is without a threshold of the
 * connection to begin with, so that equation (5) of BESS does not occur.
 *
 * Error: growth of `standard` and `bess` is exact, that of `css` right to 60 * 2^-48, that of
 * `hystart_pp` to 2^-22 bytes. BESS and CSS leave by comparing sums that are right to 40 *
 * 2^-48: where they are equal to that, they may leave an ACK earlier or later than core.
 */
#ifndef PP_SLOW_START_H
#define PP_SLOW_START_H

#include "coupling.h"

/* What a slow start returns, beside a growth: leave it. */
#define PP_LEAVE (~0ULL)

/* RFC 9406 section 4.3. */
#define PP_MIN_RTT_THRESHOLD_NS 4000000ULL
#define PP_MAX_RTT_THRESHOLD_NS 16000000ULL
#define PP_RTT_SAMPLES 8
#define PP_CSS_ROUNDS 5
/* ACKs of a round after which BESS measures it. */
#define PP_BESS_ACKS 8

enum pp_phase {
	PP_FIRST,
	/* HyStart++: conservative slow start; CSS: the next ACK ends slow start. */
	PP_LEAVING,
	/* The first slow start is over. */
	PP_LATER,
};

PP_INLINE u64 pp_least_known(u64 before, u64 sample)
{
	return !sample || (before && before < sample) ? before : sample;
}

/* HyStart++: the rise of the RTT over that of the last round that counts. */
PP_INLINE u64 pp_rise_ns(u64 last_min_ns)
{
	u64 eighth = (last_min_ns + 4) / 8;

	return pp_most(pp_least(eighth, PP_MAX_RTT_THRESHOLD_NS), PP_MIN_RTT_THRESHOLD_NS);
}

PP_INLINE void pp_hystart_judge(struct pp_slow_start *state)
{
	u64 last = state->last_min_ns, round = state->round_min_ns;

	if (state->phase == PP_FIRST && last && round >= last + pp_rise_ns(last)) {
		state->phase = PP_LEAVING;
		state->base_ns = round;
		state->rounds = 0;
	} else if (state->phase == PP_LEAVING && round < state->base_ns) {
		state->phase = PP_FIRST;
	}
}

PP_INLINE u64 pp_hystart_on_ack(struct pp_flow *flow, const struct pp_ack *ack)
{
	struct pp_slow_start *state = &flow->slow_start;

	if (ack->rtt_ns) {
		state->round_min_ns = pp_least_known(state->round_min_ns, ack->rtt_ns);
		if (++state->samples >= PP_RTT_SAMPLES)
			pp_hystart_judge(state);
	}
	if (state->phase == PP_LEAVING && state->rounds >= PP_CSS_ROUNDS) {
		state->phase = PP_LATER;
		return PP_LEAVE;
	}
	return state->phase == PP_LEAVING ? pp_fixed(ack->acked) / 4 : pp_fixed(ack->acked);
}

PP_INLINE void pp_hystart_on_round(struct pp_slow_start *state)
{
	state->last_min_ns = state->round_min_ns;
	state->round_min_ns = 0;
	state->samples = 0;
	state->rounds++;
}

/* CSS: whether the connection sends as fast as one TCP would at the end of its slow start. */
PP_INLINE bool pp_css_is_reached(const struct pp_connection *connection)
{
	struct pp_totals totals = pp_totals(connection, PP_COUPLING_WINDOWS);
	u64 base_ns = 0;

	for (u32 i = 0; i < PP_FLOWS; i++) {
		if (connection->flows[i].used)
			base_ns = pp_least_known(base_ns, connection->flows[i].min_rtt_ns);
	}
	return connection->learned && base_ns &&
	       totals.rate >= pp_div(pp_bytes(connection->learned), pp_of(base_ns));
}

PP_INLINE void pp_css_leave(struct pp_connection *connection)
{
	for (u32 i = 0; i < PP_FLOWS; i++) {
		struct pp_flow *flow = &connection->flows[i];

		if (flow->used && pp_in_slow_start(flow) && flow->slow_start.phase == PP_FIRST)
			flow->slow_start.phase = PP_LEAVING;
	}
}

/* The share of its growth that a subflow keeps: max_i(w_i / rtt_i^2) / sum_i(w_i / rtt_i^2). */
PP_INLINE u64 pp_css_growth(const struct pp_connection *connection, const struct pp_flow *self,
			    u64 acked)
{
	pp_scaled_t best = 0, sum = 0;

	if (!pp_is_coupled(self))
		return pp_fixed(acked);
	for (u32 i = 0; i < PP_FLOWS; i++) {
		const struct pp_flow *flow = &connection->flows[i];
		pp_scaled_t term;

		if (!pp_is_coupled(flow))
			continue;
		term = pp_div(pp_bytes(pp_coupling_window(flow)), pp_square(pp_of(flow->srtt_ns)));
		best = pp_most(best, term);
		sum = pp_add(sum, term);
	}
	return pp_window_of(pp_mul(pp_of(acked), pp_div(best, sum)));
}

PP_INLINE u64 pp_css_on_ack(struct pp_connection *connection, struct pp_flow *flow,
			    const struct pp_ack *ack)
{
	if (flow->slow_start.phase == PP_LATER)
		return pp_fixed(ack->acked);
	if (pp_css_is_reached(connection))
		pp_css_leave(connection);
	if (flow->slow_start.phase == PP_LEAVING) {
		flow->slow_start.phase = PP_LATER;
		return PP_LEAVE;
	}
	return pp_css_growth(connection, flow, ack->acked);
}

/* The sum of the thresholds, if all subflows have one. */
PP_INLINE void pp_css_on_threshold(struct pp_connection *connection)
{
	u64 sum = 0;

	for (u32 i = 0; i < PP_FLOWS; i++) {
		const struct pp_flow *flow = &connection->flows[i];

		if (!flow->used)
			continue;
		if (flow->threshold == PP_INFINITE)
			return;
		/* Of 8 windows the sum fits if each counts for 2^37 bytes at most. */
		sum += pp_least(flow->threshold, PP_MAX_WINDOW / PP_FLOWS);
	}
	connection->learned = sum;
}

/* BESS equation (2) in bytes/ns; 0 while it is not known. */
PP_INLINE pp_scaled_t pp_train_rate(const struct pp_train *train)
{
	u64 length_ns = train->ended_ns - train->began_ns;

	if (!train->under_way || train->acks < PP_BESS_ACKS || !length_ns ||
	    train->sent < pp_most(train->acked, 1))
		return 0;
	return pp_ratio(train->sent, length_ns);
}

/* Whether a subflow is one of those whose pipes BESS adds up at an ACK on `self`. */
PP_INLINE bool pp_bess_counts(const struct pp_flow *flow, const struct pp_flow *self)
{
	const struct pp_slow_start *state = &flow->slow_start;
	bool limited = !state->was_idle || (state->train.under_way && state->train.acks);

	if (!flow->used || state->left || flow->window > flow->threshold)
		return false;
	return flow == self || (flow->usable && flow->in_flight && limited);
}

/* Equations (3) and (4): whether what is in flight fills the paths. */
PP_INLINE bool pp_bess_is_full(const struct pp_connection *connection, const struct pp_flow *self)
{
	u64 delay_ns = 0, in_flight = 0;
	pp_scaled_t sum = 0, rate;

	for (u32 i = 0; i < PP_FLOWS; i++) {
		const struct pp_flow *flow = &connection->flows[i];

		if (!pp_bess_counts(flow, self))
			continue;
		rate = pp_train_rate(&flow->slow_start.train);
		if (!rate || !flow->slow_start.min_delay_ns)
			return false;
		sum = pp_add(sum, rate);
		delay_ns = pp_most(delay_ns, flow->slow_start.min_delay_ns);
		in_flight += flow->in_flight;
	}
	return pp_of(in_flight) >= pp_mul(sum, pp_scaled(delay_ns, -1));
}

PP_INLINE u64 pp_bess_on_ack(struct pp_connection *connection, struct pp_flow *flow,
			     const struct pp_ack *ack)
{
	struct pp_slow_start *state = &flow->slow_start;

	state->min_delay_ns = pp_least_known(state->min_delay_ns, ack->rtt_ns);
	if (state->train.under_way) {
		state->train.ended_ns = ack->now_ns;
		state->train.acks++;
		state->train.acked += ack->acked;
	}
	if (!state->left && pp_bess_is_full(connection, flow)) {
		state->left = true;
		return PP_LEAVE;
	}
	return pp_fixed(ack->acked);
}

PP_INLINE void pp_bess_on_round(struct pp_flow *flow, u64 now_ns)
{
	struct pp_slow_start *state = &flow->slow_start;

	state->was_idle = state->train.under_way && !state->train.acks;
	state->left = state->left || flow->window > flow->threshold;
	state->train = (struct pp_train){ .began_ns = now_ns, .ended_ns = now_ns,
					  .under_way = !state->left };
}

/* Growth for an ACK in slow start, or PP_LEAVE. */
PP_INLINE u64 pp_slow_start_on_ack(struct pp_connection *connection, struct pp_flow *flow,
				   const struct pp_ack *ack)
{
	switch (connection->slow_start) {
	case PP_BESS:
		return pp_bess_on_ack(connection, flow, ack);
	case PP_CSS:
		return pp_css_on_ack(connection, flow, ack);
	case PP_HYSTART_PP:
		return pp_hystart_on_ack(flow, ack);
	default:
		return pp_fixed(ack->acked);
	}
}

PP_INLINE void pp_slow_start_on_round(struct pp_connection *connection, struct pp_flow *flow,
				      u64 now_ns)
{
	if (connection->slow_start == PP_BESS)
		pp_bess_on_round(flow, now_ns);
	if (connection->slow_start == PP_HYSTART_PP)
		pp_hystart_on_round(&flow->slow_start);
}

PP_INLINE void pp_slow_start_on_sent(struct pp_flow *flow, u64 bytes)
{
	if (flow->slow_start.train.under_way)
		flow->slow_start.train.sent += bytes;
}

/* A loss ends slow start, if the subflow is in it. */
PP_INLINE void pp_slow_start_on_congestion(const struct pp_connection *connection,
					   struct pp_flow *flow)
{
	if (connection->slow_start != PP_BESS && pp_in_slow_start(flow))
		flow->slow_start.phase = PP_LATER;
}

PP_INLINE void pp_slow_start_on_timeout(const struct pp_connection *connection,
					struct pp_flow *flow)
{
	if (connection->slow_start == PP_BESS)
		flow->slow_start = (struct pp_slow_start){};
	else
		flow->slow_start.phase = PP_LATER;
}

/* A loss or a timeout has set threshold and window. */
PP_INLINE void pp_slow_start_on_threshold(struct pp_connection *connection, struct pp_flow *flow)
{
	if (connection->slow_start == PP_CSS)
		pp_css_on_threshold(connection);
	if (connection->slow_start == PP_BESS && flow->window >= flow->threshold)
		flow->slow_start.left = true;
}

#endif
