/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0 */
/*
 * Non-negative numbers of any size in 64 bits: what the formulas need, whose terms go from 1e-10
 * (growth of a window for an ACK) to 1e34 (squared rates), where BPF has neither floating point nor
 * 128-bit integers.
 *
 *	bits 63..48	e + 32768
 *	bits 47..0	m, bit 47 set		value = m * 2^e;  all bits 0: zero
 *
 * Values are normalised, so that they compare as the words do.
 *
 * Error of one operation, relative to its result. All round to nearest at the end, which is half of
 * the last place of m >= 2^47:
 *
 *	pp_scaled, pp_add	2^-48 (+ 2^-61 for what a shift drops)
 *	pp_mul			2^-48 + 2^-59 (three partial products are truncated)
 *	pp_div			2^-47 (the quotient of 48 or 49 bits is rounded, then fitted)
 *	pp_sub			2^-48 of the larger operand: cancellation is the caller's to weigh
 *
 * Below 2^-32720 a value is zero and above 2^32814 the largest one. Estimates that decay for ever
 * get to the former, nothing gets to the latter (the largest term is below 2^160).
 */
#ifndef PP_SCALED_H
#define PP_SCALED_H

#include "types.h"

typedef u64 pp_scaled_t;

#define PP_MANTISSA_BITS 48
#define PP_MANTISSA_MASK ((1ULL << PP_MANTISSA_BITS) - 1)
#define PP_BIAS 32768
#define PP_SCALED_MAX (~0ULL)
/* Bits below the last place while numbers are added. */
#define PP_GUARD_BITS 14

PP_INLINE u64 pp_mantissa(pp_scaled_t a)
{
	return a & PP_MANTISSA_MASK;
}

PP_INLINE s32 pp_exponent(pp_scaled_t a)
{
	return (s32)(a >> PP_MANTISSA_BITS) - PP_BIAS;
}

/* The place of the highest bit of `v`, which is not 0. */
PP_ARITHMETIC s32 pp_highest_bit(u64 v)
{
	s32 n = 0;

	for (s32 step = 32; step > 0; step >>= 1) {
		if (v >> step) {
			v >>= step;
			n += step;
		}
	}
	return n;
}

/* m * 2^e. */
PP_ARITHMETIC pp_scaled_t pp_scaled(u64 m, s32 e)
{
	s32 shift;

	if (!m)
		return 0;
	shift = pp_highest_bit(m) - (PP_MANTISSA_BITS - 1);
	if (shift > 0 && shift < 64) {
		m = (m >> shift) + ((m >> (shift - 1)) & 1);
		if (m >> PP_MANTISSA_BITS) {
			m >>= 1;
			shift++;
		}
	} else {
		m <<= -shift & 63;
	}
	e += shift + PP_BIAS;
	if (e <= 0)
		return 0;
	if (e > 0xffff)
		return PP_SCALED_MAX;
	return (u64)e << PP_MANTISSA_BITS | (m & PP_MANTISSA_MASK);
}

PP_ARITHMETIC pp_scaled_t pp_mul(pp_scaled_t a, pp_scaled_t b)
{
	u64 a_high = pp_mantissa(a) >> 24, a_low = a & 0xffffff;
	u64 b_high = pp_mantissa(b) >> 24, b_low = b & 0xffffff;
	u64 product;

	if (!a || !b)
		return 0;
	product = (a_high * b_high << 14) + ((a_high * b_low + a_low * b_high) >> 10) +
		  (a_low * b_low >> 34);
	return pp_scaled(product, pp_exponent(a) + pp_exponent(b) + 34);
}

/* Division by zero gives the largest number. */
PP_ARITHMETIC pp_scaled_t pp_div(pp_scaled_t a, pp_scaled_t b)
{
	u64 divisor = pp_mantissa(b), rest = pp_mantissa(a), quotient;

	if (!a)
		return 0;
	if (!divisor)
		return PP_SCALED_MAX;
	quotient = rest / divisor;
	rest %= divisor;
	for (s32 digit = 0; digit < 3; digit++) {
		rest <<= 16;
		quotient = quotient << 16 | rest / divisor;
		rest %= divisor;
	}
	quotient += 2 * rest >= divisor;
	return pp_scaled(quotient, pp_exponent(a) - pp_exponent(b) - 48);
}

/* What of `small` counts beside `large`, with guard bits. */
PP_INLINE u64 pp_aligned(pp_scaled_t large, pp_scaled_t small)
{
	s32 distance = pp_exponent(large) - pp_exponent(small);

	return distance < 0 || distance > 62 ? 0 : pp_mantissa(small) << PP_GUARD_BITS >> distance;
}

PP_ARITHMETIC pp_scaled_t pp_add(pp_scaled_t a, pp_scaled_t b)
{
	pp_scaled_t large = pp_most(a, b), small = pp_least(a, b);

	if (!small)
		return large;
	return pp_scaled((pp_mantissa(large) << PP_GUARD_BITS) + pp_aligned(large, small),
			 pp_exponent(large) - PP_GUARD_BITS);
}

/* a - b, or zero if b is larger. */
PP_ARITHMETIC pp_scaled_t pp_sub(pp_scaled_t a, pp_scaled_t b)
{
	if (a <= b)
		return 0;
	if (!b)
		return a;
	return pp_scaled((pp_mantissa(a) << PP_GUARD_BITS) - pp_aligned(a, b),
			 pp_exponent(a) - PP_GUARD_BITS);
}

/* floor(a * 2^fraction_bits), at most the largest integer. */
PP_ARITHMETIC u64 pp_floor(pp_scaled_t a, s32 fraction_bits)
{
	s32 shift = pp_exponent(a) + fraction_bits;

	if (!a || shift < -PP_MANTISSA_BITS)
		return 0;
	if (shift < 0)
		return pp_mantissa(a) >> (-shift & 63);
	return shift > 16 ? ~0ULL : pp_mantissa(a) << shift;
}

/* The same rounded to the nearest integer. */
PP_ARITHMETIC u64 pp_nearest(pp_scaled_t a, s32 fraction_bits)
{
	u64 twice = pp_floor(a, fraction_bits + 1);

	return (twice >> 1) + (twice & 1);
}

/* An integer; exact below 2^48. */
PP_INLINE pp_scaled_t pp_of(u64 integer)
{
	return pp_scaled(integer, 0);
}

/* a / b of integers. */
PP_INLINE pp_scaled_t pp_ratio(u64 a, u64 b)
{
	return pp_div(pp_of(a), pp_of(b));
}

PP_INLINE pp_scaled_t pp_square(pp_scaled_t a)
{
	return pp_mul(a, a);
}

PP_INLINE pp_scaled_t pp_distance(pp_scaled_t a, pp_scaled_t b)
{
	return pp_sub(pp_most(a, b), pp_least(a, b));
}

#endif
