//! What a rule says of the datagrams that it is for.

use std::fmt;
use std::ops::RangeInclusive;

use super::rule::SteeringRuleProblem;
use super::{Dscp, Traffic};

/// Datagrams of a client, by what all of them have in common. What is not said may be anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrafficDescriptor {
    /// The ports that they go to.
    ports: Option<RangeInclusive<u16>>,
    /// As the client sent it.
    dscp: Option<Dscp>,
}

impl TrafficDescriptor {
    pub(super) fn asks_for_dscp(&self) -> bool {
        self.dscp.is_some()
    }

    pub(super) fn matches(&self, traffic: Traffic) -> bool {
        self.ports.as_ref().is_none_or(|ports| ports.contains(&traffic.port))
            && self.dscp.is_none_or(|dscp| traffic.dscp == Some(dscp))
    }

    /// Whether it matches all that `other` does.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let ports = match (&self.ports, &other.ports) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(all), Some(some)) => all.contains(some.start()) && all.contains(some.end()),
        };
        ports && (self.dscp.is_none() || self.dscp == other.dscp)
    }

    /// Reads words and their values, each at most once: `port 53 dscp ef`.
    pub(super) fn parse(text: &str) -> Result<Self, SteeringRuleProblem> {
        let (mut ports, mut dscp) = (None, None);
        let mut words = text.split_whitespace();
        while let Some(word) = words.next() {
            let value = words.next().unwrap_or_default();
            match word {
                "port" => once(&mut ports, word, parse_ports(value)?)?,
                "dscp" => once(&mut dscp, word, parse_dscp(value)?)?,
                _ => return Err(SteeringRuleProblem::Word(word.to_owned())),
            }
        }
        if ports.is_none() && dscp.is_none() {
            return Err(SteeringRuleProblem::NoDescriptor);
        }
        Ok(Self { ports, dscp })
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

fn parse_dscp(text: &str) -> Result<Dscp, SteeringRuleProblem> {
    if cfg!(target_os = "linux") {
        Ok(text.parse()?)
    } else {
        Err(SteeringRuleProblem::DscpUnknown)
    }
}

impl fmt::Display for TrafficDescriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut space = "";
        if let Some(ports) = &self.ports {
            let (first, last) = (ports.start(), ports.end());
            write!(f, "port {first}")?;
            if first != last {
                write!(f, "-{last}")?;
            }
            space = " ";
        }
        self.dscp.map_or(Ok(()), |dscp| write!(f, "{space}dscp {dscp}"))
    }
}
