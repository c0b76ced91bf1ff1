//! The counters of a link, and the packets that it dropped.

use crate::counters::{Counters, DropReason, Drops, Sojourn, Tally};
use crate::queue::Item;
use std::collections::VecDeque;

/// [`Counters`], and dropped packets for callers that want them back.
///
/// What each packet changes is stored together; the number of packets on the line follows from the
/// other counts.
#[derive(Clone, Debug)]
pub(crate) struct Books<P> {
    pub(crate) entered: Tally,
    pub(crate) waiting: Tally,
    pub(crate) delivered: Tally,
    /// Whether there are dropped packets to be taken.
    untaken: bool,
    rare: Box<Rare<P>>,
}

/// What most packets do not change.
#[derive(Clone, Debug)]
struct Rare<P> {
    dropped: Drops,
    /// How many of the dropped packets had been served.
    dropped_after_service: u64,
    marked: Tally,
    /// Dropped packets that were not taken yet, if they are kept.
    kept: Option<VecDeque<(P, DropReason)>>,
}

impl<P> Books<P> {
    pub(crate) fn new() -> Self {
        let none = Tally::default();
        let rare =
            Rare { dropped: Drops::default(), dropped_after_service: 0, marked: none, kept: None };
        let rare = Box::new(rare);
        Self { entered: none, waiting: none, delivered: none, untaken: false, rare }
    }

    pub(crate) fn counters(&self, sojourn_ns: u64) -> Counters {
        let &Self { entered, waiting, delivered, .. } = self;
        let Rare { dropped, dropped_after_service, marked, .. } = *self.rare;
        let gone = delivered + dropped.total() + waiting;
        let propagating =
            Tally { packets: entered.packets - gone.packets, bytes: entered.bytes - gone.bytes };
        let served = Sojourn {
            packets: delivered.packets + propagating.packets + dropped_after_service,
            total_ns: sojourn_ns,
        };
        Counters { entered, delivered, dropped, marked, waiting, propagating, served }
    }

    pub(crate) fn keep_dropped(&mut self) {
        self.rare.kept.get_or_insert_default();
    }

    #[inline]
    pub(crate) fn take_dropped(&mut self) -> Option<(P, DropReason)> {
        if !self.untaken {
            return None;
        }
        let kept = self.rare.kept.as_mut()?;
        let taken = kept.pop_front();
        self.untaken = !kept.is_empty();
        taken
    }

    /// Counts a packet that got the mark of congestion.
    pub(crate) fn mark(&mut self, bytes: u32) {
        self.rare.marked.put(bytes);
    }

    /// Counts a packet as dropped that is no longer counted anywhere else; returns the reason.
    pub(crate) fn drop(&mut self, reason: DropReason, bytes: u32, packet: P) -> DropReason {
        self.rare.dropped.add(reason, bytes);
        if let Some(kept) = &mut self.rare.kept {
            kept.push_back((packet, reason));
            self.untaken = true;
        }
        reason
    }

    /// The same for a packet that has been served.
    pub(crate) fn drop_served(&mut self, reason: DropReason, bytes: u32, packet: P) {
        self.rare.dropped_after_service += 1;
        self.drop(reason, bytes, packet);
    }

    /// Moves a packet from those that wait to those dropped; returns the reason.
    pub(crate) fn drop_waiting(&mut self, reason: DropReason, item: Item<P>) -> DropReason {
        self.waiting.take(item.bytes);
        self.drop(reason, item.bytes, item.packet)
    }
}
