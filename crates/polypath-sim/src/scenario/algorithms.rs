//! Algorithms of the registry, with their parameters.

use super::declare::{Choice, Declaration, Key, Readable, Shape, Tag, Variant};
use polypath_config::{ALGORITHM_NAME, DocumentError, Registered, Value};
use polypath_core::registry::{self, Configured, Description, Kind, Parameter};

impl<K: Registered> Readable for Configured<K> {
    fn shape() -> Shape {
        String::shape()
    }

    fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
        value.algorithm()
    }
}

/// The registry's algorithms of a kind, as the schema and the reference show them: names, and
/// tables of a name and parameters.
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
    let tag = Tag { key: ALGORITHM_NAME, purpose, default: None, variants: variants.collect() };
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
