//! Connections of the kernel's TCP and Multipath TCP.

use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Which protocol of the kernel carries a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelTransport {
    /// TCP.
    Tcp,
    /// Multipath TCP; subflows are what the namespaces' endpoints make.
    Mptcp,
}

/// The two ends of an open connection.
#[derive(Debug)]
pub(super) struct Connected {
    pub(super) client: TcpStream,
    pub(super) server: TcpStream,
    /// Subflows that come later join by it (RFC 8684 section 3.2).
    _listening: Socket,
}

/// A socket of the calling thread's namespace, bound to `address`.
pub(super) fn bound(
    transport: KernelTransport,
    congestion: &str,
    address: SocketAddr,
) -> io::Result<Socket> {
    let protocol = match transport {
        KernelTransport::Tcp => Protocol::TCP,
        KernelTransport::Mptcp => Protocol::MPTCP,
    };
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(protocol))?;
    socket.set_tcp_congestion(congestion.as_bytes())?;
    socket.bind(&address.into())?;
    Ok(socket)
}

/// The same, and listens for one client.
pub(super) fn listening(
    transport: KernelTransport,
    congestion: &str,
    address: SocketAddr,
) -> io::Result<Socket> {
    let socket = bound(transport, congestion, address)?;
    socket.listen(1)?;
    Ok(socket)
}

/// Connects a bound socket with a listening one.
pub(super) fn connect(client: Socket, listening: Socket) -> io::Result<Connected> {
    client.connect_timeout(&listening.local_addr()?, HANDSHAKE)?;
    // The client has its answer, so the kernel of the server knows of it.
    let (accepted, _) = listening.accept()?;
    Ok(Connected { client: client.into(), server: accepted.into(), _listening: listening })
}
