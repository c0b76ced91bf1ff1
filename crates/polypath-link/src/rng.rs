//! The random numbers of a link.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{RngCore, SeedableRng};
use std::time::Duration;

/// A number of 53 random bits times this is below 1.
const STEP: f64 = 1.0 / (1_u64 << 53) as f64;

/// A seeded stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Random(Pcg64Mcg);

impl Random {
    /// `N` independent streams from one seed, so that a setting which draws more numbers
    /// (jitter) does not change another one's outcome (loss).
    pub(crate) fn streams<const N: usize>(seed: u64) -> [Self; N] {
        let mut parent = Pcg64Mcg::seed_from_u64(seed);
        core::array::from_fn(|_| Self(Pcg64Mcg::from_rng(&mut parent)))
    }

    /// A stream that does not depend on the numbers that this one draws from now on.
    pub(crate) fn fork(&mut self) -> Self {
        Self(Pcg64Mcg::from_rng(&mut self.0))
    }

    /// Any number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// True with this probability; never at 0, always at 1.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        ((self.0.next_u64() >> 11) as f64 * STEP) < probability
    }

    /// Uniform in (0, 1], in steps of 2^-53: its logarithm is finite.
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 * STEP
    }

    /// Exponential with mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -libm::log(self.uniform())
    }

    /// Normal with mean 0 and standard deviation 1 (Box and Muller, Ann. Math. Statist. 29, 1958).
    /// Logarithm and cosine are those of `libm`: the platform's differ in their last bits.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(self.uniform()));
        radius * libm::cos(core::f64::consts::TAU * self.uniform())
    }

    /// Uniform in [0, `limit`], in whole nanoseconds.
    pub(crate) fn up_to(&mut self, limit: Duration) -> Duration {
        let choices = limit.as_nanos().saturating_add(1).min(u128::from(u64::MAX));
        let nanos = (u128::from(self.0.next_u64()) * choices) >> 64;
        Duration::from_nanos(nanos as u64)
    }
}
