//! Packets in the order of their arrival.

use crate::item::Item;
use std::collections::VecDeque;

/// A first-in, first-out queue that knows its size.
#[derive(Clone, Debug)]
pub(super) struct Fifo<P> {
    items: VecDeque<Item<P>>,
    bytes: u64,
}

impl<P> Fifo<P> {
    pub(super) fn new() -> Self {
        Self { items: VecDeque::new(), bytes: 0 }
    }

    #[inline]
    pub(super) fn push(&mut self, item: Item<P>) {
        self.bytes += u64::from(item.bytes);
        self.items.push_back(item);
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Item<P>> {
        let item = self.items.pop_front()?;
        self.bytes -= u64::from(item.bytes);
        Some(item)
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}
