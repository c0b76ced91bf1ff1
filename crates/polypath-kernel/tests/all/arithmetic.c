// The operations of scaled.h on pairs of numbers: reads a, a's exponent, b, b's exponent; writes
// the sum, the difference, the product, the quotient, and a and b as integers of 22 fraction bits,
// rounded to nearest and down.

#include "scaled.h"
#include <stdio.h>

struct pair {
	u64 a;
	s32 a_exponent;
	u64 b;
	s32 b_exponent;
};

int main(void)
{
	struct pair pair;

	while (fread(&pair, sizeof(pair), 1, stdin) == 1) {
		pp_scaled_t a = pp_scaled(pair.a, pair.a_exponent);
		pp_scaled_t b = pp_scaled(pair.b, pair.b_exponent);
		u64 results[] = { pp_add(a, b), pp_sub(a, b), pp_mul(a, b), pp_div(a, b),
				  pp_nearest(a, 22), pp_floor(b, 22) };

		if (fwrite(results, sizeof(results), 1, stdout) != 1)
			return 1;
	}
	return fflush(stdout) ? 1 : 0;
}
