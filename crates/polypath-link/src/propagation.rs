//! Packets on the line, in order of their arrival.

use core::cmp::{Ordering, Reverse};
use polypath_units::Timestamp;
use std::collections::{BinaryHeap, VecDeque};

/// A packet on the line.
#[derive(Clone, Debug)]
struct Flying<P> {
    /// When it arrives.
    due: Timestamp,
    /// Its place in the order of departure.
    sequence: u64,
    bytes: u32,
    packet: P,
}

impl<P> Flying<P> {
    fn key(&self) -> (Timestamp, u64) {
        (self.due, self.sequence)
    }
}

impl<P> PartialEq for Flying<P> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl<P> Eq for Flying<P> {}
impl<P> PartialOrd for Flying<P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<P> Ord for Flying<P> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// The line. Packets that arrive in the order of their departure, usually all, cost O(1); those
/// that overtake others wait in a heap.
#[derive(Clone, Debug)]
pub(crate) struct Propagation<P> {
    in_order: VecDeque<Flying<P>>,
    overtaking: BinaryHeap<Reverse<Flying<P>>>,
    departed: u64,
}

impl<P> Propagation<P> {
    pub(crate) fn new() -> Self {
        Self { in_order: VecDeque::new(), overtaking: BinaryHeap::new(), departed: 0 }
    }

    /// When the last packet in order arrives: no earlier arrival keeps the order.
    pub(crate) fn latest(&self) -> Option<Timestamp> {
        self.in_order.back().map(|last| last.due)
    }

    pub(crate) fn push(&mut self, due: Timestamp, bytes: u32, packet: P) {
        let flying = Flying { due, sequence: self.departed, bytes, packet };
        self.departed += 1;
        match self.latest() {
            Some(latest) if due < latest => self.overtaking.push(Reverse(flying)),
            _ => self.in_order.push_back(flying),
        }
    }

    /// When the next packet arrives.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        let heap = self.overtaking.peek().map(|Reverse(flying)| flying.due);
        let front = self.in_order.front().map(|flying| flying.due);
        heap.into_iter().chain(front).min()
    }

    /// Takes the next packet that has arrived by `now`.
    pub(crate) fn pop(&mut self, now: Timestamp) -> Option<(u32, P)> {
        let heap = self.overtaking.peek().map(|Reverse(flying)| flying.key());
        let front = self.in_order.front().map(Flying::key);
        let (due, _) = heap.into_iter().chain(front).min()?;
        if due > now {
            return None;
        }
        let from_heap = heap.is_some_and(|key| front.is_none_or(|other| key < other));
        let taken = match from_heap {
            true => self.overtaking.pop().map(|Reverse(flying)| flying),
            false => self.in_order.pop_front(),
        };
        taken.map(|flying| (flying.bytes, flying.packet))
    }

    /// Takes all packets that would arrive at `from` or later off the line, in order of departure.
    pub(crate) fn cut(&mut self, from: Timestamp) -> Vec<(u32, P)> {
        let stay = self.in_order.partition_point(|flying| flying.due < from);
        let mut cut: Vec<_> = self.in_order.drain(stay..).collect();
        let (stay, lost): (Vec<_>, Vec<_>) =
            self.overtaking.drain().partition(|Reverse(flying)| flying.due < from);
        self.overtaking.extend(stay);
        cut.extend(lost.into_iter().map(|Reverse(flying)| flying));
        cut.sort_by_key(|flying| flying.sequence);
        cut.into_iter().map(|flying| (flying.bytes, flying.packet)).collect()
    }
}
