//! The UDP socket that clients send to.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod unsupported;

use std::io;
use std::net::SocketAddr;

use tokio::net::UdpSocket;

use super::steering::{Dscp, Steering};
#[cfg(target_os = "linux")]
use linux as marked;
#[cfg(not(target_os = "linux"))]
use unsupported as marked;

/// A UDP socket that tells the DSCP of what it receives, if a rule asks for it.
#[derive(Debug)]
pub(super) struct ClientSocket {
    socket: UdpSocket,
    tells_dscp: bool,
}

/// A datagram that was received into a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Received {
    pub(super) length: usize,
    pub(super) from: SocketAddr,
    /// `None` if nobody wants to know.
    pub(super) dscp: Option<Dscp>,
}

impl ClientSocket {
    pub(super) fn new(socket: UdpSocket, steering: &Steering) -> io::Result<Self> {
        let tells_dscp = steering.asks_for_dscp();
        if tells_dscp {
            marked::tell_dscp(&socket)?;
        }
        Ok(Self { socket, tells_dscp })
    }

    pub(super) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Waits for the next datagram. Cancel-safe.
    pub(super) async fn recv_from(&self, buffer: &mut [u8]) -> io::Result<Received> {
        if self.tells_dscp {
            return marked::recv_from(&self.socket, buffer).await;
        }
        let (length, from) = self.socket.recv_from(buffer).await?;
        Ok(Received { length, from, dscp: None })
    }

    pub(super) async fn send_to(&self, payload: &[u8], client: SocketAddr) -> io::Result<usize> {
        self.socket.send_to(payload, client).await
    }
}
