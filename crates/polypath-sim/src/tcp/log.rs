//! Events of an endpoint, written down when asked for.

use polypath_units::Timestamp;

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
        /// The congestion window after it.
        window: u64,
        /// Bytes in flight after it.
        in_flight: u64,
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
pub(super) struct Log(Option<Vec<(Timestamp, TcpEvent)>>);

impl Log {
    pub(super) fn new(on: bool) -> Self {
        Self(on.then(Vec::new))
    }

    #[inline]
    pub(super) fn record(&mut self, now: Timestamp, event: impl FnOnce() -> TcpEvent) {
        if let Some(events) = &mut self.0 {
            events.push((now, event()));
        }
    }

    pub(super) fn events(&self) -> &[(Timestamp, TcpEvent)] {
        self.0.as_deref().unwrap_or_default()
    }
}
