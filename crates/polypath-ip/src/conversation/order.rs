//! Which conversations were silent for longest.

use super::idle::IdleClass;

/// The slots of a table in one list for each class, those first that were used least recently.
/// Everything but to grow takes constant time.
#[derive(Debug)]
pub(super) struct Order {
    /// The lists are rings. The first links are their heads, one for each class; those of the slots
    /// follow.
    links: Vec<Link>,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    before: u32,
    after: u32,
}

impl Link {
    const fn alone(at: u32) -> Self {
        Self { before: at, after: at }
    }
}

impl Order {
    const HEADS: u32 = IdleClass::ALL.len() as u32;

    pub(super) fn new() -> Self {
        Self { links: (0..Self::HEADS).map(Link::alone).collect() }
    }

    /// Puts a slot that is in no list last into that of its class.
    pub(super) fn push(&mut self, class: IdleClass, slot: u32) {
        let (head, at) = (class as u32, slot + Self::HEADS);
        self.links.extend((self.links.len() as u32..=at).map(Link::alone));
        let last = self.links[head as usize].before;
        self.links[at as usize] = Link { before: last, after: head };
        self.links[last as usize].after = at;
        self.links[head as usize].before = at;
    }

    /// Takes a slot out of its list, if it is in one.
    pub(super) fn remove(&mut self, slot: u32) {
        let at = slot + Self::HEADS;
        let Link { before, after } = self.links[at as usize];
        self.links[before as usize].after = after;
        self.links[after as usize].before = before;
        self.links[at as usize] = Link::alone(at);
    }

    /// The slot of a class that was used least recently.
    pub(super) fn first(&self, class: IdleClass) -> Option<u32> {
        self.links[class as usize].after.checked_sub(Self::HEADS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    const CLASSES: [IdleClass; 2] = [IdleClass::TcpOpening, IdleClass::Other];

    proptest! {
        #[test]
        fn lists_are_queues(steps in prop::collection::vec((0_u32..8, 0_usize..3), 0..60)) {
            let mut order = Order::new();
            let mut model: [VecDeque<u32>; 2] = Default::default();
            for (slot, list) in steps {
                let is_known = model.iter().any(|queue| queue.contains(&slot));
                model.iter_mut().for_each(|queue| queue.retain(|other| *other != slot));
                if is_known {
                    order.remove(slot);
                }
                if let Some(class) = CLASSES.get(list) {
                    order.push(*class, slot);
                    model[list].push_back(slot);
                }
                for (class, queue) in CLASSES.into_iter().zip(&model) {
                    prop_assert_eq!(order.first(class), queue.front().copied());
                }
            }
        }
    }
}
