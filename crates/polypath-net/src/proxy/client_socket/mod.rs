//! The UDP socket that clients send to.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod unsupported;

use std::io;
use std::net::SocketAddr;

use polypath_policy::Dscp;
use tokio::net::UdpSocket;

#[cfg(target_os = "linux")]
use linux as marked;
#[cfg(not(target_os = "linux"))]
use unsupported as marked;

/// A UDP socket that tells the DSCP of what it receives, where the system does.
#[derive(Debug)]
pub(super) struct ClientSocket(UdpSocket);

/// A datagram that was received into a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Received {
    pub(super) length: usize,
    pub(super) from: SocketAddr,
    /// `None` where the system does not tell it.
    pub(super) dscp: Option<Dscp>,
}

impl ClientSocket {
    pub(super) fn new(socket: UdpSocket) -> io::Result<Self> {
        marked::tell_dscp(&socket)?;
        Ok(Self(socket))
    }

    pub(super) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    /// Waits for the next datagram. Cancel-safe.
    pub(super) async fn recv_from(&self, buffer: &mut [u8]) -> io::Result<Received> {
        marked::recv_from(&self.0, buffer).await
    }

    pub(super) async fn send_to(&self, payload: &[u8], client: SocketAddr) -> io::Result<usize> {
        self.0.send_to(payload, client).await
    }
}
