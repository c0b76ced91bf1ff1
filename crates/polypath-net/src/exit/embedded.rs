//! IPv4 addresses inside IPv6 addresses: what a translator or relay on the way makes of them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::Ipv6Net;

/// An IPv6 block whose addresses hold an IPv4 address from the bit `at` on.
struct Embedding {
    block: Ipv6Net,
    at: u32,
}

/// Blocks that are known without asking the network. Not among them:
///
/// - NAT64 prefixes of an operator's own (RFC 6052, section 2.2), which look like any network. Who
///   runs a hub behind such a translator writes target rules without that prefix.
/// - The blocks of [`Reserved::Translated`](super::reserved::Reserved::Translated), where the
///   IPv4 address is not certain.
/// - ISATAP (RFC 5214): its interface identifiers can stand below any prefix, so that a rule for
///   an IPv4 network would allow IPv6 addresses anywhere; and the IPv4 host gets the IPv6 packet
///   whole, for its IPv6 address.
const EMBEDDINGS: [Embedding; 4] = [
    // IPv4-mapped (RFC 4291, section 2.5.5.2): sockets take them for the IPv4 address.
    Embedding::new([0, 0, 0, 0, 0, 0xffff], 96, 96),
    // IPv4-translated (RFC 2765, section 2.1), of stateless translators before RFC 6052.
    Embedding::new([0, 0, 0, 0, 0xffff, 0], 96, 96),
    // NAT64 with the well-known prefix (RFC 6052, section 2.1).
    Embedding::new([0x64, 0xff9b, 0, 0, 0, 0], 96, 96),
    // 6to4 (RFC 3056, section 2): the host or router at the IPv4 address.
    Embedding::new([0x2002, 0, 0, 0, 0, 0], 16, 16),
];

impl Embedding {
    const fn new(block: [u16; 6], length: u8, at: u32) -> Self {
        let [a, b, c, d, e, f] = block;
        let block = Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, e, f, 0, 0), length);
        Self { block, at }
    }
}

/// The address that target rules judge: the IPv4 address that `ip` embeds, otherwise `ip`.
pub(super) fn judged(ip: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = ip else { return ip };
    let embedding = EMBEDDINGS.iter().find(|embedding| embedding.block.contains(&v6));
    embedding.map_or(ip, |embedding| {
        let bits = v6.to_bits() >> (96 - embedding.at);
        IpAddr::V4(Ipv4Addr::from_bits(bits as u32))
    })
}

/// Whether all addresses of `net` are judged as IPv4 addresses.
pub(super) fn is_embedding(net: Ipv6Net) -> bool {
    EMBEDDINGS.iter().any(|embedding| embedding.block.contains(&net))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_address_is_judged() {
        for (ip, expected) in [
            ("::ffff:192.0.2.33", "192.0.2.33"),
            ("::ffff:0:192.0.2.33", "192.0.2.33"),
            // The example of RFC 6052, section 2.4.
            ("64:ff9b::192.0.2.33", "192.0.2.33"),
            ("2002:c000:221:1::1", "192.0.2.33"),
            ("64:ff9b:0:1::c000:221", "64:ff9b:0:1::c000:221"),
            ("64:ff9b:1::192.0.2.33", "64:ff9b:1::192.0.2.33"),
            ("2001:db8::5efe:192.0.2.33", "2001:db8::5efe:192.0.2.33"),
            ("192.0.2.33", "192.0.2.33"),
        ] {
            let [ip, expected] = [ip, expected].map(|text| text.parse::<IpAddr>().unwrap());
            assert_eq!(judged(ip), expected, "{ip}");
        }
    }
}
