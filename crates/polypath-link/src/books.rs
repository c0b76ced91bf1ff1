//! The books of a link, and the packets that it dropped.

use crate::counters::{Counters, DropReason};
use crate::queue::Item;
use core::ops::{Deref, DerefMut};
use std::collections::VecDeque;

/// [`Counters`], and dropped packets for those who want them back.
#[derive(Clone, Debug)]
pub(crate) struct Books<P> {
    counters: Counters,
    /// Dropped packets that were not taken yet, if they are kept.
    dropped: Option<VecDeque<(P, DropReason)>>,
}

impl<P> Books<P> {
    pub(crate) fn new() -> Self {
        Self { counters: Counters::default(), dropped: None }
    }

    pub(crate) fn keep_dropped(&mut self) {
        self.dropped.get_or_insert_default();
    }

    pub(crate) fn take_dropped(&mut self) -> Option<(P, DropReason)> {
        self.dropped.as_mut()?.pop_front()
    }

    /// Enters a packet that is no longer counted anywhere else as dropped; gives back the reason.
    pub(crate) fn drop(&mut self, reason: DropReason, bytes: u32, packet: P) -> DropReason {
        self.counters.dropped.add(reason, bytes);
        if let Some(dropped) = &mut self.dropped {
            dropped.push_back((packet, reason));
        }
        reason
    }

    /// Moves a packet from those that wait to those dropped; gives back the reason.
    pub(crate) fn drop_waiting(&mut self, reason: DropReason, item: Item<P>) -> DropReason {
        self.counters.waiting.take(item.bytes);
        self.drop(reason, item.bytes, item.packet)
    }
}

impl<P> Deref for Books<P> {
    type Target = Counters;
    fn deref(&self) -> &Counters {
        &self.counters
    }
}

impl<P> DerefMut for Books<P> {
    fn deref_mut(&mut self) -> &mut Counters {
        &mut self.counters
    }
}
