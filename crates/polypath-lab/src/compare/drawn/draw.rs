//! Values of a seed.

use polypath_link::RunSeed;

/// A range of values, both ends in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range(pub f64, pub f64);

/// Values that a seed, the number of a profile and a stream decide: those of one profile depend
/// on no other one. The numbers are outputs of SplitMix64, the functions those of `libm`, so that
/// they are the same on every machine.
#[derive(Clone, Debug)]
pub(crate) struct Draw {
    seed: RunSeed,
    next: u64,
}

/// A number of 53 random bits times this is below 1.
const STEP: f64 = 1.0 / (1_u64 << 53) as f64;

impl Draw {
    /// The values of profile `number`. Each `stream` has 2^32 values of its own.
    pub(crate) const fn new(seed: u64, number: u32, stream: u32) -> Self {
        Self { seed: RunSeed::new(seed, number as u64), next: (stream as u64) << 32 }
    }

    /// Uniform in [0, 1).
    fn unit(&mut self) -> f64 {
        let bits = self.seed.stream(self.next);
        self.next += 1;
        (bits >> 11) as f64 * STEP
    }

    /// Uniform in the range.
    pub(crate) fn even(&mut self, Range(least, most): Range) -> f64 {
        rounded(least + (most - least) * self.unit())
    }

    /// Evenly spread over the orders of magnitude of the range.
    pub(crate) fn scaled(&mut self, Range(least, most): Range) -> f64 {
        rounded(least * libm::exp(libm::log(most / least) * self.unit()))
    }

    /// A whole number from `least` to `most`.
    pub(crate) fn whole(&mut self, least: u32, most: u32) -> u32 {
        least + (f64::from(most - least + 1) * self.unit()) as u32
    }

    /// One of these.
    pub(crate) fn one_of<T: Copy, const N: usize>(&mut self, choices: [T; N]) -> T {
        choices[((N as f64 * self.unit()) as usize).min(N - 1)]
    }

    /// True with this probability.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }
}

/// Two significant digits, as a person would write it. Ranges whose ends have no more keep their
/// values, since rounding is monotone.
pub(crate) fn rounded(value: f64) -> f64 {
    format!("{value:.1e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_two_digits_and_stay_in_their_range() {
        assert_eq!([rounded(123.4), rounded(0.001_26), rounded(7.0)], [120.0, 0.0013, 7.0]);
        let mut draw = Draw::new(1, 2, 3);
        for _ in 0..1_000 {
            assert!((2.0..=800.0).contains(&draw.scaled(Range(2.0, 800.0))));
            assert!((0.25..=4.0).contains(&draw.even(Range(0.25, 4.0))));
            assert!((2..=4).contains(&draw.whole(2, 4)));
        }
    }

    /// Half of the values of a log-uniform draw lie below the geometric mean of its range: of
    /// 1,000 so many within four standard deviations, which are 16 each.
    #[test]
    fn orders_of_magnitude_are_equally_likely() {
        let mut draw = Draw::new(7, 0, 0);
        let below = (0..1_000).filter(|_| draw.scaled(Range(1.0, 100.0)) < 10.0).count();
        assert!((436..=564).contains(&below), "{below}");
    }
}
