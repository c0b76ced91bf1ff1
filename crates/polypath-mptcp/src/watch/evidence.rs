//! What the data level tells of a silent subflow: the feedback of FPF in Multipath TCP.
//!
//! Each ACK of each subflow carries the DATA_ACK (RFC 8684 section 3.3.2): the first byte that the
//! receiver misses. While it stands still though other subflows are acknowledged, the byte that it
//! stands at has not arrived; while it goes on, what was sent before arrives. A byte that was sent
//! again over another subflow says nothing of the one that it was sent over first.

use polypath_core::failure::{Suspect, SuspicionReport};
use polypath_units::{PathId, Timestamp};

use crate::state::DataState;

/// The number of a report that answers no query.
const UNASKED: u16 = 0;

/// The data level between two looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    data: DataState,
    /// When DATA_ACK was seen to have gone on by what was not sent again.
    advanced: Timestamp,
    /// When something was sent again last.
    reinjected: Timestamp,
}

impl Evidence {
    pub(super) fn new(data: DataState, now: Timestamp) -> Self {
        Self { data, advanced: now, reinjected: Timestamp::ZERO }
    }

    /// Takes what the data level is now.
    pub(super) fn look(&mut self, data: DataState, now: Timestamp) {
        if data.reinjected != self.data.reinjected {
            self.reinjected = now;
        }
        if data.unacknowledged != self.data.unacknowledged {
            self.advanced = now;
        }
        self.data = data;
    }

    /// What the receiver is known to say of a subflow that is silent since `began`; nothing if what
    /// it has may have come over others: what these had been given before is acknowledged until
    /// `others_until`, and what was sent again later.
    pub(super) fn of(
        &self,
        path: PathId,
        began: Timestamp,
        others_until: Timestamp,
        now: Timestamp,
    ) -> Option<SuspicionReport> {
        let went_on = self.advanced > others_until;
        if now <= others_until || (went_on && self.reinjected >= began) {
            return None;
        }
        let silent_for = now.since(if went_on { self.advanced } else { began });
        Some(self.report(UNASKED, vec![Suspect { path, silent_for }]))
    }

    /// A report with the data level as it is.
    pub(super) fn report(&self, query: u16, suspects: Vec<Suspect>) -> SuspicionReport {
        let DataState { unacknowledged, written, .. } = self.data;
        let (rcv_nxt, max_end) = (unacknowledged, written);
        SuspicionReport { query, rcv_nxt, max_end, window: 0, suspects }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const AT: fn(u64) -> Timestamp = Timestamp::from_millis;

    fn silence(evidence: &Evidence, began: u64, others: u64, now: u64) -> Option<Duration> {
        let report = evidence.of(PathId::default(), AT(began), AT(others), AT(now))?;
        Some(report.suspects[0].silent_for)
    }

    const fn ms(millis: u64) -> Option<Duration> {
        Some(Duration::from_millis(millis))
    }

    #[test]
    fn what_others_had_before_tells_nothing() {
        let mut evidence = Evidence::new(DataState::default(), AT(100));
        evidence.look(DataState { unacknowledged: 5, ..DataState::default() }, AT(150));
        assert_eq!(silence(&evidence, 140, 190, 180), None, "too early to tell");
        assert_eq!(silence(&evidence, 140, 190, 200), ms(60), "silent all the time");
        assert_eq!(silence(&evidence, 110, 149, 200), ms(50), "it went on at 150");
    }

    #[test]
    fn what_was_sent_again_proves_nothing() {
        let mut evidence = Evidence::new(DataState::default(), AT(100));
        let again = DataState { reinjected: 1, ..DataState::default() };
        evidence.look(again, AT(150));
        assert_eq!(silence(&evidence, 120, 140, 200), ms(80), "it still stands where it stood");
        evidence.look(DataState { unacknowledged: 9, ..again }, AT(180));
        assert_eq!(silence(&evidence, 120, 140, 200), None);
        assert_eq!(silence(&evidence, 160, 170, 200), ms(20));
    }
}
