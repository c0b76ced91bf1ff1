//! How far the life of a bond has come.

use crate::codec::CloseCode;
use polypath_units::Timestamp;
use std::time::Duration;

/// How long a side that has closed waits without news for the peer to do the same.
const CLOSE_WAIT: Duration = Duration::from_secs(3);

#[derive(Debug)]
enum Phase {
    Open,
    /// Closed by the application; what was written is still being delivered.
    Draining {
        code: u64,
        reason: String,
    },
    /// The close message has this number. Once it is acknowledged, a peer that does not close in
    /// its turn is waited for until the deadline.
    Closing {
        seq: u64,
        deadline: Option<Timestamp>,
    },
    /// Both sides closed, or the peer did not in time.
    Closed,
    /// Given up; with what the peer did wrong, if that was why.
    Broken(Option<CloseCode>),
}

/// The phase of a bond. Phases come in the order open, draining, closing, closed; a bond may break
/// in each of them.
#[derive(Debug)]
pub(super) struct Lifecycle {
    phase: Phase,
    /// The peer's close message is here.
    peer_closed: bool,
}

impl Lifecycle {
    pub(super) fn new() -> Self {
        Self { phase: Phase::Open, peer_closed: false }
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open)
    }

    pub(super) fn is_broken(&self) -> bool {
        matches!(self.phase, Phase::Broken(_))
    }

    /// Whether the bond is closed or broken.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.phase, Phase::Closed | Phase::Broken(_))
    }

    /// The code that closes the connections of the bond.
    pub(super) fn close_code(&self) -> CloseCode {
        match self.phase {
            Phase::Broken(Some(code)) => code,
            _ => CloseCode::BondClosed,
        }
    }

    /// An open bond begins to close.
    pub(super) fn close(&mut self, code: u64, reason: String) {
        if self.is_open() {
            self.phase = Phase::Draining { code, reason };
        }
    }

    /// Code and reason of a close whose message waits until all is delivered.
    pub(super) fn draining(&self) -> Option<(u64, &str)> {
        match &self.phase {
            Phase::Draining { code, reason } => Some((*code, reason)),
            _ => None,
        }
    }

    /// All is delivered, and the close message queued under this number.
    pub(super) fn on_message_queued(&mut self, seq: u64) {
        self.phase = Phase::Closing { seq, deadline: None };
    }

    /// The number of the close message, between its being queued and the end.
    pub(super) fn message(&self) -> Option<u64> {
        match self.phase {
            Phase::Closing { seq, .. } => Some(seq),
            _ => None,
        }
    }

    /// The close message is acknowledged. Returns whether the peer has closed too; if it has not,
    /// it is waited for from now on.
    pub(super) fn on_message_acked(&mut self, now: Timestamp) -> bool {
        if let Phase::Closing { deadline, .. } = &mut self.phase
            && !self.peer_closed
        {
            deadline.get_or_insert(now + CLOSE_WAIT);
        }
        self.peer_closed
    }

    /// The peer closes. Returns whether that is news.
    pub(super) fn on_peer_close(&mut self) -> bool {
        !self.has_ended() && !std::mem::replace(&mut self.peer_closed, true)
    }

    /// The peer is still delivering: it is waited for as long as something new comes.
    pub(super) fn on_progress(&mut self, now: Timestamp) {
        if let Phase::Closing { deadline: Some(deadline), .. } = &mut self.phase {
            *deadline = now + CLOSE_WAIT;
        }
    }

    /// When the peer is waited for no longer.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        match self.phase {
            Phase::Closing { deadline, .. } => deadline,
            _ => None,
        }
    }

    pub(super) fn finish(&mut self) {
        self.phase = Phase::Closed;
    }

    /// The bond is given up; `code` is what the peer did wrong, if anything. Returns whether that
    /// is news.
    pub(super) fn break_off(&mut self, code: Option<CloseCode>) -> bool {
        let news = !self.is_broken();
        if news {
            self.phase = Phase::Broken(code);
        }
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(100);

    fn closing() -> Lifecycle {
        let mut lifecycle = Lifecycle::new();
        lifecycle.close(7, "done".into());
        assert_eq!(lifecycle.draining(), Some((7, "done")));
        lifecycle.on_message_queued(3);
        assert_eq!((lifecycle.message(), lifecycle.deadline()), (Some(3), None));
        lifecycle
    }

    #[test]
    fn a_peer_that_has_not_closed_is_waited_for_while_news_come() {
        let mut lifecycle = closing();
        lifecycle.on_progress(NOW);
        assert_eq!(lifecycle.deadline(), None, "the message is not acknowledged");
        assert!(!lifecycle.on_message_acked(NOW));
        let later = NOW + Duration::from_secs(1);
        assert!(!lifecycle.on_message_acked(later), "said before");
        assert_eq!(lifecycle.deadline(), Some(NOW + CLOSE_WAIT));
        lifecycle.on_progress(later);
        assert_eq!(lifecycle.deadline(), Some(later + CLOSE_WAIT));
    }

    #[test]
    fn both_sides_closed_is_the_end() {
        let mut lifecycle = closing();
        assert!(lifecycle.on_peer_close() && !lifecycle.on_peer_close());
        assert!(lifecycle.on_message_acked(NOW));
        lifecycle.finish();
        assert!(lifecycle.has_ended() && !lifecycle.is_broken());
        assert_eq!(lifecycle.deadline(), None);
    }

    #[test]
    fn a_bond_breaks_once() {
        let mut lifecycle = closing();
        assert!(lifecycle.break_off(None));
        assert!(!lifecycle.break_off(Some(CloseCode::ProtocolViolation)));
        assert_eq!(lifecycle.close_code(), CloseCode::BondClosed);
    }
}
