//! Events of an endpoint, written down when asked for.

use super::state::State;
use polypath_core::congestion::Congestion;
use polypath_units::{PathId, Timestamp};
use std::time::Duration;

/// How much is written down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogDetail {
    /// Nothing.
    #[default]
    Off,
    /// What happens now and then: losses, timeouts, episodes of recovery.
    Events,
    /// Each segment sent and each acknowledgement too.
    Segments,
}

/// What congestion control knows of a path at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathMetrics {
    /// The congestion window in bytes.
    pub window: u64,
    /// Bytes in flight.
    pub in_flight: u64,
    /// The slow-start threshold in bytes, once there is one.
    pub ssthresh: Option<u64>,
    /// Whether it is in slow start.
    pub in_slow_start: bool,
    /// Round-trip times, once there is a sample.
    pub rtt: Option<RttMetrics>,
}

/// What is known of round-trip times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RttMetrics {
    /// The latest sample.
    pub latest: Duration,
    /// The smallest sample.
    pub min: Duration,
    /// The smoothed time.
    pub smoothed: Duration,
    /// The mean deviation.
    pub variation: Duration,
}

impl PathMetrics {
    /// Those of a path now.
    pub(crate) fn of(congestion: &Congestion, path: PathId) -> Self {
        let rtt = congestion.rtt(path).and_then(|rtt| {
            let (latest, min, smoothed) = (rtt.latest()?, rtt.min()?, rtt.srtt()?);
            Some(RttMetrics { latest, min, smoothed, variation: rtt.rttvar() })
        });
        Self {
            window: congestion.window(path),
            in_flight: congestion.bytes_in_flight(path),
            ssthresh: congestion.ssthresh(path),
            in_slow_start: congestion.in_slow_start(path),
            rtt,
        }
    }
}

/// Why a segment is taken for lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossReason {
    /// By time (RACK).
    Time,
    /// By segments SACKed above it (RFC 6675).
    SackedAbove,
    /// By duplicate ACKs (RFC 5681).
    DuplicateAcks,
    /// By a partial ACK (RFC 6582).
    PartialAck,
    /// By the retransmission timer.
    Timeout,
}

impl LossReason {
    /// What it is called in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::SackedAbove => "sacked_above",
            Self::DuplicateAcks => "duplicate_acks",
            Self::PartialAck => "partial_ack",
            Self::Timeout => "timeout",
        }
    }
}

/// Why the sender went back to what was before a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoReason {
    /// Timestamps (Eifel, RFC 3522).
    Timestamps,
    /// All retransmissions were duplicates (RFC 3708).
    Dsack,
    /// Original data was acknowledged after a timeout (F-RTO, RFC 5682).
    Frto,
}

impl UndoReason {
    /// What it is called in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timestamps => "timestamps",
            Self::Dsack => "dsack",
            Self::Frto => "frto",
        }
    }
}

/// Something that happened at an endpoint. Numbers are bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpEvent {
    /// A data segment left.
    Sent {
        /// First number.
        seq: u64,
        /// Payload.
        len: u32,
        /// Whether it was sent before.
        retransmission: bool,
    },
    /// An ACK delivered something new.
    Acked {
        /// Cumulative acknowledgement.
        ack: u64,
        /// Bytes newly delivered.
        delivered: u64,
        /// Windows and times after it.
        metrics: PathMetrics,
    },
    /// A segment is taken for lost.
    Lost {
        /// First number.
        seq: u64,
        /// Payload.
        len: u32,
        /// Why.
        reason: LossReason,
    },
    /// A recovery episode begins.
    RecoveryEntered {
        /// It lasts until this is acknowledged.
        until: u64,
        /// The window that it aims at.
        target: u64,
    },
    /// A reduction because of ECN begins.
    EcnReduction {
        /// It lasts until this is acknowledged.
        until: u64,
        /// The window that it aims at.
        target: u64,
    },
    /// An episode ended.
    RecoveryLeft {
        /// The window after it.
        window: u64,
    },
    /// The retransmission timer expired.
    Timeout {
        /// Timeouts in a row, this one included.
        count: u32,
    },
    /// A tail loss probe leaves.
    TailLossProbe,
    /// A tail loss probe repaired a loss: the window falls.
    TailLossRepaired {
        /// The window after it.
        window: u64,
    },
    /// A zero window is probed.
    WindowProbe,
    /// A reduction was undone.
    Undone {
        /// On which evidence.
        reason: UndoReason,
        /// The window after it.
        window: u64,
    },
}

/// The log of an endpoint; keeps nothing unless switched on.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    detail: LogDetail,
    events: Vec<(Timestamp, TcpEvent)>,
}

impl Log {
    pub(super) const fn new(detail: LogDetail) -> Self {
        Self { detail, events: Vec::new() }
    }

    /// Writes down as much from now on.
    pub(super) const fn set_detail(&mut self, detail: LogDetail) {
        self.detail = detail;
    }

    #[inline]
    pub(super) fn record(&mut self, now: Timestamp, event: impl FnOnce() -> TcpEvent) {
        if self.detail >= LogDetail::Events {
            self.events.push((now, event()));
        }
    }

    /// An event of a single segment.
    #[inline]
    pub(super) fn record_segment(&mut self, now: Timestamp, event: impl FnOnce() -> TcpEvent) {
        if self.detail >= LogDetail::Segments {
            self.events.push((now, event()));
        }
    }

    pub(super) fn events(&self) -> &[(Timestamp, TcpEvent)] {
        &self.events
    }
}

/// The states that a connection has passed through.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateLog(Option<Vec<(Timestamp, State)>>);

impl StateLog {
    /// Keeps states from now on.
    pub(crate) fn keep(&mut self) {
        self.0.get_or_insert_default();
    }

    /// Whether states are kept.
    pub(crate) const fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Notes a state, if it is another than before.
    #[inline]
    pub(crate) fn note(&mut self, now: Timestamp, state: State) {
        if let Some(states) = &mut self.0
            && states.last().is_none_or(|&(_, last)| last != state)
        {
            states.push((now, state));
        }
    }

    pub(crate) fn states(&self) -> &[(Timestamp, State)] {
        self.0.as_deref().unwrap_or_default()
    }
}
