//! Why an experiment cannot be done.

use super::trial::TrialError;
use polypath_config::DocumentError;
use polypath_sim::scenario::ScenarioError;
use std::io;
use std::path::PathBuf;

/// Why an experiment cannot be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// The plan cannot be read.
    #[error("{}: cannot be read: {error}", file.display())]
    Read {
        /// The plan.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The plan is wrong.
    #[error(transparent)]
    Plan(#[from] DocumentError),
    /// An override, or a plan of one's own, is wrong.
    #[error(transparent)]
    Own(#[from] ScenarioError),
    /// The plan has too many runs.
    #[error("{}: {runs} runs with all seeds and points; {allowed} are allowed", file.display())]
    TooMany {
        /// The plan.
        file: PathBuf,
        /// Its runs.
        runs: usize,
        /// How many there may be.
        allowed: usize,
    },
    /// A claim about a quantity that the experiment does not have.
    #[error(
        "{}: claim {claim}: no quantity {quantity:?}; allowed are {}", file.display(), allowed.join(", ")
    )]
    Quantity {
        /// The plan.
        file: PathBuf,
        /// The claim.
        claim: String,
        /// The quantity that it names.
        quantity: String,
        /// The quantities of the experiment.
        allowed: Vec<&'static str>,
    },
    /// A default that the scenario does not have.
    #[error(
        "{}: assumption {assumption:?}: the scenario does not have the value {value:?}",
        file.display()
    )]
    Default {
        /// The plan.
        file: PathBuf,
        /// The assumption.
        assumption: String,
        /// Its value.
        value: String,
    },
    /// The scenario is wrong.
    #[error(transparent)]
    Trial(#[from] TrialError),
}

impl StudyError {
    /// Whether what the user wrote is wrong.
    pub fn is_of_plan(&self) -> bool {
        match self {
            Self::Trial(error) => error.error.is_of_plan(),
            _ => true,
        }
    }
}
