//! Names of algorithms, which the scenario reader itself does not check.

use super::declare::{Choice, Readable, Shape};
use super::table::Value;
use super::{Place, Scenario, ScenarioError};
use core::fmt;
use polypath_core::registry::{self, Kind};

/// The name of an algorithm and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlgorithmName {
    /// The name.
    pub name: String,
    /// Where it stands.
    pub place: Place,
}

impl AlgorithmName {
    /// The error of this name, which is to be one of a `kind`.
    pub(crate) fn wrong(&self, kind: NameKind, problem: impl fmt::Display) -> ScenarioError {
        let (place, key) = (self.place.clone(), kind.key().to_owned());
        ScenarioError::Value { place, key, problem: problem.to_string() }
    }
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

    /// Checks a name against the registry, for [`Scenario::validate_names`].
    ///
    /// # Errors
    /// What is allowed.
    pub fn check_registered(self, name: &str) -> Result<(), registry::UnknownAlgorithm> {
        use polypath_core::{congestion, failure, scheduler, slow_start};
        match self {
            Self::Congestion => name.parse::<congestion::CongestionKind>().map(drop),
            Self::SlowStart => name.parse::<slow_start::SlowStartKind>().map(drop),
            Self::Scheduler => name.parse::<scheduler::SchedulerKind>().map(drop),
            Self::Failure => name.parse::<failure::FailureKind>().map(drop),
        }
    }
}

/// The registry's names of a kind, as the schema and the reference show them.
pub(super) fn registered(kind: Kind) -> Shape {
    let rows = registry::all().into_iter().filter(|row| row.kind == kind);
    let choices = rows.map(|row| Choice { name: row.name, purpose: row.purpose.to_owned() });
    Shape::Choice(choices.collect())
}

impl Readable for AlgorithmName {
    fn shape() -> Shape {
        String::shape()
    }

    fn read(value: &Value<'_>) -> Result<Self, ScenarioError> {
        Ok(Self { name: String::read(value)?, place: value.site().place })
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
        for (kind, name) in self.connections.iter().flat_map(|connection| connection.names()) {
            check(kind, &name.name).map_err(|problem| name.wrong(kind, problem))?;
        }
        Ok(())
    }
}
