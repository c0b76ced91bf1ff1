//! Random numbers that are equal on every machine.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{RngCore, SeedableRng};

/// A seeded stream of random numbers. Logarithms and their like come from `libm`: those of the
/// platform differ in their last bits.
#[derive(Clone, Debug)]
pub struct Random(Pcg64Mcg);

impl Random {
    /// A stream; equal seeds give equal numbers.
    pub fn new(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    /// Uniform in (0, 1], in steps of 2^-53: its logarithm is finite.
    pub fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// A whole number from 0 to `limit`, all as likely (to 2^-64 times their number).
    pub fn up_to(&mut self, limit: u64) -> u64 {
        let choices = u128::from(limit) + 1;
        ((u128::from(self.0.next_u64()) * choices) >> 64) as u64
    }

    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(self.uniform())
    }

    /// Normal with mean 0 and standard deviation 1 (Box and Muller, Ann. Math. Statist. 29, 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(2.0 * self.exponential());
        radius * libm::cos(core::f64::consts::TAU * self.uniform())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean of `count` draws.
    fn mean(count: u32, mut draw: impl FnMut() -> f64) -> f64 {
        (0..count).map(|_| draw()).sum::<f64>() / f64::from(count)
    }

    /// Bounds are five standard errors: of 10^5 draws of variance v, 5 sqrt(v / 10^5).
    #[test]
    fn moments_are_those_of_the_distributions() {
        let mut random = Random::new(1);
        let near = |name: &str, found: f64, expected: f64, variance: f64| {
            let bound = 5.0 * (variance / 1e5_f64).sqrt();
            assert!((found - expected).abs() < bound, "{name}: {found} for {expected}");
        };
        near("uniform", mean(100_000, || random.uniform()), 0.5, 1.0 / 12.0);
        near("up to 9", mean(100_000, || random.up_to(9) as f64), 4.5, 8.25);
        near("exponential", mean(100_000, || random.exponential()), 1.0, 1.0);
        // Moments of the exponential: E x^2 = 2, E x^4 = 24. Of the normal: 1, 3, 15.
        near("its square", mean(100_000, || random.exponential().powi(2)), 2.0, 20.0);
        near("normal", mean(100_000, || random.normal()), 0.0, 1.0);
        near("its square", mean(100_000, || random.normal().powi(2)), 1.0, 2.0);
        near("its fourth power", mean(100_000, || random.normal().powi(4)), 3.0, 96.0);
    }

    /// Written down once: another machine, or another version of a dependency, gives the same.
    #[test]
    fn the_numbers_are_fixed() {
        let mut random = Random::new(7);
        let bits = [random.uniform(), random.exponential(), random.normal()].map(f64::to_bits);
        let fixed =
            [4_604_389_262_984_645_410, 4_604_857_207_749_477_346, 4_609_285_210_220_777_482];
        assert_eq!(bits, fixed);
        let whole = [99, 0, u64::MAX].map(|limit| random.up_to(limit));
        assert_eq!(whole, [29, 0, 3_984_325_674_117_797_042]);
    }
}
