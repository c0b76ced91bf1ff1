//! The transparent listener, which takes connections to whatever address.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::num::NonZeroU16;

use socket2::{Domain, Protocol, Socket, Type};

use crate::plan::Family;

/// Connections that wait to be accepted.
const BACKLOG: i32 = 1024;

/// Listens for the connections that are [intercepted](crate::plan::EdgePlan::listener) in a family.
/// The local address of a connection is then the one that its client wanted. It does not block.
/// Without a port it takes one that is free.
///
/// # Errors
/// If the port is in use, or this process has not the right to take connections to foreign
/// addresses (IP_TRANSPARENT, CAP_NET_ADMIN), or the system is not Linux.
pub fn listen_transparently(family: Family, port: Option<NonZeroU16>) -> io::Result<TcpListener> {
    let port = port.map_or(0, NonZeroU16::get);
    let (domain, any) = match family {
        Family::V4 => (Domain::IPV4, SocketAddr::from((Ipv4Addr::UNSPECIFIED, port))),
        Family::V6 => (Domain::IPV6, SocketAddr::from((Ipv6Addr::UNSPECIFIED, port))),
    };
    let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
    if family == Family::V6 {
        socket.set_only_v6(true)?;
    }
    socket.set_reuse_address(true)?;
    set_transparent(&socket)?;
    socket.bind(&any.into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// Linux keeps one flag for both families, which a socket of IPv6 takes by this option too.
#[cfg(target_os = "linux")]
fn set_transparent(socket: &Socket) -> io::Result<()> {
    socket.set_ip_transparent_v4(true)
}

#[cfg(not(target_os = "linux"))]
fn set_transparent(_socket: &Socket) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
