//! Recovery episodes: one window reduction for all losses of one flight.
//!
//! Source: RFC 9002 section 7.3.2. A loss (or mark) begins an episode only if the packet was sent
//! after the present one began; the episode ends with the first ACK of such a packet. A TCP ends it
//! by sequence number instead (RFC 6675 section 5): it holds the episode until it releases it.

use super::Subflow;
use polypath_units::Timestamp;

/// The recovery state of one subflow, beside [`Subflow::in_recovery`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Recovery {
    began_at: Option<Timestamp>,
    end: End,
    undo: Option<Undo>,
}

/// What ends the present episode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum End {
    /// The ACK of a packet sent after it began.
    #[default]
    NewPacketAcked,
    /// Nothing yet: the world holds the episode.
    Held,
    /// The next ACK, of whatever.
    NextAck,
}

/// What the last episode took away.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Undo {
    cwnd: f64,
    ssthresh: f64,
}

impl Recovery {
    /// Whether the loss of a packet sent at `sent_at` begins a new episode.
    pub(super) fn is_new(&self, sent_at: Timestamp) -> bool {
        self.began_at.is_none_or(|began| sent_at > began)
    }

    /// The episode lasts until [`Recovery::release`].
    pub(super) fn hold(&mut self) {
        self.end = End::Held;
    }

    /// The next ACK ends the episode.
    pub(super) fn release(&mut self) {
        self.end = End::NextAck;
    }

    /// Whether an ACK whose newest packet was sent at `sent_at` ends the episode.
    pub(super) fn is_ended_by(&self, sent_at: Timestamp) -> bool {
        match self.end {
            End::NewPacketAcked => self.is_new(sent_at),
            End::Held => false,
            End::NextAck => true,
        }
    }

    /// An episode begins; `subflow` has its window from before it.
    pub(super) fn begin(&mut self, now: Timestamp, subflow: &Subflow) {
        self.began_at = Some(now);
        self.end = End::NewPacketAcked;
        self.undo = Some(Undo { cwnd: subflow.cwnd, ssthresh: subflow.ssthresh });
    }

    /// The timer expired again before anything was acknowledged: what a spurious timeout would
    /// restore is still the state before the first expiry.
    pub(super) fn begin_again(&mut self, now: Timestamp) {
        self.began_at = Some(now);
        self.end = End::NewPacketAcked;
    }

    /// The last episode was spurious: gives back window and threshold, once for each episode.
    pub(super) fn undo(&mut self, subflow: &mut Subflow) {
        if let Some(undo) = self.undo.take() {
            subflow.cwnd = subflow.cwnd.max(undo.cwnd);
            subflow.ssthresh = subflow.ssthresh.max(undo.ssthresh);
        }
    }
}
