/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0 */
/* Bytes acknowledged over an interval of the caller's choice. No arithmetic that rounds. */
#ifndef PP_INTERVAL_H
#define PP_INTERVAL_H

#include "types.h"

struct pp_interval {
	u64 from_ns;
	u64 bytes;
	bool under_way;
	/* Whether another one ended where it began: what arrives at that instant then belongs to it. */
	bool follows;
};

/* Counts an ACK and returns the time since the beginning; 0 before any has passed. */
PP_INLINE u64 pp_interval_add(struct pp_interval *interval, u64 now_ns, u64 acked)
{
	bool later;

	if (!interval->under_way) {
		interval->under_way = true;
		interval->from_ns = now_ns;
	}
	later = now_ns > interval->from_ns;
	if (later || interval->follows)
		interval->bytes += acked;
	return later ? now_ns - interval->from_ns : 0;
}

/* Begins the next one and returns the bytes of this one. */
PP_INLINE u64 pp_interval_restart(struct pp_interval *interval, u64 now_ns)
{
	u64 bytes = interval->bytes;

	*interval = (struct pp_interval){ .from_ns = now_ns, .under_way = true, .follows = true };
	return bytes;
}

PP_INLINE void pp_interval_forget(struct pp_interval *interval)
{
	*interval = (struct pp_interval){};
}

#endif
