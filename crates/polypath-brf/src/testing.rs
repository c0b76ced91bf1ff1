//! Flows and packets for the tests of this folder.

use super::{Class, Code, FlowKey, Packet, PortId, TcpFlags};
use std::net::{IpAddr, Ipv4Addr};

/// The flow from host `number` to a server.
pub(super) fn key(number: u16) -> FlowKey {
    FlowKey {
        source: IpAddr::V4(Ipv4Addr::new(10, 0, (number >> 8) as u8, number as u8)),
        destination: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
        source_port: 5_000,
        destination_port: 443,
        protocol: 6,
    }
}

/// A full packet of flow `number` that leaves port 0.
pub(super) fn data(number: u16, class: Class) -> Packet {
    Packet {
        flow: key(number),
        class,
        port: PortId(0),
        bytes: 1_500,
        payload: 1_448,
        flags: TcpFlags { ack: true, ..TcpFlags::default() },
        code: Code::UNASSIGNED,
        connection: None,
    }
}

/// The packet that opens flow `number`.
pub(super) fn syn(number: u16, class: Class) -> Packet {
    let flags = TcpFlags { syn: true, ..TcpFlags::default() };
    Packet { bytes: 60, payload: 0, flags, ..data(number, class) }
}

/// An acknowledgement of flow `number`, which leaves port 1.
pub(super) fn ack(number: u16, code: Code) -> Packet {
    let flow = key(number).reversed();
    Packet { flow, port: PortId(1), bytes: 52, payload: 0, code, ..data(number, Class::Brf) }
}

/// The answer to the opening of flow `number`.
pub(super) fn syn_ack(number: u16) -> Packet {
    let flags = TcpFlags { syn: true, ack: true, ..TcpFlags::default() };
    Packet { flags, ..ack(number, Code::UNASSIGNED) }
}
