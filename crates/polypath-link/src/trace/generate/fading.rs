//! Gamma-distributed factors.

use crate::rng::Random;
use std::time::Duration;

/// A factor of mean 1 that varies as the power of a Nakagami channel does (Nakagami, "The
/// m-distribution", 1960): the mean of `components` squared standard normal processes, each
/// autoregressive of first order (an Ornstein-Uhlenbeck process, sampled).
///
/// Its distribution is a gamma distribution of shape `components / 2` (Nakagami's m), its
/// coefficient of variation sqrt(2 / `components`), its autocorrelation at lag h
/// exp(-h / `correlation`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fading {
    /// How many Gaussian components: 2 is Rayleigh fading, many are none.
    pub components: u32,
    /// After this time the autocorrelation has fallen to 1/e.
    pub correlation: Duration,
}

impl Fading {
    /// E[X(t) X(t + lag)] / E[X]^2.
    pub(super) fn product(&self, lag: Duration) -> f64 {
        let variance = 2.0 / f64::from(self.components);
        1.0 + variance * decay(lag, self.correlation)
    }

    /// The process, stationary from the start.
    pub(super) fn start(&self, step: Duration, random: Random) -> Process {
        // A square's correlation is the square of its root's.
        let keep = libm::sqrt(decay(step, self.correlation));
        let mut process = Process { keep, random, roots: vec![0.0; self.components as usize] };
        process.roots.fill_with(|| process.random.normal());
        process
    }
}

/// exp(-`lag` / `correlation`).
fn decay(lag: Duration, correlation: Duration) -> f64 {
    libm::exp(-lag.as_secs_f64() / correlation.as_secs_f64())
}

/// A [`Fading`] in time.
pub(super) struct Process {
    /// The correlation of a root with itself a step later.
    keep: f64,
    random: Random,
    roots: Vec<f64>,
}

impl Process {
    /// The factor now; then a step passes.
    pub(super) fn step(&mut self) -> f64 {
        let power = self.roots.iter().map(|root| root * root).sum::<f64>();
        let renew = libm::sqrt(1.0 - self.keep * self.keep);
        for root in &mut self.roots {
            *root = self.keep * *root + renew * self.random.normal();
        }
        power / self.roots.len() as f64
    }
}
