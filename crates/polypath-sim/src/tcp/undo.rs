//! Whether what a recovery or timeout retransmitted was retransmitted in vain.

use polypath_units::Timestamp;

/// Evidence on the present episode: that its retransmissions were needless. Sources: Eifel (RFC
/// 3522, RFC 4015) with timestamps, DSACK (RFC 3708).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Undo {
    /// `undo_marker`: what was unacknowledged at the beginning.
    from: Option<u64>,
    retransmitted: u32,
    duplicates: u32,
    first_retransmission: Option<Timestamp>,
}

impl Undo {
    /// An episode begins while `unacked` is the lowest number unacknowledged.
    pub(super) const fn begin(&mut self, unacked: u64) {
        *self = Self {
            from: Some(unacked),
            retransmitted: 0,
            duplicates: 0,
            first_retransmission: None,
        };
    }

    /// The episode can no longer be undone.
    pub(super) const fn forget(&mut self) {
        self.from = None;
    }

    /// Whether an episode may still prove spurious.
    pub(super) const fn is_open(&self) -> bool {
        self.from.is_some()
    }

    pub(super) fn on_retransmission(&mut self, now: Timestamp) {
        self.retransmitted += 1;
        self.first_retransmission.get_or_insert(now);
    }

    /// A DSACK reported `segments` that arrived twice and end at `end`.
    pub(super) fn on_dsack(&mut self, end: u64, segments: u32) {
        if self.from.is_some_and(|from| end > from) {
            self.duplicates = self.duplicates.saturating_add(segments);
        }
    }

    /// Every retransmission was reported as a duplicate.
    pub(super) const fn all_were_duplicates(&self) -> bool {
        self.is_open() && self.retransmitted > 0 && self.duplicates >= self.retransmitted
    }

    /// When the first retransmission was sent: an ACK that echoes an earlier timestamp answers an
    /// original.
    pub(super) fn first_retransmission(&self) -> Option<Timestamp> {
        self.first_retransmission.filter(|_| self.is_open())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_duplicates_of_all_retransmissions_prove_an_episode_spurious() {
        let mut undo = Undo::default();
        undo.on_dsack(2_000, 1);
        assert!(!undo.all_were_duplicates());
        undo.begin(1_000);
        assert!(!undo.all_were_duplicates(), "nothing was retransmitted");
        undo.on_retransmission(Timestamp::from_millis(5));
        undo.on_retransmission(Timestamp::from_millis(6));
        undo.on_dsack(900, 1);
        undo.on_dsack(2_000, 1);
        assert!(!undo.all_were_duplicates(), "one of two, and one of before");
        undo.on_dsack(3_000, 1);
        assert!(undo.all_were_duplicates());
        assert_eq!(undo.first_retransmission(), Some(Timestamp::from_millis(5)));
        undo.forget();
        assert_eq!(undo.first_retransmission(), None);
    }
}
