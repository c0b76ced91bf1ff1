//! Packets for tests, made by the library.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use etherparse::checksum::Sum16BitWords;
use etherparse::{
    IpHeaders, IpNumber, Ipv4Header, Ipv6FragmentHeader, Ipv6Header, PacketBuilder,
    PacketBuilderStep, PacketHeaders, TcpHeader, TransportHeader,
};

/// Where a packet comes from and goes to.
pub(crate) type Ends = (IpAddr, IpAddr);

pub(crate) const V4: Ends =
    (IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)));
pub(crate) const V6: Ends = (
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)),
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2)),
);

pub(crate) const HOP_LIMIT: u8 = 64;
/// The sequence number and the content of echo requests.
pub(crate) const SEQUENCE: u16 = 3;
pub(crate) const ECHO: &[u8] = b"01234567";

pub(crate) fn reversed((source, destination): Ends) -> Ends {
    (destination, source)
}

/// An address of the same family, of neither end.
pub(crate) fn router(of: IpAddr) -> IpAddr {
    match of {
        IpAddr::V4(_) => Ipv4Addr::new(203, 0, 113, 1).into(),
        IpAddr::V6(_) => Ipv6Addr::new(0x2001, 0xdb8, 0xf, 0, 0, 0, 0, 1).into(),
    }
}

fn ip(ends: Ends) -> PacketBuilderStep<IpHeaders> {
    PacketBuilder::ip(match ends {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let (source, destination) = (source.octets(), destination.octets());
            let header = Ipv4Header::new(0, HOP_LIMIT, IpNumber::UDP, source, destination);
            IpHeaders::Ipv4(header.unwrap(), Default::default())
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            let header = Ipv6Header {
                hop_limit: HOP_LIMIT,
                source: source.octets(),
                destination: destination.octets(),
                ..Default::default()
            };
            IpHeaders::Ipv6(header, Default::default())
        }
        mixed => panic!("{mixed:?}"),
    })
}

pub(crate) fn udp(ends: Ends, source: u16, destination: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    ip(ends).udp(source, destination).write(&mut bytes, payload).unwrap();
    bytes
}

/// A segment without data from port 50000 to 443, whose header is changed so.
pub(crate) fn tcp(ends: Ends, change: impl FnOnce(TcpHeader) -> TcpHeader) -> Vec<u8> {
    let header = change(TcpHeader::new(50_000, 443, 1, 1_000));
    let mut bytes = Vec::new();
    ip(ends).tcp_header(header).write(&mut bytes, b"").unwrap();
    bytes
}

pub(crate) fn echo_request(ends: Ends, identifier: u16) -> Vec<u8> {
    let mut bytes = Vec::new();
    if ends.0.is_ipv4() {
        ip(ends).icmpv4_echo_request(identifier, SEQUENCE).write(&mut bytes, ECHO).unwrap();
    } else {
        ip(ends).icmpv6_echo_request(identifier, SEQUENCE).write(&mut bytes, ECHO).unwrap();
    }
    bytes
}

pub(crate) fn echo_reply(ends: Ends, identifier: u16) -> Vec<u8> {
    let mut bytes = Vec::new();
    if ends.0.is_ipv4() {
        ip(ends).icmpv4_echo_reply(identifier, SEQUENCE).write(&mut bytes, ECHO).unwrap();
    } else {
        ip(ends).icmpv6_echo_reply(identifier, SEQUENCE).write(&mut bytes, ECHO).unwrap();
    }
    bytes
}

/// A packet of any protocol.
pub(crate) fn other(ends: Ends, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    ip(ends).write(&mut bytes, IpNumber(protocol), payload).unwrap();
    bytes
}

pub(crate) fn esp(ends: Ends, spi: u32) -> Vec<u8> {
    other(ends, 50, &[&spi.to_be_bytes()[..], &[0, 0, 0, 1], &[0x5a; 32]].concat())
}

/// Puts extension headers in front of the protocol above IPv6: the number of each, and its bytes
/// without the first one, which names what follows.
pub(crate) fn extend(bytes: &mut Vec<u8>, extensions: &[(u8, &[u8])]) {
    for (number, header) in extensions.iter().rev() {
        let next = std::mem::replace(&mut bytes[6], *number);
        bytes.splice(40..40, std::iter::once(next).chain(header.iter().copied()));
    }
    let payload = u16::try_from(bytes.len() - 40).unwrap();
    bytes[4..6].copy_from_slice(&payload.to_be_bytes());
}

/// Makes a packet a fragment that begins at an offset in bytes. Its identification is 0x77.
pub(crate) fn make_fragment(bytes: &mut Vec<u8>, offset: u16, more: bool) {
    if bytes[0] >> 4 == 4 {
        let field = (offset / 8) | (u16::from(more) << 13);
        bytes[4..6].copy_from_slice(&[0, 0x77]);
        bytes[6..8].copy_from_slice(&field.to_be_bytes());
        mend_ipv4(bytes);
    } else {
        let header =
            Ipv6FragmentHeader::new(IpNumber::UDP, (offset / 8).try_into().unwrap(), more, 0x77);
        extend(bytes, &[(44, &header.to_bytes()[1..])]);
    }
}

/// Sets length and checksum of an IPv4 header anew.
pub(crate) fn mend_ipv4(bytes: &mut [u8]) {
    let length = u16::try_from(bytes.len()).unwrap();
    bytes[2..4].copy_from_slice(&length.to_be_bytes());
    bytes[10..12].fill(0);
    let header = usize::from(bytes[0] & 0xf) * 4;
    let sum = Sum16BitWords::new().add_slice(&bytes[..header]).ones_complement();
    bytes[10..12].copy_from_slice(&sum.to_ne_bytes());
}

/// Whether all checksums of a whole packet are what the library computes.
pub(crate) fn checksums_are_right(bytes: &[u8]) -> bool {
    let headers = PacketHeaders::from_ip_slice(bytes).unwrap();
    let payload = headers.payload.slice();
    let ip = match headers.net.unwrap() {
        etherparse::NetHeaders::Ipv4(ip, _) => Ok(ip),
        etherparse::NetHeaders::Ipv6(ip, _) => Err(ip),
        other => panic!("{other:?}"),
    };
    let header_is_right =
        ip.as_ref().map_or(true, |ip| ip.header_checksum == ip.calc_header_checksum());
    header_is_right
        && match (headers.transport.unwrap(), ip) {
            (TransportHeader::Udp(udp), Ok(ip)) => {
                udp.checksum == udp.calc_checksum_ipv4(&ip, payload).unwrap()
            }
            (TransportHeader::Udp(udp), Err(ip)) => {
                udp.checksum == udp.calc_checksum_ipv6(&ip, payload).unwrap()
            }
            (TransportHeader::Tcp(tcp), Ok(ip)) => {
                tcp.checksum == tcp.calc_checksum_ipv4(&ip, payload).unwrap()
            }
            (TransportHeader::Tcp(tcp), Err(ip)) => {
                tcp.checksum == tcp.calc_checksum_ipv6(&ip, payload).unwrap()
            }
            (TransportHeader::Icmpv4(icmp), _) => {
                icmp.checksum == icmp.icmp_type.calc_checksum(payload)
            }
            (TransportHeader::Icmpv6(icmp), Err(ip)) => {
                let sum = icmp.icmp_type.calc_checksum(ip.source, ip.destination, payload);
                icmp.checksum == sum.unwrap()
            }
            (other, _) => panic!("{other:?}"),
        }
}
