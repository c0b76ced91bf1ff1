//! How the window follows the controller when it lowers its own.

use crate::tcp::prr::Prr;
use polypath_core::congestion::{Congestion, NewRenoRecovery};
use polypath_units::PathId;

/// The window of an episode.
#[derive(Debug)]
pub(super) enum Reduction {
    /// That of the controller at once.
    AtOnce,
    /// Proportional rate reduction.
    Proportional(Prr),
    /// Without SACK duplicate ACKs inflate it.
    NewReno(NewReno),
}

impl Reduction {
    /// The window in bytes that counts at present.
    #[inline]
    pub(super) fn window(&self, congestion: &Congestion, path: PathId) -> u64 {
        match self {
            Self::AtOnce => congestion.window(path),
            Self::Proportional(prr) => prr.window(),
            Self::NewReno(new_reno) => new_reno.recovery.window() as u64,
        }
    }

    pub(super) const fn is_proportional(&self) -> bool {
        matches!(self, Self::Proportional(_))
    }

    /// Whether an ACK restarts the retransmission timer: of partial ACKs only the first does
    /// (RFC 6582 section 3.2, step 5).
    pub(super) const fn restarts_timer(&self) -> bool {
        match self {
            Self::AtOnce | Self::Proportional(_) => true,
            Self::NewReno(new_reno) => new_reno.partial_acks <= 1,
        }
    }
}

/// Recovery by NewReno: the inflated window and the partial ACKs so far.
#[derive(Debug)]
pub(super) struct NewReno {
    recovery: NewRenoRecovery,
    partial_acks: u32,
}

impl NewReno {
    pub(super) const fn new(recovery: NewRenoRecovery) -> Self {
        Self { recovery, partial_acks: 0 }
    }

    pub(super) fn on_duplicate_ack(&mut self) {
        self.recovery.on_duplicate_ack();
    }

    pub(super) fn on_partial_ack(&mut self, acked: u64) {
        self.recovery.on_partial_ack(acked);
        self.partial_acks += 1;
    }

    /// The window in bytes to go on with after the full ACK.
    pub(super) fn on_full_ack(&self, bytes_in_flight: u64) -> u64 {
        self.recovery.on_full_ack(bytes_in_flight) as u64
    }
}
