//! Names of algorithms, which the scenario reader itself does not know.

use super::{ConnectionSpec, Place, Scenario, ScenarioError};
use core::fmt;

/// The name of an algorithm and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlgorithmName {
    /// The name.
    pub name: String,
    /// Where it stands.
    pub place: Place,
}

/// What a name is the name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// A congestion avoidance.
    Congestion,
    /// A slow start.
    SlowStart,
    /// A scheduler.
    Scheduler,
    /// A path-failure detector.
    Failure,
}

impl NameKind {
    /// The key in the scenario file.
    pub fn key(self) -> &'static str {
        match self {
            Self::Congestion => "congestion",
            Self::SlowStart => "slow_start",
            Self::Scheduler => "scheduler",
            Self::Failure => "failure",
        }
    }
}

impl Scenario {
    /// Asks `check` about every name of an algorithm.
    ///
    /// # Errors
    /// The first name that `check` refuses, with its reason, which should say what is allowed.
    pub fn validate_names<E: fmt::Display>(
        &self,
        check: impl Fn(NameKind, &str) -> Result<(), E>,
    ) -> Result<(), ScenarioError> {
        for (kind, name) in self.connection.names() {
            check(kind, &name.name).map_err(|problem| ScenarioError::Value {
                place: name.place.clone(),
                key: kind.key().to_owned(),
                problem: problem.to_string(),
            })?;
        }
        Ok(())
    }
}

impl ConnectionSpec {
    /// The names that are given.
    pub fn names(&self) -> impl Iterator<Item = (NameKind, &AlgorithmName)> {
        let names = [
            (NameKind::Congestion, &self.congestion),
            (NameKind::SlowStart, &self.slow_start),
            (NameKind::Scheduler, &self.scheduler),
            (NameKind::Failure, &self.failure),
        ];
        names.into_iter().filter_map(|(kind, name)| Some((kind, name.as_ref()?)))
    }
}
