//! Hub: the connections that belong to no bond, and how many of them one address may have.
//!
//! Whoever can send a packet can make the hub keep a connection. When there is no room, the address
//! with the most connections loses its oldest one. So a sender with one address displaces only
//! itself, and an honest edge gets in while others flood.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Duration;

/// How often the log may tell of strangers, as anybody can make a hub say it.
pub(super) const LOG_INTERVAL: Duration = Duration::from_secs(1);
/// The bits of an IPv6 address that its holder chooses freely (RFC 4291, section 2.5.1).
const INTERFACE_BITS: u32 = 64;

/// An IPv4 address or an IPv6 network of 64 bits: what one sender has at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source(IpAddr);

impl Source {
    /// The source that an address belongs to.
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(v6) => {
                let network = v6.to_bits() >> INTERFACE_BITS << INTERFACE_BITS;
                Self(IpAddr::V6(network.into()))
            }
            v4 @ IpAddr::V4(_) => Self(v4),
        }
    }
}

/// Counts connections from 0, in the order in which they became strangers.
type Age = u64;

/// The connections that belong to no bond. Adding, removing and choosing cost the logarithm of
/// their number.
#[derive(Debug, Default)]
pub(super) struct Strangers {
    next: Age,
    places: BTreeMap<usize, (Source, Age)>,
    sources: BTreeMap<Source, BTreeMap<Age, usize>>,
    /// Every source by how many it has; among equals, the one with the oldest is last.
    by_count: BTreeSet<(usize, Reverse<Age>, Source)>,
}

impl Strangers {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// How many there are from the source of this address.
    pub(super) fn from(&self, address: IpAddr) -> usize {
        self.sources.get(&Source::of(address)).map_or(0, BTreeMap::len)
    }

    /// A connection from this address belongs to no bond now.
    pub(super) fn add(&mut self, index: usize, address: IpAddr) {
        self.remove(index);
        let (source, age) = (Source::of(address), self.next);
        self.next += 1;
        self.unrank(source);
        self.places.insert(index, (source, age));
        self.sources.entry(source).or_default().insert(age, index);
        self.rank(source);
    }

    /// A connection has joined or is gone.
    pub(super) fn remove(&mut self, index: usize) {
        let Some((source, age)) = self.places.remove(&index) else { return };
        self.unrank(source);
        if let Some(connections) = self.sources.get_mut(&source) {
            connections.remove(&age);
            if connections.is_empty() {
                self.sources.remove(&source);
            }
        }
        self.rank(source);
    }

    /// The oldest connection of the source of this address.
    pub(super) fn oldest_from(&self, address: IpAddr) -> Option<usize> {
        self.sources.get(&Source::of(address))?.values().next().copied()
    }

    /// The oldest connection of the source that has the most.
    pub(super) fn oldest_of_most(&self) -> Option<usize> {
        let (_, _, source) = self.by_count.last()?;
        self.sources.get(source)?.values().next().copied()
    }

    fn standing(&self, source: Source) -> Option<(usize, Reverse<Age>, Source)> {
        let connections = self.sources.get(&source)?;
        let (&oldest, _) = connections.first_key_value()?;
        Some((connections.len(), Reverse(oldest), source))
    }

    fn unrank(&mut self, source: Source) {
        if let Some(standing) = self.standing(source) {
            self.by_count.remove(&standing);
        }
    }

    fn rank(&mut self, source: Source) {
        self.by_count.extend(self.standing(source));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v4(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    #[test]
    fn the_source_with_the_most_loses_its_oldest() {
        let mut strangers = Strangers::default();
        strangers.add(0, v4(1));
        (1..4).for_each(|index| strangers.add(index, v4(2)));
        assert_eq!(strangers.oldest_of_most(), Some(1));
        strangers.remove(1);
        assert_eq!(strangers.oldest_of_most(), Some(2));
        strangers.remove(2);
        assert_eq!(strangers.oldest_of_most(), Some(0), "the oldest among equals");
        assert_eq!(strangers.oldest_from(v4(2)), Some(3));
        strangers.add(0, v4(1));
        assert_eq!(strangers.oldest_of_most(), Some(3), "it is the youngest now");
    }

    #[test]
    fn an_ipv6_network_and_a_mapped_address_are_one_source() {
        let mut strangers = Strangers::default();
        let addresses = ["2001:db8::1", "2001:db8::ffff:0:0:2", "2001:db8:0:1::1"];
        for (index, address) in addresses.iter().enumerate() {
            strangers.add(index, address.parse().unwrap());
        }
        assert_eq!(strangers.from("2001:db8::3".parse().unwrap()), 2);
        strangers.add(3, v4(1));
        assert_eq!(strangers.from("::ffff:192.0.2.1".parse().unwrap()), 1);
    }

    #[test]
    fn nothing_is_left_of_who_is_gone() {
        let mut strangers = Strangers::default();
        (0..500).for_each(|index| strangers.add(index, v4((index % 50) as u8)));
        assert_eq!((strangers.len(), strangers.from(v4(7))), (500, 10));
        (0..500).for_each(|index| strangers.remove(index));
        strangers.remove(7);
        assert_eq!(strangers.len(), 0);
        assert!(strangers.sources.is_empty() && strangers.by_count.is_empty());
    }
}
