//! Where packets are kept while links pass their tickets on.

use super::{Body, EndpointId, Packet, RouteId, Ticket};
use crate::tcp::{Feedback, Flags, SackBlocks, Segment, Timestamps};
use polypath_core::feedback::Code;

/// Marks the handle of a plain segment.
const PLAIN: u32 = 1 << 31;

/// Packets by handle. A handle is free again once its packet is taken.
///
/// With many packets on the links each one is far from any cache when it arrives, and what it takes
/// to fetch it is most of a segment's cost. Segments without rare options are therefore kept in one
/// cache line each, everything else as it is.
#[derive(Debug, Default)]
pub(super) struct Store {
    plain: Slab<PlainSegment>,
    others: Slab<Option<Packet>>,
}

impl Store {
    /// Keeps a packet.
    pub(super) fn put(&mut self, packet: Packet) -> u32 {
        match PlainSegment::of(&packet) {
            Some(plain) => self.plain.put(plain) | PLAIN,
            None => self.others.put(Some(packet)),
        }
    }

    /// Gives the packet up, which the link says has `bytes`. `None` only for a handle that was given
    /// up before.
    pub(super) fn take(&mut self, ticket: Ticket, bytes: u32) -> Option<Packet> {
        if ticket.handle() & PLAIN != 0 {
            let handle = ticket.handle() & !PLAIN;
            self.plain.free.push(handle);
            return Some(self.plain.slots[handle as usize].packet(ticket, bytes));
        }
        let mut packet = self.others.slots[ticket.handle() as usize].take()?;
        packet.ecn = ticket.ecn();
        self.others.free.push(ticket.handle());
        Some(packet)
    }

    /// What switches look at of a packet that is kept.
    pub(super) fn look(&self, ticket: Ticket) -> Option<Look> {
        if ticket.handle() & PLAIN != 0 {
            let plain = &self.plain.slots[(ticket.handle() & !PLAIN) as usize];
            let &PlainSegment { route, to, path, flags, len, feedback, .. } = plain;
            return Some(Look { route, to, path, header: Some(Header { flags, len, feedback }) });
        }
        let packet = self.others.slots[ticket.handle() as usize].as_ref()?;
        let header = match &packet.body {
            &Body::Segment(Segment { flags, len, feedback, .. }) => {
                Some(Header { flags, len, feedback })
            }
            // An acknowledgement of nothing, with options.
            Body::Message(_) => {
                Some(Header { flags: Flags::NONE, len: 0, feedback: Feedback::NONE })
            }
            Body::Tunnelled { .. } | Body::Numbered { .. } | Body::Datagram(_) | Body::Light(_) => {
                None
            }
        };
        let &Packet { route, to, path, .. } = packet;
        Some(Look { route, to, path, header })
    }

    /// Writes the routing feedback option of a segment that has one.
    pub(super) fn write_feedback(&mut self, ticket: Ticket, code: Code) {
        let field = if ticket.handle() & PLAIN != 0 {
            Some(&mut self.plain.slots[(ticket.handle() & !PLAIN) as usize].feedback)
        } else {
            let packet = self.others.slots[ticket.handle() as usize].as_mut();
            packet.and_then(|packet| match &mut packet.body {
                Body::Segment(segment) => Some(&mut segment.feedback),
                _ => None,
            })
        };
        if let Some(feedback) = field.filter(|field| field.is_some()) {
            *feedback = Feedback::of(code);
        }
    }

    /// Gives up a packet of which no link knows the size any more.
    pub(super) fn take_dropped(&mut self, ticket: Ticket) -> Option<Packet> {
        let plain = || self.plain.slots[(ticket.handle() & !PLAIN) as usize].segment().wire_bytes();
        let bytes = if ticket.handle() & PLAIN != 0 { plain() } else { 0 };
        self.take(ticket, bytes)
    }

    /// How many packets are kept.
    pub(super) fn len(&self) -> usize {
        self.plain.len() + self.others.len()
    }
}

/// What switches look at of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) route: RouteId,
    pub(super) to: EndpointId,
    pub(super) path: u8,
    /// What TCP has; other protocols are all alike.
    pub(super) header: Option<Header>,
}

/// What switches look at of a TCP header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) flags: Flags,
    pub(super) len: u32,
    pub(super) feedback: Feedback,
}

impl Ticket {
    /// The place of the packet: among which, and the number there.
    pub(super) const fn slot(self) -> (usize, usize) {
        ((self.handle() & PLAIN != 0) as usize, (self.handle() & !PLAIN) as usize)
    }
}

#[derive(Debug)]
struct Slab<T> {
    slots: Vec<T>,
    /// The slot that was given up last is taken first: it may still be in a cache.
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    fn put(&mut self, value: T) -> u32 {
        match self.free.pop() {
            Some(handle) => {
                self.slots[handle as usize] = value;
                handle
            }
            None => {
                self.slots.push(value);
                (self.slots.len() - 1) as u32
            }
        }
    }

    fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

/// A segment that carries no option but timestamps and routing feedback, and what the ticket does
/// not tell of its packet.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct PlainSegment {
    seq: u64,
    ack: u64,
    tag: u64,
    len: u32,
    window: u32,
    timestamps: Option<Timestamps>,
    feedback: Feedback,
    route: RouteId,
    to: EndpointId,
    path: u8,
    flags: Flags,
    ect: bool,
}

impl PlainSegment {
    fn of(packet: &Packet) -> Option<Self> {
        let Body::Segment(segment) = &packet.body else { return None };
        let &Segment { seq, ack, tag, len, window, flags, ect, timestamps, feedback, .. } = segment;
        let Segment { syn, sack, mptcp, .. } = segment;
        if syn.is_some() || mptcp.is_some() || !sack.is_empty() {
            return None;
        }
        let &Packet { route, to, path, .. } = packet;
        Some(Self { seq, ack, tag, len, window, timestamps, feedback, route, to, path, flags, ect })
    }

    fn packet(&self, ticket: Ticket, bytes: u32) -> Packet {
        let &Self { route, to, path, .. } = self;
        let (flow, ecn) = (ticket.flow(), ticket.ecn());
        let body = Body::Segment(self.segment());
        Packet { route, to, path, ecn, bytes, flow, body }
    }

    fn segment(&self) -> Segment {
        let Self { seq, ack, tag, len, window, timestamps, feedback, flags, ect, .. } = *self;
        Segment {
            seq,
            ack,
            tag,
            len,
            window,
            flags,
            ect,
            syn: None,
            sack: SackBlocks::NONE,
            timestamps,
            feedback,
            mptcp: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::Ecn;
    use crate::tcp::MptcpOption;

    fn packet(segment: Segment) -> Packet {
        Packet {
            route: RouteId(3),
            to: EndpointId(5),
            path: 2,
            ecn: Ecn::Capable,
            bytes: 1_500,
            flow: 9,
            body: Body::Segment(segment),
        }
    }

    fn segment() -> Segment {
        Segment {
            seq: 6,
            ack: 7,
            tag: 8,
            len: 1_448,
            window: 65_535,
            flags: Flags::ACK.with(Flags::PSH),
            ect: true,
            syn: None,
            sack: SackBlocks::NONE,
            timestamps: Some(Timestamps { value: 1, echo: 2 }),
            feedback: Feedback::of(Code::new(12_005)),
            mptcp: None,
        }
    }

    /// Keeps a packet, marks it on its way, and takes it.
    fn through(store: &mut Store, packet: Packet) -> (Packet, u32) {
        let (bytes, flow) = (packet.bytes, packet.flow);
        let handle = store.put(packet);
        assert_eq!(store.len(), 1);
        let ticket = Ticket::new(handle, 0, (flow, 0, Ecn::Congested));
        let taken = store.take(ticket, bytes).expect("it was put there");
        assert_eq!(store.len(), 0);
        (taken, handle)
    }

    #[test]
    fn every_packet_comes_out_as_it_went_in_with_the_ticket_s_mark() {
        let mptcp = Some(MptcpOption::MpPrio { backup: true });
        let sack = SackBlocks::new(7, None, [(10, 20)]);
        let variants = [
            (segment(), true),
            (Segment { timestamps: None, ..segment() }, true),
            (Segment { sack, ..segment() }, false),
            (Segment { mptcp, ..segment() }, false),
        ];
        let mut store = Store::default();
        for (segment, is_plain) in variants {
            let (taken, handle) = through(&mut store, packet(segment));
            assert_eq!(handle & PLAIN != 0, is_plain, "{segment:?}");
            let expected = Packet { ecn: Ecn::Congested, ..packet(segment) };
            assert_eq!(format!("{taken:?}"), format!("{expected:?}"));
        }
    }

    #[test]
    fn a_plain_segment_is_one_cache_line() {
        assert_eq!(size_of::<PlainSegment>(), 64);
    }
}
