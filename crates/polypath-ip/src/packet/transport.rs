//! What the protocol above IP says of the conversation.

use etherparse::TcpHeaderSlice;
use etherparse::err::tcp::{HeaderError, HeaderSliceError};

use super::network::{Network, truncated};
use super::quoted::Quoted;
use crate::error::{Header, PacketError};

pub(crate) const ICMP: u8 = 1;
pub(super) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;
const DCCP: u8 = 33;
const ESP: u8 = 50;
pub(crate) const ICMPV6: u8 = 58;
const SCTP: u8 = 132;
const UDP_LITE: u8 = 136;

/// Bytes of a UDP header, which those of ICMP and ESP are too.
const EIGHT: usize = 8;

/// The ports of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ports {
    /// The one that it comes from.
    pub source: u16,
    /// The one that it goes to.
    pub destination: u16,
}

/// The flags of a TCP segment that begin and end connections (RFC 9293, section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpFlags {
    /// It begins a connection, or answers to such a segment.
    pub syn: bool,
    /// It acknowledges something.
    pub ack: bool,
    /// Its sender has no more data.
    pub fin: bool,
    /// The connection is no more.
    pub rst: bool,
}

/// What a gateway reads of the protocol above IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A segment of TCP.
    Tcp(Ports, TcpFlags),
    /// A packet of another protocol with ports: UDP, UDP-Lite, SCTP or DCCP.
    Datagram(Ports),
    /// A question of ICMP that has an answer with the same identifier, such as an echo request; or
    /// the answer.
    Query {
        /// The identifier.
        identifier: u16,
    },
    /// An error of ICMP, with what is left of the packet that it is about; `None` if that cannot
    /// be read.
    IcmpError(Option<Quoted>),
    /// An encrypted packet of IPsec (RFC 4303).
    Esp {
        /// The security parameters index, which differs by direction.
        spi: u32,
    },
    /// A fragment that is not the first one: what would be here is in that.
    LaterFragment,
    /// Anything else.
    Other,
}

/// What tells conversations of a protocol between the same addresses apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Selector {
    Nothing,
    Ports(Ports),
    Query(u16),
}

impl Transport {
    /// The ports, of a protocol that has them.
    pub const fn ports(&self) -> Option<Ports> {
        match *self {
            Self::Tcp(ports, _) | Self::Datagram(ports) => Some(ports),
            _ => None,
        }
    }

    pub(crate) const fn selector(&self) -> Selector {
        match *self {
            Self::Tcp(ports, _) | Self::Datagram(ports) => Selector::Ports(ports),
            Self::Query { identifier } => Selector::Query(identifier),
            Self::IcmpError(_) | Self::Esp { .. } | Self::LaterFragment | Self::Other => {
                Selector::Nothing
            }
        }
    }
}

/// Reads the protocol above IP of a whole packet or a fragment; `segment` is from there on.
pub(super) fn read(network: &Network, segment: &[u8]) -> Result<Transport, PacketError> {
    if network.fragment.is_some_and(|fragment| !fragment.is_first()) {
        return Ok(Transport::LaterFragment);
    }
    let datagram = |header, least| {
        at_least(header, segment, least)?;
        Ok(ports(segment).map_or(Transport::Other, Transport::Datagram))
    };
    match network.protocol {
        TCP => read_tcp(segment),
        UDP => {
            check_udp(segment, network.fragment.is_none())?;
            datagram(Header::Udp, EIGHT)
        }
        UDP_LITE => datagram(Header::UdpLite, EIGHT),
        SCTP => datagram(Header::Sctp, 12),
        DCCP => datagram(Header::Dccp, 12),
        ESP => {
            at_least(Header::Esp, segment, EIGHT)?;
            let spi = segment.first_chunk().map(|spi| u32::from_be_bytes(*spi));
            Ok(spi.map_or(Transport::Other, |spi| Transport::Esp { spi }))
        }
        ICMP if network.source.is_ipv4() => {
            read_icmp(network, segment, is_query_of_icmp, is_error_of_icmp)
        }
        ICMPV6 if network.source.is_ipv6() => {
            read_icmp(network, segment, is_query_of_icmpv6, is_error_of_icmpv6)
        }
        _ => Ok(Transport::Other),
    }
}

/// The ports where TCP, UDP, UDP-Lite, SCTP and DCCP have them.
pub(super) fn ports(segment: &[u8]) -> Option<Ports> {
    let &[a, b, c, d] = segment.first_chunk()?;
    let [source, destination] = [[a, b], [c, d]].map(u16::from_be_bytes);
    Some(Ports { source, destination })
}

/// Whether packets of the protocol have ports, where [`ports`] reads them.
pub(super) fn has_ports(protocol: u8) -> bool {
    matches!(protocol, TCP | UDP | UDP_LITE | SCTP | DCCP)
}

/// The identifier of a question or answer of ICMP.
pub(super) fn identifier(message: &[u8]) -> Option<u16> {
    Some(u16::from_be_bytes([*message.get(4)?, *message.get(5)?]))
}

/// Echo, timestamp, information and address mask, and their answers (RFC 792, RFC 950).
pub(crate) fn is_query_of_icmp(kind: u8) -> bool {
    matches!(kind, 0 | 8 | 13..=18)
}

/// Destination unreachable, source quench, redirect, time exceeded and parameter problem (RFC 1122,
/// section 3.2.2).
fn is_error_of_icmp(kind: u8) -> bool {
    matches!(kind, 3 | 4 | 5 | 11 | 12)
}

/// Echo request and reply (RFC 4443, section 4).
pub(super) fn is_query_of_icmpv6(kind: u8) -> bool {
    matches!(kind, 128 | 129)
}

/// RFC 4443, section 2.1.
pub(crate) fn is_error_of_icmpv6(kind: u8) -> bool {
    kind < 128
}

fn read_icmp(
    network: &Network,
    message: &[u8],
    is_query: fn(u8) -> bool,
    is_error: fn(u8) -> bool,
) -> Result<Transport, PacketError> {
    at_least(Header::Icmp, message, EIGHT)?;
    Ok(match message[0] {
        kind if is_query(kind) => identifier(message)
            .map_or(Transport::Other, |identifier| Transport::Query { identifier }),
        kind if is_error(kind) => {
            Transport::IcmpError(Quoted::read(&message[EIGHT..], network.destination))
        }
        _ => Transport::Other,
    })
}

fn read_tcp(segment: &[u8]) -> Result<Transport, PacketError> {
    let header = TcpHeaderSlice::from_slice(segment).map_err(of_tcp)?;
    let ports = Ports { source: header.source_port(), destination: header.destination_port() };
    let flags =
        TcpFlags { syn: header.syn(), ack: header.ack(), fin: header.fin(), rst: header.rst() };
    Ok(Transport::Tcp(ports, flags))
}

fn of_tcp(error: HeaderSliceError) -> PacketError {
    match error {
        HeaderSliceError::Len(error) => truncated(Header::Tcp, &error),
        HeaderSliceError::Content(HeaderError::DataOffsetTooSmall { data_offset }) => {
            let length = usize::from(data_offset) * 4;
            PacketError::HeaderLength { header: Header::Tcp, length, least: 20, most: 60 }
        }
    }
}

/// A datagram may be shorter than what it is in, which is where its options are (RFC 9868). Of a
/// fragmented one only the first part is here.
fn check_udp(segment: &[u8], whole: bool) -> Result<(), PacketError> {
    at_least(Header::Udp, segment, EIGHT)?;
    let length = usize::from(u16::from_be_bytes([segment[4], segment[5]]));
    let most = if whole { segment.len() } else { usize::from(u16::MAX) };
    if (EIGHT..=most).contains(&length) {
        return Ok(());
    }
    Err(PacketError::HeaderLength { header: Header::Udp, length, least: EIGHT, most })
}

fn at_least(header: Header, segment: &[u8], needed: usize) -> Result<(), PacketError> {
    let present = segment.len();
    if present < needed {
        return Err(PacketError::Truncated { header, needed, present });
    }
    Ok(())
}
