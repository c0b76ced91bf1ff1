//! What a rule says of the datagrams that it is for.

use std::fmt;
use std::ops::RangeInclusive;

use super::rule::SteeringRuleProblem;

/// Datagrams of a client, by what all of them have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrafficDescriptor {
    /// The ports that they go to.
    ports: RangeInclusive<u16>,
}

impl TrafficDescriptor {
    pub(super) fn matches(&self, port: u16) -> bool {
        self.ports.contains(&port)
    }

    /// Whether it matches all that `other` does.
    pub(super) fn covers(&self, other: &Self) -> bool {
        self.ports.contains(other.ports.start()) && self.ports.contains(other.ports.end())
    }

    /// Reads words and their values: `port 53`.
    pub(super) fn parse(text: &str) -> Result<Self, SteeringRuleProblem> {
        let mut ports = None;
        let mut words = text.split_whitespace();
        while let Some(word) = words.next() {
            let value = words.next().unwrap_or_default();
            match word {
                "port" => once(&mut ports, word, parse_ports(value)?)?,
                _ => return Err(SteeringRuleProblem::Word(word.to_owned())),
            }
        }
        Ok(Self { ports: ports.ok_or(SteeringRuleProblem::NoDescriptor)? })
    }
}

fn once<T>(place: &mut Option<T>, word: &str, value: T) -> Result<(), SteeringRuleProblem> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(SteeringRuleProblem::Twice(word.to_owned())),
    }
}

fn parse_ports(text: &str) -> Result<RangeInclusive<u16>, SteeringRuleProblem> {
    let number = |text: &str| {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|port: &u16| digits && *port > 0)
    };
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let range = number(first).zip(number(last)).map(|(first, last)| first..=last);
    let range = range.filter(|range| !range.is_empty());
    range.ok_or_else(|| SteeringRuleProblem::Ports(text.to_owned()))
}

impl fmt::Display for TrafficDescriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = (self.ports.start(), self.ports.end());
        write!(f, "port {first}")?;
        if first == last { Ok(()) } else { write!(f, "-{last}") }
    }
}
