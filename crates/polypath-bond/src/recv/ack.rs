//! What has arrived at the data level, and when to say so.

use crate::codec::{AckFrame, Arrival, MAX_ACK_RANGES};
use crate::ranges::RangeSet;
use polypath_units::Timestamp;
use std::ops::Range;
use std::time::Duration;

/// Credit that a peer which is short of it hears of at once: as much as eight payloads, which want
/// an acknowledgement too, so that small reads send no more of them than arriving data does.
const WORTH_TELLING: u64 = 8 * 1_200;

/// Numbers received in order up to a point, and ranges above it.
#[derive(Debug, Default)]
pub(crate) struct Received {
    next: u64,
    above: RangeSet,
}

impl Received {
    /// Adds a range. Returns how many of its numbers are new; `on_new` sees them.
    pub(crate) fn insert(&mut self, range: Range<u64>, on_new: impl FnMut(Range<u64>)) -> u64 {
        let start = range.start.max(self.next);
        let new = self.above.insert(start..range.end.max(start), on_new);
        if let Some(end) = self.above.take_from(self.next) {
            self.next = end;
        }
        new
    }

    /// The lowest number that has not been received.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// The end of the highest number received.
    pub(crate) fn max_end(&self) -> u64 {
        self.above.max_end().unwrap_or(self.next)
    }

    fn ranges(&self) -> Vec<Range<u64>> {
        self.above.iter().take(MAX_ACK_RANGES).collect()
    }

    /// Disjoint ranges above the lowest missing number.
    pub(crate) fn gaps(&self) -> usize {
        self.above.len()
    }
}

/// Decides when an acknowledgement is due and what it says.
#[derive(Debug)]
pub(crate) struct AckState {
    pub(crate) data: Received,
    pub(crate) control: Received,
    every: u32,
    max_delay: Duration,
    pending: u32,
    due: Option<Timestamp>,
    /// The window that the peer was told last.
    advertised: u64,
    /// When an acknowledgement went over the fastest path last, or a copy of one.
    fastest_at: Option<Timestamp>,
}

impl AckState {
    pub(crate) fn new(every: u32, max_delay: Duration, advertised: u64) -> Self {
        Self {
            data: Received::default(),
            control: Received::default(),
            every,
            max_delay,
            pending: 0,
            due: None,
            advertised,
            fastest_at: None,
        }
    }

    /// Something that wants an acknowledgement arrived.
    pub(crate) fn on_arrival(&mut self, now: Timestamp) {
        self.pending += 1;
        self.demand_by(if self.pending >= self.every { now } else { now + self.max_delay });
    }

    fn demand_by(&mut self, at: Timestamp) {
        self.due = Some(self.due.map_or(at, |already| already.min(at)));
    }

    /// An acknowledgement is wanted at once.
    pub(crate) fn demand(&mut self, now: Timestamp) {
        self.due = Some(now);
    }

    /// The window is `window` now: a quarter more than the peer knows is said at once. So is less
    /// when the peer is short of credit: where slow readers hold the rest of the buffer, no more
    /// may ever come free. What small reads give it is gathered for the time that one may be
    /// delayed.
    pub(crate) fn on_window(&mut self, window: u64, buffer: u64, now: Timestamp) {
        let grown = window.saturating_sub(self.advertised);
        let is_short = self.peer_is_short(window);
        if grown >= buffer / 4 || (is_short && grown >= WORTH_TELLING) {
            self.demand(now);
        } else if is_short {
            self.demand_by(now + self.max_delay);
        }
    }

    /// Whether the peer, for all that has arrived, has no more credit left than it was not told of.
    pub(crate) fn peer_is_short(&self, window: u64) -> bool {
        let left = self.advertised.saturating_sub(self.data.max_end());
        window > self.advertised && window - self.advertised >= left
    }

    /// When an acknowledgement is due.
    pub(crate) fn due(&self) -> Option<Timestamp> {
        self.due
    }

    /// Whether it is due because of how much arrived, not of how long ago.
    pub(crate) fn is_full(&self) -> bool {
        self.pending >= self.every
    }

    /// An acknowledgement goes over the fastest path.
    pub(crate) fn on_sent_over_fastest(&mut self, now: Timestamp) {
        self.fastest_at = Some(now);
    }

    /// Whether none has gone over the fastest path for the time that one may be delayed.
    pub(crate) fn wants_copy(&self, now: Timestamp) -> bool {
        self.fastest_at.is_none_or(|at| now >= at + self.max_delay)
    }

    /// The limit that the peer was given.
    pub(crate) fn advertised(&self) -> u64 {
        self.advertised
    }

    /// Builds the acknowledgement and considers it sent.
    pub(crate) fn take(&mut self, window: u64, arrivals: Vec<Arrival>) -> AckFrame {
        self.pending = 0;
        self.due = None;
        self.advertised = self.advertised.max(window);
        AckFrame {
            rcv_nxt: self.data.next(),
            window: self.advertised,
            ranges: self.data.ranges(),
            control_nxt: self.control.next(),
            control_ranges: self.control.ranges(),
            arrivals,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn due_after_the_count_or_the_delay() {
        let mut acks = AckState::new(3, Duration::from_millis(5), 1_000);
        let start = Timestamp::from_millis(10);
        acks.on_arrival(start);
        assert_eq!(acks.due(), Some(Timestamp::from_millis(15)));
        acks.on_arrival(Timestamp::from_millis(11));
        assert_eq!(acks.due(), Some(Timestamp::from_millis(15)));
        acks.on_arrival(Timestamp::from_millis(12));
        assert_eq!(acks.due(), Some(Timestamp::from_millis(12)));
        acks.take(1_000, Vec::new());
        assert_eq!(acks.due(), None);
        acks.on_window(1_249, 1_000, start);
        assert_eq!(acks.due(), None);
        acks.on_window(1_250, 1_000, start);
        assert_eq!(acks.due(), Some(start));
    }

    /// The buffer is 1,000,000: a quarter of it is more than what comes free here.
    #[test]
    fn a_peer_short_of_credit_hears_of_less_than_a_quarter() {
        let start = Timestamp::from_millis(10);
        let due = |arrived, window| {
            let mut acks = AckState::new(8, Duration::from_millis(5), 1_000_000);
            acks.data.insert(0..arrived, |_| ());
            acks.on_window(window, 1_000_000, start);
            acks.due()
        };
        assert_eq!(due(980_000, 1_019_999), None, "it has more than what is new");
        assert_eq!(due(980_000, 1_020_000), Some(start));
        assert_eq!(due(1_000_000, 1_000_000), None);
        assert_eq!(due(1_000_000, 1_009_600), Some(start));
        let later = Some(Timestamp::from_millis(15));
        assert_eq!(due(1_000_000, 1_009_599), later, "little waits for more");
        assert_eq!(due(1_000_000, 1_000_001), later);
    }

    #[test]
    fn a_copy_is_wanted_after_the_delay_without_one() {
        let mut acks = AckState::new(2, Duration::from_millis(5), 1_000);
        let wanted = |acks: &AckState, millis| acks.wants_copy(Timestamp::from_millis(millis));
        assert!(wanted(&acks, 0));
        acks.on_sent_over_fastest(Timestamp::from_millis(10));
        assert_eq!([14, 15].map(|millis| wanted(&acks, millis)), [false, true]);
        acks.on_arrival(Timestamp::from_millis(20));
        assert!(!acks.is_full());
        acks.on_arrival(Timestamp::from_millis(20));
        assert!(acks.is_full());
    }

    #[test]
    fn order_advances_when_the_gap_closes() {
        let mut received = Received::default();
        assert_eq!(received.insert(5..10, |_| ()), 5);
        assert_eq!((received.next(), received.max_end(), received.gaps()), (0, 10, 1));
        assert_eq!(received.insert(0..6, |_| ()), 5);
        assert_eq!((received.next(), received.max_end(), received.gaps()), (10, 10, 0));
        assert_eq!(received.insert(3..8, |_| ()), 0);
    }
}
