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
    /// it has may have come over another.
    pub(super) fn of(
        &self,
        path: PathId,
        began: Timestamp,
        now: Timestamp,
    ) -> Option<SuspicionReport> {
        if self.reinjected >= began && self.advanced >= began {
            return None;
        }
        let suspect = Suspect { path, silent_for: now.since(self.advanced) };
        Some(self.report(UNASKED, vec![suspect]))
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

    fn silence(evidence: &Evidence, began: u64, now: u64) -> Option<Duration> {
        let report = evidence.of(PathId::default(), AT(began), AT(now))?;
        Some(report.suspects[0].silent_for)
    }

    #[test]
    fn silence_counts_from_when_data_ack_went_on() {
        let mut evidence = Evidence::new(DataState::default(), AT(100));
        let acked = DataState { unacknowledged: 5, ..DataState::default() };
        evidence.look(acked, AT(150));
        evidence.look(acked, AT(190));
        assert_eq!(silence(&evidence, 140, 200), Some(Duration::from_millis(50)));
    }

    #[test]
    fn what_was_sent_again_proves_nothing() {
        let mut evidence = Evidence::new(DataState::default(), AT(100));
        let again = DataState { reinjected: 1, ..DataState::default() };
        evidence.look(again, AT(150));
        // It still stands where it stood.
        assert_eq!(silence(&evidence, 120, 200), Some(Duration::from_millis(100)));
        evidence.look(DataState { unacknowledged: 9, ..again }, AT(180));
        assert_eq!(silence(&evidence, 120, 200), None);
        assert_eq!(silence(&evidence, 160, 200), Some(Duration::from_millis(20)));
    }
}
