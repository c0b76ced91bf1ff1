// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0
// OLIA, the opportunistic linked increases of MPTCP (Khalili et al., CoNEXT 2012;
// draft-khalili-mptcp-congestion-control-05): polypath-core's `congestion/olia.rs`.
//
// Windows are compared in whole segments and qualities to 2^-46: where a window is within 2^-23
// bytes of a whole segment, or two qualities are as close as that, one ACK may grow otherwise.

#include "types.h"

// Bytes acknowledged between losses.
struct olia_distance {
	u64 last;
	u64 present;
	// `last` before the last loss, for when that proves spurious.
	u64 before;
	bool undoable;
};

#define PP_PRIVATE struct olia_distance
#include "coupling.h"

// l / rtt^2
PP_INLINE pp_scaled_t olia_quality(const struct pp_flow *flow)
{
	u64 longest = pp_most(flow->own.last, flow->own.present);

	return pp_div(pp_of(longest), pp_square(pp_of(flow->srtt_ns)));
}

PP_INLINE u64 olia_segments(const struct pp_flow *flow)
{
	return flow->mss ? (pp_coupling_window(flow) / flow->mss) >> PP_FRACTION_BITS : 0;
}

// The largest window in segments and the best quality.
struct olia_leaders {
	u64 segments;
	pp_scaled_t quality;
};

enum olia_role { OLIA_OTHER, OLIA_LARGEST_WINDOW, OLIA_COLLECTED };

PP_INLINE enum olia_role olia_role(const struct pp_flow *flow, const struct olia_leaders *leaders)
{
	if (olia_segments(flow) >= leaders->segments)
		return OLIA_LARGEST_WINDOW;
	return olia_quality(flow) >= leaders->quality ? OLIA_COLLECTED : OLIA_OTHER;
}

PP_INLINE struct olia_leaders olia_leaders(const struct pp_connection *connection)
{
	struct olia_leaders leaders = {};

	for (u32 i = 0; i < PP_FLOWS; i++) {
		const struct pp_flow *flow = &connection->flows[i];

		if (!pp_is_coupled(flow))
			continue;
		leaders.segments = pp_most(leaders.segments, olia_segments(flow));
		leaders.quality = pp_most(leaders.quality, olia_quality(flow));
	}
	return leaders;
}

// How many subflows take part, and are in each of the two sets.
struct olia_sets {
	u32 all;
	u32 largest;
	u32 collected;
};

PP_INLINE struct olia_sets olia_sets(const struct pp_connection *connection,
				     const struct olia_leaders *leaders)
{
	struct olia_sets sets = {};

	for (u32 i = 0; i < PP_FLOWS; i++) {
		const struct pp_flow *flow = &connection->flows[i];
		enum olia_role role;

		if (!pp_is_coupled(flow))
			continue;
		role = olia_role(flow, leaders);
		sets.all++;
		sets.largest += role == OLIA_LARGEST_WINDOW;
		sets.collected += role == OLIA_COLLECTED;
	}
	return sets;
}

PP_INLINE void olia_grow(const struct pp_connection *connection, struct pp_flow *flow,
			 const struct pp_ack *ack)
{
	struct pp_totals totals = pp_totals(connection, PP_COUPLING_WINDOWS);
	struct olia_leaders leaders = olia_leaders(connection);
	struct olia_sets sets = olia_sets(connection, &leaders);
	enum olia_role role = olia_role(flow, &leaders);
	u32 members = role == OLIA_COLLECTED ? sets.collected : sets.largest;
	pp_scaled_t acked = pp_acked(flow, ack), window = pp_bytes(flow->window), moved = 0;
	pp_scaled_t linked = pp_div(window, pp_square(pp_mul(pp_of(flow->srtt_ns), totals.rate)));

	if (role != OLIA_OTHER && sets.collected)
		moved = pp_div(pp_ratio(1, sets.all * members), window);
	linked = pp_mul(acked, linked);
	moved = pp_mul(acked, moved);
	if (role == OLIA_COLLECTED)
		pp_change(flow, pp_add(linked, moved), 0);
	else
		pp_change(flow, pp_sub(linked, moved), pp_sub(moved, linked));
}

PP_INLINE void olia_on_ack(struct pp_connection *connection, struct pp_flow *flow,
			   const struct pp_ack *ack)
{
	if (!pp_may_grow(flow, ack))
		return;
	if (pp_is_coupled(flow))
		olia_grow(connection, flow, ack);
	else
		pp_change(flow, pp_reno_increase(flow, ack), 0);
}

PP_INLINE void olia_on_delivery(struct pp_flow *flow, const struct pp_ack *ack)
{
	flow->own.present += ack->acked;
}

// Nothing was acknowledged since the last loss: this is the same one.
PP_INLINE void olia_note_loss(struct olia_distance *distance)
{
	if (!distance->present)
		return;
	distance->before = distance->last;
	distance->undoable = true;
	distance->last = distance->present;
	distance->present = 0;
}

PP_INLINE void olia_on_loss(struct pp_connection *connection, struct pp_flow *flow,
			    const struct pp_loss *loss)
{
	olia_note_loss(&flow->own);
	pp_lower_threshold(connection, flow, flow->window / 2);
	flow->window = flow->threshold;
}

// A timeout in the recovery of a loss is not another one.
PP_INLINE void olia_on_timeout(struct pp_connection *connection, struct pp_flow *flow,
			       const struct pp_loss *loss)
{
	if (!flow->in_recovery)
		olia_note_loss(&flow->own);
	pp_lower_threshold(connection, flow, flow->window / 2);
	flow->window = pp_segments(flow, 1);
}

PP_INLINE void olia_on_spurious_loss(struct pp_flow *flow)
{
	struct olia_distance *distance = &flow->own;

	if (!distance->undoable)
		return;
	distance->present += distance->last;
	distance->last = distance->before;
	distance->undoable = false;
}

#define PP_NAME olia
#define PP_ON_ACK olia_on_ack
#define PP_ON_LOSS olia_on_loss
#define PP_ON_TIMEOUT olia_on_timeout
#define PP_ON_DELIVERY olia_on_delivery
#define PP_ON_SPURIOUS_LOSS olia_on_spurious_loss
#define PP_LEAST_SEGMENTS 1

#include "register.h"
