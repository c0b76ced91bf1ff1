//! The IP header, and what stands between it and the protocol above.

use std::net::IpAddr;

use etherparse::checksum::Sum16BitWords;
use etherparse::err::ipv4::{HeaderError, HeaderSliceError};
use etherparse::err::{LenError, ipv6};
use etherparse::{
    Ipv4HeaderSlice, Ipv6FragmentHeaderSlice, Ipv6Header, Ipv6HeaderSlice, Ipv6RawExtHeaderSlice,
};

use super::transport::TCP;
use crate::error::{Header, MAX_EXTENSION_HEADERS, PacketError};

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION_OPTIONS: u8 = 60;

/// A part of a packet that was too long for a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// What fragments of one packet have in common, beside their addresses and in IPv4 the number
    /// of their protocol. It has 16 bits in IPv4, 32 in IPv6.
    pub identification: u32,
    /// Where it begins in what was fragmented, in bytes.
    pub offset: u16,
    /// Whether others follow it.
    pub more: bool,
}

impl Fragment {
    /// Whether it is the first one, which has the headers of the protocol above IP.
    pub const fn is_first(&self) -> bool {
        self.offset == 0
    }
}

/// What the headers of IP say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Network {
    pub(super) source: IpAddr,
    pub(super) destination: IpAddr,
    /// The protocol above IP: what the last header that was read names.
    pub(super) protocol: u8,
    /// Bytes of the packet, as the header says.
    pub(super) stated: usize,
    /// Where begins what is divided into fragments, in bytes.
    pub(super) fragmentable: usize,
    /// Where the protocol above IP begins, in bytes: no more than there are.
    pub(super) upper: usize,
    /// `None` for whole packets, those with a fragment header among them (RFC 6946).
    pub(super) fragment: Option<Fragment>,
}

/// Reads the headers of IP, whatever follows them.
pub(super) fn read(bytes: &[u8]) -> Result<Network, PacketError> {
    match bytes.first().map(|first| first >> 4) {
        None => Err(PacketError::Truncated { header: Header::Ipv4, needed: 20, present: 0 }),
        Some(4) => read_ipv4(bytes),
        Some(6) => read_ipv6(bytes),
        Some(version) => Err(PacketError::Version(version)),
    }
}

/// RFC 791, section 3.1.
fn read_ipv4(bytes: &[u8]) -> Result<Network, PacketError> {
    let header = Ipv4HeaderSlice::from_slice(bytes).map_err(of_ipv4)?;
    let length = header.slice().len();
    let fragment = Fragment {
        identification: header.identification().into(),
        offset: header.fragments_offset().value() * 8,
        more: header.more_fragments(),
    };
    Ok(Network {
        source: header.source_addr().into(),
        destination: header.destination_addr().into(),
        protocol: header.protocol().0,
        stated: header.total_len().into(),
        fragmentable: length,
        upper: length,
        fragment: Some(fragment).filter(|fragment| fragment.more || !fragment.is_first()),
    })
}

/// RFC 8200, sections 3 and 4.
fn read_ipv6(bytes: &[u8]) -> Result<Network, PacketError> {
    let header = Ipv6HeaderSlice::from_slice(bytes).map_err(of_ipv6)?;
    let mut network = Network {
        source: header.source_addr().into(),
        destination: header.destination_addr().into(),
        protocol: header.next_header().0,
        stated: Ipv6Header::LEN + usize::from(header.payload_length()),
        fragmentable: Ipv6Header::LEN,
        upper: Ipv6Header::LEN,
        fragment: None,
    };
    let mut passed = 0;
    while network.pass_extension(bytes)? {
        passed += 1;
        if passed > MAX_EXTENSION_HEADERS {
            return Err(PacketError::ExtensionHeaders);
        }
    }
    Ok(network)
}

impl Network {
    /// Whether what is here belongs to the protocol above IP, but does not begin it.
    pub(super) fn is_later_fragment(&self) -> bool {
        self.fragment.is_some_and(|fragment| !fragment.is_first())
    }

    /// Goes on behind the next extension header of IPv6; whether there was one.
    fn pass_extension(&mut self, bytes: &[u8]) -> Result<bool, PacketError> {
        let rest = &bytes[self.upper..];
        match self.protocol {
            _ if self.is_later_fragment() => return Ok(false),
            HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS => {
                let header = Ipv6RawExtHeaderSlice::from_slice(rest);
                let header = header.map_err(|error| truncated(Header::Extension, &error))?;
                self.protocol = header.next_header().0;
                self.upper += header.slice().len();
            }
            FRAGMENT => self.pass_fragment_header(rest)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn pass_fragment_header(&mut self, rest: &[u8]) -> Result<(), PacketError> {
        if self.fragmentable > Ipv6Header::LEN {
            return Err(PacketError::NestedFragment);
        }
        let header = Ipv6FragmentHeaderSlice::from_slice(rest);
        let header = header.map_err(|error| truncated(Header::Extension, &error))?;
        let fragment = Fragment {
            identification: header.identification(),
            offset: header.fragment_offset().value() * 8,
            more: header.more_fragments(),
        };
        self.protocol = header.next_header().0;
        self.upper += header.slice().len();
        self.fragmentable = self.upper;
        self.fragment = Some(fragment).filter(|_| header.is_fragmenting_payload());
        Ok(())
    }

    /// Checks what is true of every whole packet of so many bytes.
    pub(super) fn check(&self, bytes: &[u8]) -> Result<(), PacketError> {
        let present = bytes.len();
        let is_ipv6 = self.source.is_ipv6();
        if is_ipv6 && self.stated == Ipv6Header::LEN && bytes[6] == HOP_BY_HOP {
            return Err(PacketError::Jumbogram);
        }
        if self.stated != present {
            return Err(PacketError::Length { stated: self.stated, present });
        }
        if !is_ipv6 && Sum16BitWords::new().add_slice(&bytes[..self.upper]).ones_complement() != 0 {
            return Err(PacketError::Checksum);
        }
        self.fragment.map_or(Ok(()), |fragment| self.check_fragment(fragment, present))
    }

    /// RFC 791, section 3.2; RFC 8200, section 4.5; RFC 1858, section 4.2.
    fn check_fragment(&self, fragment: Fragment, present: usize) -> Result<(), PacketError> {
        let length = present - self.fragmentable;
        if usize::from(fragment.offset) + length > usize::from(u16::MAX) {
            return Err(PacketError::FragmentEnd { offset: fragment.offset, length });
        }
        if fragment.more && (length == 0 || !length.is_multiple_of(8)) {
            return Err(PacketError::FragmentLength { length });
        }
        if self.protocol == TCP && fragment.offset == 8 {
            return Err(PacketError::FragmentOfHeader);
        }
        Ok(())
    }
}

fn of_ipv4(error: HeaderSliceError) -> PacketError {
    match error {
        HeaderSliceError::Len(error) => truncated(Header::Ipv4, &error),
        HeaderSliceError::Content(HeaderError::UnexpectedVersion { version_number }) => {
            PacketError::Version(version_number)
        }
        HeaderSliceError::Content(HeaderError::HeaderLengthSmallerThanHeader { ihl }) => {
            let length = usize::from(ihl) * 4;
            PacketError::HeaderLength { header: Header::Ipv4, length, least: 20, most: 60 }
        }
    }
}

fn of_ipv6(error: ipv6::HeaderSliceError) -> PacketError {
    match error {
        ipv6::HeaderSliceError::Len(error) => truncated(Header::Ipv6, &error),
        ipv6::HeaderSliceError::Content(ipv6::HeaderError::UnexpectedVersion {
            version_number,
        }) => PacketError::Version(version_number),
    }
}

pub(super) fn truncated(header: Header, error: &LenError) -> PacketError {
    PacketError::Truncated { header, needed: error.required_len, present: error.len }
}
