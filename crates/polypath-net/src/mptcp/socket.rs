//! Sockets of Multipath TCP.

use std::io;
use std::net::SocketAddr;

use socket2::{Domain, Socket, Type};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::socket::{BindTo, tie};

/// Connections that wait to be accepted, as many as the kernel allows (`net.core.somaxconn`).
const BACKLOG: i32 = 4_096;

#[cfg(target_os = "linux")]
fn open(domain: Domain) -> io::Result<Socket> {
    Socket::new(domain, Type::STREAM, Some(socket2::Protocol::MPTCP))
}

#[cfg(not(target_os = "linux"))]
fn open(_: Domain) -> io::Result<Socket> {
    let _ = Type::STREAM;
    Err(io::ErrorKind::Unsupported.into())
}

/// Whether this kernel has Multipath TCP, and it is not switched off (`net.mptcp.enabled`).
pub(super) fn is_supported() -> bool {
    open(Domain::IPV4).is_ok()
}

/// Listens at an address.
pub(super) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = open(Domain::for_address(address))?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    // Connections of a hub that ran before may still be there.
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

/// Connects from an uplink: the first subflow, which is tied to it. Further ones are the kernel's.
pub(super) async fn connect(
    from: BindTo,
    mark: Option<u32>,
    to: SocketAddr,
) -> io::Result<TcpStream> {
    let socket = open(Domain::for_address(to))?;
    socket.set_nonblocking(true)?;
    tie(&socket, &from, 0, mark).map_err(io::Error::other)?;
    TcpSocket::from_std_stream(socket.into()).connect(to).await
}

/// Whether the peer or a middlebox has made the connection one of plain TCP. The kernel says so of
/// one that has begun as Multipath TCP; of others it knows nothing (EOPNOTSUPP).
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "no crate of the product has a safe form of this option")]
pub(super) fn is_plain(stream: &TcpStream) -> bool {
    use std::os::fd::AsRawFd as _;

    use nix::libc::{c_void, getsockopt, socklen_t};

    /// linux/mptcp.h, where the flags are the word at byte 8 of `struct mptcp_info`.
    const SOL_MPTCP: i32 = 284;
    const MPTCP_INFO: i32 = 1;
    const WORDS: usize = 3;
    const FALLBACK: u32 = 1;

    let mut info = [0_u32; WORDS];
    let mut length = size_of_val(&info) as socklen_t;
    let into = info.as_mut_ptr().cast::<c_void>();
    // SAFETY: the socket is open for as long as the stream is borrowed, and the kernel writes at
    // most `length` bytes, which are those of `info` (getsockopt(2)).
    let got = unsafe { getsockopt(stream.as_raw_fd(), SOL_MPTCP, MPTCP_INFO, into, &mut length) };
    got != 0 || info[WORDS - 1] & FALLBACK != 0
}

#[cfg(not(target_os = "linux"))]
pub(super) fn is_plain(_: &TcpStream) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[tokio::test]
    async fn a_peer_without_multipath_makes_a_connection_plain() {
        if !is_supported() {
            // Whoever needs it is told by the tests in namespaces.
            return;
        }
        let here = || BindTo::Address(Ipv4Addr::LOCALHOST.into());
        let multipath = listen((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let plain = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        for (listener, expected) in [(multipath, false), (plain, true)] {
            let near = connect(here(), None, listener.local_addr().unwrap()).await.unwrap();
            let (far, _) = listener.accept().await.unwrap();
            assert_eq!([is_plain(&near), is_plain(&far)], [expected; 2]);
        }
    }
}
