//! The receiving half of what acknowledges as QUIC does: which packets came, and when to say so.

use crate::fabric::LightAck;
use polypath_units::Timestamp;
use std::time::Duration;

/// Ranges in one acknowledgement, at most: those of the newest packets.
const MAX_RANGES: usize = 32;

/// When acknowledgements of packets in order are due.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckRule {
    /// With this packet at the latest.
    pub(super) every: u32,
    /// This long after the first at the latest.
    pub(super) delay: Duration,
}

/// Packet numbers that came, as ranges with both ends included, the newest first.
#[derive(Debug)]
pub(super) struct Received {
    rule: AckRule,
    ranges: Vec<(u64, u64)>,
    count: u64,
    newest_at: Timestamp,
    /// Packets since the last acknowledgement.
    owed: u32,
    due: Option<Timestamp>,
}

impl Received {
    pub(super) fn new(rule: AckRule) -> Self {
        Self { rule, ranges: Vec::new(), count: 0, newest_at: Timestamp::ZERO, owed: 0, due: None }
    }

    /// A packet came. Returns whether it is new.
    pub(super) fn insert(&mut self, number: u64, now: Timestamp) -> bool {
        let newest = self.ranges.first().map(|&(_, last)| last);
        if !self.note(number) {
            return false;
        }
        self.owed += 1;
        self.count += 1;
        let in_order = newest.map_or(0, |newest| newest + 1) == number;
        if newest.is_none_or(|newest| number > newest) {
            self.newest_at = now;
        }
        // A gap is told at once (RFC 9000 section 13.2.1).
        let AckRule { every, delay } = self.rule;
        let at = if in_order && self.owed < every { now + delay } else { now };
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
        true
    }

    fn note(&mut self, number: u64) -> bool {
        let at = self.ranges.partition_point(|&(first, _)| first > number);
        if self.ranges.get(at).is_some_and(|&(_, last)| number <= last) {
            return false;
        }
        let joins_older = self.ranges.get(at).is_some_and(|&(_, last)| last + 1 == number);
        let joins_newer = at > 0 && self.ranges[at - 1].0 == number + 1;
        match (joins_newer, joins_older) {
            (true, true) => {
                self.ranges[at - 1].0 = self.ranges[at].0;
                self.ranges.remove(at);
            }
            (true, false) => self.ranges[at - 1].0 = number,
            (false, true) => self.ranges[at].1 = number,
            (false, false) => self.ranges.insert(at, (number, number)),
        }
        self.ranges.truncate(MAX_RANGES);
        true
    }

    /// How many packets came.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    /// When an acknowledgement is due.
    pub(super) fn due(&self) -> Timestamp {
        self.due.unwrap_or(Timestamp::MAX)
    }

    /// The acknowledgement.
    pub(super) fn take(&mut self, now: Timestamp) -> Box<LightAck> {
        (self.owed, self.due) = (0, None);
        Box::new(LightAck { ranges: self.ranges.clone(), delay: now - self.newest_at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn received() -> Received {
        Received::new(AckRule { every: 9, delay: Duration::from_millis(2) })
    }

    proptest! {
        #[test]
        fn the_ranges_are_what_came(numbers in prop::collection::vec(0..40_u64, 0..60)) {
            let mut received = received();
            let mut seen = std::collections::BTreeSet::new();
            for number in numbers {
                prop_assert_eq!(received.insert(number, Timestamp::ZERO), seen.insert(number));
            }
            let ranges = received.take(Timestamp::ZERO).ranges;
            prop_assert!(ranges.windows(2).all(|pair| pair[0].0 > pair[1].1 + 1));
            let all: Vec<_> = ranges.iter().rev().flat_map(|&(a, b)| a..=b).collect();
            prop_assert_eq!(all, seen.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn acknowledgements_are_due_at_the_ninth_packet_after_2_ms_or_at_a_gap() {
        let (mut received, at) = (received(), Timestamp::from_millis);
        (0..8).for_each(|number| assert!(received.insert(number, at(1))));
        assert_eq!(received.due(), at(3));
        received.insert(8, at(2));
        assert_eq!(received.due(), at(2));
        received.take(at(2));
        assert_eq!(received.due(), Timestamp::MAX);
        received.insert(10, at(5));
        assert_eq!(received.due(), at(5));
    }
}
