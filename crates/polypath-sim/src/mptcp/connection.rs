//! One end of a Multipath TCP connection.

use super::buffers::Buffer;
use super::chunks::Chunks;
use super::config::MptcpConfig;
use super::log::PathLog;
use super::receiving::Receiving;
use crate::tcp::{Dss, LogDetail, MptcpOption, Report, Segment, State, StateLog, TcpEndpoint};
use polypath_core::congestion::Congestion;
use polypath_core::failure::{FailureDetector, PathHealth, Query, SuspicionReport};
use polypath_core::scheduler::{Delivery, PathView, Scheduler};
use polypath_units::{PathId, Timestamp};
use std::collections::VecDeque;
use std::time::Duration;

/// The first number of the data sequence.
const FIRST: u64 = 1;
/// What a subflow is told of the peer's window: the connection looks after that.
pub(super) const OPEN_WINDOW: u32 = 1 << 30;

/// What a failure detector tells its peer (`docs/algorithms/failure/fpf.md`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Which paths the receiver suspects.
    Report(SuspicionReport),
    /// A question to the receiver.
    Query(Query),
}

/// Something to send on a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A segment of the path's subflow.
    Segment(PathId, Segment),
    /// A message of the failure detector.
    Message(PathId, Message),
}

#[derive(Debug)]
pub(super) struct Subflow {
    pub(super) tcp: TcpEndpoint,
    pub(super) path: PathId,
    pub(super) backup: bool,
    pub(super) established: bool,
    pub(super) failed: bool,
    /// Its next segment without data carries the DATA_FIN.
    pub(super) fin_due: bool,
    pub(super) states: StateLog,
    pub(super) buffer: Buffer,
}

impl Subflow {
    /// Whether it carries data.
    pub(super) const fn works(&self) -> bool {
        self.established && !self.failed
    }
}

/// One end of a Multipath TCP connection: a state machine without clock, sockets or payload.
///
/// After every call that hands it something, take what it wants sent with
/// [`Connection::poll_transmit`] until there is no more, then look at
/// [`Connection::next_timeout`].
#[derive(Debug)]
pub struct Connection {
    pub(super) config: MptcpConfig,
    pub(super) congestion: Congestion,
    pub(super) scheduler: Box<dyn Scheduler>,
    pub(super) detector: Box<dyn FailureDetector>,
    /// By path number.
    pub(super) subflows: Vec<Subflow>,
    pub(super) chunks: Chunks,
    /// Bytes written and never sent.
    pub(super) unsent: u64,
    /// The number after the last byte that the send buffers have taken from the application.
    pub(super) admitted: u64,
    /// The number after the last one that the peer's window allows.
    pub(super) edge: u64,
    pub(super) closing: bool,
    /// When the DATA_FIN is to be sent, for the first time or again.
    pub(super) fin_at: Option<Timestamp>,
    pub(super) fin_acked: bool,
    pub(super) receiving: Receiving,
    /// When the scheduler wants to be asked again.
    pub(super) wake: Timestamp,
    /// The receive window made an earlier segment be sent again since the last pick.
    pub(super) blocked: bool,
    /// Bytes that were sent again on another subflow.
    pub(super) reinjected_bytes: u64,
    is_client: bool,
    pub(super) out: VecDeque<Output>,
    pub(super) views: Vec<PathView>,
    pub(super) health: Vec<PathHealth>,
    pub(super) log: PathLog,
}

impl Connection {
    /// An end that connects at once, on its first path; the others join when that is
    /// established. `backup` tells of each path whether it is one.
    pub fn connect(config: MptcpConfig, backup: &[bool]) -> Self {
        let tcp = config.subflow();
        let first = |path| {
            if path == PathId::default() {
                TcpEndpoint::connect(tcp, path)
            } else {
                TcpEndpoint::listen(tcp, path)
            }
        };
        Self { is_client: true, ..Self::new(config, backup, first) }
    }

    /// An end that waits for the other to connect.
    pub fn listen(config: MptcpConfig, backup: &[bool]) -> Self {
        let tcp = config.subflow();
        Self::new(config, backup, |path| TcpEndpoint::listen(tcp, path))
    }

    fn new(config: MptcpConfig, backup: &[bool], tcp: impl Fn(PathId) -> TcpEndpoint) -> Self {
        let subflow = |(number, &backup): (u8, &bool)| {
            let path = PathId::new(number)?;
            let tcp = tcp(path);
            Some(Subflow {
                tcp,
                path,
                backup,
                established: false,
                failed: false,
                fin_due: false,
                states: StateLog::default(),
                buffer: Buffer::default(),
            })
        };
        Self {
            congestion: Congestion::new(config.congestion()),
            scheduler: config.composition.build_scheduler(),
            detector: config.composition.failure.build(),
            subflows: (0..).zip(backup).filter_map(subflow).collect(),
            chunks: Chunks::new(FIRST),
            unsent: 0,
            admitted: 0,
            edge: FIRST,
            closing: false,
            fin_at: None,
            fin_acked: false,
            receiving: Receiving::new(config.tcp.receive_buffer),
            wake: Timestamp::MAX,
            blocked: false,
            reinjected_bytes: 0,
            is_client: false,
            out: VecDeque::new(),
            views: Vec::new(),
            health: Vec::new(),
            log: PathLog::default(),
            config,
        }
    }

    /// The application writes `bytes` more.
    pub fn write(&mut self, bytes: u64) {
        if !self.closing {
            self.unsent += bytes;
        }
    }

    /// Takes back what was written and never sent; returns how many bytes.
    pub fn withdraw(&mut self) -> u64 {
        core::mem::take(&mut self.unsent)
    }

    /// The application writes no more.
    pub fn close(&mut self) {
        self.closing = true;
    }

    /// Keeps a log from now on; to be called before it connects.
    pub fn keep_log(&mut self, detail: LogDetail) {
        self.config.tcp.log = self.config.tcp.log.max(detail);
        self.log.keep();
        for subflow in &mut self.subflows {
            subflow.tcp.keep_log(self.config.tcp.log);
            subflow.states.keep();
        }
    }

    /// A segment arrived on a path; `ce` if its packet was marked congested.
    pub fn on_segment(&mut self, now: Timestamp, path: PathId, segment: &Segment, ce: bool) {
        let index = path.index();
        if index >= self.subflows.len() {
            return;
        }
        self.detector.on_arrival(path, now);
        match segment.mptcp {
            Some(MptcpOption::Dss(dss)) => self.on_dss(&dss, index, segment, now),
            Some(MptcpOption::MpCapable { .. }) => {
                self.edge = self.edge.max(FIRST + u64::from(segment.window));
            }
            _ => {}
        }
        let window = if segment.syn.is_some() { segment.window } else { OPEN_WINDOW };
        let segment = Segment { window, ..*segment };
        self.subflows[index].tcp.on_segment(now, &segment, ce, &mut self.congestion);
        self.drive(now);
    }

    fn on_dss(&mut self, dss: &Dss, index: usize, segment: &Segment, now: Timestamp) {
        if dss.data_fin
            && let Some(mapping) = dss.mapping
        {
            self.receiving.on_fin(mapping.dsn + u64::from(mapping.len.get()) - 1);
            if segment.is_pure_ack() && self.receiving.is_finished() {
                // TCP does not acknowledge it, and it is repeated until the data ACK covers it.
                self.subflows[index].tcp.acknowledge();
            }
        }
        let Some(acked) = dss.data_ack else { return };
        if acked == self.chunks.next() + 1 && self.fin_at.is_some() {
            self.on_fin_acked();
        }
        self.chunks.on_ack(acked.min(self.chunks.next()));
        self.edge = self.edge.max(acked + u64::from(segment.window));
        self.wake = self.wake.min(now);
    }

    /// A message of the peer's failure detector arrived.
    pub fn on_message(&mut self, now: Timestamp, path: PathId, message: &Message) {
        self.detector.on_arrival(path, now);
        match message {
            Message::Report(report) => self.on_suspicion_report(report, now),
            Message::Query(query) => {
                let state = self.receiving.state(self.mss());
                self.detector.on_query(*query, now, &state);
            }
        }
        self.drive(now);
    }

    /// The time that [`Connection::next_timeout`] named has come, or the application has written.
    pub fn on_timeout(&mut self, now: Timestamp) {
        for subflow in &mut self.subflows {
            if subflow.tcp.next_timeout() <= now {
                subflow.tcp.on_timeout(now, &mut self.congestion);
            }
        }
        self.run_detector(now);
        self.drive(now);
    }

    /// When [`Connection::on_timeout`] is wanted; [`Timestamp::MAX`] if never.
    pub fn next_timeout(&mut self, now: Timestamp) -> Timestamp {
        let timers = self.subflows.iter().map(|subflow| subflow.tcp.next_timeout());
        let timers = timers.fold(self.wake, Timestamp::min);
        let fin = self.fin_at.filter(|_| self.can_finish()).unwrap_or(Timestamp::MAX);
        let detector = self.next_detection();
        // What is overdue has been looked at: something must have changed before it is due again.
        timers.min(fin).min(detector).max(now + Duration::from_nanos(1))
    }

    /// The next thing to send.
    pub fn poll_transmit(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// Lets everything happen that can happen now.
    fn drive(&mut self, now: Timestamp) {
        self.wake = Timestamp::MAX;
        self.take_reports(now);
        self.obey_detector(now);
        match self.config.subflow_buffers {
            true => self.fill_buffers(now),
            false => self.schedule(now),
        }
        self.finish(now);
        (0..self.subflows.len()).for_each(|index| self.transmit(index, now));
        if self.config.subflow_buffers {
            self.grow_buffers();
        }
        for Subflow { tcp, states, .. } in &mut self.subflows {
            states.note(now, tcp.state());
        }
    }

    /// Takes what the subflows report.
    fn take_reports(&mut self, now: Timestamp) {
        for index in 0..self.subflows.len() {
            while let Some(report) = self.subflows[index].tcp.poll_report() {
                self.on_report(index, report, now);
            }
        }
    }

    fn on_report(&mut self, index: usize, report: Report, now: Timestamp) {
        let path = self.subflows[index].path;
        match report {
            Report::Established => self.on_established(index, now),
            Report::Acked { len, tag, .. } => {
                let data_ack = self.chunks.una();
                let delivery = Delivery { path, start: tag, end: tag + u64::from(len), data_ack };
                self.scheduler.on_delivered(&delivery, now);
                self.on_acked(path, now);
            }
            // The last timeout of a subflow is reported after its end.
            Report::TimedOut { .. } if self.subflows[index].established => {
                self.chunks.reinject(path);
                self.detector.on_timeout(path, now);
            }
            Report::Received { len, tag, .. } => {
                let out_of_order = self.receiving.on_data(tag, len, self.longest_rtt(), now);
                let state = self.receiving.state(self.mss());
                self.detector.on_data(path, out_of_order, now, &state);
            }
            Report::Reset | Report::GaveUp => {
                self.chunks.reinject(path);
                self.subflows[index].established = false;
                self.detector.on_remove(path);
                self.scheduler.on_remove(path);
            }
            Report::TimedOut { .. }
            | Report::Lost { .. }
            | Report::PeerFinished
            | Report::Closed => {}
        }
    }

    fn on_established(&mut self, index: usize, now: Timestamp) {
        self.subflows[index].established = true;
        self.subflows[index].states.note(now, State::Established);
        self.detector.on_add(self.subflows[index].path, now);
        if self.is_client && index == 0 {
            for subflow in &mut self.subflows[1..] {
                subflow.tcp = TcpEndpoint::connect(self.config.subflow(), subflow.path);
            }
        }
    }

    fn longest_rtt(&self) -> Duration {
        let srtt = |subflow: &Subflow| self.congestion.rtt(subflow.path)?.srtt();
        self.subflows.iter().filter_map(srtt).max().unwrap_or_default()
    }

    /// The largest segment of any subflow.
    pub(super) fn mss(&self) -> u64 {
        self.subflows.iter().map(|subflow| subflow.tcp.mss().into()).max().unwrap_or(1)
    }
}
