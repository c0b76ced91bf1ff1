use std::net::{Ipv4Addr, Ipv6Addr};

use super::*;
use crate::fixtures::{self, Ends, V4, V6};

const ALL: [IcmpError; 5] = [
    IcmpError::PacketTooBig { mtu: 1400 },
    IcmpError::TimeExceeded,
    IcmpError::Prohibited,
    IcmpError::HostUnreachable,
    IcmpError::PortUnreachable,
];

fn answered(bytes: &[u8], error: IcmpError) -> Result<Vec<u8>, Unanswerable> {
    let packet = Packet::parse(bytes).unwrap();
    let mut out = Vec::new();
    let done = answer(&packet, error, fixtures::router(packet.source()), &mut out);
    assert!(done.is_ok() || out.is_empty());
    done.map(|()| out)
}

/// The type, the code and the last four bytes of the header: RFC 792, RFC 1191, RFC 1812 section
/// 5.2.7.1; RFC 4443, section 3.
#[test]
fn errors_have_the_numbers_of_the_rfcs() {
    for (error, v4, v6) in [
        (IcmpError::PacketTooBig { mtu: 1400 }, (3, 4, 1400), (2, 0, 1400)),
        (IcmpError::PacketTooBig { mtu: 600 }, (3, 4, 600), (2, 0, 1280)),
        (IcmpError::TimeExceeded, (11, 0, 0), (3, 0, 0)),
        (IcmpError::Prohibited, (3, 13, 0), (1, 1, 0)),
        (IcmpError::HostUnreachable, (3, 1, 0), (1, 3, 0)),
        (IcmpError::PortUnreachable, (3, 3, 0), (1, 4, 0)),
    ] {
        for (ends, header, (kind, code, rest)) in [(V4, 20, v4), (V6, 40, v6)] {
            let about = fixtures::udp(ends, 9, 53, b"question");
            let bytes = answered(&about, error).unwrap();
            assert_eq!(bytes[header..header + 2], [kind, code], "{error:?}");
            assert_eq!(bytes[header + 4..header + 8], u32::to_be_bytes(rest), "{error:?}");
            assert_eq!(bytes[header + 8..], about, "it quotes the whole packet");
            assert!(fixtures::checksums_are_right(&bytes));
            let packet = Packet::parse(&bytes).unwrap();
            assert_eq!((packet.source(), packet.destination()), (fixtures::router(ends.0), ends.0));
        }
    }
}

#[test]
fn errors_of_ipv4_are_marked_as_internetwork_control() {
    let bytes = answered(&fixtures::udp(V4, 9, 53, b"x"), IcmpError::TimeExceeded).unwrap();
    assert_eq!(Packet::parse(&bytes).unwrap().dscp().to_string(), "cs6");
}

#[test]
fn quotes_end_where_the_error_would_be_too_long() {
    for (ends, headers, longest) in [(V4, 28, MAX_ICMPV4_ERROR), (V6, 48, MAX_ICMPV6_ERROR)] {
        for (length, expected) in
            [(100, 100 + headers), (longest - headers, longest), (1500, longest)]
        {
            let about = fixtures::udp(ends, 9, 53, &vec![7; length - headers]);
            let bytes = answered(&about, IcmpError::PacketTooBig { mtu: 1400 }).unwrap();
            assert_eq!(bytes.len(), expected, "{length}");
            assert_eq!(bytes[headers..], about[..expected - headers]);
            assert!(fixtures::checksums_are_right(&bytes));
        }
    }
}

#[test]
fn questions_of_icmp_are_answered() {
    for ends in [V4, V6] {
        for ping in [fixtures::echo_request(ends, 7), fixtures::echo_reply(ends, 7)] {
            for error in ALL {
                assert!(answered(&ping, error).is_ok());
            }
        }
    }
}

#[test]
fn icmp_errors_are_not_answered() {
    for ends in [V4, V6] {
        for error in ALL {
            let error_itself = answered(&fixtures::udp(ends, 9, 53, b"x"), error).unwrap();
            assert_eq!(answered(&error_itself, error), Err(Unanswerable::IcmpError));
        }
    }
    let [redirect, unknown] = [137, 100].map(|kind| fixtures::other(V6, ICMPV6, &[kind; 40]));
    let of_other_family =
        [fixtures::other(V4, ICMPV6, &[128; 8]), fixtures::other(V6, ICMP, &[8; 8])];
    for bytes in
        [redirect, unknown, fixtures::other(V4, ICMP, &[40; 8])].iter().chain(&of_other_family)
    {
        assert_eq!(answered(bytes, IcmpError::Prohibited), Err(Unanswerable::IcmpError));
    }
}

#[test]
fn only_the_first_fragment_is_answered() {
    for ends in [V4, V6] {
        let [mut first, mut later] = [0, 16].map(|_| fixtures::udp(ends, 9, 53, &[7; 16]));
        fixtures::make_fragment(&mut first, 0, true);
        fixtures::make_fragment(&mut later, 16, true);
        assert!(answered(&first, IcmpError::TimeExceeded).is_ok());
        let refused = answered(&later, IcmpError::TimeExceeded);
        assert_eq!(refused, Err(Unanswerable::LaterFragment));
    }
}

fn v4(a: u8, b: u8, c: u8, d: u8) -> IpAddr {
    Ipv4Addr::new(a, b, c, d).into()
}

#[test]
fn only_single_hosts_are_answered_about_single_hosts() {
    let multicast = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1).into();
    let [unspecified, loopback] = [Ipv6Addr::UNSPECIFIED, Ipv6Addr::LOCALHOST].map(IpAddr::V6);
    let groups = [
        v4(0, 0, 0, 0),
        v4(0, 1, 2, 3),
        v4(127, 0, 0, 1),
        v4(224, 0, 0, 1),
        v4(239, 255, 255, 250),
        v4(240, 0, 0, 1),
        v4(255, 255, 255, 255),
        multicast,
        unspecified,
        loopback,
    ];
    for group in groups {
        let host = if group.is_ipv4() { V4.0 } else { V6.0 };
        let packet = |ends: Ends| fixtures::udp(ends, 9, 53, b"x");
        for error in ALL {
            let to_group = answered(&packet((host, group)), error);
            assert_eq!(to_group, Err(Unanswerable::Destination(group)));
            let from_group = answered(&packet((group, host)), error);
            assert_eq!(from_group, Err(Unanswerable::Source(group)));
        }
    }
}

#[test]
fn what_may_be_fragmented_is_not_too_big() {
    let mut bytes = fixtures::udp(V4, 9, 53, b"x");
    bytes[6] = 0;
    fixtures::mend_ipv4(&mut bytes);
    let refused = answered(&bytes, IcmpError::PacketTooBig { mtu: 1400 });
    assert_eq!(refused, Err(Unanswerable::MayBeFragmented));
    assert!(answered(&bytes, IcmpError::TimeExceeded).is_ok());
}

#[test]
fn the_answer_comes_from_an_address_of_the_family() {
    let bytes = fixtures::udp(V4, 9, 53, b"x");
    let packet = Packet::parse(&bytes).unwrap();
    let refused = answer(&packet, IcmpError::TimeExceeded, V6.0, &mut Vec::new());
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("allowed: addresses of one family"), "{error}");
}
