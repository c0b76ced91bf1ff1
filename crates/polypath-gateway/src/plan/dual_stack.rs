//! An address in each family.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Family;

/// An address in each family, or in one, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DualStack {
    /// That of IPv4.
    pub v4: Option<Ipv4Addr>,
    /// That of IPv6.
    pub v6: Option<Ipv6Addr>,
}

impl DualStack {
    /// That of a family.
    pub fn of(&self, family: Family) -> Option<IpAddr> {
        match family {
            Family::V4 => self.v4.map(IpAddr::V4),
            Family::V6 => self.v6.map(IpAddr::V6),
        }
    }
}
