use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::fixtures::{self, Ends, V4, V6};
use crate::packet::Packet;

const KEY: HashKey = [7; 16];
const TIMEOUTS: IdleTimeouts = IdleTimeouts::DEFAULT;

fn table<F>(capacity: u32) -> ConversationTable<F> {
    ConversationTable::new(NonZeroU32::new(capacity).unwrap(), TIMEOUTS, &KEY)
}

fn at(seconds: u64) -> Timestamp {
    Timestamp::ZERO + Duration::from_secs(seconds)
}

fn udp(ends: Ends, from: u16, to: u16) -> Membership {
    Packet::parse(fixtures::udp(ends, from, to, b"x")).unwrap().membership()
}

fn tcp(reversed: bool, syn: bool, fin: bool) -> Membership {
    let ends = if reversed { fixtures::reversed(V4) } else { V4 };
    let bytes = fixtures::tcp(ends, |mut header| {
        if reversed {
            (header.source_port, header.destination_port) = (443, 50_000);
        }
        (header.syn, header.ack, header.fin) = (syn, !syn || reversed, fin);
        header
    });
    Packet::parse(bytes).unwrap().membership()
}

fn expired<F>(table: &mut ConversationTable<F>, now: Timestamp) -> Vec<F> {
    std::iter::from_fn(|| table.pop_expired(now)).map(Conversation::into_flow).collect()
}

#[test]
fn both_directions_find_what_belongs_to_the_conversation() {
    let mut table = table(4);
    for (ends, flow) in [(V4, 4), (V6, 6)] {
        let [there, back] = [udp(ends, 9, 53), udp(fixtures::reversed(ends), 53, 9)];
        assert_eq!(table.look_up(&there, at(0)), None);
        assert!(table.insert(&there, flow, at(0)).is_none());
        assert_eq!(table.look_up(&there, at(1)), Some(&mut flow.clone()));
        *table.look_up(&back, at(2)).unwrap() += 10;
        let known = table.iter().last().unwrap();
        assert_eq!((*known.flow(), known.last_packet()), (flow + 10, at(2)));
        assert_eq!((known.opened(), known.key()), (there.direction, &there.key));
        assert_eq!(known.class(), IdleClass::UdpBothWays);
    }
    assert_eq!(table.remove(&udp(V4, 9, 53).key).map(Conversation::into_flow), Some(14));
    assert!(table.remove(&udp(V4, 9, 53).key).is_none());
    assert_eq!((table.len(), table.is_empty()), (1, false));
}

#[test]
fn a_full_table_forgets_what_was_silent_for_longest() {
    let mut table = table(3);
    for (port, now) in [(1, 0), (2, 1), (3, 2)] {
        assert!(table.insert(&udp(V4, port, 53), port, at(now)).is_none());
    }
    table.look_up(&udp(fixtures::reversed(V4), 53, 1), at(3)).unwrap();
    for (port, forgotten) in [(4, 2), (5, 3), (6, 1), (7, 4)] {
        let removed = table.insert(&udp(V4, port, 53), port, at(4)).unwrap();
        assert_eq!(removed.into_flow(), forgotten);
        assert_eq!(table.len(), 3);
    }
}

#[test]
fn a_conversation_that_is_inserted_again_makes_room_itself() {
    let mut table = table(2);
    table.insert(&udp(V4, 1, 53), 'a', at(0));
    table.insert(&udp(V4, 2, 53), 'b', at(1));
    let replaced = table.insert(&udp(fixtures::reversed(V4), 53, 2), 'c', at(2)).unwrap();
    assert_eq!((replaced.flow(), table.len()), (&'b', 2));
    assert_eq!(table.look_up(&udp(V4, 1, 53), at(2)), Some(&mut 'a'));
}

/// Those that have expired make room before one is forgotten that has not.
#[test]
fn what_is_not_known_is_inserted_as_it_is_looked_up() {
    let mut table = table(2);
    let [first, second, third] = [1, 2, 3].map(|port| udp(V4, port, 53));
    let lives = TIMEOUTS.udp_one_way.as_secs();
    *table.look_up_or_insert_with(&first, at(0), || 10) += 1;
    table.look_up_or_insert_with(&second, at(1), || 20);
    assert_eq!(table.look_up_or_insert_with(&first, at(2), || unreachable!()), &mut 11);
    assert_eq!(table.look_up_or_insert_with(&third, at(3), || 30), &mut 30);
    assert_eq!(table.look_up(&second, at(3)), None);
    table.look_up_or_insert_with(&second, at(3 + lives), || 40);
    assert_eq!(table.len(), 1);
}

#[test]
fn conversations_expire_by_their_class() {
    let mut table = table(8);
    table.insert(&udp(V4, 1, 53), "one way", at(0));
    table.insert(&udp(V4, 2, 53), "both ways", at(0));
    table.look_up(&udp(fixtures::reversed(V4), 53, 2), at(1)).unwrap();
    table.insert(&tcp(false, true, false), "tcp", at(0));
    table.look_up(&tcp(true, true, false), at(2)).unwrap();
    let open = 2 + TIMEOUTS.tcp_open.as_secs();
    for (now, next, gone) in [
        (119, 120, &[][..]),
        (120, 301, &["one way"]),
        (300, 301, &[]),
        (301, open, &["both ways"]),
        (open - 1, open, &[]),
    ] {
        assert_eq!(expired(&mut table, at(now)), gone, "{now}");
        assert_eq!(table.next_expiry(), Some(at(next)));
    }
    assert_eq!(expired(&mut table, at(open)), ["tcp"]);
    assert_eq!((table.next_expiry(), table.is_empty()), (None, true));
}

#[test]
fn a_connection_that_was_closed_expires_soon() {
    let mut table = table(8);
    table.insert(&tcp(false, true, false), (), at(0));
    for member in [tcp(true, true, false), tcp(false, false, true), tcp(true, false, true)] {
        table.look_up(&member, at(10)).unwrap();
    }
    assert_eq!(table.next_expiry(), Some(at(10) + TIMEOUTS.tcp_closing));
}

/// Errors come from anybody: they keep nothing alive.
#[test]
fn errors_find_the_conversation_and_are_no_sign_of_life() {
    let mut table = table(8);
    let member = udp(V4, 9, 53);
    table.insert(&member, 1, at(0));
    let direction = member.direction.reversed();
    let error = Membership { event: Event::Error, direction, ..member };
    assert_eq!(table.look_up(&error, at(100)), Some(&mut 1));
    let known = table.iter().next().unwrap();
    assert_eq!((known.class(), known.last_packet()), (IdleClass::UdpOneWay, at(0)));
}

/// 100,000 conversations within 10 s, each of another address and port.
#[test]
fn of_a_flood_of_conversations_the_last_are_known() {
    const FLOOD: u64 = 100_000;
    const CAPACITY: u32 = 65_536;
    let mut table = table(CAPACITY);
    let member = |number: u64| {
        let source = std::net::Ipv4Addr::from_bits(0x0a00_0000 + (number >> 8) as u32);
        udp((source.into(), V4.1), number as u16, 53)
    };
    let mut forgotten = 0..;
    for number in 0..FLOOD {
        let now = Timestamp::from_micros(100 * number);
        let member = member(number);
        assert!(table.look_up(&member, now).is_none());
        if let Some(removed) = table.insert(&member, number, now) {
            assert_eq!(Some(removed.into_flow()), forgotten.next(), "the oldest first");
        }
        assert!(table.pop_expired(now).is_none(), "10 s are less than any time-out");
    }
    assert_eq!(forgotten.start, FLOOD - u64::from(CAPACITY));
    assert_eq!(table.len(), CAPACITY as usize);
    assert!((forgotten.start..FLOOD).all(|number| table.find(&member(number).key).is_some()));

    assert_eq!(expired(&mut table, at(1_000)).len(), CAPACITY as usize);
    assert_eq!((table.len(), table.index.len()), (0, 0), "nothing is left over");
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Pass { port: u16, back: bool },
    Expire,
    Remove { port: u16 },
}

fn step() -> impl Strategy<Value = (Step, u64)> {
    let step = prop_oneof![
        8 => (0_u16..6, any::<bool>()).prop_map(|(port, back)| Step::Pass { port, back }),
        1 => Just(Step::Expire),
        1 => (0_u16..6).prop_map(|port| Step::Remove { port }),
    ];
    (step, 0_u64..100)
}

/// What a table knows of UDP conversations, slowly.
#[derive(Default)]
struct Model {
    known: BTreeMap<u16, (Timestamp, u64, bool, bool)>,
    clock: u64,
}

impl Model {
    /// The flow that had to make room.
    fn pass(&mut self, port: u16, back: bool, now: Timestamp, capacity: usize) -> Option<u16> {
        self.clock += 1;
        if let Some((last, clock, opened, both)) = self.known.get_mut(&port) {
            (*last, *clock) = (now, self.clock);
            *both |= back != *opened;
            return None;
        }
        let oldest = self.known.iter().min_by_key(|(_, (_, clock, ..))| *clock);
        let oldest = oldest.map(|(port, _)| *port).filter(|_| self.known.len() >= capacity);
        oldest.map(|port| self.known.remove(&port));
        self.known.insert(port, (now, self.clock, back, false));
        oldest
    }

    fn expire(&mut self, now: Timestamp) -> Vec<u16> {
        let is_expired = |&(last, _, _, both): &(Timestamp, u64, bool, bool)| {
            let timeout = if both { TIMEOUTS.udp_both_ways } else { TIMEOUTS.udp_one_way };
            now >= last + timeout
        };
        let expired = self.known.iter().filter(|(_, known)| is_expired(known));
        let expired: Vec<u16> = expired.map(|(port, _)| *port).collect();
        self.known.retain(|port, _| !expired.contains(port));
        expired
    }
}

proptest! {
    /// Times differ, so that it is clear what was silent for longest.
    #[test]
    fn tables_do_what_a_slow_model_does(
        steps in prop::collection::vec(step(), 0..80),
        capacity in 1_usize..6,
    ) {
        let mut table = table::<u16>(capacity as u32);
        let mut model = Model::default();
        let mut now = Timestamp::ZERO;
        for (step, seconds) in steps {
            now += Duration::from_secs(seconds) + Duration::from_nanos(1);
            match step {
                Step::Pass { port, back } => {
                    let ends = if back { fixtures::reversed(V4) } else { V4 };
                    let (from, to) = if back { (53, port + 100) } else { (port + 100, 53) };
                    let member = udp(ends, from, to);
                    let known = table.look_up(&member, now).copied();
                    prop_assert_eq!(known, model.known.contains_key(&port).then_some(port));
                    let removed = match known {
                        Some(_) => None,
                        None => table.insert(&member, port, now).map(Conversation::into_flow),
                    };
                    prop_assert_eq!(removed, model.pass(port, back, now, capacity));
                }
                Step::Expire => {
                    let mut gone = expired(&mut table, now);
                    gone.sort_unstable();
                    prop_assert_eq!(gone, model.expire(now));
                }
                Step::Remove { port } => {
                    let removed = table.remove(&udp(V4, port + 100, 53).key);
                    prop_assert_eq!(removed.is_some(), model.known.remove(&port).is_some());
                }
            }
            let mut flows: Vec<u16> = table.iter().map(|known| *known.flow()).collect();
            flows.sort_unstable();
            prop_assert_eq!(flows, model.known.keys().copied().collect::<Vec<_>>());
        }
    }
}

#[test]
fn the_same_key_and_packets_make_the_same_table() {
    let listed = |key: HashKey| {
        let mut table = ConversationTable::new(NonZeroU32::new(50).unwrap(), TIMEOUTS, &key);
        for port in (0..400).map(|number| number * 7 % 101) {
            let member = udp(V4, port, 53);
            if table.look_up(&member, at(port.into())).is_none() {
                table.insert(&member, port, at(port.into()));
            }
        }
        table.iter().map(|known| *known.flow()).collect::<Vec<_>>()
    };
    assert_eq!(listed(KEY), listed(KEY));
    assert_eq!(listed(KEY), listed([8; 16]), "no order depends on hashes");
}

/// However they came and went.
#[test]
fn all_places_together_have_each_conversation_once() {
    let mut table = table(64);
    for port in 0..100 {
        table.insert(&udp(V4, port, 53), port, at(0));
    }
    for port in 40..50 {
        assert!(table.remove(&udp(V4, port, 53).key).is_some());
    }
    let pages = (0..table.places()).step_by(7).map(|first| first..first + 7);
    let mut met: Vec<u16> =
        pages.flat_map(|page| table.in_places(page)).map(|known| *known.flow()).collect();
    met.sort_unstable();
    let expected: Vec<u16> = (36..100).filter(|port| !(40..50).contains(port)).collect();
    assert_eq!(met, expected);
    assert_eq!(table.in_places(table.places()..table.places() + 7).count(), 0, "behind the last");
}
