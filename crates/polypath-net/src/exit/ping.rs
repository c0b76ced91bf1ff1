//! Echo requests without the right to raw sockets (Linux: `net.ipv4.ping_group_range`).

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::UdpSocket;
use tokio::time::timeout;

use crate::limit::Place;

const MAX_MESSAGE: usize = 65_535;
/// Type, code, checksum, identifier and sequence number.
const HEADER: usize = 8;
const REQUEST_V4: u8 = 8;
const REPLY_V4: u8 = 0;
const REQUEST_V6: u8 = 128;
const REPLY_V6: u8 = 129;

/// A socket for the echo requests of one identifier in one family. The kernel puts an identifier
/// of its own in their place, and lets in the replies to that alone.
#[derive(Debug)]
pub(crate) struct PingExit {
    socket: UdpSocket,
    is_v4: bool,
    idle_timeout: Duration,
    _place: Place,
}

/// An echo request or reply: its sequence number, and what it carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Echo {
    pub(crate) sequence: u16,
    pub(crate) payload: Bytes,
}

impl PingExit {
    pub(super) fn open(is_v4: bool, idle_timeout: Duration, place: Place) -> io::Result<Self> {
        let (domain, protocol, any): (_, _, IpAddr) = if is_v4 {
            (Domain::IPV4, Protocol::ICMPV4, Ipv4Addr::UNSPECIFIED.into())
        } else {
            (Domain::IPV6, Protocol::ICMPV6, Ipv6Addr::UNSPECIFIED.into())
        };
        let socket = Socket::new(domain, Type::DGRAM, Some(protocol))?;
        socket.set_nonblocking(true)?;
        socket.bind(&SocketAddr::new(any, 0).into())?;
        let socket = UdpSocket::from_std(socket.into())?;
        Ok(Self { socket, is_v4, idle_timeout, _place: place })
    }

    /// Asks an address. What the network refuses is dropped, as a router would.
    pub(crate) async fn send(&self, to: IpAddr, echo: &Echo) {
        let mut message = BytesMut::with_capacity(HEADER + echo.payload.len());
        message.put_u8(if self.is_v4 { REQUEST_V4 } else { REQUEST_V6 });
        // The code, and the checksum and identifier that the kernel fills in.
        message.put_bytes(0, HEADER - 3);
        message.put_u16(echo.sequence);
        message.put_slice(&echo.payload);
        if let Err(error) = self.socket.send_to(&message, SocketAddr::new(to, 0)).await {
            tracing::debug!(%to, %error, "echo request dropped");
        }
    }

    /// Waits for the next reply; `None` when none has come for the idle time-out. Cancel-safe.
    pub(crate) async fn recv(&self) -> io::Result<Option<(IpAddr, Echo)>> {
        let mut buffer = vec![0; MAX_MESSAGE];
        loop {
            let Ok(received) = timeout(self.idle_timeout, self.socket.recv_from(&mut buffer)).await
            else {
                return Ok(None);
            };
            let (length, from) = match received {
                Ok(received) => received,
                // An ICMP error of an earlier request.
                Err(error) if error.raw_os_error().is_some() => continue,
                Err(error) => return Err(error),
            };
            if let Some(echo) = self.reply(&buffer[..length]) {
                return Ok(Some((from.ip(), echo)));
            }
        }
    }

    fn reply(&self, mut message: &[u8]) -> Option<Echo> {
        let kind = message.try_get_u8().ok()?;
        if message.len() < HEADER - 1 || kind != if self.is_v4 { REPLY_V4 } else { REPLY_V6 } {
            return None;
        }
        message.advance(HEADER - 3);
        let sequence = message.try_get_u16().ok()?;
        Some(Echo { sequence, payload: Bytes::copy_from_slice(message) })
    }
}
