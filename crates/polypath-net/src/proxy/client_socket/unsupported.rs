//! Where the system does not tell the DSCP of datagrams.

use std::io;

use tokio::net::UdpSocket;

use super::Received;

pub(super) fn tell_dscp(_: &UdpSocket) -> io::Result<()> {
    Ok(())
}

/// Waits for a datagram. Cancel-safe.
pub(super) async fn recv_from(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<Received> {
    let (length, from) = socket.recv_from(buffer).await?;
    Ok(Received { length, from, dscp: None })
}
