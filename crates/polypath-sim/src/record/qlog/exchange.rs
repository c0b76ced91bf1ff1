//! Packets of TCP and of light carriers as QUIC would number them.
//!
//! qlog speaks of packet numbers, of which each is used once, and of ranges of them that are
//! acknowledged. TCP numbers bytes, and sends some again under the same number. So the packets that
//! an end sends on a path are numbered from 0 in the order of sending, acknowledgements alone and
//! retransmissions included, and what a segment acknowledges is turned into the numbers of the
//! packets that had come by then. As in QUIC (RFC 9000 section 13.2.4) a number is repeated until
//! an acknowledgement with it has come, and not for ever as TCP's cumulative one.

use crate::fabric::{Body, LightKind, LightPacket, Packet};
use crate::tcp::{Flags, MptcpOption, Segment};
use polypath_units::Timestamp;
use std::collections::BTreeMap;

/// Ranges of packet numbers, both ends included, ascending.
pub(super) type Ranges = Box<[(u64, u64)]>;

/// A packet as it was sent. Its number is its place in the list.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) at: Timestamp,
    /// Size from the IP header on.
    pub(super) bytes: u32,
    pub(super) content: Content,
    /// The packets of the other end that it acknowledges.
    pub(super) acked: Ranges,
    has_arrived: bool,
}

/// A packet as it came: when, and its place among those that the other end sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Received {
    pub(super) at: Timestamp,
    pub(super) number: usize,
}

/// What tells a packet from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) kind: Kind,
    /// The number of its first byte, and the one after its last; equal if it wants no
    /// acknowledgement. Of a bond: the packet's own number, and the next.
    pub(super) first: u64,
    pub(super) end: u64,
    /// All below this is acknowledged.
    ack: u64,
}

/// What a packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It opens the connection or the path, or answers that.
    Handshake,
    /// Payload: where it lies in what the connection carries, and whether that ends with it.
    Data {
        offset: u64,
        len: u32,
        ends: bool,
    },
    /// A datagram of a bond; without length a probe.
    Datagram {
        len: u32,
    },
    /// Nothing but acknowledgements.
    Ack,
    Reset,
}

/// What one end has sent on a path and what has come to it.
#[derive(Debug, Default)]
pub(super) struct End {
    pub(super) sent: Vec<Sent>,
    pub(super) received: Vec<Received>,
    /// Packets that have come, as long as the other end does not know: by first byte and number,
    /// with the byte after the last.
    owed: BTreeMap<(u64, usize), u64>,
}

/// A path between two ends.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    pub(super) ends: [End; 2],
}

impl Exchange {
    /// Whether nothing was sent that has packet numbers.
    pub(super) fn is_empty(&self) -> bool {
        self.ends.iter().all(|end| end.sent.is_empty())
    }

    /// End `from` sends a packet.
    pub(super) fn on_sent(&mut self, from: usize, packet: &Packet, at: Timestamp) {
        let Some(content) = Content::of(&packet.body) else { return };
        let end = &mut self.ends[from];
        let acked = end.acknowledge(&packet.body, content.ack);
        let bytes = packet.bytes;
        end.sent.push(Sent { at, bytes, content, acked, has_arrived: false });
    }

    /// A packet that end `from` sent at `sent_at` has come.
    pub(super) fn on_delivered(
        &mut self,
        from: usize,
        packet: &Packet,
        at: Timestamp,
        sent_at: Timestamp,
    ) {
        let Some(content) = Content::of(&packet.body) else { return };
        let Some(number) = self.ends[from].arrive(&content, sent_at) else { return };
        self.forget(from, number);
        let end = &mut self.ends[1 - from];
        end.received.push(Received { at, number });
        if content.end > content.first {
            end.owed.insert((content.first, number), content.end);
        }
    }
}

impl Exchange {
    /// What this packet of end `from` acknowledges need not be repeated.
    fn forget(&mut self, from: usize, number: usize) {
        let acked = self.ends[from].sent[number].acked.clone();
        for known in acked.iter().flat_map(|&(first, last)| first as usize..=last as usize) {
            let first = self.ends[1 - from].sent[known].content.first;
            self.ends[from].owed.remove(&(first, known));
        }
    }
}

impl End {
    /// The number of the packet with this content that was sent then and has not come yet.
    fn arrive(&mut self, content: &Content, sent_at: Timestamp) -> Option<usize> {
        let start = self.sent.partition_point(|sent| sent.at < sent_at);
        let is_it = |sent: &Sent| !sent.has_arrived && sent.content == *content;
        let of_then = self.sent[start..].iter().take_while(|sent| sent.at == sent_at);
        let number = start + of_then.take_while(|sent| !is_it(sent)).count();
        let sent = self.sent.get_mut(number).filter(|sent| sent.at == sent_at)?;
        sent.has_arrived = true;
        Some(number)
    }

    /// The numbers that a packet acknowledges, of those that the other end may not know of.
    fn acknowledge(&self, body: &Body, below: u64) -> Ranges {
        let mut numbers = Vec::new();
        self.cover((0, below), &mut numbers);
        match body {
            Body::Segment(segment) | Body::Tunnelled { segment, .. } => {
                segment.sack_blocks().for_each(|block| self.cover(block, &mut numbers));
            }
            Body::Light(LightPacket { ack: Some(ack), .. }) => {
                let ranges = ack.ranges.iter();
                ranges.for_each(|&(from, to)| self.cover((from, to + 1), &mut numbers));
            }
            _ => {}
        }
        ranges_of(numbers)
    }

    /// What lies in a block of bytes.
    fn cover(&self, (from, to): (u64, u64), numbers: &mut Vec<u64>) {
        if from < to {
            let inside = self.owed.range((from, 0)..(to, 0)).filter(|&(_, &end)| end <= to);
            numbers.extend(inside.map(|(&(_, number), _)| number as u64));
        }
    }
}

fn ranges_of(mut numbers: Vec<u64>) -> Ranges {
    numbers.sort_unstable();
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    ranges.into()
}

impl Content {
    /// That of a packet of TCP or a light carrier; `None` for others.
    fn of(body: &Body) -> Option<Self> {
        match body {
            Body::Segment(segment) | Body::Tunnelled { segment, .. } => Some(Self::of_tcp(segment)),
            Body::Light(packet) => Some(Self::of_light(&packet.kind)),
            Body::Numbered { .. } | Body::Message(_) | Body::Datagram(_) | Body::Quic(_) => None,
        }
    }

    fn of_tcp(segment: &Segment) -> Self {
        let has = |flag| segment.flags.contains(flag);
        let ack = if has(Flags::ACK) { segment.ack } else { 0 };
        let kind = if has(Flags::RST) {
            Kind::Reset
        } else if has(Flags::SYN) {
            Kind::Handshake
        } else if segment.is_pure_ack() {
            Kind::Ack
        } else {
            Kind::Data { offset: offset(segment), len: segment.len, ends: has(Flags::FIN) }
        };
        Self { kind, first: segment.seq, end: segment.end(), ack }
    }

    const fn of_light(kind: &LightKind) -> Self {
        let (kind, first, end) = match kind {
            LightKind::Hello { .. } | LightKind::HelloReply { .. } => (Kind::Handshake, 0, 0),
            LightKind::Ack => (Kind::Ack, 0, 0),
            LightKind::Data { number, datagram } => {
                let len = match datagram {
                    Some(datagram) => datagram.len() as u32,
                    None => 0,
                };
                (Kind::Datagram { len }, *number, *number + 1)
            }
        };
        Self { kind, first, end, ack: 0 }
    }
}

/// Where data lies in what the connection carries: by the data sequence if there is one, which like
/// the sequence numbers of TCP begins at 1.
fn offset(segment: &Segment) -> u64 {
    let dsn = match segment.mptcp {
        Some(MptcpOption::Dss(dss)) => dss.mapping.map(|mapping| mapping.dsn),
        _ => None,
    };
    dsn.unwrap_or(segment.seq).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunSeed;
    use crate::fabric::{Ecn, EndpointId, Fabric};
    use crate::topology::{Route, Topology};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_are_the_numbers(numbers in prop::collection::btree_set(0..60_u64, 0..40)) {
            let shuffled: Vec<_> = numbers.iter().rev().copied().collect();
            let ranges = ranges_of(shuffled);
            prop_assert!(ranges.windows(2).all(|pair| pair[0].1 + 1 < pair[1].0));
            let all: Vec<_> = ranges.iter().flat_map(|&(from, to)| from..=to).collect();
            prop_assert_eq!(all, numbers.into_iter().collect::<Vec<_>>());
        }
    }

    fn segment(flags: Flags, (seq, len, ack): (u64, u32, u64)) -> Packet {
        let mut fabric = Fabric::new(&Topology::new(), RunSeed::new(1, 0)).unwrap();
        let segment = Segment { ack, len, ..Segment::empty(seq, flags) };
        Packet {
            route: fabric.add_route(&Route(Vec::new())),
            to: EndpointId(0),
            path: 0,
            ecn: Ecn::NotCapable,
            bytes: segment.wire_bytes(),
            flow: 0,
            body: Body::Segment(segment),
        }
    }

    /// Three segments, of which the second is sent twice, and acknowledgements of which the first
    /// is lost: it is repeated, and what has been heard is not.
    #[test]
    fn numbers_are_repeated_until_they_are_known() {
        let (mut exchange, at) = (Exchange::default(), Timestamp::from_millis);
        let data = |seq| segment(Flags::ACK, (seq, 100, 1));
        let ack = |ack| segment(Flags::ACK, (1, 0, ack));
        for (time, seq) in [(0, 1), (1, 101), (2, 201), (3, 101)] {
            exchange.on_sent(0, &data(seq), at(time));
        }
        let acked =
            |exchange: &Exchange, number: usize| exchange.ends[1].sent[number].acked.clone();
        exchange.on_delivered(0, &data(1), at(10), at(0));
        exchange.on_delivered(0, &data(201), at(12), at(2));
        exchange.on_sent(1, &ack(101), at(12));
        assert_eq!(*acked(&exchange, 0), [(0, 0)], "the third is not covered");
        exchange.on_delivered(0, &data(101), at(13), at(3));
        exchange.on_sent(1, &ack(301), at(13));
        assert_eq!(*acked(&exchange, 1), [(0, 0), (2, 3)], "the second was the fourth packet");
        exchange.on_delivered(1, &ack(301), at(23), at(13));
        exchange.on_sent(1, &ack(301), at(24));
        assert!(acked(&exchange, 2).is_empty());
        let received: Vec<_> = exchange.ends[1].received.iter().map(|r| (r.at, r.number)).collect();
        assert_eq!(received, [(at(10), 0), (at(12), 2), (at(13), 3)]);
    }
}
