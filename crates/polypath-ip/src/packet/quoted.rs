//! The packet that an ICMP error is about.

use std::net::IpAddr;

use super::network::{self, Network};
use super::transport::{Icmp, Selector, has_ports, identifier, ports};

/// What an ICMP error quotes of the packet that it is about: the IP header and what followed, often
/// no more than 8 bytes (RFC 792; RFC 4443, section 2.4). It is as the network that dropped it saw
/// it, so that its length and checksum say nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quoted {
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    pub(crate) protocol: u8,
    pub(crate) selector: Selector,
}

impl Quoted {
    /// The address that the quoted packet came from.
    pub const fn source(&self) -> IpAddr {
        self.source
    }

    /// The address that it went to.
    pub const fn destination(&self) -> IpAddr {
        self.destination
    }

    /// Reads a quote that is sent to `receiver`: errors go to where the packet came from, and what
    /// another host is said to have sent says nothing about its conversations.
    pub(super) fn read(quote: &[u8], receiver: IpAddr) -> Option<Self> {
        let network = network::read(quote).ok().filter(|network| network.source == receiver)?;
        let selector = selector(&network, &quote[network.upper..]);
        let Network { source, destination, protocol, .. } = network;
        Some(Self { source, destination, protocol, selector })
    }
}

fn selector(network: &Network, segment: &[u8]) -> Selector {
    if network.is_later_fragment() {
        return Selector::Nothing;
    }
    let selector = if has_ports(network.protocol) {
        segment.first_chunk().map(|header| Selector::Ports(ports(*header)))
    } else {
        let is_query = |kind| Icmp::of(network).is_some_and(|icmp| icmp.is_query(kind));
        let header = segment.first_chunk().filter(|header| is_query(header[0]));
        header.map(|header| Selector::Query(identifier(header)))
    };
    selector.unwrap_or(Selector::Nothing)
}
