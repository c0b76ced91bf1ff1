//! Where packets are kept while links pass their tickets on.

use super::{Body, EndpointId, Packet, RouteId, Ticket};
use crate::tcp::{Feedback, Flags, SackBlocks, Segment, Timestamps};
use polypath_brf::Code;
use polypath_brf::FeedbackHeader;

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

    /// Gives the packet up, which the link says has `bytes`. `None` only for a handle that was
    /// given up before.
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
            let protocol = Protocol::Tcp;
            let header = Some(Header { protocol, flags, len, feedback });
            return Some(Look { route, to, path, header });
        }
        let packet = self.others.slots[ticket.handle() as usize].as_ref()?;
        let protocol = Protocol::Tcp;
        let header = match &packet.body {
            &Body::Segment(Segment { flags, len, feedback, .. }) => {
                Some(Header { protocol, flags, len, feedback })
            }
            // An acknowledgement of nothing, with options.
            Body::Message(_) => {
                Some(Header { protocol, flags: Flags::NONE, len: 0, feedback: Feedback::NONE })
            }
            Body::Datagram(bytes) => FeedbackHeader::decode(bytes).map(Header::of_bond),
            Body::Light(light) => light.feedback.map(Header::of_bond),
            Body::Tunnelled { .. } | Body::Numbered { .. } | Body::Quic(_) => None,
        };
        let &Packet { route, to, path, .. } = packet;
        Some(Look { route, to, path, header })
    }

    /// Writes the routing feedback of a packet that has a field for it.
    pub(super) fn write_feedback(&mut self, ticket: Ticket, code: Code) {
        if ticket.handle() & PLAIN != 0 {
            self.plain.slots[(ticket.handle() & !PLAIN) as usize].feedback.write(code);
            return;
        }
        let Some(packet) = &mut self.others.slots[ticket.handle() as usize] else { return };
        match &mut packet.body {
            Body::Segment(segment) => segment.feedback.write(code),
            Body::Datagram(bytes) => {
                FeedbackHeader::write_code(bytes, code);
            }
            Body::Light(light) => {
                if let Some(header) = &mut light.feedback {
                    header.code = code;
                }
            }
            Body::Message(_) | Body::Tunnelled { .. } | Body::Numbered { .. } | Body::Quic(_) => {}
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
    /// What TCP has, and the paths of bonds that obey switches; others are all alike.
    pub(super) header: Option<Header>,
}

/// What a [`Header`] is found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Tcp,
    Udp,
}

/// What switches look at of a TCP header, or of that in front of a bond's datagram.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) protocol: Protocol,
    pub(super) flags: Flags,
    pub(super) len: u32,
    pub(super) feedback: Feedback,
}

impl Header {
    /// That of a bond's path, in the words of TCP.
    pub(super) fn of_bond(header: FeedbackHeader) -> Self {
        Self {
            protocol: Protocol::Udp,
            flags: Flags::NONE
                .with_if(Flags::SYN, header.opens)
                .with_if(Flags::ACK, header.replies)
                .with_if(Flags::RST, header.closes),
            // How much data there is, only the ends know.
            len: header.data.into(),
            feedback: Feedback::of(header.code),
        }
    }
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

    /// What a switch sees of a packet after another one has written a code.
    fn written(body: Body, code: Code) -> Option<Option<Code>> {
        let mut store = Store::default();
        let handle = store.put(Packet { body, ..packet(segment()) });
        let ticket = Ticket::new(handle, 0, (9, 0, Ecn::NotCapable));
        store.write_feedback(ticket, code);
        let header = store.look(ticket).expect("it was put there").header;
        header.map(|header| header.feedback.code())
    }

    #[test]
    fn codes_are_written_where_there_is_a_field_for_them() {
        let code = Code::new(12_005);
        let sack = SackBlocks::new(7, None, [(10, 20)]);
        let feedback = Feedback::UNASSIGNED;
        let plain = Segment { feedback, ..segment() };
        assert_eq!(written(Body::Segment(plain), code), Some(Some(code)));
        assert_eq!(written(Body::Segment(Segment { sack, ..plain }), code), Some(Some(code)));
        let none = Segment { feedback: Feedback::NONE, ..segment() };
        assert_eq!(written(Body::Segment(none), code), Some(None));
        let mut datagram = Vec::new();
        FeedbackHeader::default().encode(&mut datagram);
        datagram.extend([0x40; 30]);
        assert_eq!(written(Body::Datagram(datagram.into()), code), Some(Some(code)));
        assert_eq!(written(Body::Datagram(Box::new([0x40; 36])), code), None);
    }

    #[test]
    fn a_plain_segment_is_one_cache_line() {
        assert_eq!(size_of::<PlainSegment>(), 64);
    }
}
