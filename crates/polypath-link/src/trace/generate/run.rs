//! From a model to rates.

use super::fading::Process;
use super::interruption::Chain;
use super::model::{Model, ModelError};
use crate::rng::Random;
use crate::trace::series::{MAX_DURATION, MAX_RATE, RateSeries, SeriesError};
use polypath_units::Bandwidth;
use std::time::Duration;

/// The most steps that are generated, 28 hours in steps of 100 ms.
const MAX_STEPS: u128 = 1_000_000;

/// What cannot be generated.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// The parameters make no model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A duration of less than a step, or of too many.
    #[error(
        "a duration of {duration:?} is not from {step:?} to {MAX_STEPS} times that, or longer than {MAX_DURATION:?}"
    )]
    Duration {
        /// What was asked for.
        duration: Duration,
        /// The model's step.
        step: Duration,
    },
    /// A rate above the highest.
    #[error("at a mean of {mean} the rates pass {MAX_RATE}")]
    Rate {
        /// What was asked for.
        mean: Bandwidth,
        /// The rate that is too high.
        #[source]
        source: SeriesError,
    },
}

impl Model {
    /// Rates that follow the model, one for each step, for `duration` rounded up to steps.
    ///
    /// `mean` is that of the model: the rates of one series have a mean of their own, which
    /// differs the more the shorter the series is ([`Expected`](super::Expected) tells the
    /// variance).
    ///
    /// # Errors
    /// See [`GenerateError`].
    pub fn generate(
        &self,
        mean: Bandwidth,
        duration: Duration,
        seed: u64,
    ) -> Result<RateSeries, GenerateError> {
        self.validate()?;
        let steps = duration.as_nanos().div_ceil(self.step.as_nanos());
        if !(1..=MAX_STEPS).contains(&steps) || self.step * steps as u32 > MAX_DURATION {
            return Err(GenerateError::Duration { duration, step: self.step });
        }
        let mut factors = Factors::new(self, seed);
        let rate = |_| Bandwidth::from_bytes_per_sec(mean.bytes_per_sec() * factors.step());
        let rates: Vec<_> = (0..steps).map(rate).collect();
        RateSeries::from_bins(self.step, &rates)
            .map_err(|source| GenerateError::Rate { mean, source })
    }
}

/// All factors of the rate.
struct Factors {
    fading: [Process; 2],
    interruptions: Vec<Chain>,
    /// The mean of their product.
    mean: f64,
}

impl Factors {
    /// Each factor has a stream of its own: one more interruption leaves the others as they were.
    fn new(model: &Model, seed: u64) -> Self {
        let [slow, fast, mut interruptions] = Random::streams(seed);
        let start = |i: &super::Interruption| i.start(model.step, interruptions.fork());
        Self {
            fading: [model.slow.start(model.step, slow), model.fast.start(model.step, fast)],
            interruptions: model.interruptions.iter().map(start).collect(),
            mean: model.interruptions.iter().map(super::Interruption::mean).product(),
        }
    }

    /// Their product now, of mean 1; then a step passes.
    fn step(&mut self) -> f64 {
        let fading = self.fading.iter_mut().map(Process::step).product::<f64>();
        fading * self.interruptions.iter_mut().map(Chain::step).product::<f64>() / self.mean
    }
}

#[cfg(test)]
mod tests {
    use super::super::Preset;
    use super::*;

    #[test]
    fn what_cannot_be_generated_is_refused() {
        let model = Preset::Drive.model();
        let mean = Bandwidth::from_mbit_per_sec(1.0);
        for duration in [Duration::ZERO, Duration::from_secs(100_001), Duration::MAX] {
            let error = model.generate(mean, duration, 1).unwrap_err();
            assert_eq!(error, GenerateError::Duration { duration, step: model.step });
        }
        let fast = model.generate(MAX_RATE, Duration::from_secs(60), 1).unwrap_err();
        assert!(matches!(fast, GenerateError::Rate { mean: MAX_RATE, .. }));
        let wrong = Model { step: Duration::ZERO, ..model };
        let error = wrong.generate(mean, Duration::from_secs(1), 1).unwrap_err();
        assert_eq!(error, GenerateError::Model(ModelError::Step(Duration::ZERO)));
    }

    #[test]
    fn the_duration_is_rounded_up_to_steps() {
        let mean = Bandwidth::from_mbit_per_sec(1.0);
        let series = Preset::Walk.model().generate(mean, Duration::from_millis(901), 1).unwrap();
        assert_eq!((series.pieces().len(), series.duration()), (10, Duration::from_secs(1)));
    }
}
