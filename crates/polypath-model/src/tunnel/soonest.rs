//! The least of some numbers that change one at a time.

/// How many are compared together.
const GROUP: usize = 8;

/// Room for `N` numbers, a multiple of [`GROUP`], and the least of them. All are compared only
/// where the least one is replaced.
#[derive(Debug)]
pub(super) struct Soonest<const N: usize> {
    numbers: [u64; N],
    least: u64,
}

/// Compilers turn a plain search for the least of a few `u64` into vector code that is several
/// times slower than this: x86-64 has no such minimum, and vectors are read while their parts are
/// still being written.
#[inline]
fn least_of(&[a, b, c, d, e, f, g, h]: &[u64; GROUP]) -> u64 {
    a.min(b).min(c.min(d)).min(e.min(f).min(g.min(h)))
}

impl<const N: usize> Soonest<N> {
    /// Stands for no number.
    pub(super) const NONE: u64 = u64::MAX;

    pub(super) const fn new() -> Self {
        Self { numbers: [Self::NONE; N], least: Self::NONE }
    }

    pub(super) const fn least(&self) -> u64 {
        self.least
    }

    pub(super) const fn has(&self, index: usize) -> bool {
        self.numbers[index % N] != Self::NONE
    }

    /// Puts a number where there is none.
    #[inline]
    pub(super) fn add(&mut self, index: usize, number: u64) {
        self.numbers[index % N] = number;
        self.least = self.least.min(number);
    }

    /// Puts a number, or none, in the place of the least.
    #[inline]
    pub(super) fn replace_least(&mut self, index: usize, number: u64) {
        self.numbers[index % N] = number;
        let groups = self.numbers.as_chunks().0;
        self.least = groups.iter().map(least_of).fold(Self::NONE, u64::min);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_core::random::SplitMix64;

    fn holds_the_least<const N: usize>() {
        let mut random = SplitMix64::new(7);
        let (mut soonest, mut plain) = (Soonest::<N>::new(), [Soonest::<N>::NONE; N]);
        for _ in 0..1_000 {
            let (index, number) = (random.below(N as u64) as usize, random.below(1_000));
            assert_eq!(soonest.has(index), plain[index] != Soonest::<N>::NONE);
            if !soonest.has(index) {
                soonest.add(index, number);
                plain[index] = number;
            } else if plain[index] == soonest.least() {
                let next = if number < 500 { Soonest::<N>::NONE } else { number };
                soonest.replace_least(index, next);
                plain[index] = next;
            }
            assert_eq!(Some(&soonest.least()), plain.iter().min(), "{N}");
        }
    }

    #[test]
    fn the_least_is_that_of_all() {
        holds_the_least::<8>();
        holds_the_least::<64>();
    }
}
