//! The receiving half of a datagram flow: first copy wins, order restored within a bound.

use super::FlowCounters;
use crate::ranges::RangeSet;
use bytes::Bytes;
use polypath_units::Timestamp;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// How far behind the newest datagram a copy can still be told from a new datagram. Older ones
/// are dropped as copies.
const MEMORY: u64 = 8_192;

/// What one waiting datagram costs beside its bytes.
const COST: u64 = 64;

/// Datagrams of one flow that arrived.
#[derive(Debug)]
pub(crate) struct RecvFlow {
    /// The application's bound; `None` follows the paths' delays.
    pub(crate) resequence: Option<Duration>,
    seen: RangeSet,
    /// All below were given to the application or given up.
    next: u64,
    held: BTreeMap<u64, (Bytes, Timestamp)>,
    ready: VecDeque<Bytes>,
    cost: u64,
    limit: u64,
    pub(crate) counters: FlowCounters,
}

impl RecvFlow {
    pub(crate) fn new(resequence: Option<Duration>, limit: u64) -> Self {
        Self {
            resequence,
            seen: RangeSet::default(),
            next: 0,
            held: BTreeMap::new(),
            ready: VecDeque::new(),
            cost: 0,
            limit,
            counters: FlowCounters::default(),
        }
    }

    /// What a datagram costs while it waits for its reader.
    pub(crate) fn cost_of(data: &Bytes) -> u64 {
        data.len() as u64 + COST
    }

    /// What all datagrams that wait cost.
    pub(crate) fn cost(&self) -> u64 {
        self.cost
    }

    /// A datagram arrived and may cost `room`; `bound` is how long order is worth waiting for at
    /// most.
    pub(crate) fn insert(
        &mut self,
        seq: u64,
        data: Bytes,
        room: u64,
        bound: Duration,
        now: Timestamp,
    ) {
        let oldest_known = self.seen.max_end().unwrap_or(0).saturating_sub(MEMORY);
        if seq < oldest_known || self.seen.insert(seq..seq + 1, |_| ()) == 0 {
            self.counters.duplicates += 1;
            return;
        }
        self.seen.remove_below(oldest_known);
        let cost = Self::cost_of(&data);
        if cost > room || self.cost + cost > self.limit {
            self.counters.dropped += 1;
            return;
        }
        self.cost += cost;
        if seq < self.next {
            self.counters.late += 1;
            self.ready.push_back(data);
            return;
        }
        self.held.insert(seq, (data, now));
        self.release(bound, now);
    }

    /// Gives what is in order, or has waited for `bound`, to the application.
    pub(crate) fn release(&mut self, bound: Duration, now: Timestamp) {
        while let Some(first) = self.held.first_entry() {
            let in_order = *first.key() == self.next;
            if !in_order && first.get().1 + bound > now {
                return;
            }
            let (seq, (data, _)) = first.remove_entry();
            self.next = seq + 1;
            self.ready.push_back(data);
        }
    }

    /// When [`Self::release`] would find something.
    pub(crate) fn next_timer(&self, bound: Duration) -> Option<Timestamp> {
        self.held.first_key_value().map(|(_, (_, arrived))| *arrived + bound)
    }

    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    pub(crate) fn pop(&mut self) -> Option<Bytes> {
        let data = self.ready.pop_front()?;
        self.cost -= Self::cost_of(&data);
        self.counters.delivered += 1;
        Some(data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUND: Duration = Duration::from_millis(20);

    fn take(flow: &mut RecvFlow) -> Vec<u8> {
        std::iter::from_fn(|| flow.pop()).map(|data| data[0]).collect()
    }

    fn feed(flow: &mut RecvFlow, seq: u64, bound: Duration, ms: u64) {
        let data = Bytes::from(vec![seq as u8; 10]);
        flow.insert(seq, data, u64::MAX, bound, Timestamp::from_millis(ms));
    }

    #[test]
    fn order_is_restored_within_the_bound_and_no_longer() {
        let mut flow = RecvFlow::new(None, 10_000);
        for (seq, ms) in [(0, 0), (2, 1), (3, 2), (1, 5), (1, 6), (5, 10)] {
            feed(&mut flow, seq, BOUND, ms);
        }
        assert_eq!(take(&mut flow), [0, 1, 2, 3]);
        assert_eq!(flow.next_timer(BOUND), Some(Timestamp::from_millis(30)));
        flow.release(BOUND, Timestamp::from_millis(29));
        assert!(!flow.has_ready());
        flow.release(BOUND, Timestamp::from_millis(30));
        feed(&mut flow, 4, BOUND, 31);
        assert_eq!(take(&mut flow), [5, 4], "late is better than never");
        let counters = flow.counters;
        assert_eq!((counters.duplicates, counters.late, counters.delivered), (1, 1, 6));
    }

    #[test]
    fn without_a_bound_nothing_waits() {
        let mut flow = RecvFlow::new(Some(Duration::ZERO), 10_000);
        for seq in [3, 0, 2, 2] {
            feed(&mut flow, seq, Duration::ZERO, 1);
        }
        assert_eq!(take(&mut flow), [3, 0, 2]);
    }

    #[test]
    fn memory_is_bounded_whatever_arrives() {
        let mut flow = RecvFlow::new(None, 1_000);
        for seq in 0..100_000 {
            feed(&mut flow, seq * 2 + 1, BOUND, 0);
        }
        assert!(flow.cost <= 1_000);
        assert!(flow.seen.len() as u64 <= MEMORY / 2 + 1);
    }
}
