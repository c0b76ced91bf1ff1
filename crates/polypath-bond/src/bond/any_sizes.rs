//! Datagrams of any size between two bonds, whose payloads are lost, doubled and shuffled.

use super::fixtures::{OVERHEAD, settings};
use super::{Bond, PathSettings, Transmit};
use crate::codec::FlowConfig;
use crate::codec::{FlowId, FlowMode, Frame, Frames, Side};
use crate::config::BondConfig;
use bytes::Bytes;
use polypath_units::{PathId, Timestamp};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const RECEIVE_BUFFER: u64 = 400_000;
const FLOW_BUFFER: u64 = 300_000;

fn path(number: usize) -> PathId {
    PathId::new(number as u8).unwrap()
}

fn bond(side: Side, max_datagrams: [usize; 2]) -> Bond {
    let config = BondConfig {
        receive_buffer: RECEIVE_BUFFER,
        flow_buffer: FLOW_BUFFER,
        ..BondConfig::default()
    };
    let parameters = Bond::parameters(&config);
    let mut bond = Bond::new(side, config, &parameters, Timestamp::ZERO);
    for (number, max_datagram) in max_datagrams.into_iter().enumerate() {
        let settings = PathSettings { max_datagram, ..settings("p", None) };
        bond.add_path(path(number), settings, Timestamp::ZERO);
    }
    bond
}

fn message(number: usize, size: usize) -> Bytes {
    (0..size).map(|at| (at * 7 + at / 256 + number) as u8).collect()
}

/// What becomes of a payload.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Arrives {
        delay_us: u64,
    },
    Doubled {
        delay_us: u64,
    },
    Lost,
    /// The path carries so many bytes from now on, and not this payload if it is longer.
    Shrinks {
        to: usize,
    },
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        20 => (0u64..50_000).prop_map(|delay_us| Fate::Arrives { delay_us }),
        4 => (0u64..50_000).prop_map(|delay_us| Fate::Doubled { delay_us }),
        2 => Just(Fate::Lost),
        1 => (1_000usize..1_500).prop_map(|to| Fate::Shrinks { to }),
    ]
}

fn size() -> impl Strategy<Value = usize> {
    prop_oneof![3 => 0usize..1_500, 2 => 1_000usize..3_000, 1 => 0usize..=66_000]
}

/// The bytes of each datagram that are on their way or have arrived.
#[derive(Default)]
struct Ledger(BTreeMap<u64, BTreeSet<(usize, usize)>>);

impl Ledger {
    fn note(&mut self, datagram: &Bytes) {
        for frame in Frames::new(datagram.clone()) {
            match frame.unwrap() {
                Frame::Datagram(whole) => {
                    self.0.entry(whole.seq).or_default().insert((0, whole.data.len()));
                }
                Frame::Fragment(part) => {
                    let range = (part.offset, part.offset + part.data.len());
                    self.0.entry(part.seq).or_default().insert(range);
                }
                _ => {}
            }
        }
    }

    /// Whether all `size` bytes of the datagram were delivered.
    fn is_whole(&self, seq: u64, size: usize) -> bool {
        let Some(ranges) = self.0.get(&seq) else { return false };
        let covered =
            ranges.iter().fold(
                0,
                |covered, &(start, end)| {
                    if start <= covered { covered.max(end) } else { covered }
                },
            );
        covered >= size
    }
}

/// A sender and a receiver, and what is between them.
struct Pair {
    edge: Bond,
    hub: Bond,
    now: Timestamp,
    packets: u64,
    on_the_way: BTreeMap<(Timestamp, u64), (PathId, Bytes)>,
    delivered: Ledger,
}

impl Pair {
    fn new(max_datagrams: [usize; 2]) -> Self {
        let [edge, hub] = [Side::Edge, Side::Hub].map(|side| bond(side, max_datagrams));
        let (now, on_the_way) = (Timestamp::ZERO, BTreeMap::new());
        Self { edge, hub, now, packets: 0, on_the_way, delivered: Ledger::default() }
    }

    fn arrive_in(&mut self, delay_us: u64, path: PathId, datagram: &Bytes) {
        self.packets += 1;
        let at = self.now + Duration::from_micros(delay_us);
        self.on_the_way.insert((at, self.packets), (path, datagram.clone()));
    }

    /// Lets the edge send all that it may.
    fn send(&mut self, mut fate: impl FnMut() -> Fate) {
        while let Some(transmit) = self.edge.poll_transmit(self.now) {
            let fate = fate();
            if let Fate::Shrinks { to } = fate
                && self.shrink(transmit.path, to)
                && transmit.datagram.len() > to
            {
                self.edge.on_too_large(transmit.path, transmit.payload, self.now);
                continue;
            }
            self.carry(transmit, fate);
        }
    }

    fn shrink(&mut self, path: PathId, to: usize) -> bool {
        self.edge.set_max_datagram(path, to)
    }

    fn carry(&mut self, transmit: Transmit, fate: Fate) {
        let Transmit { path, datagram, payload } = transmit;
        self.packets += 1;
        let (number, bytes) = (self.packets, payload.len + OVERHEAD);
        self.edge.on_packet_sent(path, number, bytes, payload, self.now);
        self.edge.on_packet_acked(path, number, self.now);
        self.edge.on_acks_end(path, self.now);
        match fate {
            Fate::Lost => return,
            Fate::Arrives { delay_us } => self.arrive_in(delay_us, path, &datagram),
            Fate::Doubled { delay_us } => {
                self.arrive_in(delay_us, path, &datagram);
                self.arrive_in(50_000 - delay_us, path, &datagram);
            }
            Fate::Shrinks { .. } => self.arrive_in(0, path, &datagram),
        }
        self.delivered.note(&datagram);
    }

    /// Time passes, things arrive, and the hub's application reads.
    fn pass(&mut self, time: Duration, flow: FlowId) -> Vec<Bytes> {
        let end = self.now + time;
        while let Some(first) = self.on_the_way.first_entry().filter(|first| first.key().0 <= end) {
            let ((at, _), (path, datagram)) = first.remove_entry();
            self.now = self.now.max(at);
            self.hub.on_datagram(path, datagram, self.now);
            assert!(self.hub.datagram_cost() <= RECEIVE_BUFFER);
        }
        self.now = end;
        for bond in [&mut self.edge, &mut self.hub] {
            bond.handle_timeout(end);
        }
        std::iter::from_fn(|| self.hub.recv_datagram(flow)).map(|datagram| datagram.data).collect()
    }
}

proptest! {
    /// What arrives is what was sent, each once; and whatever arrived in all its parts is read.
    #[test]
    fn datagrams_arrive_whole_and_once_if_all_of_them_does(
        mode in prop::sample::select(FlowMode::ALL.to_vec()),
        payloads in (1_150usize..1_500, 1_150usize..9_000),
        bursts in prop::collection::vec(prop::collection::vec(size(), 1..4), 1..10),
        fates in prop::collection::vec(fate(), 1..60),
    ) {
        let mut pair = Pair::new([payloads.0, payloads.1]);
        let flow = pair.edge.open_flow(FlowConfig::of(mode)).unwrap();
        let mut fates = fates.into_iter().cycle();
        // The opening message arrives first.
        pair.send(|| Fate::Arrives { delay_us: 0 });
        let mut got = pair.pass(Duration::from_millis(1), flow);
        let (mut accepted, mut number) = (Vec::new(), 0);
        for burst in bursts {
            for size in burst {
                if pair.edge.send_datagram(flow, &message(number, size), pair.now).is_ok() {
                    accepted.push((number, size));
                }
                number += 1;
            }
            // All leave before the next come, in redundant mode from every path.
            for _ in 0..200 {
                pair.send(|| fates.next().unwrap());
                got.extend(pair.pass(Duration::from_millis(1), flow));
            }
        }
        got.extend(pair.pass(Duration::from_millis(250), flow));
        prop_assert!(!pair.hub.is_closed() && !pair.edge.is_closed());
        let whole = |(seq, &(number, size)): (usize, &(usize, usize))| {
            pair.delivered.is_whole(seq as u64, size).then(|| message(number, size))
        };
        let mut expected: Vec<Bytes> = accepted.iter().enumerate().filter_map(whole).collect();
        expected.sort();
        got.sort();
        prop_assert!(got == expected, "{} of {} arrived", got.len(), expected.len());

        // Nothing is kept of the others once they are given up: the longest RTT, the wait for
        // order, and 2 s.
        pair.pass(Duration::from_millis(1_000 + 250 + 2_000), flow);
        prop_assert_eq!(pair.hub.datagram_cost(), 0);
    }
}

/// Both paths shrink when they are handed the datagram, which was one packet until then.
#[test]
fn what_a_path_does_not_take_any_more_is_cut_again() {
    for mode in FlowMode::ALL {
        let mut pair = Pair::new([1_400, 1_400]);
        let flow = pair.edge.open_flow(FlowConfig::of(mode)).unwrap();
        pair.send(|| Fate::Arrives { delay_us: 0 });
        pair.pass(Duration::from_millis(1), flow);
        pair.edge.send_datagram(flow, &message(3, 1_300), pair.now).unwrap();
        let mut shrinking = 2;
        let mut got = Vec::new();
        for _ in 0..100 {
            pair.send(|| {
                let shrinks = shrinking > 0;
                shrinking -= i32::from(shrinks);
                if shrinks { Fate::Shrinks { to: 1_000 } } else { Fate::Arrives { delay_us: 0 } }
            });
            got.extend(pair.pass(Duration::from_millis(1), flow));
        }
        assert_eq!(got, [message(3, 1_300)], "{mode:?}");
    }
}

/// Parts of datagrams of two flows, one of which sends many: the other's wait for their rest.
#[test]
fn a_flow_that_leaves_many_incomplete_pushes_no_other_out() {
    let mut pair = Pair::new([1_200, 1_200]);
    let config =
        FlowConfig { resequence: Some(Duration::ZERO), ..FlowConfig::of(FlowMode::Aggregate) };
    let [greedy, modest] = [0; 2].map(|_| pair.edge.open_flow(config).unwrap());
    pair.send(|| Fate::Arrives { delay_us: 0 });
    pair.pass(Duration::from_millis(1), greedy);
    let part = |flow, seq, offset: usize, len| {
        let data = Bytes::from(vec![1; len]);
        Frame::Fragment(crate::codec::FragmentFrame { flow, seq, total: 60_000, offset, data })
    };
    let mut arrive = |frame: Frame| {
        let mut datagram = bytes::BytesMut::new();
        frame.encode(&mut datagram, true);
        pair.hub.on_datagram(path(0), datagram.freeze(), pair.now);
        assert!(pair.hub.datagram_cost() <= RECEIVE_BUFFER);
    };
    // Two of 60,000 bytes are less than half of the receive buffer.
    (0..2).for_each(|seq| arrive(part(modest, seq, 0, 1_000)));
    (0..100).for_each(|seq| arrive(part(greedy, seq, 0, 1_000)));
    (0..2).for_each(|seq| arrive(part(modest, seq, 1_000, 59_000)));
    let read = std::iter::from_fn(|| pair.hub.recv_datagram(modest)).count();
    assert_eq!(read, 2);
    let counters = pair.hub.flow_counters(greedy).unwrap();
    // 400,000 bytes less those of the other flow hold four of 60,064.
    assert_eq!((counters.incomplete, counters.dropped), (96, 0));
}
