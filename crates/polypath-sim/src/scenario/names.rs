//! Names of algorithms, which the scenario reader itself does not check, with their parameters.

use super::declare::{Choice, Declaration, Key, Readable, Shape, Tag, Variant};
use super::table::Value;
use super::{Place, Scenario, ScenarioError};
use core::fmt;
use core::str::FromStr;
use polypath_core::congestion::CongestionKind;
use polypath_core::failure::FailureKind;
use polypath_core::registry::{
    self, Algorithm, Configured, Description, Kind, Parameter, UnknownAlgorithm,
};
use polypath_core::scheduler::SchedulerKind;
use polypath_core::slow_start::SlowStartKind;

/// The name of an algorithm, where it stands, and what is said of its parameters. Equal ones may
/// stand elsewhere.
#[derive(Clone, Debug)]
pub struct AlgorithmName {
    /// The name.
    pub name: String,
    /// Where it stands.
    pub place: Place,
    /// The parameters that are given.
    pub settings: Vec<Setting>,
}

/// A parameter of an algorithm and its value, which the scenario reader does not check either.
/// Equal ones may stand elsewhere.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The name of the parameter.
    pub parameter: String,
    /// Its value.
    pub value: f64,
    /// Where it stands.
    pub place: Place,
}

impl PartialEq for AlgorithmName {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.settings) == (&other.name, &other.settings)
    }
}

impl PartialEq for Setting {
    fn eq(&self, other: &Self) -> bool {
        (&self.parameter, self.value) == (&other.parameter, other.value)
    }
}

impl AlgorithmName {
    /// The error of this name, which is to be one of a `kind`.
    pub(crate) fn wrong(&self, kind: NameKind, problem: impl fmt::Display) -> ScenarioError {
        let (place, key) = (self.place.clone(), kind.key().to_owned());
        ScenarioError::Value { place, key, problem: problem.to_string() }
    }

    /// The algorithm of a `kind` with these parameters.
    ///
    /// # Errors
    /// When there is none of this name, or a parameter is not one of its, or out of range.
    pub(crate) fn configured<K: Algorithm + FromStr<Err = UnknownAlgorithm>>(
        &self,
        kind: NameKind,
    ) -> Result<Configured<K>, ScenarioError> {
        let mut configured: Configured<K> =
            self.name.parse().map_err(|problem| self.wrong(kind, problem))?;
        for Setting { parameter, value, place } in &self.settings {
            configured.set(parameter, *value).map_err(|problem| ScenarioError::Value {
                place: place.clone(),
                key: parameter.clone(),
                problem: problem.to_string(),
            })?;
        }
        Ok(configured)
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

    fn check(self, name: &AlgorithmName) -> Result<(), ScenarioError> {
        match self {
            Self::Congestion => name.configured::<CongestionKind>(self).map(drop),
            Self::SlowStart => name.configured::<SlowStartKind>(self).map(drop),
            Self::Scheduler => name.configured::<SchedulerKind>(self).map(drop),
            Self::Failure => name.configured::<FailureKind>(self).map(drop),
        }
    }
}

/// The registry's algorithms of a kind, as the schema and the reference show them: names, and tables
/// of a name and parameters.
pub(super) fn registered(kind: Kind) -> Shape {
    let choice = |row: &Description| Choice { name: row.name, purpose: row.purpose.to_owned() };
    let choices = rows(kind).map(choice).collect();
    Shape::OneOf(vec![
        Shape::Choice(choices),
        Shape::Table(match kind {
            Kind::Congestion => || table(Kind::Congestion, "CongestionSettings"),
            Kind::SlowStart => || table(Kind::SlowStart, "SlowStartSettings"),
            Kind::Scheduler => || table(Kind::Scheduler, "SchedulerSettings"),
            Kind::Failure => || table(Kind::Failure, "FailureSettings"),
        }),
    ])
}

fn rows(kind: Kind) -> impl Iterator<Item = &'static Description> {
    registry::all().into_iter().filter(move |row| row.kind == kind)
}

/// A table of a name and the parameters of what it names.
fn table(kind: Kind, name: &'static str) -> Declaration {
    let variants = rows(kind).map(|row| Variant {
        name: row.name,
        declaration: Declaration {
            name: row.name,
            purpose: format!("{}.", row.purpose),
            keys: row.parameters.iter().map(|parameter| key(row, parameter)).collect(),
            tag: None,
        },
    });
    let purpose = "The name of the algorithm.".to_owned();
    let tag = Tag { key: NAME, purpose, default: None, variants: variants.collect() };
    let purpose = "An algorithm and those of its parameters that are not to have their defaults.";
    Declaration { name, purpose: purpose.to_owned(), keys: Vec::new(), tag: Some(tag) }
}

fn key(row: &Description, parameter: &Parameter) -> Key {
    let unit = if parameter.unit.is_empty() { "" } else { ", in " };
    Key {
        name: parameter.name,
        group: row.name,
        purpose: format!("{}{unit}{}.", parameter.purpose, parameter.unit),
        shape: if parameter.whole { Shape::Integer(u32::MAX) } else { Shape::Number },
        required: false,
        default: Some(parameter.default.to_string().into()),
        range: Some((parameter.lowest.to_string().into(), parameter.highest.to_string().into())),
    }
}

/// The key of the name in a table.
const NAME: &str = "name";

impl Readable for AlgorithmName {
    fn shape() -> Shape {
        String::shape()
    }

    fn read(value: &Value<'_>) -> Result<Self, ScenarioError> {
        if !value.is_table() {
            let (name, place) = (String::read(value)?, value.site().place);
            return Ok(Self { name, place, settings: Vec::new() });
        }
        let table = value.table()?;
        let name = table.get(NAME).ok_or_else(|| table.missing("`name`"))?;
        let settings = table.others(NAME).into_iter().map(|value| Setting::read(&value));
        let (settings, place) = (settings.collect::<Result<_, _>>()?, name.site().place);
        Ok(Self { name: String::read(&name)?, place, settings })
    }
}

impl Setting {
    fn read(value: &Value<'_>) -> Result<Self, ScenarioError> {
        let site = value.site();
        let (parameter, number) = (site.key().to_owned(), value.number("a number", |_| true)?);
        Ok(Self { parameter, value: number, place: site.place })
    }
}

impl Scenario {
    /// Checks algorithms and their parameters against the registry.
    ///
    /// # Errors
    /// The first name or parameter that is not there, or value that is not allowed.
    pub fn validate_algorithms(&self) -> Result<(), ScenarioError> {
        let mut names = self.connections.iter().flat_map(|connection| connection.names());
        names.try_for_each(|(kind, name)| kind.check(name))
    }

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
