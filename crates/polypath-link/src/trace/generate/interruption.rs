//! Interruptions.

use crate::rng::Random;
use std::time::Duration;

/// A factor that is 1 while clear and `remaining` while interrupted; the time in either state is
/// geometric (the Gilbert model of a channel, Bell System Technical Journal 39, 1960).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interruption {
    /// The mean time between interruptions.
    pub mean_clear: Duration,
    /// The mean length of an interruption.
    pub mean_interrupted: Duration,
    /// The share of the rate that remains, in [0, 1).
    pub remaining: f64,
}

impl Interruption {
    /// The share of time that is interrupted.
    pub fn share(&self) -> f64 {
        let [clear, interrupted] =
            [self.mean_clear, self.mean_interrupted].map(|mean| mean.as_secs_f64());
        interrupted / (clear + interrupted)
    }

    /// The mean of the factor.
    pub(super) fn mean(&self) -> f64 {
        1.0 - self.share() * (1.0 - self.remaining)
    }

    /// E[X(t) X(t + `steps` steps)] / E[X]^2.
    pub(super) fn product(&self, step: Duration, steps: u32) -> f64 {
        let (share, depth) = (self.share(), 1.0 - self.remaining);
        let variance = share * (1.0 - share) * depth * depth;
        let [begin, end] = self.chances(step);
        let decay = libm::pow(1.0 - begin - end, f64::from(steps));
        1.0 + variance * decay / (self.mean() * self.mean())
    }

    /// The probabilities that a step begins and ends an interruption.
    fn chances(&self, step: Duration) -> [f64; 2] {
        let chance = |mean: Duration| step.as_secs_f64() / mean.as_secs_f64();
        [chance(self.mean_clear), chance(self.mean_interrupted)]
    }

    /// The chain, stationary from the start.
    pub(super) fn start(&self, step: Duration, mut random: Random) -> Chain {
        let [begin, end] = self.chances(step);
        let interrupted = random.chance(self.share());
        Chain { begin, end, remaining: self.remaining, interrupted, random }
    }
}

/// An [`Interruption`] in time.
pub(super) struct Chain {
    begin: f64,
    end: f64,
    remaining: f64,
    interrupted: bool,
    random: Random,
}

impl Chain {
    /// The factor now; then a step passes.
    pub(super) fn step(&mut self) -> f64 {
        let factor = if self.interrupted { self.remaining } else { 1.0 };
        let chance = if self.interrupted { self.end } else { self.begin };
        self.interrupted ^= self.random.chance(chance);
        factor
    }
}
