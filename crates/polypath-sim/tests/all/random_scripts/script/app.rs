//! An application at one end: writes and reads streams and datagrams at random, and remembers what
//! became of them.

use super::{Dice, HEALED};
use bytes::Bytes;
use polypath_bond::{
    Bond, CarriedBytes, Event, FlowConfig, FlowId, FlowMode, ListedPath, OpenError, PathList,
    ReadError, Redundancy, Side, StreamId, WriteError,
};
use polypath_units::{PathId, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::num::NonZeroU8;
use std::time::Duration;

/// Paths of flows: all, and some of which there is one too few.
const PATHS: [&[u8]; 5] = [&[], &[], &[1], &[1, 0], &[7, 1, 0]];

/// The byte at an offset of a half of a stream.
fn pattern(id: StreamId, writer: Side, offset: u64) -> u8 {
    let x = (offset ^ (id.0 << 40) ^ u64::from(writer == Side::Hub))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x >> 56) as u8
}

/// A half that is written here.
#[derive(Debug, Default)]
struct Writing {
    target: u64,
    resets_at: Option<u64>,
    written: u64,
    finished: bool,
    /// Reset here, or stopped by the peer or by the end of the bond.
    given_up: bool,
}

/// A half that is read here.
#[derive(Debug, Default)]
struct Reading {
    stops_at: Option<u64>,
    read: u64,
    ended: bool,
    error: bool,
    stopped: bool,
}

/// A flow that either end has opened.
#[derive(Debug, Default)]
struct Flow {
    sent: u64,
    /// How long its datagrams wait for those before them, in ns: what was asked for.
    wait: u64,
    seen: BTreeSet<u64>,
}

impl Reading {
    fn is_over(&self) -> bool {
        self.ended || self.error || self.stopped
    }
}

/// One end's application.
#[derive(Debug)]
pub(crate) struct App {
    side: Side,
    receive_buffer: u64,
    dice: Dice,
    to_open: u64,
    may_open: bool,
    next_open: Timestamp,
    reads_from: Timestamp,
    writing: BTreeMap<StreamId, Writing>,
    reading: BTreeMap<StreamId, Reading>,
    writable: BTreeSet<StreamId>,
    readable: BTreeSet<StreamId>,
    flows: BTreeMap<FlowId, Flow>,
    next_datagram: Timestamp,
    /// The bond is over: closed or broken.
    pub(crate) ended: bool,
    /// Closed here, gracefully.
    pub(crate) closed: bool,
    /// What happened, in order.
    pub(crate) log: Vec<String>,
}

impl App {
    pub(crate) fn new(side: Side, receive_buffer: u64, mut dice: Dice) -> Self {
        Self {
            side,
            receive_buffer,
            to_open: 1 + dice.below(40),
            dice,
            may_open: true,
            next_open: Timestamp::ZERO,
            reads_from: Timestamp::ZERO,
            writing: BTreeMap::new(),
            reading: BTreeMap::new(),
            writable: BTreeSet::new(),
            readable: BTreeSet::new(),
            flows: BTreeMap::new(),
            next_datagram: Timestamp::ZERO,
            ended: false,
            closed: false,
            log: Vec::new(),
        }
    }

    /// Does what can be done now.
    pub(crate) fn act(&mut self, bond: &mut Bond, now: Timestamp) {
        while let Some(event) = bond.poll_event() {
            self.on_event(&event, now);
        }
        if !self.ended && !self.closed {
            self.open(bond, now);
            self.send_datagrams(bond, now);
        }
        for id in std::mem::take(&mut self.writable) {
            self.write(bond, id);
        }
        // A slow reader; once all is healed it hurries.
        if now >= self.reads_from || now >= HEALED {
            for id in std::mem::take(&mut self.readable) {
                self.read(bond, id, now);
            }
            if self.dice.one_in(200) {
                self.reads_from = now + Duration::from_millis(self.dice.below(800));
            }
        }
        self.receive_datagrams(bond, now);
        // What waits for missing data, and what waits for readers: two buffers, or 16 KiB of
        // each of the 40 streams that either side opens at most.
        let unread = (2 * self.receive_buffer).max(2 * 40 * (16 << 10));
        let most = self.receive_buffer + unread;
        assert!(bond.buffered() <= most, "{} held", bond.buffered());
        assert!(bond.buffer_cost() <= 2 * most, "{} held", bond.buffer_cost());
    }

    fn on_event(&mut self, event: &Event, now: Timestamp) {
        self.log.push(format!("{now} {:?} {event:?}", self.side));
        match *event {
            Event::StreamOpened(id) => self.begin(id),
            Event::StreamReadable(id) => drop(self.readable.insert(id)),
            Event::StreamWritable(id) => drop(self.writable.insert(id)),
            Event::StreamStopped { id, .. } => {
                self.writing.entry(id).and_modify(|writing| writing.given_up = true);
            }
            Event::StreamsAvailable => self.may_open = true,
            Event::FlowOpened(id) => drop(self.flows.insert(id, Default::default())),
            Event::FlowClosed(id) => drop(self.flows.remove(&id)),
            Event::PeerClosed { .. } => self.closed = true,
            Event::Closed | Event::Broken { .. } => self.ended = true,
            _ => {}
        }
    }

    fn begin(&mut self, id: StreamId) {
        let dice = &mut self.dice;
        let target = if dice.one_in(4) { dice.below(100_000) } else { dice.below(5_000) };
        let resets_at = dice.one_in(10).then(|| dice.below(target + 1));
        let stops_at = dice.one_in(12).then(|| dice.below(20_000));
        let given_up = self.closed;
        self.writing.insert(id, Writing { target, resets_at, given_up, ..Default::default() });
        self.reading.insert(id, Reading { stops_at, ..Default::default() });
        self.writable.insert(id);
        self.readable.insert(id);
    }

    fn open(&mut self, bond: &mut Bond, now: Timestamp) {
        while self.to_open > 0 && self.may_open && now >= self.next_open {
            match bond.open_stream() {
                Ok(id) => self.begin(id),
                Err(OpenError::LimitReached) => {
                    self.may_open = false;
                    return;
                }
                Err(OpenError::Closed) => return,
            }
            self.to_open -= 1;
            if self.dice.one_in(3) {
                self.next_open = now + Duration::from_millis(self.dice.below(300));
            }
        }
        if now >= HEALED {
            self.to_open = 0;
        }
    }

    fn write(&mut self, bond: &mut Bond, id: StreamId) {
        let Some(half) = self.writing.get_mut(&id) else { return };
        while !half.finished && !half.given_up {
            if half.resets_at.is_some_and(|at| half.written >= at) {
                bond.reset(id, 5);
                half.given_up = true;
            } else if half.written == half.target {
                half.finished = bond.finish(id).is_ok();
                half.given_up = !half.finished;
            } else {
                let end = half.target.min(half.written + 20_000);
                let piece: Bytes =
                    (half.written..end).map(|at| pattern(id, self.side, at)).collect();
                match bond.write(id, &piece) {
                    Ok(n) => half.written += n as u64,
                    Err(WriteError::Blocked) => return,
                    Err(_) => half.given_up = true,
                }
            }
        }
    }

    fn read(&mut self, bond: &mut Bond, id: StreamId, now: Timestamp) {
        let Some(half) = self.reading.get_mut(&id) else { return };
        while !half.is_over() {
            if half.stops_at.is_some_and(|at| half.read >= at) {
                bond.stop(id, 9, now);
                half.stopped = true;
                return;
            }
            match bond.read(id, 9_000, now) {
                Ok(Some(data)) => {
                    for (at, &byte) in (half.read..).zip(&data) {
                        assert_eq!(byte, pattern(id, self.side.peer(), at), "{id} at {at}");
                    }
                    half.read += data.len() as u64;
                }
                Ok(None) => half.ended = true,
                Err(ReadError::Blocked) => return,
                Err(_) => half.error = true,
            }
        }
    }

    fn flow_config(&mut self) -> FlowConfig {
        let mode = FlowMode::ALL[self.dice.below(FlowMode::ALL.len() as u64) as usize];
        let wait = self.dice.below(50);
        let resequence = (wait > 10).then(|| Duration::from_millis(wait - 11));
        let listed = |&path: &u8| ListedPath { path: PathId::new(path).unwrap(), weight: 0 };
        let paths = PATHS[self.dice.below(PATHS.len() as u64) as usize].iter().map(listed);
        let paths = PathList::new(&paths.collect::<Vec<_>>()).unwrap();
        let copies = NonZeroU8::new(self.dice.below(3) as u8);
        let rtt_above = self.dice.one_in(3).then(|| Duration::from_millis(self.dice.below(200)));
        let loss_above = self.dice.one_in(3).then(|| self.dice.below(50_000) as u32);
        let redundancy = Redundancy { copies, rtt_above, loss_above };
        let (resend, copy_share) = (self.dice.one_in(2), 50_000);
        FlowConfig { mode, paths, redundancy, resequence, resend, copy_share }
    }

    fn send_datagrams(&mut self, bond: &mut Bond, now: Timestamp) {
        if now < self.next_datagram || now >= HEALED {
            return;
        }
        self.next_datagram = now + Duration::from_millis(1 + self.dice.below(60));
        if self.flows.len() < 4 && self.dice.one_in(10) {
            let config = self.flow_config();
            let wait = config.resequence.unwrap_or_default().as_nanos() as u64;
            if let Ok(id) = bond.open_flow(config) {
                self.flows.insert(id, Flow { wait, ..Flow::default() });
            }
        }
        for (&id, Flow { sent, wait, .. }) in &mut self.flows {
            let mut data =
                [*sent, now.as_nanos(), *wait].map(u64::to_be_bytes).as_flattened().to_vec();
            data.resize(24 + self.dice.below(1_000) as usize, 1);
            // Full queues and missing paths lose datagrams: that is what flows are.
            if bond.send_datagram(id, &data.into(), now).is_ok() {
                *sent += 1;
            }
        }
        if self.dice.one_in(50)
            && let Some((id, _)) = self.flows.pop_first()
        {
            bond.close_flow(id);
        }
    }

    /// One that comes after a later one has waited, on its way, for longer than that waited for it:
    /// it was sent before it.
    fn receive_datagrams(&mut self, bond: &mut Bond, now: Timestamp) {
        for (&id, Flow { seen, .. }) in &mut self.flows {
            while let Some(CarriedBytes { data, .. }) = bond.recv_datagram(id) {
                let words: Vec<_> =
                    data[..24].chunks(8).map(|word| word.try_into().unwrap()).collect();
                let [number, sent_at, wait] = [0, 1, 2].map(|at| u64::from_be_bytes(words[at]));
                let is_late = seen.last().is_some_and(|&last| number < last);
                assert!(seen.insert(number), "datagram {number} of {id} came twice");
                let delay = now.as_nanos() - sent_at;
                assert!(!is_late || delay > wait, "{number} of {id}: {delay} ns of {wait}");
            }
        }
    }

    /// The application has closed the bond: what is open ends where it is.
    pub(crate) fn closes(&mut self) {
        self.closed = true;
        for half in self.writing.values_mut().filter(|half| !half.given_up) {
            half.finished = true;
        }
    }

    /// Whether nothing more is to come.
    pub(crate) fn is_over(&self) -> bool {
        let written = self.writing.values().all(|half| half.finished || half.given_up);
        let read = self.reading.values().all(Reading::is_over);
        read && (self.ended || written && !self.closed)
    }

    pub(crate) fn describe(&self) -> String {
        let mut text = format!("{:?} closed {} ended {}\n", self.side, self.closed, self.ended);
        for (id, half) in self.writing.iter().filter(|(_, half)| !half.finished && !half.given_up) {
            let _ = writeln!(text, "  writes {id}: {half:?}");
        }
        for (id, half) in self.reading.iter().filter(|(_, half)| !half.is_over()) {
            let _ = writeln!(text, "  reads {id}: {half:?}");
        }
        text + &self.log[self.log.len().saturating_sub(20)..].join("\n")
    }

    /// Compares what `writer` wrote with what was read here. `whole`: all that was finished there
    /// must be here.
    pub(crate) fn compare(&self, writer: &Self, whole: bool, case: &str) {
        for (id, wrote) in &writer.writing {
            let case = format!("{case}: {id} written by {:?}: {wrote:?}", writer.side);
            let Some(read) = self.reading.get(id) else {
                let nothing = wrote.given_up || wrote.written == 0 && !wrote.finished;
                assert!(nothing || !whole, "{case}: never seen");
                continue;
            };
            assert!(read.read <= wrote.written, "{case}: {read:?}");
            if read.ended {
                assert!(wrote.finished && read.read == wrote.written, "{case}: cut: {read:?}");
            } else if whole && wrote.finished && !wrote.given_up {
                assert!(read.stopped, "{case}: lost: {read:?}");
            }
        }
    }
}
