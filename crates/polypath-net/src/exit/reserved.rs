//! Address blocks that no edge reaches unless a rule names a network inside them.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// Address blocks that a hub never reaches on behalf of an edge unless a rule names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reserved {
    /// The hub itself.
    Loopback,
    /// The hub's own links; the metadata services of most cloud providers live here.
    LinkLocal,
    /// What a cloud provider tells the hub alone, often its keys, at other addresses.
    Metadata,
    /// No address; systems take it for the host itself.
    Unspecified,
    /// Many hosts, or all.
    Multicast,
    /// IPv4 addresses in deprecated IPv6 clothing (RFC 4291, section 2.5.5.1).
    Ipv4Compatible,
    /// A way to IPv4 addresses that cannot be told from the address.
    Translated,
}

impl fmt::Display for Reserved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Loopback => "a loopback address",
            Self::LinkLocal => "a link-local address",
            Self::Metadata => "an address of a cloud provider's metadata service",
            Self::Unspecified => "an unspecified address",
            Self::Multicast => "a multicast or broadcast address",
            Self::Ipv4Compatible => "an IPv4-compatible IPv6 address",
            Self::Translated => "an IPv6 address that leads to an unknown IPv4 address",
        })
    }
}

impl Reserved {
    /// The block of `ip`, which is what [`judged`](super::embedded::judged) made of an address.
    pub(super) fn of(ip: IpAddr) -> Option<Self> {
        blocks().find(|(net, _)| net.contains(&ip)).map(|(_, kind)| kind)
    }

    /// The block that holds all of `net`.
    pub(super) fn around(net: IpNet) -> Option<IpNet> {
        blocks().map(|(block, _)| block).find(|block| block.contains(&net))
    }
}

/// RFC 6890 and the IANA special-purpose registries, as far as the blocks concern the hub itself,
/// and [`METADATA`]. The more special stand first.
fn blocks() -> impl Iterator<Item = (IpNet, Reserved)> {
    let metadata = METADATA.into_iter().map(|net| (net, Reserved::Metadata));
    metadata.chain(SPECIAL)
}

const SPECIAL: [(IpNet, Reserved); 12] = [
    (v4([127, 0, 0, 0], 8), Reserved::Loopback),
    (v4([169, 254, 0, 0], 16), Reserved::LinkLocal),
    (v4([0, 0, 0, 0], 8), Reserved::Unspecified),
    (v4([224, 0, 0, 0], 4), Reserved::Multicast),
    (v4([255, 255, 255, 255], 32), Reserved::Multicast),
    (v6([0, 0, 0, 0, 0, 0, 0, 1], 128), Reserved::Loopback),
    (v6([0; 8], 128), Reserved::Unspecified),
    (v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), Reserved::LinkLocal),
    (v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), Reserved::Multicast),
    (v6([0; 8], 96), Reserved::Ipv4Compatible),
    // NAT64 for local use (RFC 8215). Where in the address the IPv4 address is depends on the
    // length of the operator's prefix, which may be 48, 56, 64 or 96 (RFC 6052, section 2.2) and
    // which the hub does not know. Each reading would have to be judged, and three are nonsense.
    (v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48), Reserved::Translated),
    // Teredo (RFC 4380) embeds two IPv4 addresses, of a server and of a client behind a NAT, and a
    // relay may send to either. Nobody offers services there any more.
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32), Reserved::Translated),
];

/// Metadata services of cloud providers outside the link-local blocks.
const METADATA: [IpNet; 9] = [
    // Alibaba Cloud.
    v4([100, 100, 100, 200], 32),
    v6([0xfd00, 0x100, 0, 0, 0, 0, 0x100, 0x200], 128),
    // Azure: the WireServer, which hands certificates and settings to the agent of the host.
    v4([168, 63, 129, 16], 32),
    // Oracle Cloud: the classic one, and that of today.
    v4([192, 0, 0, 192], 32),
    v6([0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe], 128),
    // Amazon: all services beside a host, which are ::254 for metadata and ::23 for keys of pods.
    v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0], 32),
    // Google Cloud.
    v6([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254], 128),
    // Scaleway.
    v6([0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42], 128),
    // Akamai (Linode).
    v6([0xfd00, 0xa9fe, 0xa9fe, 0, 0, 0, 0, 1], 128),
];

const fn v4(ip: [u8; 4], length: u8) -> IpNet {
    let [a, b, c, d] = ip;
    IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length))
}

const fn v6(ip: [u16; 8], length: u8) -> IpNet {
    let [a, b, c, d, e, f, g, h] = ip;
    IpNet::V6(Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, e, f, g, h), length))
}
