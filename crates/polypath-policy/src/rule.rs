//! One rule: a traffic descriptor and a steering mode.

use std::collections::BTreeSet;

use polypath_units::Bandwidth;

use crate::{
    Criterion, MAX_PATH_NAME, MAX_RATE, MAX_STEERING_PATHS, MAX_WEIGHT, MIN_RATE, PacketSize,
    Protocol, Steering, SteeringMode, Traffic, TrafficDescriptor, Treatment,
};

/// The longest name of a rule, in characters.
pub const MAX_RULE_NAME: usize = 64;

/// What becomes of the traffic that a descriptor matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    name: String,
    descriptor: TrafficDescriptor,
    treatment: Treatment,
    rate: Option<Bandwidth>,
}

/// Parts that make no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// The name cannot stand in a table.
    #[error("{0:?} cannot be the name of a rule; allowed: 1 to {MAX_RULE_NAME} printed characters")]
    Name(String),
    /// Connections of TCP cannot have the mode.
    #[error(
        "{0} is for packets, and the rule is also for TCP connections, which are aggregated; \
         allowed: aggregate, drop, or a protocol other than tcp, such as protocol = \"udp\""
    )]
    Streams(SteeringMode),
    /// Connections of TCP take every path.
    #[error(
        "the rule is also for TCP connections, whose data takes every path; allowed: no paths, or \
         a protocol other than tcp, such as protocol = \"udp\""
    )]
    StreamPaths,
    /// There are too many paths.
    #[error("{0} paths; allowed: up to {MAX_STEERING_PATHS}")]
    TooManyPaths(usize),
    /// A path cannot have the name.
    #[error("{0:?} cannot be the name of a path; allowed: 1 to {MAX_PATH_NAME} bytes")]
    PathName(String),
    /// A path is there twice.
    #[error("{0:?} is there twice; allowed: each path once")]
    PathTwice(String),
    /// The mode needs paths.
    #[error("{0} needs `paths`, in the order of their priority")]
    NoPaths(SteeringMode),
    /// Some paths have a weight and others have none, or weights are out of range.
    #[error(
        "{weights} weights for {paths} paths; allowed: for each path one from 1 to {MAX_WEIGHT}"
    )]
    Weights {
        /// How many there are within the range.
        weights: usize,
        /// How many paths.
        paths: usize,
    },
    /// Connections of TCP do not have what is asked for.
    #[error(
        "the rule is for TCP connections, of which this is not known; allowed: protocol = \"udp\""
    )]
    Packets(Criterion),
    /// A protocol has no ports.
    #[error("{0} has no ports; allowed: port and source_port with tcp, udp, sctp")]
    Ports(Protocol),
    /// The rate is out of range.
    #[error("{0} is no rate of a rule; allowed: from {MIN_RATE} to {MAX_RATE}")]
    Rate(Bandwidth),
    /// No size is within the bounds.
    #[error("no packet is of {0} bytes; allowed: at_least up to at_most")]
    Size(PacketSize),
}

impl RuleError {
    /// The key of a rule in a file that is at fault.
    pub(crate) fn key(&self) -> &'static str {
        match self {
            Self::Name(_) => "name",
            Self::Streams(_) | Self::NoPaths(_) => "mode",
            Self::StreamPaths | Self::TooManyPaths(_) | Self::PathName(_) | Self::PathTwice(_) => {
                "paths"
            }
            Self::Weights { .. } => "weights",
            Self::Packets(criterion) => criterion.key(),
            Self::Ports(_) => Criterion::Protocol.key(),
            Self::Rate(_) => "rate",
            Self::Size(_) => Criterion::PacketSize.key(),
        }
    }
}

impl Rule {
    /// The rule of this name that treats what `descriptor` matches so.
    ///
    /// # Errors
    /// When the name is none, the descriptor can match nothing, the paths do not go with the mode,
    /// or the treatment is not for all that the descriptor matches.
    pub fn new(
        name: impl Into<String>,
        descriptor: TrafficDescriptor,
        treatment: Treatment,
    ) -> Result<Self, RuleError> {
        let name = name.into();
        if !(1..=MAX_RULE_NAME).contains(&name.chars().count()) || name.contains(char::is_control) {
            return Err(RuleError::Name(name));
        }
        if let Some(steering) = treatment.steering() {
            check_paths(steering)?;
        }
        check_streams(&descriptor, &treatment)?;
        let has_port = !descriptor.port.is_empty() || !descriptor.source_port.is_empty();
        let without = descriptor.protocol.iter().find(|protocol| !protocol.has_ports());
        if let Some(protocol) = without.filter(|_| has_port) {
            return Err(RuleError::Ports(*protocol));
        }
        let size = descriptor.packet_size;
        if size.lowest() > size.highest() {
            return Err(RuleError::Size(size));
        }
        Ok(Self { name, descriptor, treatment, rate: None })
    }

    /// The same, with what passes by it kept to a rate in each direction.
    ///
    /// # Errors
    /// When the rate is out of range.
    pub fn limited(self, rate: Bandwidth) -> Result<Self, RuleError> {
        if !(MIN_RATE..=MAX_RATE).contains(&rate) {
            return Err(RuleError::Rate(rate));
        }
        Ok(Self { rate: Some(rate), ..self })
    }

    /// What people call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is for.
    pub fn descriptor(&self) -> &TrafficDescriptor {
        &self.descriptor
    }

    /// What becomes of that.
    pub fn treatment(&self) -> &Treatment {
        &self.treatment
    }

    /// What passes by it at most, in each direction; `None` without a limit.
    pub fn rate(&self) -> Option<Bandwidth> {
        self.rate
    }

    /// Whether it is for this traffic.
    pub fn matches(&self, traffic: &Traffic<'_>) -> bool {
        self.descriptor.matches(traffic)
    }
}

fn check_paths(steering: &Steering) -> Result<(), RuleError> {
    let paths = &steering.paths;
    if paths.len() > MAX_STEERING_PATHS {
        return Err(RuleError::TooManyPaths(paths.len()));
    }
    let mut names = BTreeSet::new();
    for path in paths {
        if !(1..=MAX_PATH_NAME).contains(&path.name.len()) {
            return Err(RuleError::PathName(path.name.clone()));
        }
        if !names.insert(&path.name) {
            return Err(RuleError::PathTwice(path.name.clone()));
        }
    }
    if paths.is_empty() && steering.mode == SteeringMode::PriorityBased {
        return Err(RuleError::NoPaths(steering.mode));
    }
    let in_range = |weight: &u8| (1..=MAX_WEIGHT).contains(weight);
    let weights = paths.iter().filter_map(|path| path.weight).filter(in_range).count();
    if paths.iter().any(|path| path.weight.is_some()) && weights < paths.len() {
        return Err(RuleError::Weights { weights, paths: paths.len() });
    }
    Ok(())
}

/// TCP connections have no DSCP and no packet size, so that a rule which asks for these is not for
/// them unless it says so. They are streams of the bond, whose data its scheduler spreads over all
/// paths.
fn check_streams(descriptor: &TrafficDescriptor, treatment: &Treatment) -> Result<(), RuleError> {
    if !descriptor.is_of_packets() {
        let Some(steering) = treatment.steering().filter(|_| descriptor.has_tcp()) else {
            return Ok(());
        };
        return match steering.mode {
            SteeringMode::Aggregate if steering.paths.is_empty() => Ok(()),
            SteeringMode::Aggregate => Err(RuleError::StreamPaths),
            mode => Err(RuleError::Streams(mode)),
        };
    }
    if descriptor.protocol.contains(&Protocol::TCP) {
        let by_dscp = !descriptor.dscp.is_empty();
        return Err(RuleError::Packets(if by_dscp {
            Criterion::Dscp
        } else {
            Criterion::PacketSize
        }));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dscp, SteeringPath};

    fn of(protocol: &[Protocol]) -> TrafficDescriptor {
        TrafficDescriptor { protocol: protocol.to_vec(), ..TrafficDescriptor::default() }
    }

    #[test]
    fn a_rule_that_does_not_do_what_it_says_is_refused() {
        let dscp = Dscp::new(46).into_iter().collect::<Vec<_>>();
        let port = vec!["53".parse().unwrap()];
        let size = PacketSize { at_least: Some(2), at_most: Some(1) };
        let [aggregate, redundant] =
            [SteeringMode::Aggregate, SteeringMode::Redundant].map(Treatment::from);
        for (descriptor, treatment, key) in [
            (of(&[]), redundant.clone(), Some("mode")),
            (of(&[Protocol::UDP, Protocol::TCP]), redundant.clone(), Some("mode")),
            (of(&[Protocol::UDP]), redundant.clone(), None),
            (of(&[]), aggregate.clone(), None),
            (of(&[]), Treatment::Drop, None),
            (TrafficDescriptor { dscp: dscp.clone(), ..of(&[]) }, redundant.clone(), None),
            (TrafficDescriptor { dscp, ..of(&[Protocol::TCP]) }, Treatment::Drop, Some("dscp")),
            (
                TrafficDescriptor { packet_size: size, ..of(&[Protocol::TCP]) },
                aggregate.clone(),
                Some("packet_size"),
            ),
            (
                TrafficDescriptor { packet_size: size, ..of(&[Protocol::UDP]) },
                aggregate.clone(),
                Some("packet_size"),
            ),
            (
                TrafficDescriptor { port: port.clone(), ..of(&["icmp".parse().unwrap()]) },
                aggregate.clone(),
                Some("protocol"),
            ),
            (
                TrafficDescriptor { source_port: port, ..of(&[Protocol::UDP, Protocol::TCP]) },
                aggregate.clone(),
                None,
            ),
        ] {
            let rule = Rule::new("a", descriptor.clone(), treatment);
            assert_eq!(rule.map_err(|error| error.key()).err(), key, "{descriptor:?}");
        }
        for name in ["", "a\nb", &"x".repeat(MAX_RULE_NAME + 1)] {
            let error = Rule::new(name, of(&[]), aggregate.clone()).unwrap_err();
            assert_eq!(error, RuleError::Name(name.to_owned()));
        }
    }

    fn over(mode: SteeringMode, paths: &[(&str, Option<u8>)]) -> Treatment {
        let path =
            |&(name, weight): &(&str, Option<u8>)| SteeringPath { name: name.into(), weight };
        let paths = paths.iter().map(path).collect();
        Treatment::Steer(Steering { paths, ..mode.into() })
    }

    #[test]
    fn paths_that_do_not_go_with_the_mode_are_refused() {
        use SteeringMode::{Aggregate, LoadBalancing, PriorityBased};
        let many: Vec<_> = (0..9).map(|path| path.to_string()).collect();
        let many: Vec<_> = many.iter().map(|name| (name.as_str(), None)).collect();
        let long = "x".repeat(65);
        for (protocol, treatment, expected) in [
            (&[][..], over(Aggregate, &[("a", None)]), Some(RuleError::StreamPaths)),
            (&[Protocol::UDP], over(Aggregate, &[("a", None)]), None),
            (&[Protocol::UDP], over(Aggregate, &many), Some(RuleError::TooManyPaths(9))),
            (&[Protocol::UDP], over(Aggregate, &many[..8]), None),
            (
                &[Protocol::UDP],
                over(Aggregate, &[(&long, None)]),
                Some(RuleError::PathName(long.clone())),
            ),
            (
                &[Protocol::UDP],
                over(Aggregate, &[("a", None), ("a", None)]),
                Some(RuleError::PathTwice("a".into())),
            ),
            (&[Protocol::UDP], over(PriorityBased, &[]), Some(RuleError::NoPaths(PriorityBased))),
            (
                &[Protocol::UDP],
                over(LoadBalancing, &[("a", Some(1)), ("b", None)]),
                Some(RuleError::Weights { weights: 1, paths: 2 }),
            ),
            (&[Protocol::UDP], over(LoadBalancing, &[("a", Some(1)), ("b", Some(100))]), None),
            (&[Protocol::UDP], over(LoadBalancing, &[]), None),
        ] {
            let rule = Rule::new("a", of(protocol), treatment.clone());
            assert_eq!(rule.err(), expected, "{treatment}");
        }
    }
}
