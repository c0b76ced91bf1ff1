//! What a link has to know of an Ethernet frame.
//!
//! Every function here takes any bytes. What is cut short or makes no sense is
//! [`Contents::Other`] or has no ports; nothing panics.

use core::hash::{Hash, Hasher};
use std::hash::DefaultHasher;

use polypath_ip::checksum;

/// The Ethernet header: two addresses and the type.
pub const ETHERNET_HEADER: usize = 14;

const IPV4: [u8; 2] = [0x08, 0x00];
const ARP: [u8; 2] = [0x08, 0x06];
const IPV6: [u8; 2] = [0x86, 0xdd];

/// Congestion Experienced, in the two bits of the ECN field (RFC 3168 section 5).
const CE: u8 = 0b11;

/// What is in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// An IP packet, for the link.
    Packet(Marks),
    /// How neighbours find each other: ARP, and what IPv6 says on one link only (neighbour and
    /// router discovery, multicast of link scope). Links of a simulator have no such thing.
    Neighbour,
    /// Anything else.
    Other,
}

/// What queues tell packets apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    /// A hash of the addresses, the protocol and the ports; fragments have no ports.
    pub flow: u64,
    /// The differentiated services code point (RFC 2474).
    pub dscp: u8,
}

/// Reads a frame from its Ethernet header on.
pub fn read(frame: &[u8]) -> Contents {
    let Some((header, packet)) = frame.split_at_checked(ETHERNET_HEADER) else {
        return Contents::Other;
    };
    let contents = match [header[12], header[13]] {
        IPV4 => read_ipv4(packet),
        IPV6 => read_ipv6(packet),
        ARP => Some(Contents::Neighbour),
        _ => None,
    };
    contents.unwrap_or(Contents::Other)
}

/// Sets Congestion Experienced in the IP packet of a frame if it is ECN-capable; whether it bears
/// the mark now. The checksum of IPv4 stays as right as it was.
pub fn mark_ce(frame: &mut [u8]) -> bool {
    let Some((header, packet)) = frame.split_at_mut_checked(ETHERNET_HEADER) else {
        return false;
    };
    match [header[12], header[13]] {
        IPV4 => mark_ipv4(packet),
        IPV6 => mark_ipv6(packet),
        _ => None,
    }
    .unwrap_or(false)
}

/// RFC 791 section 3.1.
fn read_ipv4(packet: &[u8]) -> Option<Contents> {
    let header = packet.first_chunk::<20>()?;
    let length = usize::from(header[0] & 0xf) * 4;
    if header[0] >> 4 != 4 || length < 20 {
        return None;
    }
    let whole = u16::from_be_bytes([header[6], header[7]]) & 0x3fff == 0;
    let ports = packet.get(length..).filter(|_| whole).and_then(|body| ports(header[9], body));
    let flow = hash((&header[12..20], header[9], ports));
    Some(Contents::Packet(Marks { flow, dscp: header[1] >> 2 }))
}

/// RFC 8200 section 3.
fn read_ipv6(packet: &[u8]) -> Option<Contents> {
    let (header, body) = packet.split_first_chunk::<40>()?;
    if header[0] >> 4 != 6 {
        return None;
    }
    let (protocol, body) = upper_layer(header[6], body);
    if is_of_link_scope(&header[24..40]) || is_discovery(protocol, body) {
        return Some(Contents::Neighbour);
    }
    let flow = hash((&header[8..40], protocol, ports(protocol, body)));
    let traffic_class = header[0] << 4 | header[1] >> 4;
    Some(Contents::Packet(Marks { flow, dscp: traffic_class >> 2 }))
}

/// The protocol behind the extension headers, and its bytes. A fragment header ends the search, so
/// that all fragments of a packet belong to one flow.
fn upper_layer(mut protocol: u8, mut body: &[u8]) -> (u8, &[u8]) {
    const HOP_BY_HOP: u8 = 0;
    const ROUTING: u8 = 43;
    const DESTINATION: u8 = 60;
    while matches!(protocol, HOP_BY_HOP | ROUTING | DESTINATION) {
        let Some(&[next, length]) = body.first_chunk() else { return (protocol, &[]) };
        // Each step takes 8 bytes or more off the body.
        body = body.get((usize::from(length) + 1) * 8..).unwrap_or_default();
        protocol = next;
    }
    (protocol, body)
}

/// Multicast of the interface or the link (RFC 4291 section 2.7).
fn is_of_link_scope(destination: &[u8]) -> bool {
    matches!(destination, [0xff, flags, ..] if flags & 0xf <= 2)
}

/// Router and neighbour discovery (RFC 4861 section 4).
fn is_discovery(protocol: u8, body: &[u8]) -> bool {
    const ICMPV6: u8 = 58;
    protocol == ICMPV6 && matches!(body, [133..=137, ..])
}

/// The ports of TCP, UDP, UDP-Lite, DCCP and SCTP: all at the same place.
fn ports(protocol: u8, body: &[u8]) -> Option<[u8; 4]> {
    matches!(protocol, 6 | 17 | 136 | 33 | 132).then(|| body.first_chunk().copied()).flatten()
}

fn hash(flow: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    flow.hash(&mut hasher);
    hasher.finish()
}

fn mark_ipv4(packet: &mut [u8]) -> Option<bool> {
    let header = packet.first_chunk_mut::<20>()?;
    if header[0] >> 4 != 4 || header[1] & CE == 0 {
        return Some(false);
    }
    let marked = header[1] | CE;
    checksum::replace(header, 10, 1, &[marked]);
    Some(true)
}

fn mark_ipv6(packet: &mut [u8]) -> Option<bool> {
    let header = packet.first_chunk_mut::<40>()?;
    if header[0] >> 4 != 6 || header[1] >> 4 & CE == 0 {
        return Some(false);
    }
    header[1] |= CE << 4;
    Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{Icmpv6Type, IpHeaders, PacketBuilder, TransportHeader};
    use proptest::prelude::*;

    const HARDWARE: [[u8; 6]; 2] = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]];

    fn ethernet() -> etherparse::PacketBuilderStep<etherparse::Ethernet2Header> {
        PacketBuilder::ethernet2(HARDWARE[0], HARDWARE[1])
    }

    fn udp_v4(traffic_class: u8, id: u16, ports: [u16; 2]) -> Vec<u8> {
        let mut header =
            etherparse::Ipv4Header::new(0, 64, 17.into(), [10, 0, 0, 1], [10, 0, 0, 2]).unwrap();
        header.dscp = (traffic_class >> 2).try_into().unwrap();
        header.ecn = (traffic_class & 3).try_into().unwrap();
        header.identification = id;
        let mut frame = Vec::new();
        let step = ethernet().ip(IpHeaders::Ipv4(header, Default::default()));
        step.udp(ports[0], ports[1]).write(&mut frame, &[7; 9]).unwrap();
        frame
    }

    fn v6(destination: [u8; 16], traffic_class: u8, transport: TransportHeader) -> Vec<u8> {
        let header = etherparse::Ipv6Header {
            traffic_class,
            hop_limit: 64,
            source: [0xfd; 16],
            destination,
            ..Default::default()
        };
        let step = ethernet().ip(IpHeaders::Ipv6(header, Default::default()));
        let mut frame = Vec::new();
        match transport {
            TransportHeader::Udp(udp) => {
                step.udp(udp.source_port, udp.destination_port).write(&mut frame, &[7; 9])
            }
            TransportHeader::Icmpv6(icmp) => {
                step.icmpv6(icmp.icmp_type).write(&mut frame, &[0; 16])
            }
            other => panic!("{other:?}"),
        }
        .unwrap();
        frame
    }

    fn udp(ports: [u16; 2]) -> TransportHeader {
        TransportHeader::Udp(etherparse::UdpHeader {
            source_port: ports[0],
            destination_port: ports[1],
            ..Default::default()
        })
    }

    fn icmp(icmp_type: u8) -> TransportHeader {
        let icmp_type = Icmpv6Type::Unknown { type_u8: icmp_type, code_u8: 0, bytes5to8: [0; 4] };
        TransportHeader::Icmpv6(etherparse::Icmpv6Header::new(icmp_type))
    }

    fn marks(frame: &[u8]) -> Marks {
        match read(frame) {
            Contents::Packet(marks) => marks,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn flows_are_told_apart_by_ports() {
        let flows = |frames: [Vec<u8>; 3]| frames.map(|frame| marks(&frame).flow);
        let v4 = flows([udp_v4(0, 1, [1, 2]), udp_v4(0xb8, 2, [1, 2]), udp_v4(0, 1, [1, 3])]);
        let v6 = |class, ports| v6([0xfc; 16], class, udp(ports));
        let v6 = flows([v6(0, [1, 2]), v6(0xb8, [1, 2]), v6(0, [1, 3])]);
        for [flow, same, other] in [v4, v6] {
            assert_eq!(flow, same);
            assert_ne!(flow, other);
        }
    }

    #[test]
    fn fragments_belong_to_one_flow() {
        let [mut first, mut second] = [udp_v4(0, 1, [1, 2]), udp_v4(0, 1, [3, 4])];
        assert_ne!(marks(&first).flow, marks(&second).flow);
        first[ETHERNET_HEADER + 6] = 0x20;
        second[ETHERNET_HEADER + 7] = 100;
        assert_eq!(marks(&first).flow, marks(&second).flow);
    }

    #[test]
    fn extension_headers_are_passed() {
        let plain = v6([0xfc; 16], 0, udp([1, 2]));
        let with_header = |next: u8, header: &[u8]| {
            let mut frame = plain.clone();
            frame[ETHERNET_HEADER + 6] = next;
            frame.splice(ETHERNET_HEADER + 40..ETHERNET_HEADER + 40, header.iter().copied());
            marks(&frame).flow
        };
        let hop_by_hop = [17, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(with_header(0, &hop_by_hop), marks(&plain).flow);
        assert_eq!(with_header(60, &[17, 0, 1, 4, 0, 0, 0, 0]), marks(&plain).flow);
        assert_ne!(with_header(44, &[17, 0, 0, 1, 0, 0, 0, 9]), marks(&plain).flow);
    }

    #[test]
    fn the_class_is_the_code_point() {
        const EXPEDITED: u8 = 46;
        assert_eq!(marks(&udp_v4(EXPEDITED << 2 | 1, 0, [1, 2])).dscp, EXPEDITED);
        assert_eq!(marks(&v6([0xfc; 16], EXPEDITED << 2 | 1, udp([1, 2]))).dscp, EXPEDITED);
    }

    #[test]
    fn neighbours_are_recognised() {
        let all_nodes = [0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        let everywhere = [0xff, 0xe, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        assert_eq!(read(&v6(all_nodes, 0, udp([1, 2]))), Contents::Neighbour);
        assert_eq!(read(&v6([0xfc; 16], 0, icmp(135))), Contents::Neighbour);
        for frame in [v6(everywhere, 0, udp([1, 2])), v6([0xfc; 16], 0, icmp(128))] {
            assert!(matches!(read(&frame), Contents::Packet(_)));
        }
        let mut arp = vec![0; 42];
        arp[12..14].copy_from_slice(&ARP);
        assert_eq!(read(&arp), Contents::Neighbour);
        let mut vlan = udp_v4(0, 0, [1, 2]);
        vlan[12..14].copy_from_slice(&[0x81, 0]);
        assert_eq!(read(&vlan), Contents::Other);
    }

    proptest! {
        #[test]
        fn a_marked_packet_has_a_right_checksum(class: u8, id: u16, ports: [u16; 2]) {
            let frame = udp_v4(class, id, ports);
            let mut marked = frame.clone();
            let capable = class & CE != 0;
            prop_assert_eq!(mark_ce(&mut marked), capable);
            let expected = if capable { udp_v4(class | CE, id, ports) } else { frame };
            prop_assert_eq!(marked, expected);
        }

        #[test]
        fn the_mark_of_ipv6_is_in_its_traffic_class(class: u8, ports: [u16; 2]) {
            let frame = v6([0xfc; 16], class, udp(ports));
            let mut marked = frame.clone();
            let capable = class & CE != 0;
            prop_assert_eq!(mark_ce(&mut marked), capable);
            let expected = if capable { v6([0xfc; 16], class | CE, udp(ports)) } else { frame };
            prop_assert_eq!(marked, expected);
        }

        #[test]
        fn frames_that_are_cut_short_are_no_packets(cut in 0..ETHERNET_HEADER + 20) {
            let mut frame = udp_v4(1, 0, [1, 2]);
            frame.truncate(cut);
            prop_assert_eq!(read(&frame), Contents::Other);
            prop_assert!(!mark_ce(&mut frame));
        }
    }
}
