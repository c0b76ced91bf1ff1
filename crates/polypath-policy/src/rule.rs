//! One rule: a traffic descriptor and a steering mode.

use crate::{Criterion, PacketSize, Protocol, Traffic, TrafficDescriptor, Treatment};

/// The longest name of a rule, in characters.
pub const MAX_RULE_NAME: usize = 64;

/// What becomes of the traffic that a descriptor matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    name: String,
    descriptor: TrafficDescriptor,
    treatment: Treatment,
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
    Streams(Treatment),
    /// Connections of TCP do not have what is asked for.
    #[error(
        "the rule is for TCP connections, of which this is not known; allowed: protocol = \"udp\""
    )]
    Packets(Criterion),
    /// A protocol has no ports.
    #[error("{0} has no ports; allowed: port and source_port with tcp, udp, sctp")]
    Ports(Protocol),
    /// No size is within the bounds.
    #[error("no packet is of {0} bytes; allowed: at_least up to at_most")]
    Size(PacketSize),
}

impl RuleError {
    /// The key of a rule in a file that is at fault.
    pub(crate) fn key(&self) -> &'static str {
        match self {
            Self::Name(_) => "name",
            Self::Streams(_) => "mode",
            Self::Packets(criterion) => criterion.key(),
            Self::Ports(_) => Criterion::Protocol.key(),
            Self::Size(_) => Criterion::PacketSize.key(),
        }
    }
}

impl Rule {
    /// The rule of this name that treats what `descriptor` matches so.
    ///
    /// # Errors
    /// When the name is none, the descriptor can match nothing, or the treatment is not for all
    /// that it matches.
    pub fn new(
        name: impl Into<String>,
        descriptor: TrafficDescriptor,
        treatment: Treatment,
    ) -> Result<Self, RuleError> {
        let name = name.into();
        if !(1..=MAX_RULE_NAME).contains(&name.chars().count()) || name.contains(char::is_control) {
            return Err(RuleError::Name(name));
        }
        check_streams(&descriptor, treatment)?;
        let has_port = !descriptor.port.is_empty() || !descriptor.source_port.is_empty();
        let without = descriptor.protocol.iter().find(|protocol| !protocol.has_ports());
        if let Some(protocol) = without.filter(|_| has_port) {
            return Err(RuleError::Ports(*protocol));
        }
        let size = descriptor.packet_size;
        if size.lowest() > size.highest() {
            return Err(RuleError::Size(size));
        }
        Ok(Self { name, descriptor, treatment })
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
    pub fn treatment(&self) -> Treatment {
        self.treatment
    }

    /// Whether it is for this traffic.
    pub fn matches(&self, traffic: &Traffic<'_>) -> bool {
        self.descriptor.matches(traffic)
    }
}

/// TCP connections have no DSCP and no packet size, so that a rule which asks for these is not for
/// them unless it says so.
fn check_streams(descriptor: &TrafficDescriptor, treatment: Treatment) -> Result<(), RuleError> {
    if !descriptor.is_of_packets() {
        let fits = !descriptor.has_tcp() || treatment.is_for_streams();
        return if fits { Ok(()) } else { Err(RuleError::Streams(treatment)) };
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
    use crate::{Dscp, SteeringMode};

    const REDUNDANT: Treatment = Treatment::Steer(SteeringMode::Redundant);

    fn of(protocol: &[Protocol]) -> TrafficDescriptor {
        TrafficDescriptor { protocol: protocol.to_vec(), ..TrafficDescriptor::default() }
    }

    #[test]
    fn a_rule_that_does_not_do_what_it_says_is_refused() {
        let dscp = Dscp::new(46).into_iter().collect::<Vec<_>>();
        let port = vec!["53".parse().unwrap()];
        let size = PacketSize { at_least: Some(2), at_most: Some(1) };
        let aggregate = Treatment::Steer(SteeringMode::Aggregate);
        for (descriptor, treatment, key) in [
            (of(&[]), REDUNDANT, Some("mode")),
            (of(&[Protocol::UDP, Protocol::TCP]), REDUNDANT, Some("mode")),
            (of(&[Protocol::UDP]), REDUNDANT, None),
            (of(&[]), aggregate, None),
            (of(&[]), Treatment::Drop, None),
            (TrafficDescriptor { dscp: dscp.clone(), ..of(&[]) }, REDUNDANT, None),
            (TrafficDescriptor { dscp, ..of(&[Protocol::TCP]) }, Treatment::Drop, Some("dscp")),
            (
                TrafficDescriptor { packet_size: size, ..of(&[Protocol::TCP]) },
                aggregate,
                Some("packet_size"),
            ),
            (
                TrafficDescriptor { packet_size: size, ..of(&[Protocol::UDP]) },
                aggregate,
                Some("packet_size"),
            ),
            (
                TrafficDescriptor { port: port.clone(), ..of(&["icmp".parse().unwrap()]) },
                aggregate,
                Some("protocol"),
            ),
            (
                TrafficDescriptor { source_port: port, ..of(&[Protocol::UDP, Protocol::TCP]) },
                aggregate,
                None,
            ),
        ] {
            let rule = Rule::new("a", descriptor.clone(), treatment);
            assert_eq!(rule.map_err(|error| error.key()).err(), key, "{descriptor:?}");
        }
        for name in ["", "a\nb", &"x".repeat(MAX_RULE_NAME + 1)] {
            let error = Rule::new(name, of(&[]), aggregate).unwrap_err();
            assert_eq!(error, RuleError::Name(name.to_owned()));
        }
    }
}
