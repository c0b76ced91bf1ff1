//! IP packets, and what is in their headers.

mod network;
mod quoted;
mod transport;

use std::net::IpAddr;

use etherparse::IpEcn;
use polypath_policy::{Dscp, Protocol};

pub use network::Fragment;
pub use quoted::Quoted;
pub(crate) use transport::{ICMP, ICMPV6, Icmp, Selector, UDP};
pub use transport::{Ports, TcpFlags, Transport};

use crate::error::PacketError;
use network::Network;

/// An IPv4 or IPv6 packet whose headers make sense, in bytes that are lent (`&[u8]`, or `&mut [u8]`
/// to change it) or its own.
///
/// Checksums above IP are not looked at. Where they are changed (see
/// [`clamp_mss`](Self::clamp_mss)) they are to be whole: what a device left to offload
/// (`VIRTIO_NET_HDR_F_NEEDS_CSUM`) is to be computed before.
#[derive(Clone, Copy, Debug)]
pub struct Packet<T> {
    bytes: T,
    network: Network,
    transport: Transport,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// Reads the headers. The bytes are one packet from its IP header on, and nothing else.
    ///
    /// # Errors
    /// When they are not. Nothing else makes a packet unfit: options, unknown protocols and
    /// fragments are carried.
    pub fn parse(bytes: T) -> Result<Self, PacketError> {
        let all = bytes.as_ref();
        let network = network::read(all)?;
        network.check(all)?;
        let transport = transport::read(&network, &all[network.upper..])?;
        Ok(Self { bytes, network, transport })
    }

    /// The address that it comes from, as it says.
    pub const fn source(&self) -> IpAddr {
        self.network.source
    }

    /// The address that it goes to.
    pub const fn destination(&self) -> IpAddr {
        self.network.destination
    }

    /// The protocol above IP: behind IPv6 extension headers, but for AH, whose packets are told
    /// apart by their addresses. Of an IPv6 fragment that is not the first one, what the fragment
    /// header names, which may be an extension header.
    pub const fn protocol(&self) -> Protocol {
        Protocol::new(self.network.protocol)
    }

    /// What is known of the protocol above IP.
    pub const fn transport(&self) -> &Transport {
        &self.transport
    }

    /// What part of a packet it is; `None` if it is whole.
    pub const fn fragment(&self) -> Option<Fragment> {
        self.network.fragment
    }

    /// The differentiated services code point (RFC 2474).
    pub fn dscp(&self) -> Dscp {
        Dscp::of_byte(self.traffic_class())
    }

    /// The field for explicit congestion notification (RFC 3168).
    pub fn ecn(&self) -> IpEcn {
        match self.traffic_class() & 0b11 {
            0b00 => IpEcn::NotEct,
            0b01 => IpEcn::Ect1,
            0b10 => IpEcn::Ect0,
            _ => IpEcn::CongestionExperienced,
        }
    }

    /// Whether routers must not fragment it: the flag of IPv4, and always so with IPv6.
    pub fn must_not_be_fragmented(&self) -> bool {
        !self.is_ipv4() || self.bytes()[6] & 0x40 != 0
    }

    /// All of its bytes.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// The bytes of the protocol above IP, from its header on; of a later fragment, what is in it.
    pub fn payload(&self) -> &[u8] {
        &self.bytes()[self.network.upper..]
    }

    /// What holds the bytes.
    pub fn into_bytes(self) -> T {
        self.bytes
    }

    /// Whether it is one of IPv4, and not of IPv6.
    pub const fn is_ipv4(&self) -> bool {
        self.network.source.is_ipv4()
    }

    /// Which ICMP it is.
    pub(crate) fn icmp(&self) -> Option<Icmp> {
        Icmp::of(&self.network)
    }

    /// The number of the protocol above IP.
    pub(crate) const fn protocol_number(&self) -> u8 {
        self.network.protocol
    }

    /// What was the type of service in IPv4.
    fn traffic_class(&self) -> u8 {
        let bytes = self.bytes();
        if self.is_ipv4() { bytes[1] } else { bytes[0] << 4 | bytes[1] >> 4 }
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// The IP header, with options and extension headers, to change.
    pub(crate) fn header_mut(&mut self) -> &mut [u8] {
        &mut self.bytes.as_mut()[..self.network.upper]
    }

    /// The bytes of the protocol above IP, to change.
    pub(crate) fn payload_mut(&mut self) -> &mut [u8] {
        &mut self.bytes.as_mut()[self.network.upper..]
    }
}

#[cfg(test)]
mod tests;
