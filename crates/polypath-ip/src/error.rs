//! What is wrong with packets.

use std::fmt;

/// Extension headers that an IPv6 packet may have, the fragment header among them. Each of the
/// four kinds is to occur once, Destination Options twice (RFC 8200, section 4.1); a node may
/// refuse more than it expects (RFC 8883, section 2.5).
pub const MAX_EXTENSION_HEADERS: usize = 8;

/// Why bytes are no IP packet that may be carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PacketError {
    /// Neither IPv4 nor IPv6.
    #[error("IP version {0}; allowed: 4 and 6")]
    Version(u8),
    /// The bytes end within a header, or the first fragment does (RFC 1858, RFC 7112).
    #[error("the {header} header takes {needed} bytes or more; {present} are there")]
    Truncated {
        /// The header that is cut short.
        header: Header,
        /// Bytes that it takes at least.
        needed: usize,
        /// Bytes that are there.
        present: usize,
    },
    /// The length in the IP header is not that of the packet.
    #[error(
        "{present} bytes are there, and the IP header says {stated}; allowed: as many as it says"
    )]
    Length {
        /// Bytes from the IP header on, as it says.
        stated: usize,
        /// Bytes that are there.
        present: usize,
    },
    /// A header says that it is shorter than it can be, or longer than what it is in.
    #[error("the {header} header says {length} bytes; allowed: {least} to {most}")]
    HeaderLength {
        /// The header that says so.
        header: Header,
        /// Bytes, as it says.
        length: usize,
        /// The smallest number that is possible.
        least: usize,
        /// The largest number that is possible here.
        most: usize,
    },
    /// The checksum of the IPv4 header is wrong (RFC 1812, section 5.2.2).
    #[error("an IPv4 header whose checksum is wrong")]
    Checksum,
    /// A jumbogram (RFC 2675), or an IPv6 packet without payload that says that it has some.
    #[error("a jumbogram; allowed: up to 65535 bytes behind the IPv6 header")]
    Jumbogram,
    /// Too many extension headers.
    #[error("more than {MAX_EXTENSION_HEADERS} IPv6 extension headers")]
    ExtensionHeaders,
    /// A fragment within a fragment.
    #[error("a second IPv6 fragment header; allowed: one")]
    NestedFragment,
    /// A fragment that ends where no packet has anything (the "ping of death").
    #[error("a fragment of {length} bytes at {offset}; allowed: up to 65535 bytes in all")]
    FragmentEnd {
        /// Where it begins, in bytes.
        offset: u16,
        /// Its bytes.
        length: usize,
    },
    /// A fragment that others follow, and that does not end where one can begin.
    #[error("a fragment of {length} bytes before others; allowed: multiples of 8 (RFC 8200)")]
    FragmentLength {
        /// Its bytes.
        length: usize,
    },
    /// A fragment that would overwrite the flags of a TCP header (RFC 1858, section 4.2).
    #[error("a fragment of a TCP header, at 8 bytes; allowed: the header in the first fragment")]
    FragmentOfHeader,
}

/// Kinds of [`PacketError`], to count by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PacketErrorKind {
    /// Neither IPv4 nor IPv6.
    Version,
    /// Shorter than it says, or than a header.
    Truncated,
    /// Longer than it says.
    Trailing,
    /// The length of a header makes no sense.
    HeaderLength,
    /// A wrong checksum of IPv4.
    Checksum,
    /// A jumbogram.
    Jumbogram,
    /// Too many extension headers, or nested fragments.
    ExtensionHeaders,
    /// A fragment that fits no packet.
    Fragment,
}

impl PacketErrorKind {
    /// All of them, in the order of their numbers (`kind as usize`).
    pub const ALL: [Self; 8] = [
        Self::Version,
        Self::Truncated,
        Self::Trailing,
        Self::HeaderLength,
        Self::Checksum,
        Self::Jumbogram,
        Self::ExtensionHeaders,
        Self::Fragment,
    ];

    /// The name, as metrics and status have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Version => "version",
            Self::Truncated => "truncated",
            Self::Trailing => "trailing",
            Self::HeaderLength => "header_length",
            Self::Checksum => "checksum",
            Self::Jumbogram => "jumbogram",
            Self::ExtensionHeaders => "extension_headers",
            Self::Fragment => "fragment",
        }
    }
}

impl PacketError {
    /// Its kind.
    pub const fn kind(&self) -> PacketErrorKind {
        match *self {
            Self::Version(_) => PacketErrorKind::Version,
            Self::Length { stated, present } if stated < present => PacketErrorKind::Trailing,
            Self::Truncated { .. } | Self::Length { .. } => PacketErrorKind::Truncated,
            Self::HeaderLength { .. } => PacketErrorKind::HeaderLength,
            Self::Checksum => PacketErrorKind::Checksum,
            Self::Jumbogram => PacketErrorKind::Jumbogram,
            Self::ExtensionHeaders | Self::NestedFragment => PacketErrorKind::ExtensionHeaders,
            Self::FragmentEnd { .. } | Self::FragmentLength { .. } | Self::FragmentOfHeader => {
                PacketErrorKind::Fragment
            }
        }
    }
}

/// A header that a packet can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// IPv4 (RFC 791).
    Ipv4,
    /// IPv6 (RFC 8200).
    Ipv6,
    /// Hop-by-Hop Options, Routing, Destination Options or Fragment (RFC 8200).
    Extension,
    /// TCP (RFC 9293).
    Tcp,
    /// UDP (RFC 768).
    Udp,
    /// UDP-Lite (RFC 3828).
    UdpLite,
    /// SCTP (RFC 9260).
    Sctp,
    /// DCCP (RFC 4340).
    Dccp,
    /// ESP (RFC 4303).
    Esp,
    /// ICMP (RFC 792) or ICMPv6 (RFC 4443).
    Icmp,
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ipv4 => "IPv4",
            Self::Ipv6 => "IPv6",
            Self::Extension => "IPv6 extension",
            Self::Tcp => "TCP",
            Self::Udp => "UDP",
            Self::UdpLite => "UDP-Lite",
            Self::Sctp => "SCTP",
            Self::Dccp => "DCCP",
            Self::Esp => "ESP",
            Self::Icmp => "ICMP",
        })
    }
}
