//! Echo requests without the right to raw sockets (Linux: `net.ipv4.ping_group_range`).

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::UdpSocket;
use tokio::time::timeout;

use crate::limit::Place;

const MAX_MESSAGE: usize = 65_535;

/// A socket for the echo requests of one identifier in one family. The kernel puts an identifier
/// of its own in their place, and lets in the replies to that alone.
#[derive(Debug)]
pub(crate) struct PingExit {
    socket: UdpSocket,
    is_v4: bool,
    idle_timeout: Duration,
    _place: Place,
}

/// Which of the two messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EchoKind {
    Request,
    Reply,
}

impl EchoKind {
    /// The type of its messages (RFC 792; RFC 4443, sections 4.1 and 4.2).
    const fn number(self, is_v4: bool) -> u8 {
        match (self, is_v4) {
            (Self::Request, true) => 8,
            (Self::Reply, true) => 0,
            (Self::Request, false) => 128,
            (Self::Reply, false) => 129,
        }
    }
}

/// An echo request or reply: its sequence number, and what it carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Echo {
    pub(crate) sequence: u16,
    pub(crate) payload: Bytes,
}

impl Echo {
    /// Reads a message of ICMP in IPv4, or else in IPv6; `None` when it is of another kind.
    pub(crate) fn read(kind: EchoKind, is_v4: bool, message: &[u8]) -> Option<Self> {
        // Behind the type stand its code, checksum and identifier.
        let (&[number, _, _, _, _, _, high, low], payload) = message.split_first_chunk()?;
        (number == kind.number(is_v4)).then(|| Self {
            sequence: u16::from_be_bytes([high, low]),
            payload: Bytes::copy_from_slice(payload),
        })
    }

    /// The message, without the checksum and the identifier, which the kernel fills in.
    fn write(&self, kind: EchoKind, is_v4: bool) -> Vec<u8> {
        let [high, low] = self.sequence.to_be_bytes();
        let header = [kind.number(is_v4), 0, 0, 0, 0, 0, high, low];
        [&header, &self.payload[..]].concat()
    }
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
        let message = echo.write(EchoKind::Request, self.is_v4);
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
            if let Some(echo) = Echo::read(EchoKind::Reply, self.is_v4, &buffer[..length]) {
                return Ok(Some((from.ip(), echo)));
            }
        }
    }
}
