//! Answers to packets that are not carried.

use std::net::IpAddr;

use etherparse::icmpv4::{DestUnreachableHeader, TimeExceededCode as TimeExceededV4};
use etherparse::icmpv6::{DestUnreachableCode, TimeExceededCode as TimeExceededV6};
use etherparse::{Icmpv4Type, Icmpv6Type};
use polypath_policy::Dscp;

use crate::build::{BuildError, IpHeader};
use crate::packet::{ICMP, ICMPV6, Icmp, Packet, Transport};

/// The longest answer in IPv4: what every host takes (RFC 1812, section 4.3.2.3).
pub const MAX_ICMPV4_ERROR: usize = 576;
/// The longest answer in IPv6: the smallest MTU there (RFC 4443, section 2.4).
pub const MAX_ICMPV6_ERROR: usize = 1280;

/// Bytes of the headers in front of what an answer quotes.
const HEADERS_V4: usize = 20 + 8;
const HEADERS_V6: usize = 40 + 8;

/// The smallest MTU of IPv6 (RFC 8200, section 5).
const MIN_MTU_V6: u16 = 1280;

/// What errors of IPv4 are marked with (RFC 1812, section 4.3.2.5): CS6.
const INTERNETWORK_CONTROL: Dscp = Dscp::of_byte(0xc0);

/// What the sender of a packet is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IcmpError {
    /// The packet is longer than the MTU ahead: "fragmentation needed" (RFC 1191, section 4) or
    /// "packet too big" (RFC 4443, section 3.2). In IPv6 no MTU is below 1280, and none is told.
    PacketTooBig {
        /// The MTU, in bytes.
        mtu: u16,
    },
    /// The packet has passed as many routers as it may.
    TimeExceeded,
    /// The packet is not let through: "communication administratively prohibited".
    Prohibited,
    /// The host does not answer: "host unreachable", "address unreachable" in IPv6.
    HostUnreachable,
    /// Nobody listens at the port.
    PortUnreachable,
}

/// Why a packet must not be answered with an ICMP error (RFC 1122, section 3.2.2; RFC 1812,
/// section 4.3.2.7; RFC 4443, section 2.4 (e)), or cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unanswerable {
    /// It is an ICMP error or redirect itself, or may be one.
    #[error("no answer to an ICMP error")]
    IcmpError,
    /// It is a fragment, but not the first.
    #[error("no answer to a fragment that is not the first")]
    LaterFragment,
    /// It goes to more than one host.
    #[error("no answer to a packet for {0}, which is not one host")]
    Destination(IpAddr),
    /// It comes from what is not the address of one host.
    #[error("no answer to {0}, which is not one host")]
    Source(IpAddr),
    /// It is too long, and may be fragmented.
    #[error("an IPv4 packet without the flag \"don't fragment\" is not too long, but fragmented")]
    MayBeFragmented,
    /// No packet can be made of the answer.
    #[error(transparent)]
    Build(BuildError),
}

/// Puts an ICMP error from the address `from` about a packet behind what is in `out`. It quotes as
/// much of the packet as there is room for. How many are sent in a second, the caller limits
/// (RFC 1812, section 4.3.2.8; RFC 4443, section 2.4 (f)).
///
/// # Errors
/// When there must be no answer; `out` is as it was.
pub fn answer<T: AsRef<[u8]>>(
    packet: &Packet<T>,
    error: IcmpError,
    from: IpAddr,
    out: &mut Vec<u8>,
) -> Result<(), Unanswerable> {
    check(packet, error)?;
    let mut header = IpHeader::new(from, packet.source()).map_err(Unanswerable::Build)?;
    let room = if packet.is_ipv4() {
        header.dscp = INTERNETWORK_CONTROL;
        MAX_ICMPV4_ERROR - HEADERS_V4
    } else {
        MAX_ICMPV6_ERROR - HEADERS_V6
    };
    let bytes = packet.bytes();
    let quote = &bytes[..bytes.len().min(room)];
    header.write_icmp(error.in_ipv4(), error.in_ipv6(), quote, out).map_err(Unanswerable::Build)
}

impl IcmpError {
    fn in_ipv4(self) -> Icmpv4Type {
        let unreachable = match self {
            Self::TimeExceeded => {
                return Icmpv4Type::TimeExceeded(TimeExceededV4::TtlExceededInTransit);
            }
            Self::PacketTooBig { mtu } => {
                DestUnreachableHeader::FragmentationNeeded { next_hop_mtu: mtu }
            }
            Self::Prohibited => DestUnreachableHeader::FilterProhibited,
            Self::HostUnreachable => DestUnreachableHeader::Host,
            Self::PortUnreachable => DestUnreachableHeader::Port,
        };
        Icmpv4Type::DestinationUnreachable(unreachable)
    }

    fn in_ipv6(self) -> Icmpv6Type {
        let unreachable = match self {
            Self::TimeExceeded => {
                return Icmpv6Type::TimeExceeded(TimeExceededV6::HopLimitExceeded);
            }
            Self::PacketTooBig { mtu } => {
                return Icmpv6Type::PacketTooBig { mtu: mtu.max(MIN_MTU_V6).into() };
            }
            Self::Prohibited => DestUnreachableCode::Prohibited,
            Self::HostUnreachable => DestUnreachableCode::Address,
            Self::PortUnreachable => DestUnreachableCode::Port,
        };
        Icmpv6Type::DestinationUnreachable(unreachable)
    }
}

fn check<T: AsRef<[u8]>>(packet: &Packet<T>, error: IcmpError) -> Result<(), Unanswerable> {
    let too_big = matches!(error, IcmpError::PacketTooBig { .. });
    if matches!(packet.transport(), Transport::LaterFragment) {
        return Err(Unanswerable::LaterFragment);
    }
    if may_be_icmp_error(packet) {
        return Err(Unanswerable::IcmpError);
    }
    if !is_one_host(packet.destination()) {
        return Err(Unanswerable::Destination(packet.destination()));
    }
    if !is_one_host(packet.source()) {
        return Err(Unanswerable::Source(packet.source()));
    }
    if too_big && !packet.must_not_be_fragmented() {
        return Err(Unanswerable::MayBeFragmented);
    }
    Ok(())
}

/// Types of ICMP that are not known are taken for errors; of ICMPv6 the number says what is one,
/// and redirects are not answered either.
fn may_be_icmp_error<T: AsRef<[u8]>>(packet: &Packet<T>) -> bool {
    const REDIRECT: u8 = 137;
    let Some(&kind) = packet.payload().first() else { return false };
    match packet.icmp() {
        Some(Icmp::V4) => !Icmp::V4.is_query(kind),
        Some(Icmp::V6) => Icmp::V6.is_error(kind) || kind == REDIRECT,
        None => matches!(packet.protocol_number(), ICMP | ICMPV6),
    }
}

/// Whether it can be the address of one host on a network. A broadcast address of a network is not
/// known here: whoever knows the network does not forward to it.
fn is_one_host(address: IpAddr) -> bool {
    let is_group = match address {
        // This network (0/8), reserved (240/4) and the limited broadcast: RFC 6890.
        IpAddr::V4(address) => matches!(address.octets()[0], 0 | 240..),
        IpAddr::V6(_) => false,
    };
    !(is_group || address.is_multicast() || address.is_unspecified() || address.is_loopback())
}

#[cfg(test)]
mod tests;
