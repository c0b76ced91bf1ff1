//! What the protocol above IP says of the conversation.

use std::net::IpAddr;

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

/// The ICMP of a family; in the other it is a protocol without meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Icmp {
    V4,
    V6,
}

impl Icmp {
    pub(super) fn of(network: &Network) -> Option<Self> {
        match network.protocol {
            ICMP if network.source.is_ipv4() => Some(Self::V4),
            ICMPV6 if network.source.is_ipv6() => Some(Self::V6),
            _ => None,
        }
    }

    /// Whether messages of this type have an identifier, and answers or questions with the same:
    /// echo (RFC 792; RFC 4443, section 4), and in IPv4 timestamp, information and address mask
    /// (RFC 792, RFC 950).
    pub(crate) fn is_query(self, kind: u8) -> bool {
        match self {
            Self::V4 => matches!(kind, 0 | 8 | 13..=18),
            Self::V6 => matches!(kind, 128 | 129),
        }
    }

    /// Whether messages of this type are about a packet that they quote: destination unreachable,
    /// source quench, redirect, time exceeded and parameter problem (RFC 1122, section 3.2.2); the
    /// lower half of types (RFC 4443, section 2.1).
    pub(crate) fn is_error(self, kind: u8) -> bool {
        match self {
            Self::V4 => matches!(kind, 3 | 4 | 5 | 11 | 12),
            Self::V6 => kind < 128,
        }
    }
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
    if network.is_later_fragment() {
        return Ok(Transport::LaterFragment);
    }
    match network.protocol {
        TCP => read_tcp(segment),
        UDP => {
            check_udp(segment, network.fragment.is_none())?;
            read_datagram::<EIGHT>(Header::Udp, segment)
        }
        UDP_LITE => read_datagram::<EIGHT>(Header::UdpLite, segment),
        SCTP => read_datagram::<12>(Header::Sctp, segment),
        DCCP => read_datagram::<12>(Header::Dccp, segment),
        ESP => {
            let &[a, b, c, d, ..] = first::<EIGHT>(Header::Esp, segment)?;
            Ok(Transport::Esp { spi: u32::from_be_bytes([a, b, c, d]) })
        }
        _ => match Icmp::of(network) {
            Some(icmp) => read_icmp(icmp, segment, network.destination),
            None => Ok(Transport::Other),
        },
    }
}

/// The ports where TCP, UDP, UDP-Lite, SCTP and DCCP have them.
pub(super) fn ports(header: [u8; 4]) -> Ports {
    let [a, b, c, d] = header;
    let [source, destination] = [[a, b], [c, d]].map(u16::from_be_bytes);
    Ports { source, destination }
}

/// Whether packets of the protocol have ports, where [`ports`] reads them.
pub(super) fn has_ports(protocol: u8) -> bool {
    matches!(protocol, TCP | UDP | UDP_LITE | SCTP | DCCP)
}

/// The identifier of a question or answer of ICMP.
pub(super) fn identifier(header: &[u8; EIGHT]) -> u16 {
    u16::from_be_bytes([header[4], header[5]])
}

fn read_icmp(icmp: Icmp, message: &[u8], receiver: IpAddr) -> Result<Transport, PacketError> {
    let header = first::<EIGHT>(Header::Icmp, message)?;
    Ok(match header[0] {
        kind if icmp.is_query(kind) => Transport::Query { identifier: identifier(header) },
        kind if icmp.is_error(kind) => {
            Transport::IcmpError(Quoted::read(&message[EIGHT..], receiver))
        }
        _ => Transport::Other,
    })
}

/// A protocol whose header has N bytes or more, the ports first.
fn read_datagram<const N: usize>(header: Header, segment: &[u8]) -> Result<Transport, PacketError> {
    let bytes = first::<N>(header, segment)?;
    Ok(Transport::Datagram(ports([bytes[0], bytes[1], bytes[2], bytes[3]])))
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
    let header = first::<EIGHT>(Header::Udp, segment)?;
    let length = usize::from(u16::from_be_bytes([header[4], header[5]]));
    let most = if whole { segment.len() } else { usize::from(u16::MAX) };
    if (EIGHT..=most).contains(&length) {
        return Ok(());
    }
    Err(PacketError::HeaderLength { header: Header::Udp, length, least: EIGHT, most })
}

/// The first bytes of a header that has at least so many.
fn first<const N: usize>(header: Header, segment: &[u8]) -> Result<&[u8; N], PacketError> {
    let truncated = PacketError::Truncated { header, needed: N, present: segment.len() };
    segment.first_chunk().ok_or(truncated)
}
