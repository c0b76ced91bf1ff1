//! The parameters of a model.

use super::fading::Fading;
use super::interruption::Interruption;
use std::time::Duration;

/// The most components of a [`Fading`].
pub const MAX_COMPONENTS: u32 = 1_000;

/// A stochastic model of a rate over time, but for its mean. See [the module](super).
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The time between changes of the rate.
    pub step: Duration,
    /// How the rate varies with place: shadowing, cells, and their load.
    pub slow: Fading,
    /// How it varies within seconds: fast fading and scheduling.
    pub fast: Fading,
    /// What interrupts it, independently of each other.
    pub interruptions: Vec<Interruption>,
}

/// Parameters that make no model.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A step that is not a whole number of milliseconds.
    #[error("the step is {0:?}; it must be whole milliseconds, at least one")]
    Step(Duration),
    /// A number of components out of range.
    #[error("a fading has {0} components; 1 to {MAX_COMPONENTS} are allowed")]
    Components(u32),
    /// A correlation time of zero.
    #[error("the correlation time of a fading is zero; it must be positive")]
    Correlation,
    /// A mean time that is shorter than a step.
    #[error("a mean time of an interruption, {0:?}, is shorter than the step")]
    Mean(Duration),
    /// A share out of range.
    #[error("the rate remaining in an interruption is {0}; it must be from 0 to less than 1")]
    Remaining(f64),
}

impl Model {
    /// Checks the parameters.
    ///
    /// # Errors
    /// See [`ModelError`].
    pub fn validate(&self) -> Result<(), ModelError> {
        let step = self.step;
        if step.is_zero() || !step.subsec_nanos().is_multiple_of(1_000_000) {
            return Err(ModelError::Step(step));
        }
        [self.slow, self.fast].iter().try_for_each(Fading::validate)?;
        self.interruptions.iter().try_for_each(|interruption| interruption.validate(step))
    }
}

impl Fading {
    fn validate(&self) -> Result<(), ModelError> {
        if !(1..=MAX_COMPONENTS).contains(&self.components) {
            return Err(ModelError::Components(self.components));
        }
        if self.correlation.is_zero() {
            return Err(ModelError::Correlation);
        }
        Ok(())
    }
}

impl Interruption {
    fn validate(&self, step: Duration) -> Result<(), ModelError> {
        let means = [self.mean_clear, self.mean_interrupted];
        if let Some(&mean) = means.iter().find(|&&mean| mean < step) {
            return Err(ModelError::Mean(mean));
        }
        if !(0.0..1.0).contains(&self.remaining) {
            return Err(ModelError::Remaining(self.remaining));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Preset;
    use super::*;

    #[test]
    fn every_parameter_is_checked() {
        let error = |change: fn(&mut Model)| {
            let mut model = Preset::Train.model();
            assert_eq!(model.validate(), Ok(()));
            change(&mut model);
            model.validate().unwrap_err()
        };
        let zero = Duration::ZERO;
        assert_eq!(error(|m| m.step = Duration::ZERO), ModelError::Step(zero));
        let fine = Duration::from_micros(1_500);
        assert_eq!(error(|m| m.step = Duration::from_micros(1_500)), ModelError::Step(fine));
        assert_eq!(error(|m| m.slow.components = 0), ModelError::Components(0));
        assert_eq!(error(|m| m.fast.components = 1_001), ModelError::Components(1_001));
        assert_eq!(error(|m| m.fast.correlation = Duration::ZERO), ModelError::Correlation);
        let short = |m: &mut Model| m.interruptions[0].mean_clear = Duration::ZERO;
        assert_eq!(error(short), ModelError::Mean(zero));
        assert_eq!(error(|m| m.interruptions[0].remaining = 1.0), ModelError::Remaining(1.0));
        let nan = error(|m| m.interruptions[0].remaining = f64::NAN);
        assert!(matches!(nan, ModelError::Remaining(_)));
    }
}
