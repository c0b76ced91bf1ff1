//! A bond of two paths among arbitrary datagrams, calls of the application, losses and the passing
//! of time. The first bytes of the input choose side and algorithms. It must hold no more than its
//! receive buffer, its queue of datagrams must end, and a timer that is due must not stay so.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use polypath_bond::{Bond, BondConfig, Event, FlowConfig, FlowMode, PathSettings, Side, StreamId};
use polypath_core::congestion::CongestionKind;
use polypath_core::failure::FailureKind;
use polypath_core::scheduler::SchedulerKind;
use polypath_core::slow_start::SlowStartKind;
use polypath_units::{PathId, Timestamp};
use std::time::Duration;

const RECEIVE_BUFFER: u64 = 64 << 10;
const SEND_BUFFER: u64 = 64 << 10;
const MAX_DATAGRAM: usize = 1_200;
const MODES: [FlowMode; 6] = [
    FlowMode::Redundant,
    FlowMode::Aggregate,
    FlowMode::Best,
    FlowMode::SmallestDelay,
    FlowMode::PriorityBased,
    FlowMode::LoadBalancing,
];
/// More datagrams than both buffers, every path's probes and all control messages can fill.
const MANY: usize = 20_000;

fuzz_target!(|input: &[u8]| {
    let mut input = Input(input);
    let mut host = Host::new(&mut input);
    while let Some(operation) = input.byte() {
        host.operate(operation, &mut input);
        host.settle();
    }
});

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> u64 {
        self.byte().map_or(0, u64::from)
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.number() as usize % all.len()]
    }

    fn bytes(&mut self) -> &'a [u8] {
        let length = self.number() as usize;
        let (taken, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        taken
    }
}

/// A bond with what a driver keeps for it.
struct Host {
    bond: Bond,
    now: Timestamp,
    /// Packets of each path that are neither acknowledged nor lost, with the time of sending.
    flight: [Vec<(u64, Timestamp)>; 2],
    next_packet: u64,
    streams: Vec<StreamId>,
    side: Side,
}

impl Host {
    fn new(input: &mut Input<'_>) -> Self {
        let side = input.of(&[Side::Edge, Side::Hub]);
        let mut config = BondConfig {
            receive_buffer: RECEIVE_BUFFER,
            send_buffer: SEND_BUFFER,
            max_streams: 16,
            flow_buffer: 16 << 10,
            ..BondConfig::default()
        };
        config.composition.scheduler = input.of(SchedulerKind::ALL).into();
        config.composition.failure = input.of(FailureKind::ALL).into();
        config.composition.congestion.avoidance = input.of(CongestionKind::ALL).into();
        config.composition.congestion.slow_start = input.of(SlowStartKind::ALL).into();
        let now = Timestamp::from_millis(1);
        let peer = Bond::parameters(&config);
        let mut bond = Bond::new(side, config, &peer, now);
        for number in 0..2 {
            let settings = PathSettings {
                name: format!("path {number}"),
                backup: false,
                weight: 0.0,
                max_datagram: MAX_DATAGRAM,
                packet_overhead: 40,
                rtt: None,
            };
            bond.add_path(path(number), settings, now);
        }
        Self { bond, now, flight: Default::default(), next_packet: 0, streams: Vec::new(), side }
    }

    fn operate(&mut self, operation: u8, input: &mut Input<'_>) {
        let which = usize::from(operation & 1);
        match operation >> 1 & 15 {
            0..=5 => {
                let datagram = Bytes::copy_from_slice(input.bytes());
                self.bond.on_datagram(path(which as u8), datagram, self.now);
            }
            6 => self.now += Duration::from_micros(input.number() << 3),
            7 => self.now += Duration::from_millis(input.number() << 2),
            8 | 9 => self.acknowledge(which, input.number() as usize),
            10 => self.lose(which, input.number() as usize),
            11 => self.write(input.number() as usize, input.number() as usize),
            12 => self.read(input.number() as usize, input.number() as usize),
            13 => self.datagram(input.bytes()),
            14 => self.end_stream(which, input.number()),
            _ if which == 0 => self.bond.on_path_down(path(input.number() as u8 & 1), self.now),
            _ => self.bond.close(input.number(), "closed by the fuzzer", self.now),
        }
    }

    fn acknowledge(&mut self, which: usize, count: usize) {
        let flight = &mut self.flight[which];
        let count = count.min(flight.len());
        for (number, _) in flight.drain(..count) {
            self.bond.on_packet_acked(path(which as u8), number, self.now);
        }
        if count > 0 {
            self.bond.on_acks_end(path(which as u8), self.now);
        }
    }

    fn lose(&mut self, which: usize, count: usize) {
        let flight = &mut self.flight[which];
        let count = count.min(flight.len());
        let Some(&(_, newest)) = flight[..count].last() else { return };
        for (number, _) in flight.drain(..count) {
            self.bond.on_packet_lost(path(which as u8), number, self.now);
        }
        self.bond.on_losses_end(path(which as u8), newest, self.now);
    }

    fn write(&mut self, which: usize, kilobytes: usize) {
        if self.streams.len() <= which % 8 {
            self.streams.extend(self.bond.open_stream());
        }
        if let Some(&id) = self.streams.get(which % 8) {
            let _ = self.bond.write(id, &Bytes::from(vec![0; kilobytes << 8]));
        }
    }

    fn read(&mut self, which: usize, max: usize) {
        let id = StreamId::new(
            if which & 1 == 0 { self.side } else { self.side.peer() },
            which as u64 >> 1 & 7,
        );
        let before = self.bond.buffered();
        if let Ok(Some(data)) = self.bond.read(id, max << 4, self.now) {
            assert!(data.len() <= max << 4);
            assert_eq!(self.bond.buffered() + data.len() as u64, before);
        }
    }

    fn datagram(&mut self, payload: &[u8]) {
        let mode = MODES[payload.len() % MODES.len()];
        let resend = payload.len() % 3 == 0;
        let config = FlowConfig { resend, copy_share: 50_000, ..FlowConfig::of(mode) };
        if let Ok(flow) = self.bond.open_flow(config) {
            // Some are longer than a packet.
            let datagram = payload.repeat(1 + payload.len() % 7 * 8);
            let _ = self.bond.send_datagram(flow, &datagram.into(), self.now);
            if payload.len() % 2 == 0 {
                self.bond.close_flow(flow);
            }
        }
    }

    fn end_stream(&mut self, how: usize, which: u64) {
        let id = StreamId::new(
            if which & 1 == 0 { self.side } else { self.side.peer() },
            which >> 1 & 7,
        );
        match (how, which >> 4 & 1) {
            (0, 0) => self.bond.stop(id, which, self.now),
            (0, _) => self.bond.reset(id, which),
            _ => {
                let _ = self.bond.finish(id);
            }
        }
    }

    /// What a driver does after every event.
    fn settle(&mut self) {
        for _ in 0..MANY {
            if self.bond.poll_timeout().is_some_and(|at| at <= self.now) {
                self.bond.handle_timeout(self.now);
            }
            let sent = self.transmit();
            self.take_events();
            assert!(self.bond.buffered() <= RECEIVE_BUFFER, "{} B held", self.bond.buffered());
            let datagrams = self.bond.datagram_cost();
            assert!(datagrams <= RECEIVE_BUFFER, "{datagrams} B of datagrams held");
            if !sent && self.bond.poll_timeout().is_none_or(|at| at > self.now) {
                return;
            }
        }
        panic!("a timer stays due: {:?} at {:?}", self.bond.poll_timeout(), self.now);
    }

    /// Whether anything was sent.
    fn transmit(&mut self) -> bool {
        let mut last = None;
        for count in 0..MANY {
            let Some(transmit) = self.bond.poll_transmit(self.now) else { return count > 0 };
            last = Some((transmit.path, transmit.datagram.clone()));
            assert!(transmit.datagram.len() <= MAX_DATAGRAM, "{} B", transmit.datagram.len());
            let number = self.next_packet;
            self.next_packet += 1;
            let bytes = transmit.datagram.len() as u64 + 40;
            self.bond.on_packet_sent(transmit.path, number, bytes, transmit.payload, self.now);
            self.flight[transmit.path.index()].push((number, self.now));
        }
        panic!("datagrams without end, the last one {last:?} of {:?}", self.bond.status());
    }

    fn take_events(&mut self) {
        while let Some(event) = self.bond.poll_event() {
            match event {
                Event::FlowReadable(flow) => while self.bond.recv_datagram(flow).is_some() {},
                Event::PathRemoved(path) => self.flight[path.index()].clear(),
                _ => {}
            }
        }
    }
}

fn path(number: u8) -> PathId {
    PathId::new(number).expect("two paths")
}
