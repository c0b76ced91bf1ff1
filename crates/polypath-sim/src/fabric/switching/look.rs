//! What a switch is shown of a packet.
//!
//! Simulated hosts have no addresses: a host is its node, a path one of the addresses there. The
//! end that connected has its number for a port, the other one waits at one port for all, so that
//! flows to the same node are flows to the same service, which first rates are remembered of.

use crate::fabric::store::{Header, Look, Protocol};
use crate::tcp::Flags;
use crate::topology::{LinkId, NodeId};
use polypath_brf::{Class, Code, FlowKey, Packet, PortId, TcpFlags};
use std::net::{IpAddr, Ipv6Addr};

/// Where servers wait.
const SERVICE: u16 = 443;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// The packet as its switch sees it: `flow` is [`crate::fabric::Packet::flow`], `ends` the nodes
/// that its route begins and ends at.
pub(super) fn describe(
    look: &Look,
    flow: u32,
    bytes: u32,
    port: LinkId,
    ends: (NodeId, NodeId),
) -> Packet {
    let client = flow.wrapping_sub(look.path.into());
    let header = look.header.as_ref();
    let protocol = header.map_or(UDP, |header| match header.protocol {
        Protocol::Tcp => TCP,
        Protocol::Udp => UDP,
    });
    let (source, destination) = ends;
    let path = look.path;
    let flow = if look.to.0 == client {
        key((destination, source), client, path, protocol).reversed()
    } else {
        key((source, destination), client, path, protocol)
    };
    Packet {
        flow,
        class: header.map_or(Class::Udp, class),
        port: PortId(port.0),
        bytes,
        payload: header.map_or(0, |header| header.len),
        flags: header.map_or_else(TcpFlags::default, |header| flags(header.flags)),
        code: header.and_then(|header| header.feedback.code()).unwrap_or(Code::UNASSIGNED),
        connection: Some(client.into()),
    }
}

/// Who has the option obeys what it says.
const fn class(header: &Header) -> Class {
    if header.feedback.is_some() { Class::Brf } else { Class::Cubic }
}

const fn flags(flags: Flags) -> TcpFlags {
    TcpFlags {
        syn: flags.contains(Flags::SYN),
        ack: flags.contains(Flags::ACK),
        fin: flags.contains(Flags::FIN),
        rst: flags.contains(Flags::RST),
    }
}

/// The flow from the end that connected.
fn key((from, to): (NodeId, NodeId), client: u32, path: u8, protocol: u8) -> FlowKey {
    let [upper, lower] = [(client >> 16) as u16, client as u16];
    FlowKey {
        source: address(from, path, upper),
        destination: address(to, path, 0),
        source_port: lower,
        destination_port: SERVICE,
        protocol,
    }
}

/// An address of a host; `rest` tells its clients apart that a port does not.
fn address(node: NodeId, path: u8, rest: u16) -> IpAddr {
    let [upper, lower] = [(node.0 >> 16) as u16, node.0 as u16];
    Ipv6Addr::new(0xfd00, 0, 0, 0, rest, upper, lower, path.into()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::{EndpointId, RouteId};
    use crate::tcp::Feedback;
    use polypath_brf::FeedbackHeader;

    fn look(to: u32, path: u8, feedback: Feedback) -> Look {
        let protocol = Protocol::Tcp;
        let header = Some(Header { protocol, flags: Flags::ACK, len: 7, feedback });
        Look { route: RouteId(1), to: EndpointId(to), path, header }
    }

    fn seen(to: u32, path: u8, flow: u32, ends: (u32, u32)) -> Packet {
        let (from, end) = (NodeId(ends.0), NodeId(ends.1));
        describe(&look(to, path, Feedback::NONE), flow, 52, LinkId(3), (from, end))
    }

    #[test]
    fn the_two_directions_of_a_connection_are_each_other_s_reverse() {
        let there = seen(5, 1, 5, (0, 9));
        let back = seen(4, 1, 5, (9, 0));
        assert_eq!(there.flow.reversed(), back.flow);
        assert_eq!((there.flow.source_port, there.flow.destination_port), (4, SERVICE));
        assert_eq!((there.port, there.payload, there.connection), (PortId(3), 7, Some(4)));
    }

    /// The second path of the connection of 4 has the flow number of the connection of 5.
    #[test]
    fn paths_connections_and_hosts_are_told_apart() {
        let flows = [
            seen(5, 1, 5, (0, 9)),
            seen(5, 0, 4, (0, 9)),
            seen(6, 0, 5, (0, 9)),
            seen(5, 0, 4, (0, 8)),
            seen(5, 0, 4 + (1 << 16), (0, 9)),
        ]
        .map(|packet| packet.flow);
        for (n, flow) in flows.iter().enumerate() {
            assert!(!flows[..n].contains(flow), "{flow:?}");
        }
    }

    #[test]
    fn the_option_makes_the_class() {
        let class = |look: Look| describe(&look, 4, 52, LinkId(0), (NodeId(0), NodeId(1))).class;
        assert_eq!(class(look(5, 0, Feedback::NONE)), Class::Cubic);
        assert_eq!(class(look(5, 0, Feedback::UNASSIGNED)), Class::Brf);
        assert_eq!(class(Look { header: None, ..look(5, 0, Feedback::NONE) }), Class::Udp);
    }

    #[test]
    fn the_path_of_a_bond_is_udp_that_obeys() {
        let opens = FeedbackHeader { opens: true, data: true, ..FeedbackHeader::default() };
        let last = FeedbackHeader { replies: true, closes: true, ..FeedbackHeader::default() };
        let seen = |header| {
            let header = Some(Header::of_bond(header));
            let look = Look { header, ..look(5, 0, Feedback::NONE) };
            describe(&look, 4, 1_000, LinkId(0), (NodeId(0), NodeId(1)))
        };
        let TcpFlags { syn, ack, fin, rst } = seen(opens).flags;
        assert!(syn && !ack && !fin && !rst && seen(opens).payload > 0);
        let TcpFlags { syn, ack, fin, rst } = seen(last).flags;
        assert!(!syn && ack && !fin && rst && seen(last).payload == 0);
        assert_eq!((seen(last).class, seen(last).flow.protocol), (Class::Brf, UDP));
    }
}
