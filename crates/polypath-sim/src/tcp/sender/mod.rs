//! The sending half: what is outstanding, what may leave, what is lost.
//!
//! It is handed the connection's [`Congestion`] with every event. Its phases are those of Linux:
//! open, disorder (something was SACKed), reduction by ECN, recovery, loss (after a timeout).

mod ack;
mod attempts;
mod backlog;
mod detect;
mod episode;
mod new_reno;
mod peer_window;
mod phases;
mod reduction;
mod tail_probe;
mod timeout;
mod timer;
mod timers;
mod transmit;

use super::clock::TimestampClock;
use super::config::{LossDetection, TcpConfig};
use super::log::{Log, TcpEvent};
use super::pacer::Pacer;
use super::rack::Rack;
use super::report::Report;
use super::scoreboard::Scoreboard;
use super::stats::TcpStats;
use attempts::Attempts;
use backlog::Backlog;
use episode::{Episode, Frto, Phase};
use new_reno::DuplicateAcks;
use peer_window::PeerWindow;
use polypath_core::congestion::Congestion;
use polypath_units::{PathId, Timestamp};
use std::collections::VecDeque;
use tail_probe::TailProbe;
use timer::{Kind, Timer};

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

#[derive(Debug)]
pub(super) struct Sender {
    path: PathId,
    config: TcpConfig,
    options: Negotiated,
    una: u64,
    nxt: u64,
    peer_window: PeerWindow,
    backlog: Backlog,
    board: Scoreboard,
    /// The highest number acknowledged in any way.
    fack: u64,
    rack: Rack,
    clock: TimestampClock,
    episode: Episode,
    duplicate_acks: DuplicateAcks,
    tail_probe: Option<TailProbe>,
    attempts: Attempts,
    timer: Timer,
    pacer: Pacer,
    forced: Option<Forced>,
    /// The next new data tells that the window was reduced because of ECN.
    cwr_flag: bool,
    pub(super) reports: VecDeque<Report>,
    pub(super) stats: TcpStats,
    pub(super) log: Log,
}

impl Sender {
    /// A sender whose SYN, number 0, has been acknowledged with the window `window`.
    pub(super) fn new(config: &TcpConfig, path: PathId, options: Negotiated, window: u32) -> Self {
        Self {
            path,
            config: *config,
            options,
            una: 1,
            nxt: 1,
            peer_window: PeerWindow::new(1, window),
            backlog: Backlog::new(),
            board: Scoreboard::default(),
            fack: 1,
            rack: Rack::new(),
            clock: TimestampClock::new(config),
            episode: Episode::new(),
            duplicate_acks: DuplicateAcks::default(),
            tail_probe: None,
            attempts: Attempts::default(),
            timer: Timer::new(config.rto.initial),
            pacer: Pacer::new(config, options.mss),
            forced: None,
            cwr_flag: false,
            reports: VecDeque::new(),
            stats: TcpStats::default(),
            log: Log::new(config.log),
        }
    }

    /// Largest payload of a segment.
    pub(super) const fn mss(&self) -> u32 {
        self.options.mss
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
        self.backlog.unsent()
    }

    /// Takes `bytes` from the application.
    pub(super) const fn write(&mut self, bytes: u64) {
        self.backlog.write(bytes);
    }

    /// Gives back what was never sent, and probes a closed window for its sake no longer.
    pub(super) fn withdraw(&mut self) -> u64 {
        if self.timer.is(Kind::Persist) && !self.backlog.is_closed() {
            self.timer.stop();
        }
        self.backlog.withdraw()
    }

    /// Small segments leave at once.
    pub(super) const fn set_no_delay(&mut self) {
        self.config.nagle = false;
    }

    /// The application closed: FIN follows the last byte.
    pub(super) fn close(&mut self) {
        self.backlog.close();
    }

    /// Whether the FIN was sent and acknowledged.
    pub(super) fn is_finished(&self) -> bool {
        self.backlog.is_fin_sent() && self.una == self.nxt
    }

    /// Whether the connection is to be given up: too many timeouts in a row.
    pub(super) const fn has_given_up(&self) -> bool {
        self.attempts.exceed(self.config.max_timeouts)
    }

    const fn uses_rack(&self) -> bool {
        self.options.sack && matches!(self.config.loss_detection, LossDetection::Rack)
    }

    /// The window that counts at present.
    fn window(&self, congestion: &Congestion) -> u64 {
        self.episode.reduction().window(congestion, self.path)
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
