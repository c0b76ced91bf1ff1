use proptest::prelude::*;

use super::*;
use crate::PacketErrorKind;
use crate::error::Header;
use crate::fixtures::{self, V4, V6};
use crate::{IcmpError, answer};

fn error(bytes: &[u8]) -> PacketError {
    Packet::parse(bytes).unwrap_err()
}

/// All packets that a parser meets, with their protocol.
fn every_kind() -> Vec<(u8, Vec<u8>)> {
    [V4, V6]
        .into_iter()
        .flat_map(|ends| {
            let icmp = if ends == V4 { 1 } else { 58 };
            [
                (17, fixtures::udp(ends, 9, 53, b"x")),
                (6, fixtures::tcp(ends, |header| header)),
                (icmp, fixtures::echo_request(ends, 7)),
                (50, fixtures::esp(ends, 0x1000)),
                (132, fixtures::other(ends, 132, &[0, 9, 0, 53, 0, 0, 0, 0, 0, 0, 0, 0])),
                (47, fixtures::other(ends, 47, b"gre")),
                (59, fixtures::other(ends, 59, b"")),
            ]
        })
        .collect()
}

#[test]
fn headers_are_read() {
    let ports = Transport::Datagram(Ports { source: 9, destination: 53 });
    for (protocol, bytes) in every_kind() {
        let packet = Packet::parse(&bytes).unwrap();
        let ends = if packet.is_ipv4() { V4 } else { V6 };
        assert_eq!((packet.source(), packet.destination()), ends);
        assert_eq!(packet.protocol(), Protocol::new(protocol));
        assert_eq!((packet.fragment(), packet.hop_limit()), (None, fixtures::HOP_LIMIT));
        assert_eq!((packet.dscp(), packet.ecn()), (Dscp::of_byte(0), IpEcn::NotEct));
        assert_eq!(packet.bytes().len() - packet.payload().len(), if ends == V4 { 20 } else { 40 });
        match (protocol, *packet.transport()) {
            (17 | 132, transport) => assert_eq!(transport, ports),
            (6, Transport::Tcp(ports, _)) => {
                assert_eq!((ports.source, ports.destination), (50_000, 443));
            }
            (1 | 58, transport) => assert_eq!(transport, Transport::Query { identifier: 7 }),
            (50, transport) => assert_eq!(transport, Transport::Esp { spi: 0x1000 }),
            (_, transport) => assert_eq!(transport, Transport::Other),
        }
    }
}

/// The worked header of RFC 791, appendix A, example 1 (its checksum computed), and that of a
/// traffic class of EF with ECT(0).
#[test]
fn fields_are_those_of_the_header() {
    let mut bytes = vec![0x45, 0, 0, 21, 0, 111, 0, 0, 123, 1, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0];
    bytes[9] = 253;
    fixtures::mend_ipv4(&mut bytes);
    let packet = Packet::parse(&bytes[..]).unwrap();
    assert_eq!((packet.hop_limit(), packet.payload().len()), (123, 1));
    assert!(!packet.must_not_be_fragmented());

    const EXPEDITED_ECT0: u8 = 46 << 2 | 0b10;
    let mut v4 = fixtures::udp(V4, 1, 2, b"x");
    v4[1] = EXPEDITED_ECT0;
    fixtures::mend_ipv4(&mut v4);
    let mut v6 = fixtures::udp(V6, 1, 2, b"x");
    v6[..2].copy_from_slice(&[0x60 | EXPEDITED_ECT0 >> 4, EXPEDITED_ECT0 << 4]);
    for bytes in [v4, v6] {
        let packet = Packet::parse(&bytes).unwrap();
        assert_eq!((packet.dscp().to_string(), packet.ecn()), ("ef".to_owned(), IpEcn::Ect0));
        assert!(packet.must_not_be_fragmented());
    }
}

#[test]
fn options_of_ipv4_are_passed() {
    let mut bytes = fixtures::udp(V4, 9, 53, b"x");
    // Router alert (RFC 2113).
    bytes.splice(20..20, [148, 4, 0, 0]);
    bytes[0] = 0x46;
    fixtures::mend_ipv4(&mut bytes);
    let packet = Packet::parse(&bytes).unwrap();
    assert_eq!(packet.transport().ports(), Some(Ports { source: 9, destination: 53 }));
}

const PADDED: &[u8] = &[0, 1, 4, 0, 0, 0, 0];
const ROUTING: &[u8] = &[1, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

#[test]
fn extension_headers_of_ipv6_are_passed() {
    let atomic = [0, 0, 0, 0, 0, 0, 9];
    let with = |extensions: &[(u8, &[u8])]| {
        let mut bytes = fixtures::udp(V6, 9, 53, b"x");
        fixtures::extend(&mut bytes, extensions);
        bytes
    };
    for extensions in [
        &[(0, PADDED)][..],
        &[(0, PADDED), (60, PADDED), (43, ROUTING), (60, PADDED)],
        &[(44, &atomic), (60, PADDED)],
        &[(60, PADDED); 8],
    ] {
        let bytes = with(extensions);
        let packet = Packet::parse(&bytes).unwrap();
        assert_eq!(packet.transport().ports(), Some(Ports { source: 9, destination: 53 }));
        assert_eq!(packet.fragment(), None, "RFC 6946: an atomic fragment is whole");
    }
    assert_eq!(error(&with(&[(60, PADDED); 9])), PacketError::ExtensionHeaders);
    let nested = with(&[(44, &atomic), (44, &atomic)]);
    assert_eq!(error(&nested), PacketError::NestedFragment);
    let longer_than_the_packet = with(&[(60, &[9, 1, 4, 0, 0, 0, 0])]);
    let truncated = PacketError::Truncated { header: Header::Extension, needed: 80, present: 17 };
    assert_eq!(error(&longer_than_the_packet), truncated);
}

#[test]
fn fragments_have_what_is_in_them() {
    for ends in [V4, V6] {
        for (offset, more) in [(0, true), (16, true), (16, false), (65_488, false)] {
            let mut bytes = fixtures::udp(ends, 9, 53, &[7; 16]);
            fixtures::make_fragment(&mut bytes, offset, more);
            let packet = Packet::parse(&bytes).unwrap();
            let fragment = Fragment { identification: 0x77, offset, more };
            assert_eq!(packet.fragment(), Some(fragment));
            assert_eq!(packet.protocol(), Protocol::UDP);
            assert_eq!(packet.payload().len(), 24);
            let expected = match offset {
                0 => Transport::Datagram(Ports { source: 9, destination: 53 }),
                _ => Transport::LaterFragment,
            };
            assert_eq!(*packet.transport(), expected);
        }
    }
}

#[test]
fn fragments_that_fit_no_packet_are_refused() {
    for ends in [V4, V6] {
        let fragment = |length: usize, offset, more| {
            let mut bytes = fixtures::udp(ends, 9, 53, &vec![7; length - 8]);
            fixtures::make_fragment(&mut bytes, offset, more);
            error(&bytes)
        };
        let end = PacketError::FragmentEnd { offset: 65_528, length: 8 };
        assert_eq!(fragment(8, 65_528, false), end, "the ping of death");
        assert_eq!(fragment(20, 0, true), PacketError::FragmentLength { length: 20 });
        let mut empty = fixtures::other(ends, 17, b"");
        fixtures::make_fragment(&mut empty, 16, true);
        assert_eq!(error(&empty), PacketError::FragmentLength { length: 0 });
        let tiny = {
            let mut bytes = fixtures::other(ends, 6, &[0; 8]);
            fixtures::make_fragment(&mut bytes, 0, true);
            bytes
        };
        let tiny = if ends == V4 { tiny } else { with_protocol(tiny, 6) };
        let expected = PacketError::Truncated { header: Header::Tcp, needed: 20, present: 8 };
        assert_eq!(error(&tiny), expected, "RFC 1858, section 3");
        let overlapping = {
            let mut bytes = fixtures::other(ends, 6, &[0; 16]);
            fixtures::make_fragment(&mut bytes, 8, false);
            bytes
        };
        let overlapping = if ends == V4 { overlapping } else { with_protocol(overlapping, 6) };
        assert_eq!(error(&overlapping), PacketError::FragmentOfHeader, "RFC 1858, section 4");
    }
}

/// Names the protocol behind the fragment header of IPv6.
fn with_protocol(mut bytes: Vec<u8>, protocol: u8) -> Vec<u8> {
    bytes[40] = protocol;
    bytes
}

#[test]
fn lengths_are_those_of_the_packet() {
    for (_, mut bytes) in every_kind() {
        let stated = bytes.len();
        bytes.push(0);
        assert_eq!(error(&bytes), PacketError::Length { stated, present: stated + 1 });
        bytes.pop();
        for cut in 0..stated {
            let kind = error(&bytes[..cut]).kind();
            assert_eq!(kind, PacketErrorKind::Truncated, "{cut} of {bytes:02x?}");
        }
    }
    assert_eq!(error(&[]).kind(), PacketErrorKind::Truncated);
}

#[test]
fn headers_that_make_no_sense_are_refused() {
    let refused = |mut bytes: Vec<u8>, at: usize, value: u8, expected: PacketError| {
        bytes[at] = value;
        if bytes[0] >> 4 == 4 {
            fixtures::mend_ipv4(&mut bytes);
        }
        assert_eq!(error(&bytes), expected);
    };
    let udp = |ends| fixtures::udp(ends, 9, 53, b"x");
    let tcp = |ends| fixtures::tcp(ends, |header| header);
    let length =
        |header, length, least, most| PacketError::HeaderLength { header, length, least, most };
    for version in [0, 5, 7, 15] {
        let mut bytes = udp(V4);
        bytes[0] = version << 4 | 5;
        assert_eq!(error(&bytes), PacketError::Version(version));
    }
    let mut short = udp(V4);
    short[0] = 0x44;
    assert_eq!(error(&short), length(Header::Ipv4, 16, 20, 60));
    refused(udp(V4), 20 + 5, 7, length(Header::Udp, 7, 8, 9));
    refused(udp(V4), 20 + 5, 10, length(Header::Udp, 10, 8, 9));
    refused(udp(V6), 40 + 5, 0, length(Header::Udp, 0, 8, 9));
    refused(tcp(V4), 20 + 12, 0x40, length(Header::Tcp, 16, 20, 60));
    let beyond = PacketError::Truncated { header: Header::Tcp, needed: 24, present: 20 };
    refused(tcp(V6), 40 + 12, 0x60, beyond);
}

#[test]
fn a_udp_datagram_may_be_shorter_than_its_packet() {
    let mut bytes = fixtures::udp(V6, 9, 53, b"options");
    bytes[40 + 5] = 8;
    assert!(Packet::parse(&bytes).is_ok(), "RFC 9868");
}

#[test]
fn the_checksum_of_ipv4_is_checked() {
    let bytes = fixtures::udp(V4, 9, 53, b"x");
    for bit in 8..160 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(Packet::parse(&damaged).is_err(), "bit {bit}");
    }
    let mut damaged = bytes;
    damaged[15] ^= 1;
    assert_eq!(error(&damaged), PacketError::Checksum);
}

/// RFC 2675, section 2: the payload length is zero, the length is in a hop-by-hop option.
#[test]
fn jumbograms_are_refused() {
    let mut bytes = fixtures::udp(V6, 9, 53, b"x");
    fixtures::extend(&mut bytes, &[(0, &[0, 0xc2, 4, 0, 1, 0, 0])]);
    bytes.resize(40 + 0x1_0000, 0);
    bytes[4..6].fill(0);
    assert_eq!(error(&bytes), PacketError::Jumbogram);
}

#[test]
fn errors_quote_as_little_as_eight_bytes() {
    for ends in [V4, V6] {
        let headers = if ends == V4 { 20 } else { 40 };
        let about = fixtures::tcp(ends, |header| header);
        let mut bytes = Vec::new();
        let packet = Packet::parse(&about).unwrap();
        answer(&packet, IcmpError::TimeExceeded, fixtures::router(ends.0), &mut bytes).unwrap();
        let with_quote = |bytes: &[u8], quoted: usize| {
            let mut bytes = bytes[..headers + 8 + quoted].to_vec();
            match ends == V4 {
                true => fixtures::mend_ipv4(&mut bytes),
                false => fixtures::extend(&mut bytes, &[]),
            }
            match *Packet::parse(&bytes).unwrap().transport() {
                Transport::IcmpError(quoted) => quoted,
                other => panic!("{other:?}"),
            }
        };
        let quoted = with_quote(&bytes, headers + 8).unwrap();
        assert_eq!((quoted.source(), quoted.destination()), ends);
        let ports = Ports { source: 50_000, destination: 443 };
        assert_eq!(quoted.selector, Selector::Ports(ports));
        assert_eq!(with_quote(&bytes, headers + 3).unwrap().selector, Selector::Nothing);
        assert_eq!(with_quote(&bytes, headers - 1), None);
    }
}

#[test]
fn errors_say_what_is_wrong_and_what_is_allowed() {
    let mut long = fixtures::udp(V4, 9, 53, b"x");
    long.push(0);
    let mut udp = fixtures::udp(V6, 9, 53, b"x");
    udp[40 + 5] = 99;
    for (bytes, message) in [
        (&[][..], "the IPv4 header takes 20 bytes or more; 0 are there"),
        (&[0x50], "IP version 5; allowed: 4 and 6"),
        (&[0x60; 39], "the IPv6 header takes 40 bytes or more; 39 are there"),
        (&long, "30 bytes are there, and the IP header says 29; allowed: as many as it says"),
        (&udp, "the UDP header says 99 bytes; allowed: 8 to 9"),
    ] {
        assert_eq!(error(bytes).to_string(), message);
    }
}

#[test]
fn errors_are_counted_by_kind() {
    for (number, kind) in PacketErrorKind::ALL.into_iter().enumerate() {
        assert_eq!(kind as usize, number);
    }
    let mut names = PacketErrorKind::ALL.map(PacketErrorKind::name).to_vec();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), PacketErrorKind::ALL.len());
}

proptest! {
    #[test]
    fn any_change_of_a_packet_is_read_or_refused(
        kind in 0_usize..14,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
    ) {
        let mut bytes = every_kind().swap_remove(kind).1;
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if bytes[0] >> 4 == 4 && bytes[0] & 0xf >= 5 && bytes.len() >= usize::from(bytes[0] & 0xf) * 4 {
            fixtures::mend_ipv4(&mut bytes);
        }
        if let Ok(packet) = Packet::parse(&bytes) {
            prop_assert_eq!(packet.bytes().len(), bytes.len());
            prop_assert!(packet.payload().len() + 20 <= bytes.len());
        }
    }
}
