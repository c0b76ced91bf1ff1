/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0 */
/* Types and attributes for both worlds: BPF, and user space, where tests run the decisions. */
#ifndef PP_TYPES_H
#define PP_TYPES_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;

#define bool _Bool
#define true 1
#define false 0

#define PP_INLINE static inline __attribute__((always_inline, unused))

/*
 * Arithmetic on scalars. In BPF it is global, so that the verifier checks it once and not at each
 * of the hundred places that use it.
 */
#ifdef __bpf__
#define PP_ARITHMETIC __attribute__((noinline))
#else
#define PP_ARITHMETIC static __attribute__((unused))
#endif

/*
 * A step of a decision, global in BPF for the same reason: paths through one step and the next then
 * add up and do not multiply. The verifier gives it pointers that may be null.
 */
#ifdef __bpf__
#define PP_STEP __attribute__((noinline))
#else
#define PP_STEP static
#endif

PP_INLINE u64 pp_least(u64 a, u64 b)
{
	return a < b ? a : b;
}

PP_INLINE u64 pp_most(u64 a, u64 b)
{
	return a > b ? a : b;
}

#endif
