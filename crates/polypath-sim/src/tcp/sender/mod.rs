//! The sending half: what is outstanding, what may leave, what is lost.
//!
//! It is handed the connection's [`Congestion`] with every event. Its phases are those of Linux:
//! open, disorder (something was SACKed), reduction by ECN, recovery, loss (after a timeout).

mod ack;
mod detect;
mod new_reno;
mod phases;
mod timeout;
mod timers;
mod transmit;

use super::clock::TimestampClock;
use super::config::{LossDetection, TcpConfig};
use super::log::{Log, TcpEvent};
use super::pacer::Pacer;
use super::prr::Prr;
use super::rack::Rack;
use super::report::Report;
use super::scoreboard::Scoreboard;
use super::stats::TcpStats;
use super::undo::Undo;
use polypath_core::congestion::Congestion;
use polypath_core::congestion::NewRenoRecovery;
use polypath_units::{PathId, Timestamp};
use std::collections::VecDeque;
use std::time::Duration;
use timers::{Kind, Timer};

/// What the handshake settled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Negotiated {
    pub(super) mss: u32,
    pub(super) sack: bool,
    pub(super) timestamps: bool,
    pub(super) ecn: bool,
    /// Every segment has the routing feedback option.
    pub(super) feedback: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    Disorder,
    /// The window is being reduced because of ECN.
    Cwr,
    Recovery,
    /// After a timeout.
    Loss,
}

/// F-RTO after a timeout (RFC 5682 section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frto {
    Off,
    /// The first segment was sent again; nothing more leaves before its ACK.
    Await,
    /// That ACK advanced: new data leaves, nothing is sent again.
    SendNew,
}

/// A transmission that neither window nor pacing hold back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Forced {
    /// This segment of the scoreboard again.
    Again(u64),
    /// A tail loss probe.
    TailProbe,
    /// A probe of a closed window.
    WindowProbe,
}

/// An outstanding tail loss probe.
#[derive(Clone, Copy, Debug)]
struct TailProbe {
    until: u64,
    retransmission: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fin {
    None,
    Wanted,
    Sent,
}

#[derive(Debug)]
pub(super) struct Sender {
    path: PathId,
    config: TcpConfig,
    mss: u32,
    sack: bool,
    timestamps: bool,
    ecn: bool,
    una: u64,
    nxt: u64,
    /// The right edge of the peer's window, and the largest window it ever offered.
    edge: u64,
    max_window: u32,
    window_from: (u64, u64),
    board: Scoreboard,
    /// The highest number acknowledged in any way.
    fack: u64,
    rack: Rack,
    clock: TimestampClock,
    /// The retransmission timeout and twice the smoothed RTT, as of the last event.
    rto: Duration,
    double_rtt: Option<Duration>,
    phase: Phase,
    /// The present episode lasts until this is acknowledged.
    until: u64,
    prr: Option<Prr>,
    new_reno: Option<NewRenoRecovery>,
    partial_acks: u32,
    undo: Undo,
    frto: Frto,
    tail_probe: Option<TailProbe>,
    duplicate_acks: u32,
    /// What was sent before the first duplicate ACK ends here; limited transmit sent the rest.
    regular_end: u64,
    timeouts: u32,
    /// Probes since the window closed, and since the peer last sent anything.
    window_probes: u32,
    unanswered_probes: u32,
    forced: Option<Forced>,
    timer: Timer,
    /// The ACK under way left segments that may yet arrive: the timer waits for them.
    awaits_reordering: bool,
    pacer: Pacer,
    /// The last poll ended because the next departure lies ahead.
    held_by_pacing: bool,
    cwr_flag: bool,
    /// Written bytes that were not sent yet.
    unsent: u64,
    tagged: VecDeque<(u32, u64)>,
    fin: Fin,
    /// The end of the last small segment (Minshall's variant of Nagle's algorithm).
    small_end: u64,
    pub(super) reports: VecDeque<Report>,
    pub(super) stats: TcpStats,
    pub(super) log: Log,
}

impl Sender {
    /// A sender whose SYN, number 0, has been acknowledged with the window `window`.
    pub(super) fn new(
        config: &TcpConfig,
        path: PathId,
        negotiated: Negotiated,
        window: u32,
    ) -> Self {
        let Negotiated { mss, sack, timestamps, ecn, .. } = negotiated;
        Self {
            path,
            config: *config,
            mss,
            sack,
            timestamps,
            ecn,
            una: 1,
            nxt: 1,
            edge: 1 + u64::from(window),
            max_window: window,
            window_from: (0, 0),
            board: Scoreboard::default(),
            fack: 1,
            rack: Rack::new(),
            clock: TimestampClock::new(config),
            rto: config.rto.initial,
            double_rtt: None,
            phase: Phase::Open,
            until: 0,
            prr: None,
            new_reno: None,
            partial_acks: 0,
            undo: Undo::default(),
            frto: Frto::Off,
            tail_probe: None,
            duplicate_acks: 0,
            regular_end: 0,
            timeouts: 0,
            window_probes: 0,
            unanswered_probes: 0,
            forced: None,
            timer: Timer::OFF,
            awaits_reordering: false,
            pacer: Pacer::new(config, mss),
            held_by_pacing: false,
            cwr_flag: false,
            unsent: 0,
            tagged: VecDeque::new(),
            fin: Fin::None,
            small_end: 0,
            reports: VecDeque::new(),
            stats: TcpStats::default(),
            log: Log::new(config.log),
        }
    }

    /// Largest payload of a segment.
    pub(super) const fn mss(&self) -> u32 {
        self.mss
    }

    /// The lowest number that is not acknowledged.
    pub(super) const fn una(&self) -> u64 {
        self.una
    }

    /// The number of the next new byte.
    pub(super) const fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Payload in flight.
    pub(super) const fn bytes_in_flight(&self) -> u64 {
        self.board.bytes_in_flight()
    }

    /// Bytes written that were never sent.
    pub(super) const fn unsent(&self) -> u64 {
        self.unsent
    }

    /// Takes `bytes` from the application.
    pub(super) const fn write(&mut self, bytes: u64) {
        self.unsent = self.unsent.saturating_add(bytes);
    }

    /// Gives back what was never sent, and probes a closed window for its sake no longer.
    pub(super) fn withdraw(&mut self) -> u64 {
        if self.timer.kind == Kind::Persist && self.fin == Fin::None {
            self.timer = Timer::OFF;
        }
        core::mem::take(&mut self.unsent)
    }

    /// Small segments leave at once.
    pub(super) const fn set_no_delay(&mut self) {
        self.config.nagle = false;
    }

    /// The application closed: FIN follows the last byte.
    pub(super) fn close(&mut self) {
        if self.fin == Fin::None {
            self.fin = Fin::Wanted;
        }
    }

    /// Whether the FIN was sent and acknowledged.
    pub(super) fn is_finished(&self) -> bool {
        self.fin == Fin::Sent && self.una == self.nxt
    }

    /// Whether the connection is to be given up: too many timeouts in a row.
    pub(super) const fn has_given_up(&self) -> bool {
        self.timeouts > self.config.max_timeouts
            || self.unanswered_probes > self.config.max_timeouts
    }

    const fn uses_rack(&self) -> bool {
        self.sack && matches!(self.config.loss_detection, LossDetection::Rack)
    }

    /// The window that counts at present.
    fn window(&self, congestion: &Congestion) -> u64 {
        match (&self.new_reno, &self.prr) {
            (Some(recovery), _) => recovery.window() as u64,
            (None, Some(prr)) => prr.window(),
            (None, None) => congestion.window(self.path),
        }
    }

    fn record(&mut self, now: Timestamp, event: impl FnOnce() -> TcpEvent) {
        self.log.record(now, event);
    }

    fn report(&mut self, report: Report) {
        if self.config.segment_reports {
            self.reports.push_back(report);
        }
    }
}
