//! Which conversations fragments belong to.

use std::hash::{Hash, Hasher};
use std::net::IpAddr;
use std::time::Duration;

use polypath_units::Timestamp;
use siphasher::sip::SipHasher13;

use super::HashKey;
use super::key::{Event, Membership};
use crate::packet::{Fragment, Packet};

/// First fragments that are remembered.
const SLOTS: usize = 256;

/// How long a first fragment is remembered, which is how long Linux waits for the others
/// (`ipfrag_time`). Identifications of IPv4 come again soon (RFC 4963).
const LIFETIME: Duration = Duration::from_secs(30);

/// Finds the conversation of fragments. Only the first one of a packet has ports; the others are
/// taken for the conversation of the first one with their addresses and identification, so that a
/// rule for ports is for whole packets. It costs one place in a table of fixed size for each
/// fragmented packet.
///
/// What came before its first fragment, or after 30 s, or whose first fragment others have pushed
/// out of the table, belongs to the conversation of its addresses and protocol.
#[derive(Debug)]
pub struct FragmentTracker {
    /// Each first fragment has one place, by its hash.
    slots: Box<[Option<Remembered>]>,
    hasher: SipHasher13,
}

#[derive(Clone, Copy, Debug)]
struct Remembered {
    packet: FragmentedPacket,
    member: Membership,
    seen: Timestamp,
}

/// What the fragments of a packet have in common (RFC 791, section 3.2; RFC 8200, section 4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct FragmentedPacket {
    source: IpAddr,
    destination: IpAddr,
    /// In IPv4 alone. In IPv6 later fragments may name an extension header.
    protocol: Option<u8>,
    identification: u32,
}

impl FragmentTracker {
    /// A tracker that has seen nothing.
    pub fn new(key: &HashKey) -> Self {
        Self { slots: vec![None; SLOTS].into(), hasher: SipHasher13::new_with_key(key) }
    }

    /// Which conversation a packet belongs to that passes now, fragment or not.
    pub fn membership<T: AsRef<[u8]>>(&mut self, packet: &Packet<T>, now: Timestamp) -> Membership {
        let member = packet.membership();
        let Some(fragment) = packet.fragment() else { return member };
        let fragmented = FragmentedPacket::new(packet, fragment);
        let place = &mut self.slots[place(self.hasher, &fragmented)];
        if fragment.is_first() {
            *place = Some(Remembered { packet: fragmented, member, seen: now });
            return member;
        }
        let first =
            place.filter(|first| first.packet == fragmented && now.since(first.seen) < LIFETIME);
        first.map_or(member, |first| {
            let event = if first.member.event == Event::Error { Event::Error } else { Event::Data };
            Membership { event, ..first.member }
        })
    }
}

impl FragmentedPacket {
    fn new<T: AsRef<[u8]>>(packet: &Packet<T>, fragment: Fragment) -> Self {
        Self {
            source: packet.source(),
            destination: packet.destination(),
            protocol: Some(packet.protocol_number()).filter(|_| packet.is_ipv4()),
            identification: fragment.identification,
        }
    }
}

fn place(mut hasher: SipHasher13, packet: &FragmentedPacket) -> usize {
    packet.hash(&mut hasher);
    hasher.finish() as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{self, Ends, V4, V6};

    fn fragment(ends: Ends, offset: u16, identification: u8) -> Vec<u8> {
        let mut bytes = fixtures::udp(ends, 9, 53, &[7; 16]);
        fixtures::make_fragment(&mut bytes, offset, true);
        if ends.0.is_ipv4() {
            bytes[5] = identification;
            fixtures::mend_ipv4(&mut bytes);
        } else {
            bytes[47] = identification;
        }
        bytes
    }

    fn at(seconds: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_secs(seconds)
    }

    struct Tracked(FragmentTracker);

    impl Tracked {
        fn membership(&mut self, bytes: &[u8], now: Timestamp) -> Membership {
            self.0.membership(&Packet::parse(bytes).unwrap(), now)
        }
    }

    fn tracker() -> Tracked {
        Tracked(FragmentTracker::new(&[7; 16]))
    }

    #[test]
    fn fragments_belong_to_the_conversation_of_the_first() {
        for ends in [V4, V6] {
            let mut tracker = tracker();
            let whole = fixtures::udp(ends, 9, 53, b"x");
            let conversation = tracker.membership(&whole, at(0));
            assert_eq!(tracker.membership(&fragment(ends, 0, 1), at(0)), conversation);
            for _ in 0..2 {
                assert_eq!(tracker.membership(&fragment(ends, 24, 1), at(29)), conversation);
            }
        }
    }

    #[test]
    fn without_the_first_they_belong_to_their_addresses() {
        for ends in [V4, V6] {
            let later = fragment(ends, 24, 1);
            let alone = Packet::parse(&later).unwrap().membership();
            assert_eq!(alone.key.source(alone.direction).port, None);
            let mut tracker = tracker();
            assert_eq!(tracker.membership(&later, at(0)), alone, "before the first");
            tracker.membership(&fragment(ends, 0, 2), at(0));
            assert_eq!(tracker.membership(&later, at(0)), alone, "of another packet");
            tracker.membership(&fragment(fixtures::reversed(ends), 0, 1), at(0));
            assert_eq!(tracker.membership(&later, at(0)), alone, "of the other direction");
            tracker.membership(&fragment(ends, 0, 1), at(0));
            assert_eq!(tracker.membership(&later, at(30)), alone, "too late");
        }
    }

    /// All first fragments are answered for while there is room, and the table never grows.
    #[test]
    fn a_flood_of_first_fragments_costs_no_more_memory() {
        let mut tracker = tracker();
        for port in 0..u16::MAX {
            let mut bytes = fragment(V4, 0, 1);
            bytes[4..6].copy_from_slice(&port.to_be_bytes());
            fixtures::mend_ipv4(&mut bytes);
            tracker.membership(&bytes, at(0));
        }
        assert_eq!(tracker.0.slots.len(), SLOTS);
        let conversation = tracker.membership(&fragment(V4, 0, 1), at(0));
        assert_eq!(tracker.membership(&fragment(V4, 24, 1), at(0)), conversation);
    }

    /// A first fragment that ends its connection does so once.
    #[test]
    fn later_fragments_of_a_segment_are_data() {
        let mut first = fixtures::tcp(V4, |mut header| {
            header.rst = true;
            header.set_options_raw(&[1; 4]).unwrap();
            header
        });
        fixtures::make_fragment(&mut first, 0, true);
        let mut later = fixtures::other(V4, 6, &[0; 8]);
        fixtures::make_fragment(&mut later, 24, false);
        let mut tracker = tracker();
        let [first, later] =
            [first, later].map(|bytes| tracker.membership(&bytes, Timestamp::ZERO));
        assert_eq!((first.event, later.event), (Event::Reset, Event::Data));
        assert_eq!(first.key, later.key);
    }
}
