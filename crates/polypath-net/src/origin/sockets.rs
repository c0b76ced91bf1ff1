//! Whose a socket is (sock_diag(7)).

use std::io;
use std::net::SocketAddr;

use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_UDP};
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, SocketId, StateFlags};
use rtnetlink::packet_core::NetlinkPayload;
use rtnetlink::sys::protocols::NETLINK_SOCK_DIAG;

use super::Ends;
use super::netlink::ask;

/// The user of this host's socket that sends from the source of a conversation; `None` if no socket
/// does.
pub(super) fn user(ends: Ends) -> io::Result<Option<u32>> {
    let Ends { protocol, source, destination } = ends;
    // What is asked for of UDP is whose socket takes a packet, of TCP, whose is the connection: the
    // ends are the other way round (udp_dump_one() in net/ipv4/udp_diag.c).
    let (here, there) =
        if protocol == IPPROTO_UDP { (destination, source) } else { (source, destination) };
    let request = InetRequest {
        family: if source.is_ipv4() { AF_INET } else { AF_INET6 },
        protocol,
        extensions: ExtensionFlags::empty(),
        states: StateFlags::all(),
        socket_id: id(here, there),
    };
    let question = NetlinkPayload::from(SockDiagMessage::InetRequest(request));
    Ok(match ask(NETLINK_SOCK_DIAG, question)? {
        Some(SockDiagMessage::InetResponse(socket)) => Some(socket.header.uid),
        _ => None,
    })
}

fn id(here: SocketAddr, there: SocketAddr) -> SocketId {
    SocketId {
        source_port: here.port(),
        destination_port: there.port(),
        source_address: here.ip(),
        destination_address: there.ip(),
        interface_id: 0,
        // Any socket: INET_DIAG_NOCOOKIE.
        cookie: [0xff; 8],
    }
}
