//! The counters of a link as packets change them, and the packets that it dropped.

use crate::counters::{Counters, DropReason, Drops, Sojourn, Tally};
use crate::item::Item;
use crate::packet::Packet;
use std::collections::VecDeque;

/// [`Counters`], and dropped packets for callers that want them back.
///
/// What each packet changes is stored together; the number of packets on the line follows from the
/// other counts.
#[derive(Clone, Debug)]
pub(crate) struct Accounting<P> {
    pub(crate) entered: Tally,
    pub(crate) waiting: Tally,
    pub(crate) delivered: Tally,
    /// Whether there are dropped packets to be taken.
    untaken: bool,
    drops: Box<DropAccounting<P>>,
}

/// Drops and marks, which most packets do not touch.
#[derive(Clone, Debug)]
struct DropAccounting<P> {
    dropped: Drops,
    /// How many of the dropped packets had been served.
    dropped_after_service: u64,
    marked: Tally,
    /// Dropped packets that were not taken yet, if they are kept.
    kept: Option<VecDeque<(P, DropReason)>>,
}

impl<P> Accounting<P> {
    pub(crate) fn new() -> Self {
        let none = Tally::default();
        let drops = DropAccounting {
            dropped: Drops::default(),
            dropped_after_service: 0,
            marked: none,
            kept: None,
        };
        let drops = Box::new(drops);
        Self { entered: none, waiting: none, delivered: none, untaken: false, drops }
    }

    pub(crate) fn counters(&self, sojourn_ns: u64) -> Counters {
        let &Self { entered, waiting, delivered, .. } = self;
        let DropAccounting { dropped, dropped_after_service, marked, .. } = *self.drops;
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
        self.drops.kept.get_or_insert_default();
    }

    #[inline]
    pub(crate) fn take_dropped(&mut self) -> Option<(P, DropReason)> {
        if !self.untaken {
            return None;
        }
        let kept = self.drops.kept.as_mut()?;
        let taken = kept.pop_front();
        self.untaken = !kept.is_empty();
        taken
    }

    /// Counts a packet as dropped that is no longer counted anywhere else; returns the reason.
    pub(crate) fn drop(&mut self, reason: DropReason, bytes: u32, packet: P) -> DropReason {
        self.drops.dropped.add(reason, bytes);
        if let Some(kept) = &mut self.drops.kept {
            kept.push_back((packet, reason));
            self.untaken = true;
        }
        reason
    }

    /// The same for a packet that has been served.
    pub(crate) fn drop_served(&mut self, reason: DropReason, bytes: u32, packet: P) {
        self.drops.dropped_after_service += 1;
        self.drop(reason, bytes, packet);
    }

    /// Moves a packet from those that wait to those dropped; returns the reason.
    pub(crate) fn drop_waiting(&mut self, reason: DropReason, item: Item<P>) -> DropReason {
        self.waiting.take(item.bytes);
        self.drop(reason, item.bytes, item.packet)
    }
}

impl<P: Packet> Accounting<P> {
    /// Sets the CE mark of a packet if ECN is in use and the packet can bear it, and counts it.
    pub(crate) fn mark(&mut self, item: &mut Item<P>, ecn: bool) -> bool {
        let marked = ecn && item.packet.mark_ce();
        if marked {
            self.drops.marked.put(item.bytes);
        }
        marked
    }
}
