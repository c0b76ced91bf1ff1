//! The addresses of links: a subnet of each family for each, and a hardware address for each end.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The most links of a network: the subnets 10.0.1.0/24 to 10.64.0.0/24. The tables of as many
/// links of one host have numbers, and rules priorities, before those of the main table (32766).
pub(super) const MOST_LINKS: usize = 1 << 14;
/// Bits of the subnets.
pub(super) const PREFIX_BITS: [u8; 2] = [24, 64];
/// A unique local prefix (RFC 4193) whose 40 bits are the letters `polyp`: the namespaces are
/// joined to nothing else, so it need not be random.
const ULA: [u16; 3] = [0xfd70, 0x6f6c, 0x7970];

/// An end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Where the direction up begins.
    From,
    /// Where it ends.
    To,
}

impl End {
    /// The number of this end in addresses.
    const fn number(self) -> u8 {
        match self {
            Self::From => 1,
            Self::To => 2,
        }
    }

    /// The other end.
    pub const fn other(self) -> Self {
        match self {
            Self::From => Self::To,
            Self::To => Self::From,
        }
    }
}

/// The addresses of an end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// In 10.0.0.0/8: the link's number is the subnet, the end (1 or 2) the host.
    pub v4: Ipv4Addr,
    /// In fd70:6f6c:7970::/48, in the same way.
    pub v6: Ipv6Addr,
    /// Locally administered.
    pub hardware: HardwareAddress,
}

impl Addresses {
    /// Those of an end of the link of this number, from 1.
    pub(super) fn new(link: u16, end: End) -> Self {
        let [high, low] = link.to_be_bytes();
        let host = end.number();
        Self {
            v4: Ipv4Addr::new(10, high, low, host),
            v6: Ipv6Addr::new(ULA[0], ULA[1], ULA[2], link, 0, 0, 0, host.into()),
            hardware: HardwareAddress([0x02, 0, 0, high, low, host]),
        }
    }

    /// Both families, IPv4 first.
    pub fn both(&self) -> [IpAddr; 2] {
        [self.v4.into(), self.v6.into()]
    }
}

/// The address of an interface on its link (EUI-48).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HardwareAddress(pub [u8; 6]);

impl fmt::Display for HardwareAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_tell_link_and_end() {
        let first = Addresses::new(1, End::From);
        assert_eq!(first.both().map(|a| a.to_string()), ["10.0.1.1", "fd70:6f6c:7970:1::1"]);
        let last = Addresses::new(u16::MAX, End::To);
        let written = last.both().map(|a| a.to_string());
        assert_eq!(written, ["10.255.255.2", "fd70:6f6c:7970:ffff::2"]);
        assert_eq!(last.hardware.to_string(), "02:00:00:ff:ff:02");
        // Neither a group address nor one that a manufacturer has given out (IEEE 802, I/G and
        // U/L).
        assert_eq!(last.hardware.0[0] & 0b11, 0b10);
    }
}
