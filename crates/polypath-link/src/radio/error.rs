//! What is wrong with a radio model.

use polypath_units::Timestamp;

/// A radio model that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RadioError {
    /// A number outside its range.
    #[error("{model}: {parameter} is {given}; {allowed}")]
    Parameter {
        /// The model.
        model: &'static str,
        /// The parameter, with its unit.
        parameter: &'static str,
        /// What was given.
        given: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// Scripted changes that are not in order.
    #[error("the change of sight at {at} is not later than the one before it; times must ascend")]
    Order {
        /// The change.
        at: Timestamp,
    },
    /// A street without base stations.
    #[error("a walk needs a base station, and none is given")]
    NoBaseStation,
    /// More steps than a schedule should have.
    #[error("{model}: this gives more than {limit} steps; take a shorter time or longer steps")]
    TooLong {
        /// The model.
        model: &'static str,
        /// The most allowed.
        limit: usize,
    },
}

/// The most steps of a schedule: ten hours in steps of 10 ms.
pub(super) const MAX_STEPS: usize = 3_600_000;

/// The name of a model, for its errors.
#[derive(Clone, Copy)]
pub(super) struct Model(pub(super) &'static str);

impl Model {
    /// An error unless `fits`, which is false for what is not a number.
    pub(super) fn require(
        self,
        fits: bool,
        parameter: &'static str,
        given: &impl ToString,
        allowed: &'static str,
    ) -> Result<(), RadioError> {
        match fits {
            true => Ok(()),
            false => {
                let given = given.to_string();
                Err(RadioError::Parameter { model: self.0, parameter, given, allowed })
            }
        }
    }

    /// An error if `steps` are too many.
    pub(super) fn limit(self, steps: usize) -> Result<(), RadioError> {
        match steps <= MAX_STEPS {
            true => Ok(()),
            false => Err(RadioError::TooLong { model: self.0, limit: MAX_STEPS }),
        }
    }
}
