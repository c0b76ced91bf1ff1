//! Two Multipath TCP connections over pipes of constant delay, one for each path, that lose what
//! they are told to and go down and up.

use super::ledger::Ledger;
use crate::tcp_pipe::timeline::Timeline;
use crate::tcp_pipe::{CLIENT, Class, Fault, SERVER, text_of};
use core::fmt::Write as _;
use polypath_sim::mptcp::{Connection, Message, MptcpConfig, Output, PathEvent};
use polypath_sim::tcp::{LogDetail, MptcpOption, Segment};
use polypath_units::{PathId, Timestamp};
use std::time::Duration;

const NAMES: [&str; 2] = ["client", "server"];
/// More events than any script has: something spins.
const MAX_STEPS: u32 = 20_000;

/// What an application does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    Write(u64),
    Close,
}

#[derive(Clone, Debug)]
enum Event {
    Arrival { to: usize, path: PathId, segment: Segment },
    Message { to: usize, path: PathId, message: Message },
    Application { side: usize, action: Action },
}

/// One path.
#[derive(Clone, Debug)]
pub(crate) struct Pipe {
    delay: Duration,
    backup: bool,
    /// Loses everything sent from the first until before the second.
    pub(crate) down: Vec<(Timestamp, Timestamp)>,
    counts: [[u64; 3]; 2],
}

/// What happens to the n-th transmission of a class by a side on a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathFault {
    pub(crate) path: usize,
    pub(crate) side: usize,
    pub(crate) class: Class,
    pub(crate) count: u64,
    pub(crate) fault: Fault,
}

/// A segment that was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) at: Timestamp,
    pub(crate) side: usize,
    pub(crate) path: usize,
    pub(crate) segment: Segment,
    pub(crate) lost: bool,
}

impl Sent {
    /// Number and length of the data that it carries.
    pub(crate) fn mapping(&self) -> Option<(u64, u32)> {
        match self.segment.mptcp {
            Some(MptcpOption::Dss(dss)) if self.segment.len > 0 => {
                dss.mapping.map(|mapping| (mapping.dsn, self.segment.len))
            }
            _ => None,
        }
    }

    /// The connection-level acknowledgement.
    pub(crate) fn data_ack(&self) -> Option<u64> {
        match self.segment.mptcp {
            Some(MptcpOption::Dss(dss)) => dss.data_ack,
            _ => None,
        }
    }

    pub(crate) fn is_data_fin(&self) -> bool {
        matches!(self.segment.mptcp, Some(MptcpOption::Dss(dss)) if dss.data_fin)
    }
}

pub(crate) struct World {
    now: Timestamp,
    pub(crate) ends: [Connection; 2],
    pub(crate) sent: Vec<Sent>,
    pub(crate) trace: String,
    pub(crate) ledger: Ledger,
    pipes: Vec<Pipe>,
    faults: Vec<PathFault>,
    events: Timeline<Event>,
    logged: [usize; 2],
}

impl World {
    pub(crate) fn new(
        [client, server]: [MptcpConfig; 2],
        pipes: Vec<Pipe>,
        faults: Vec<PathFault>,
        actions: Vec<(Timestamp, usize, Action)>,
    ) -> Self {
        let backup: Vec<_> = pipes.iter().map(|pipe| pipe.backup).collect();
        let mut ends = [Connection::connect(client, &backup), Connection::listen(server, &backup)];
        ends.iter_mut().for_each(|end| end.keep_log(LogDetail::Segments));
        let mut events = Timeline::new();
        for (at, side, action) in actions {
            events.push(at, Event::Application { side, action });
        }
        Self {
            now: Timestamp::ZERO,
            ends,
            sent: Vec::new(),
            trace: String::new(),
            ledger: Ledger::default(),
            pipes,
            faults,
            events,
            logged: [0; 2],
        }
    }

    /// Runs until `limit`, or until nothing is planned.
    pub(crate) fn run(&mut self, limit: Timestamp) {
        self.ends[CLIENT].on_timeout(self.now);
        self.transmit();
        for _ in 0..MAX_STEPS {
            if !self.step(limit) {
                return;
            }
            self.transmit();
        }
        panic!("it spins at {}:\n{}", self.now, self.trace);
    }

    fn step(&mut self, limit: Timestamp) -> bool {
        let now = self.now;
        let timers = [CLIENT, SERVER].map(|side| self.ends[side].next_timeout(now));
        let event = self.events.next_time().unwrap_or(Timestamp::MAX);
        let next = timers[CLIENT].min(timers[SERVER]).min(event);
        if next > limit || next == Timestamp::MAX {
            return false;
        }
        assert!(next >= now, "a timer in the past: {next} at {now}");
        self.now = next;
        if event == next {
            if let Some((_, event)) = self.events.pop() {
                self.take(event);
            }
        } else {
            self.ends[usize::from(timers[CLIENT] != next)].on_timeout(next);
        }
        true
    }

    fn take(&mut self, event: Event) {
        let now = self.now;
        match event {
            Event::Arrival { to, path, segment } => {
                self.ledger.on_arrival(to, &segment);
                self.ends[to].on_segment(now, path, &segment, false);
            }
            Event::Message { to, path, message } => self.ends[to].on_message(now, path, &message),
            Event::Application { side, action } => {
                let end = &mut self.ends[side];
                match action {
                    Action::Write(bytes) => {
                        self.ledger.on_written(side, bytes);
                        end.write(bytes);
                    }
                    Action::Close => {
                        self.ledger.on_closed(side);
                        end.close();
                    }
                }
                end.on_timeout(now);
            }
        }
    }

    fn transmit(&mut self) {
        for side in [CLIENT, SERVER] {
            self.trace_events(side);
            while let Some(output) = self.ends[side].poll_transmit() {
                match output {
                    Output::Segment(path, segment) => self.send(side, path, segment),
                    Output::Message(path, message) => self.send_message(side, path, message),
                }
            }
        }
    }

    fn send(&mut self, side: usize, path: PathId, segment: Segment) {
        let (index, class) = (path.index(), Class::of(&segment));
        let pipe = &mut self.pipes[index];
        let count = &mut pipe.counts[side][class as usize];
        *count += 1;
        let hit = |fault: &&PathFault| {
            (fault.path, fault.side, fault.class, fault.count) == (index, side, class, *count)
        };
        let fault = self.faults.iter().find(hit).map(|fault| fault.fault);
        let lost = fault == Some(Fault::Drop) || pipe.is_down(self.now);
        let at = self.now + pipe.delay;
        let arrival = Event::Arrival { to: 1 - side, path, segment };
        match fault {
            _ if lost => {}
            Some(Fault::Delay(by)) => self.events.push(at + by, arrival),
            Some(Fault::Duplicate(after)) => {
                self.events.push(at, arrival.clone());
                self.events.push(at + after, arrival);
            }
            _ => self.events.push(at, arrival),
        }
        self.trace_segment(side, index, &segment, fault, lost);
        self.ledger.on_sent(side, index, &segment, &self.trace);
        self.sent.push(Sent { at: self.now, side, path: index, segment, lost });
    }

    fn send_message(&mut self, side: usize, path: PathId, message: Message) {
        let pipe = &self.pipes[path.index()];
        if !pipe.is_down(self.now) {
            self.events.push(self.now + pipe.delay, Event::Message { to: 1 - side, path, message });
        }
    }

    fn trace_segment(
        &mut self,
        side: usize,
        path: usize,
        segment: &Segment,
        fault: Option<Fault>,
        lost: bool,
    ) {
        let fault = match fault {
            _ if lost => "  [lost]".into(),
            Some(Fault::Delay(by)) => format!("  [{} ms late]", by.as_millis()),
            Some(Fault::Duplicate(_)) => "  [doubled]".into(),
            _ => String::new(),
        };
        let (time, name) = (self.now.as_millis_f64(), NAMES[side]);
        let (segment, option) = (text_of(segment), text_of_option(segment));
        writeln!(self.trace, "{time:>10.3} {name} {path} > {segment}{option}{fault}").unwrap();
    }

    fn trace_events(&mut self, side: usize) {
        for (at, (path, event)) in &self.ends[side].log()[self.logged[side]..] {
            let (time, name, path) = (at.as_millis_f64(), NAMES[side], path.index());
            writeln!(self.trace, "{time:>10.3} {name} {path} * {event:?}").unwrap();
        }
        self.logged[side] = self.ends[side].log().len();
    }

    /// What a side sent of the data sequence: time in ms, path, number, length.
    pub(crate) fn data_of(&self, side: usize) -> Vec<(f64, usize, u64, u32)> {
        let sent = self.sent.iter().filter(|sent| sent.side == side);
        sent.filter_map(|sent| {
            let (dsn, len) = sent.mapping()?;
            Some((sent.at.as_millis_f64(), sent.path, dsn, len))
        })
        .collect()
    }

    /// When and where a side sent the byte `dsn`.
    pub(crate) fn times_of(&self, side: usize, dsn: u64) -> Vec<(f64, usize)> {
        let data = self.data_of(side).into_iter();
        data.filter(|sent| sent.2 == dsn).map(|sent| (sent.0, sent.1)).collect()
    }

    /// When and where a side sent segments that `wanted` picks.
    pub(crate) fn sent_by(&self, side: usize, wanted: impl Fn(&Sent) -> bool) -> Vec<(f64, usize)> {
        let sent = self.sent.iter().filter(|sent| sent.side == side && wanted(sent));
        sent.map(|sent| (sent.at.as_millis_f64(), sent.path)).collect()
    }

    /// When and to which path something happened.
    pub(crate) fn events_of(
        &self,
        side: usize,
        wanted: fn(&PathEvent) -> bool,
    ) -> Vec<(f64, usize)> {
        let log = self.ends[side].log().iter().filter(|(_, (_, event))| wanted(event));
        log.map(|(at, (path, _))| (at.as_millis_f64(), path.index())).collect()
    }
}

impl Pipe {
    pub(crate) fn new(delay: Duration, backup: bool) -> Self {
        Self { delay, backup, down: Vec::new(), counts: [[0; 3]; 2] }
    }

    fn is_down(&self, now: Timestamp) -> bool {
        self.down.iter().any(|&(from, to)| from <= now && now < to)
    }
}

fn text_of_option(segment: &Segment) -> String {
    let dss = match segment.mptcp {
        None => return String::new(),
        Some(MptcpOption::Dss(dss)) => dss,
        Some(MptcpOption::MpCapable { .. }) => return " mp_capable".into(),
        Some(MptcpOption::MpJoin { address_id, backup, .. }) => {
            let backup = if backup { " backup" } else { "" };
            return format!(" mp_join {address_id}{backup}");
        }
        Some(other) => return format!(" {other:?}"),
    };
    let mut text = String::new();
    if let Some(mapping) = dss.mapping {
        let (dsn, end) = (mapping.dsn, mapping.dsn + u64::from(mapping.len.get()));
        write!(text, " dsn {dsn}:{end} ssn {}", mapping.ssn).unwrap();
    }
    if let Some(ack) = dss.data_ack {
        write!(text, " data_ack {ack}").unwrap();
    }
    text.push_str(if dss.data_fin { " DATA_FIN" } else { "" });
    text
}
