//! Packets on the line, in order of their arrival.

use core::cmp::{Ordering, Reverse};
use polypath_units::Timestamp;
use std::collections::{BinaryHeap, VecDeque};

/// A packet on the line.
#[derive(Clone, Debug)]
pub(crate) struct Flying<P> {
    /// When it arrives.
    pub(crate) due: Timestamp,
    pub(crate) bytes: u32,
    pub(crate) packet: P,
}

/// One that arrives before another that departed earlier.
#[derive(Clone, Debug)]
struct Overtaking<P> {
    flying: Flying<P>,
    /// Its place in the order of departure: how many packets in order departed before it, and how
    /// many that overtake.
    departed: (u64, u64),
}

impl<P> Overtaking<P> {
    fn key(&self) -> (Timestamp, (u64, u64)) {
        (self.flying.due, self.departed)
    }
}

impl<P> PartialEq for Overtaking<P> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl<P> Eq for Overtaking<P> {}
impl<P> PartialOrd for Overtaking<P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<P> Ord for Overtaking<P> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// The line. Packets that arrive in the order of their departure, usually all, cost O(1); those
/// that overtake others wait in a heap.
#[derive(Clone, Debug)]
pub(crate) struct Propagation<P> {
    in_order: VecDeque<Flying<P>>,
    /// `None` until a packet overtakes.
    heap: Option<Box<Heap<P>>>,
}

/// Packets that overtake others.
#[derive(Clone, Debug)]
struct Heap<P> {
    packets: BinaryHeap<Reverse<Overtaking<P>>>,
    /// How many of them there have been.
    departed: u64,
    /// How many have left `in_order` since the first.
    taken: u64,
}

impl<P> Heap<P> {
    fn next_due(&self) -> Option<Timestamp> {
        self.packets.peek().map(|Reverse(first)| first.flying.due)
    }
}

impl<P> Propagation<P> {
    pub(crate) fn new() -> Self {
        Self { in_order: VecDeque::new(), heap: None }
    }

    /// When the last packet in order arrives: no earlier arrival keeps the order.
    pub(crate) fn latest(&self) -> Option<Timestamp> {
        self.in_order.back().map(|last| last.due)
    }

    #[inline]
    pub(crate) fn push(&mut self, due: Timestamp, bytes: u32, packet: P) {
        let flying = Flying { due, bytes, packet };
        match self.latest() {
            Some(latest) if due < latest => self.overtake(flying),
            _ => self.in_order.push_back(flying),
        }
    }

    #[cold]
    fn overtake(&mut self, flying: Flying<P>) {
        let empty = || Box::new(Heap { packets: BinaryHeap::new(), departed: 0, taken: 0 });
        let heap = self.heap.get_or_insert_with(empty);
        let departed = (heap.taken + self.in_order.len() as u64, heap.departed);
        heap.departed += 1;
        heap.packets.push(Reverse(Overtaking { flying, departed }));
    }

    /// When the next packet arrives.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        let heap = self.heap.as_ref().and_then(|heap| heap.next_due());
        let front = self.in_order.front().map(|flying| flying.due);
        heap.into_iter().chain(front).min()
    }

    /// Takes the next packet that has arrived by `now`.
    #[inline]
    pub(crate) fn pop(&mut self, now: Timestamp) -> Option<Flying<P>> {
        if self.heap.is_some() {
            return self.pop_of_both(now);
        }
        if self.in_order.front()?.due > now {
            return None;
        }
        self.in_order.pop_front()
    }

    /// Of two that arrive at once the one in order departed first: the other overtook one that is
    /// due later, and what follows that one is due no earlier.
    #[cold]
    fn pop_of_both(&mut self, now: Timestamp) -> Option<Flying<P>> {
        let front = self.in_order.front().map(|flying| flying.due);
        let heap = self.heap.as_mut()?;
        let first = heap.next_due();
        if first.into_iter().chain(front).min()? > now {
            return None;
        }
        if first.is_none_or(|first| front.is_some_and(|front| front <= first)) {
            heap.taken += 1;
            return self.in_order.pop_front();
        }
        heap.packets.pop().map(|Reverse(first)| first.flying)
    }

    /// Takes all packets that would arrive at `from` or later off the line, in order of departure.
    pub(crate) fn cut(&mut self, from: Timestamp) -> Vec<(u32, P)> {
        let stay = self.in_order.partition_point(|flying| flying.due < from);
        let first = self.heap.as_ref().map_or(0, |heap| heap.taken) + stay as u64;
        let cut = (first..).zip(self.in_order.drain(stay..));
        // One that overtakes comes after the packets in order that it counts, before the next.
        let mut cut: Vec<_> = cut.map(|(n, flying)| ((n, u64::MAX), flying)).collect();
        if let Some(heap) = &mut self.heap {
            let (stay, lost): (Vec<_>, Vec<_>) =
                heap.packets.drain().partition(|Reverse(packet)| packet.flying.due < from);
            heap.packets.extend(stay);
            cut.extend(lost.into_iter().map(|Reverse(packet)| (packet.departed, packet.flying)));
        }
        cut.sort_by_key(|&(departed, _)| departed);
        cut.into_iter().map(|(_, flying)| (flying.bytes, flying.packet)).collect()
    }
}
