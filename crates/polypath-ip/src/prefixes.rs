//! Which addresses a packet may come from.

use std::net::IpAddr;

use ipnet::IpNet;

use crate::packet::Packet;

/// A set of address prefixes, such as those behind an edge: what comes from it comes from one of
/// them (RFC 2827).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrefixSet {
    /// Ordered, and none within another.
    prefixes: Vec<IpNet>,
}

impl PrefixSet {
    /// The prefixes, without those that others contain.
    pub fn prefixes(&self) -> &[IpNet] {
        &self.prefixes
    }

    /// Whether the address is in one of them. An IPv4 address that is written in IPv6
    /// (`::ffff:192.0.2.1`) is one of IPv6.
    pub fn contains(&self, address: IpAddr) -> bool {
        let following = self.prefixes.partition_point(|prefix| prefix.network() <= address);
        following.checked_sub(1).is_some_and(|last| self.prefixes[last].contains(&address))
    }

    /// Whether a packet says that it comes from an address in one of them.
    pub fn contains_source<T: AsRef<[u8]>>(&self, packet: &Packet<T>) -> bool {
        self.contains(packet.source())
    }
}

impl FromIterator<IpNet> for PrefixSet {
    fn from_iter<I: IntoIterator<Item = IpNet>>(prefixes: I) -> Self {
        let mut prefixes = IpNet::aggregate(&prefixes.into_iter().collect());
        prefixes.sort_unstable_by_key(IpNet::network);
        Self { prefixes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{self, V4, V6};
    use proptest::prelude::*;

    fn set(prefixes: &[&str]) -> PrefixSet {
        prefixes.iter().map(|prefix| prefix.parse::<IpNet>().unwrap()).collect()
    }

    #[test]
    fn packets_come_from_inside() {
        let [v4, v6] = [fixtures::udp(V4, 1, 2, b"x"), fixtures::udp(V6, 1, 2, b"x")];
        let [v4, v6] = [Packet::parse(&v4).unwrap(), Packet::parse(&v6).unwrap()];
        for (prefixes, expected) in [
            (&[][..], [false, false]),
            (&["192.0.2.0/24"], [true, false]),
            (&["192.0.2.1/32"], [true, false]),
            (&["192.0.2.2/32"], [false, false]),
            (&["2001:db8::/32"], [false, true]),
            (&["10.0.0.0/8", "192.0.2.0/24", "2001:db8::/32", "fd00::/8"], [true, true]),
            (&["0.0.0.0/0", "::/0"], [true, true]),
        ] {
            let set = set(prefixes);
            let found = [set.contains_source(&v4), set.contains_source(&v6)];
            assert_eq!(found, expected, "{prefixes:?}");
        }
    }

    #[test]
    fn families_are_kept_apart() {
        let set = set(&["10.0.0.0/8"]);
        assert!(set.contains("10.255.255.255".parse().unwrap()));
        assert!(!set.contains("::ffff:10.0.0.1".parse().unwrap()));
        assert!(!set.contains("9.255.255.255".parse().unwrap()));
        assert!(!set.contains("11.0.0.0".parse().unwrap()));
    }

    fn prefix() -> impl Strategy<Value = IpNet> {
        // Few bits differ, so that prefixes contain each other.
        let v4 = (0_u32..8, 29_u8..=32)
            .prop_map(|(low, length)| IpNet::new(IpAddr::from(low.to_be_bytes()), length).unwrap());
        let v6 = (0_u128..8, 125_u8..=128)
            .prop_map(|(low, length)| IpNet::new(IpAddr::from(low.to_be_bytes()), length).unwrap());
        prop_oneof![v4, v6]
    }

    proptest! {
        #[test]
        fn the_set_contains_what_one_of_its_prefixes_does(
            prefixes in prop::collection::vec(prefix(), 0..6),
        ) {
            let set: PrefixSet = prefixes.iter().copied().collect();
            for low in 0_u8..9 {
                for address in [
                    IpAddr::from(u32::from(low).to_be_bytes()),
                    IpAddr::from(u128::from(low).to_be_bytes()),
                ] {
                    let expected = prefixes.iter().any(|prefix| prefix.contains(&address));
                    prop_assert_eq!(set.contains(address), expected, "{} {:?}", address, prefixes);
                }
            }
        }
    }
}
