//! Packets.

use super::{LightPacket, QuicPacket};
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
    /// The ECN field.
    pub ecn: Ecn,
    /// The size on the wire in bytes, from the IP header on.
    pub bytes: u32,
    /// What queues tell flows apart by: the number of the end that connected, and `path` more.
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
    /// A packet of a host's QUIC connection.
    Quic(Box<QuicPacket>),
}

/// What a link knows of a packet.
///
/// Links copy it again and again. It is two words that are written and read as a whole: fields of
/// their own would be written one by one and read as words, for which a processor waits until the
/// writes have reached the cache.
#[derive(Clone, Copy, Debug)]
pub struct Ticket {
    /// The handle in the upper half, the hop in the lower.
    place: u64,
    /// From the lowest bit on: 32 of the flow, 8 of the class, 8 of the ECN field.
    marks: u64,
}

impl Ticket {
    /// A ticket of the packet that is kept under `handle` and stands before hop `hop`.
    pub(super) const fn new(handle: u32, hop: u32, (flow, class, ecn): (u32, u8, Ecn)) -> Self {
        let marks = flow as u64 | (class as u64) << 32 | (ecn as u64) << 40;
        Self { place: (handle as u64) << 32 | hop as u64, marks }
    }

    /// Where the packet is kept. Until it arrives nobody looks there: it is far from any cache.
    pub(super) const fn handle(self) -> u32 {
        (self.place >> 32) as u32
    }

    /// Its place in the list of hops.
    pub(super) const fn hop(self) -> u32 {
        self.place as u32
    }

    /// The same, one hop further.
    pub(super) const fn at_next_hop(self) -> Self {
        Self { place: self.place + 1, ..self }
    }

    /// [`Packet::flow`].
    pub const fn flow(self) -> u32 {
        self.marks as u32
    }

    /// The class of service of its route.
    pub const fn class(self) -> u8 {
        (self.marks >> 32) as u8
    }

    /// The same in another class.
    pub(super) const fn with_class(self, class: u8) -> Self {
        let others = self.marks & !(0xff << 32);
        Self { marks: others | (class as u64) << 32, ..self }
    }

    /// [`Packet::ecn`].
    pub const fn ecn(self) -> Ecn {
        match (self.marks >> 40) as u8 {
            1 => Ecn::Capable,
            2 => Ecn::Congested,
            _ => Ecn::NotCapable,
        }
    }
}

impl polypath_link::Packet for Ticket {
    fn flow(&self) -> u64 {
        (*self).flow().into()
    }

    fn class(&self) -> u8 {
        (*self).class()
    }

    fn mark_ce(&mut self) -> bool {
        if self.ecn() == Ecn::NotCapable {
            return false;
        }
        let rest = (Self::flow(*self), Self::class(*self), Ecn::Congested);
        *self = Self::new(self.handle(), self.hop(), rest);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_link::Packet as _;

    #[test]
    fn a_ticket_keeps_what_it_was_made_of() {
        for ecn in [Ecn::NotCapable, Ecn::Capable, Ecn::Congested] {
            let ticket = Ticket::new(u32::MAX, 6, (u32::MAX - 1, 255, ecn)).at_next_hop();
            assert_eq!((ticket.handle(), ticket.hop()), (u32::MAX, 7));
            let marks = (Ticket::flow(ticket), Ticket::class(ticket), ticket.ecn());
            assert_eq!(marks, (u32::MAX - 1, 255, ecn));
            let other = ticket.with_class(1);
            assert_eq!((Ticket::class(other), Ticket::flow(other)), (1, u32::MAX - 1));
            assert_eq!((other.ecn(), other.hop()), (ecn, 7));
        }
    }

    #[test]
    fn only_a_packet_that_understands_marks_is_marked() {
        let ticket = |ecn| Ticket::new(1, 2, (3, 4, ecn));
        let mut plain = ticket(Ecn::NotCapable);
        assert!(!plain.mark_ce() && plain.ecn() == Ecn::NotCapable);
        let mut capable = ticket(Ecn::Capable);
        assert!(capable.mark_ce() && capable.ecn() == Ecn::Congested && capable.mark_ce());
        assert_eq!((capable.handle(), capable.hop()), (1, 2));
        assert_eq!((Ticket::flow(capable), Ticket::class(capable)), (3, 4));
    }
}
