//! Packets.

use crate::endpoint::LightPacket;
use crate::mptcp::Message;
use crate::tcp::Segment;
use polypath_units::Timestamp;

/// An endpoint, by its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndpointId(pub u32);

impl EndpointId {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A route that a [`Fabric`](super::Fabric) knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RouteId(pub(super) u32);

/// The explicit congestion notification field of the IP header (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ecn {
    /// The transport does not understand marks.
    #[default]
    NotCapable,
    /// It does.
    Capable,
    /// A queue marked the packet: congestion experienced.
    Congested,
}

/// A packet on its way.
#[derive(Debug)]
pub struct Packet {
    /// The way.
    pub route: RouteId,
    /// Whom it is for.
    pub to: EndpointId,
    /// On which of the receiver's paths it comes.
    pub path: u8,
    /// The class of service, for queues that have classes.
    pub class: u8,
    /// The ECN field.
    pub ecn: Ecn,
    /// The size on the wire in bytes, from the IP header on.
    pub bytes: u32,
    /// What queues tell flows apart by.
    pub flow: u32,
    /// What it carries.
    pub body: Body,
}

/// What a packet carries.
#[derive(Debug)]
pub enum Body {
    /// A TCP segment.
    Segment(Segment),
    /// A TCP segment in a tunnel, with the tunnel's number for it.
    Tunnelled {
        /// The number.
        number: u64,
        /// The segment.
        segment: Segment,
    },
    /// A datagram of the simulation itself.
    Numbered {
        /// Its number.
        number: u64,
        /// When it was sent.
        sent_at: Timestamp,
    },
    /// What a failure detector of Multipath TCP tells its peer.
    Message(Box<Message>),
    /// A UDP datagram of a bond's QUIC carrier.
    Datagram(Box<[u8]>),
    /// A packet of a bond's light carrier.
    Light(LightPacket),
}

/// What a link knows of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Ticket {
    /// Where the packet is kept.
    pub(super) handle: u32,
    /// [`Packet::flow`].
    pub flow: u32,
    /// [`Packet::class`].
    pub class: u8,
    /// [`Packet::ecn`].
    pub ecn: Ecn,
}

impl polypath_link::Packet for Ticket {
    fn flow(&self) -> u64 {
        self.flow.into()
    }

    fn class(&self) -> u8 {
        self.class
    }

    fn mark_ce(&mut self) -> bool {
        if self.ecn == Ecn::Capable {
            self.ecn = Ecn::Congested;
        }
        self.ecn == Ecn::Congested
    }
}
