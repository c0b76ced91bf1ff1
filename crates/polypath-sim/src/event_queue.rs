//! Events in order of time.

use core::cmp::{Ordering, Reverse};
use polypath_units::Timestamp;
use std::collections::BinaryHeap;

/// A queue of events that gives out the earliest first, and those of one time in the order in
/// which they were put in.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    inserted: u64,
}

#[derive(Clone, Debug)]
struct Entry<E> {
    at: Timestamp,
    sequence: u64,
    event: E,
}

impl<E> Entry<E> {
    fn key(&self) -> (Timestamp, u64) {
        (self.at, self.sequence)
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl<E> Eq for Entry<E> {}
impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl<E> EventQueue<E> {
    /// An empty queue.
    pub fn new() -> Self {
        Self { heap: BinaryHeap::new(), inserted: 0 }
    }

    /// Puts in an event.
    pub fn push(&mut self, at: Timestamp, event: E) {
        self.heap.push(Reverse(Entry { at, sequence: self.inserted, event }));
        self.inserted += 1;
    }

    /// Takes the next event and its time.
    pub fn pop(&mut self) -> Option<(Timestamp, E)> {
        self.heap.pop().map(|Reverse(entry)| (entry.at, entry.event))
    }

    /// The time of the next event.
    pub fn next_time(&self) -> Option<Timestamp> {
        self.heap.peek().map(|Reverse(entry)| entry.at)
    }

    /// How many events wait.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn events_leave_by_time_then_by_insertion(times in prop::collection::vec(0..10_u64, 0..200)) {
            let mut queue = EventQueue::new();
            for (n, &at) in times.iter().enumerate() {
                queue.push(Timestamp::from_millis(at), n);
            }
            prop_assert_eq!(queue.len(), times.len());
            let left: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
            let mut expected: Vec<_> = times.iter().map(|&at| Timestamp::from_millis(at)).zip(0..).collect();
            expected.sort_by_key(|&(at, _)| at); // a stable sort
            prop_assert_eq!(left, expected);
            prop_assert!(queue.is_empty());
        }
    }
}
