//! Where the system does not tell the DSCP of datagrams, rules cannot ask for it.

use std::io;

use tokio::net::UdpSocket;

use super::Received;

pub(super) fn tell_dscp(_: &UdpSocket) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) async fn recv_from(_: &UdpSocket, _: &mut [u8]) -> io::Result<Received> {
    Err(io::ErrorKind::Unsupported.into())
}
