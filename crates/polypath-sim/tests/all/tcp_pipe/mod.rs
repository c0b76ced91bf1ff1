//! Two TCP connections over a pipe of constant delay that loses, delays, doubles and marks
//! segments as it is told.

pub(crate) mod timeline;
pub(crate) mod words;

use core::fmt::Write as _;
use polypath_core::congestion::{CongestionConfig, CongestionKind, InitialWindow};
use polypath_core::slow_start::SlowStartKind;
use polypath_sim::tcp::{
    Flags, LogDetail, ReceiveBuffer, Segment, State, TcpConfig, TcpConnection, TcpEvent,
};
use polypath_units::Timestamp;
use std::time::Duration;
use timeline::Timeline;

pub(crate) const CLIENT: usize = 0;
pub(crate) const SERVER: usize = 1;

/// What a fault applies to: transmissions of a kind, counted from 1 for each side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Syn,
    /// With payload or FIN.
    Data,
    Ack,
}

impl Class {
    pub(crate) fn of(segment: &Segment) -> Self {
        if segment.flags.contains(Flags::SYN) {
            Self::Syn
        } else if segment.is_pure_ack() {
            Self::Ack
        } else {
            Self::Data
        }
    }
}

/// What the pipe does to a segment beside delaying it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Drop,
    Mark,
    Delay(Duration),
    Duplicate(Duration),
}

/// What an application does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Write(u64),
    Read(u64),
    Close,
    Abort,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Arrival { to: usize, segment: Segment, ce: bool },
    Application { side: usize, action: Action },
}

/// A segment that was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) at: Timestamp,
    pub(crate) side: usize,
    pub(crate) segment: Segment,
    pub(crate) fault: Option<Fault>,
}

type Judge = Box<dyn FnMut(usize, Class, u64, &Segment) -> Option<Fault>>;

pub(crate) struct World {
    pub(crate) now: Timestamp,
    pub(crate) ends: [TcpConnection; 2],
    pub(crate) sent: Vec<Sent>,
    pub(crate) trace: String,
    events: Timeline<Event>,
    delay: Duration,
    counts: [[u64; 3]; 2],
    judge: Judge,
    logged: [usize; 2],
}

/// Reno with standard slow start: the easiest to follow by hand.
pub(crate) fn reno() -> CongestionConfig {
    CongestionConfig {
        avoidance: CongestionKind::Reno.into(),
        own_avoidance: None,
        slow_start: SlowStartKind::Standard.into(),
        coupled: true,
        seed: 0,
        initial_window: InitialWindow::Rfc6928,
        counted_segment: None,
    }
}

/// Segments of 1000 bytes without timestamps, every data segment acknowledged at once: the
/// easiest to read. Everything else is Linux.
pub(crate) fn plain() -> TcpConfig {
    TcpConfig {
        mss: 1_000,
        timestamps: false,
        ack_every: 1,
        receive_buffer: ReceiveBuffer::Fixed(65_535),
        log: LogDetail::Segments,
        ..TcpConfig::LINUX
    }
}

impl World {
    pub(crate) fn new(
        configs: [TcpConfig; 2],
        congestion: CongestionConfig,
        delay: Duration,
        judge: impl FnMut(usize, Class, u64, &Segment) -> Option<Fault> + 'static,
    ) -> Self {
        Self {
            now: Timestamp::ZERO,
            ends: [
                TcpConnection::connect(configs[CLIENT], congestion.clone()),
                TcpConnection::listen(configs[SERVER], congestion),
            ],
            sent: Vec::new(),
            trace: String::new(),
            events: Timeline::new(),
            delay,
            counts: [[0; 3]; 2],
            judge: Box::new(judge),
            logged: [0; 2],
        }
    }

    pub(crate) fn plan(&mut self, at: Timestamp, side: usize, action: Action) {
        self.events.push(at, Event::Application { side, action });
    }

    /// Runs until `limit`, or until nothing is planned; `check` looks at the world after every
    /// event.
    pub(crate) fn run(&mut self, limit: Timestamp, mut check: impl FnMut(&Self)) {
        self.transmit();
        while self.step(limit) {
            self.transmit();
            check(self);
        }
    }

    fn step(&mut self, limit: Timestamp) -> bool {
        let timers = [0, 1].map(|side| self.ends[side].next_timeout());
        let event = self.events.next_time().unwrap_or(Timestamp::MAX);
        let next = timers[0].min(timers[1]).min(event);
        if next > limit || next == Timestamp::MAX {
            return false;
        }
        assert!(next >= self.now, "a timer in the past: {next} at {}", self.now);
        self.now = next;
        if event == next {
            if let Some((_, event)) = self.events.pop() {
                self.take(event);
            }
        } else {
            let side = usize::from(timers[0] != next);
            self.ends[side].on_timeout(next);
        }
        true
    }

    fn take(&mut self, event: Event) {
        let now = self.now;
        match event {
            Event::Arrival { to, segment, ce } => self.ends[to].on_segment(now, &segment, ce),
            Event::Application { side, action } => {
                let end = &mut self.ends[side];
                match action {
                    Action::Write(bytes) => end.write(bytes),
                    Action::Read(bytes) => drop(end.read(now, bytes)),
                    Action::Close => end.close(),
                    Action::Abort => end.abort(),
                }
            }
        }
    }

    fn transmit(&mut self) {
        for side in [CLIENT, SERVER] {
            self.trace_events(side);
            while let Some(segment) = self.ends[side].poll_transmit(self.now) {
                self.send(side, segment);
            }
            self.trace_events(side);
        }
    }

    fn send(&mut self, side: usize, segment: Segment) {
        let class = Class::of(&segment);
        let count = &mut self.counts[side][class as usize];
        *count += 1;
        let fault = (self.judge)(side, class, *count, &segment);
        let arrival =
            Event::Arrival { to: 1 - side, segment, ce: segment.ect && fault == Some(Fault::Mark) };
        let at = self.now + self.delay;
        match fault {
            Some(Fault::Drop) => {}
            Some(Fault::Delay(by)) => self.events.push(at + by, arrival),
            Some(Fault::Duplicate(after)) => {
                self.events.push(at, arrival);
                self.events.push(at + after, arrival);
            }
            Some(Fault::Mark) | None => self.events.push(at, arrival),
        }
        let sent = Sent { at: self.now, side, segment, fault };
        self.trace_segment(&sent);
        self.sent.push(sent);
    }

    fn trace_segment(&mut self, sent: &Sent) {
        let name = ["client", "server"][sent.side];
        let time = sent.at.as_millis_f64();
        let fault = match sent.fault {
            None => String::new(),
            Some(Fault::Drop) => "  [lost]".into(),
            Some(Fault::Mark) => "  [marked]".into(),
            Some(Fault::Delay(by)) => format!("  [{} ms late]", by.as_millis()),
            Some(Fault::Duplicate(_)) => "  [doubled]".into(),
        };
        let segment = text_of(&sent.segment);
        writeln!(self.trace, "{time:>10.3} {name} > {segment}{fault}").unwrap();
    }

    fn trace_events(&mut self, side: usize) {
        let name = ["client", "server"][side];
        for (at, event) in &self.ends[side].endpoint().log()[self.logged[side]..] {
            if !matches!(event, TcpEvent::Sent { .. } | TcpEvent::Acked { .. }) {
                let time = at.as_millis_f64();
                writeln!(self.trace, "{time:>10.3} {name} * {event:?}").unwrap();
            }
        }
        self.logged[side] = self.ends[side].endpoint().log().len();
    }

    /// When data with number `seq` was sent by the client.
    pub(crate) fn times_of(&self, seq: u64) -> Vec<f64> {
        let data = |sent: &&Sent| sent.side == CLIENT && Class::of(&sent.segment) == Class::Data;
        let sent = self.sent.iter().filter(data).filter(|sent| sent.segment.seq == seq);
        sent.map(|sent| sent.at.as_millis_f64()).collect()
    }

    /// The events of a side that `wanted` picks, with their times in ms.
    pub(crate) fn events_of(
        &self,
        side: usize,
        wanted: fn(&TcpEvent) -> bool,
    ) -> Vec<(f64, TcpEvent)> {
        let log = self.ends[side].endpoint().log().iter();
        log.filter(|(_, e)| wanted(e)).map(|(at, e)| (at.as_millis_f64(), *e)).collect()
    }

    pub(crate) fn states(&self) -> [State; 2] {
        [0, 1].map(|side| self.ends[side].endpoint().state())
    }
}

/// What a line of a trace says of a segment.
pub(crate) fn text_of(segment: &Segment) -> String {
    let mut text = String::new();
    let flags = [
        (Flags::SYN, "SYN "),
        (Flags::FIN, "FIN "),
        (Flags::RST, "RST "),
        (Flags::PSH, "PSH "),
        (Flags::ECE, "ECE "),
        (Flags::CWR, "CWR "),
    ];
    for (flag, name) in flags {
        text.push_str(if segment.flags.contains(flag) { name } else { "" });
    }
    let (seq, len) = (segment.seq, u64::from(segment.len));
    write!(text, "{seq}:{} ({len})", seq + len).unwrap();
    if segment.flags.contains(Flags::ACK) {
        write!(text, " ack {}", segment.ack).unwrap();
    }
    write!(text, " win {}", segment.window).unwrap();
    for (at, (start, end)) in segment.sack_blocks().enumerate() {
        let name = if at == 0 && segment.sack.has_dsack() { "dsack" } else { "sack" };
        write!(text, " {name} {start}:{end}").unwrap();
    }
    if let Some(timestamps) = segment.timestamps {
        write!(text, " ts {}/{}", timestamps.value, timestamps.echo).unwrap();
    }
    text
}
