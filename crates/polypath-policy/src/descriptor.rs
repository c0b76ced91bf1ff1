//! What a rule asks of the traffic that it is for.

use std::fmt;

use ipnet::IpNet;

use crate::{Criterion, DomainPattern, Dscp, Origin, PortRange, Protocol, Traffic, UserPattern};

/// Traffic, by what all of it has in common. Of a list one item has to fit; an empty list, or a
/// size without bounds, leaves it open. What is asked for and not known does not fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrafficDescriptor {
    /// Protocols above IP.
    pub protocol: Vec<Protocol>,
    /// Networks that it comes from.
    pub source: Vec<IpNet>,
    /// Ports that it comes from.
    pub source_port: Vec<PortRange>,
    /// Networks that it goes to.
    pub destination: Vec<IpNet>,
    /// Ports that it goes to.
    pub port: Vec<PortRange>,
    /// Names of what it goes to.
    pub domain: Vec<DomainPattern>,
    /// As its sender has set it.
    pub dscp: Vec<Dscp>,
    /// See [`Traffic::packet_size`].
    pub packet_size: PacketSize,
    /// Where it comes from on this host.
    pub interface: Vec<Origin>,
    /// Whose programs it comes from.
    pub user: Vec<UserPattern>,
}

/// Bounds of a packet's size, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketSize {
    /// It has so many bytes or more.
    pub at_least: Option<u32>,
    /// It has so many bytes or fewer.
    pub at_most: Option<u32>,
}

impl PacketSize {
    /// Whether every size is within the bounds.
    pub fn is_any(self) -> bool {
        self == Self::default()
    }

    /// Whether this size is within the bounds.
    pub fn contains(self, size: u32) -> bool {
        self.lowest() <= size && size <= self.highest()
    }

    /// Whether all sizes within the bounds of `other` are within these.
    pub fn covers(self, other: Self) -> bool {
        self.lowest() <= other.lowest() && other.highest() <= self.highest()
    }

    pub(crate) fn lowest(self) -> u32 {
        self.at_least.unwrap_or(0)
    }

    pub(crate) fn highest(self) -> u32 {
        self.at_most.unwrap_or(u32::MAX)
    }
}

impl fmt::Display for PacketSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.at_least, self.at_most) {
            (None, None) => f.write_str("any size"),
            (Some(least), None) => write!(f, "at least {least}"),
            (None, Some(most)) => write!(f, "at most {most}"),
            (Some(least), Some(most)) => write!(f, "at least {least} and at most {most}"),
        }
    }
}

impl TrafficDescriptor {
    /// Whether it is for this traffic.
    pub fn matches(&self, traffic: &Traffic<'_>) -> bool {
        Criterion::ALL.iter().all(|criterion| self.holds(*criterion, traffic) != Some(false))
    }

    /// Whether the traffic has what is asked for; `None` if that is left open.
    pub fn holds(&self, criterion: Criterion, traffic: &Traffic<'_>) -> Option<bool> {
        match criterion {
            Criterion::Protocol => among(&self.protocol, Some(traffic.protocol), |a, b| *a == b),
            Criterion::Source => {
                among(&self.source, traffic.source, |net, ip| net.contains(&ip.to_canonical()))
            }
            Criterion::SourcePort => {
                among(&self.source_port, traffic.source_port, PortRange::contains)
            }
            Criterion::Destination => among(&self.destination, traffic.destination, |net, ip| {
                net.contains(&ip.to_canonical())
            }),
            Criterion::Port => among(&self.port, traffic.port, PortRange::contains),
            Criterion::Domain => (!self.domain.is_empty()).then(|| {
                let fits = |name| self.domain.iter().any(|pattern| pattern.matches(name));
                traffic.domain.iter().any(fits)
            }),
            Criterion::Dscp => among(&self.dscp, traffic.dscp, |a, b| *a == b),
            Criterion::PacketSize => {
                let size = traffic.packet_size;
                let fits = || size.is_some_and(|size| self.packet_size.contains(size));
                (!self.packet_size.is_any()).then(fits)
            }
            Criterion::Interface => among(&self.interface, traffic.interface, |a, b| a.is_of(b)),
            Criterion::User => among(&self.user, traffic.user, |a, b| a.matches(b)),
        }
    }

    /// What is asked for, as text; empty if it is left open.
    pub fn wanted(&self, criterion: Criterion) -> Vec<String> {
        match criterion {
            Criterion::Protocol => texts(&self.protocol),
            Criterion::Source => texts(&self.source),
            Criterion::SourcePort => texts(&self.source_port),
            Criterion::Destination => texts(&self.destination),
            Criterion::Port => texts(&self.port),
            Criterion::Domain => texts(&self.domain),
            Criterion::Dscp => texts(&self.dscp),
            Criterion::PacketSize if self.packet_size.is_any() => Vec::new(),
            Criterion::PacketSize => texts(&[self.packet_size]),
            Criterion::Interface => texts(&self.interface),
            Criterion::User => texts(&self.user),
        }
    }

    /// Whether it matches all that `other` does.
    pub fn covers(&self, other: &Self) -> bool {
        let networks = |a: &IpNet, b: &IpNet| a.contains(b);
        all_among(&self.protocol, &other.protocol, PartialEq::eq)
            && all_among(&self.source, &other.source, networks)
            && all_among(&self.source_port, &other.source_port, PortRange::covers)
            && all_among(&self.destination, &other.destination, networks)
            && all_among(&self.port, &other.port, PortRange::covers)
            && all_among(&self.domain, &other.domain, DomainPattern::covers)
            && all_among(&self.dscp, &other.dscp, PartialEq::eq)
            && self.packet_size.covers(other.packet_size)
            && all_among(&self.interface, &other.interface, PartialEq::eq)
            && all_among(&self.user, &other.user, PartialEq::eq)
    }

    /// Whether it asks for something that only single packets have.
    pub(crate) fn is_of_packets(&self) -> bool {
        !self.dscp.is_empty() || !self.packet_size.is_any()
    }

    /// Whether TCP is among its protocols.
    pub(crate) fn has_tcp(&self) -> bool {
        self.protocol.is_empty() || self.protocol.contains(&Protocol::TCP)
    }
}

fn among<T, V: Copy>(wanted: &[T], found: Option<V>, fits: impl Fn(&T, V) -> bool) -> Option<bool> {
    let any = |found| wanted.iter().any(|item| fits(item, found));
    (!wanted.is_empty()).then(|| found.is_some_and(any))
}

fn all_among<T>(wider: &[T], narrower: &[T], covers: impl Fn(&T, &T) -> bool) -> bool {
    let covered = |item| wider.iter().any(|wide| covers(wide, item));
    wider.is_empty() || !narrower.is_empty() && narrower.iter().all(covered)
}

fn texts<T: ToString>(items: &[T]) -> Vec<String> {
    items.iter().map(ToString::to_string).collect()
}
