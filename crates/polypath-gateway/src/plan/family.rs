//! The two families of IP addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// IPv4 or IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

impl Family {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::V4, Self::V6];

    /// That of a network.
    pub const fn of(network: IpNet) -> Self {
        match network {
            IpNet::V4(_) => Self::V4,
            IpNet::V6(_) => Self::V6,
        }
    }

    /// All addresses.
    pub const fn everything(self) -> IpNet {
        match self {
            Self::V4 => IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::UNSPECIFIED, 0)),
            Self::V6 => IpNet::V6(Ipv6Net::new_assert(Ipv6Addr::UNSPECIFIED, 0)),
        }
    }

    /// What means something on one link only: limited broadcast, multicast and link-local
    /// addresses.
    pub(super) fn of_links(self) -> Vec<IpNet> {
        let texts: &[&str] = match self {
            Self::V4 => &["169.254.0.0/16", "224.0.0.0/4", "255.255.255.255/32"],
            Self::V6 => &["fe80::/10", "ff00::/8"],
        };
        texts.iter().filter_map(|text| text.parse().ok()).collect()
    }

    /// As nft names it in expressions about addresses.
    pub(super) const fn nft(self) -> &'static str {
        match self {
            Self::V4 => "ip",
            Self::V6 => "ip6",
        }
    }

    /// As nft names it in `meta nfproto`.
    pub(super) const fn nfproto(self) -> &'static str {
        match self {
            Self::V4 => "ipv4",
            Self::V6 => "ipv6",
        }
    }

    /// The length of a header of IP without options and one of TCP without options.
    pub(super) const fn tcp_headers(self) -> u16 {
        match self {
            Self::V4 => 40,
            Self::V6 => 60,
        }
    }

    /// The networks of this family, as few as say the same: those of a set must not overlap.
    pub(super) fn merged(self, networks: impl IntoIterator<Item = IpNet>) -> Vec<IpNet> {
        let own = networks.into_iter().filter(|network| Self::of(*network) == self);
        IpNet::aggregate(&own.collect())
    }
}

/// An address alone.
pub(super) fn host(address: IpAddr) -> IpNet {
    IpNet::from(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_merged_by_family_so_that_none_overlap() {
        let of = |texts: &[&str]| texts.iter().map(|t| t.parse().unwrap()).collect::<Vec<IpNet>>();
        let given =
            of(&["10.1.2.3/32", "10.0.0.0/8", "fd00::1/128", "192.0.2.0/25", "192.0.2.128/25"]);
        assert_eq!(Family::V4.merged(given.clone()), of(&["10.0.0.0/8", "192.0.2.0/24"]));
        assert_eq!(Family::V6.merged(given), of(&["fd00::1/128"]));
    }

    #[test]
    fn addresses_of_links_are_known_in_both_families() {
        assert_eq!(Family::V4.of_links().len(), 3);
        assert_eq!(Family::V6.of_links().len(), 2);
    }
}
