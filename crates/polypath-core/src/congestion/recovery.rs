//! Recovery episodes: one window reduction for all losses of one flight.
//!
//! Source: RFC 9002 section 7.3.2. A loss (or mark) begins an episode only if the packet was sent
//! after the present one began; the episode ends with the first ACK of such a packet.

use super::Subflow;
use polypath_units::Timestamp;

/// The recovery state of one subflow, beside [`Subflow::in_recovery`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Recovery {
    began_at: Option<Timestamp>,
    undo: Option<Undo>,
}

/// What the last episode took away.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Undo {
    cwnd: f64,
    ssthresh: f64,
}

impl Recovery {
    /// Whether what happened to a packet sent at `sent_at` is news to the present episode.
    pub(super) fn is_new(&self, sent_at: Timestamp) -> bool {
        self.began_at.is_none_or(|began| sent_at > began)
    }

    /// An episode begins; `subflow` has its window from before it.
    pub(super) fn begin(&mut self, now: Timestamp, subflow: &Subflow) {
        self.began_at = Some(now);
        self.undo = Some(Undo { cwnd: subflow.cwnd, ssthresh: subflow.ssthresh });
    }

    /// The last episode was spurious: gives back window and threshold, once for each episode.
    pub(super) fn undo(&mut self, subflow: &mut Subflow) {
        if let Some(undo) = self.undo.take() {
            subflow.cwnd = subflow.cwnd.max(undo.cwnd);
            subflow.ssthresh = subflow.ssthresh.max(undo.ssthresh);
        }
    }
}
