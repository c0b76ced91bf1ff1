//! The heap under the agenda.

use super::SourceId;
use polypath_units::Timestamp;

/// Children of a node. Four of 16 bytes are one cache line, the unit in which memory is read: a
/// level of the heap costs one miss.
const ARITY: usize = 4;
/// Bits of a source in [`Entry::key`].
const SOURCE_BITS: u32 = 24;

/// When a source is due. Entries are in order of time, of one time in order of `sequence`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub(super) at: Timestamp,
    /// The sequence number above, the source below.
    key: u64,
}

impl Entry {
    /// How many sources there may be.
    pub(super) const MAX_SOURCES: usize = 1 << SOURCE_BITS;
    /// The largest sequence number.
    pub(super) const MAX_SEQUENCE: u64 = (1 << (64 - SOURCE_BITS)) - 2;
    /// After all others.
    const NONE: Self = Self { at: Timestamp::MAX, key: u64::MAX };

    pub(super) const fn new(at: Timestamp, sequence: u64, source: SourceId) -> Self {
        Self { at, key: sequence << SOURCE_BITS | source.0 as u64 }
    }

    pub(super) const fn source(self) -> SourceId {
        SourceId((self.key & (Self::MAX_SOURCES as u64 - 1)) as u32)
    }

    pub(super) const fn sequence(self) -> u64 {
        self.key >> SOURCE_BITS
    }
}

/// The children of a node; [`Entry::NONE`] where there is none.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Siblings([Entry; ARITY]);

impl Siblings {
    /// The place of the least, without branches that nobody can predict.
    fn least(&self) -> usize {
        let Self([a, b, c, d]) = self;
        let (left, right) = (usize::from(b < a), 2 + usize::from(d < c));
        if self.0[right] < self.0[left] { right } else { left }
    }
}

/// A heap with the least entry at the top. Node 0 is the root, and the children of node `n` are the
/// nodes `4 n + 1` to `4 n + 4`, which stand in `below[n]`.
#[derive(Clone, Debug)]
pub(super) struct Heap {
    root: Entry,
    below: Vec<Siblings>,
    len: usize,
}

impl Heap {
    pub(super) const fn new() -> Self {
        Self { root: Entry::NONE, below: Vec::new(), len: 0 }
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) fn top(&self) -> Option<Entry> {
        (self.len > 0).then_some(self.root)
    }

    pub(super) fn push(&mut self, entry: Entry) {
        let node = self.len;
        if node % ARITY == 1 {
            self.below.push(Siblings([Entry::NONE; ARITY]));
        }
        self.len += 1;
        self.sift_up(node, entry);
    }

    /// Puts `entry` in the place of the top.
    pub(super) fn replace_top(&mut self, entry: Entry) {
        self.sift_down(entry);
    }

    pub(super) fn pop(&mut self) -> Option<Entry> {
        let top = self.top()?;
        self.len -= 1;
        let last = self.get(self.len);
        self.set(self.len, Entry::NONE);
        if self.len % ARITY == 1 {
            self.below.pop();
        }
        if self.len > 0 {
            self.sift_down(last);
        }
        Some(top)
    }

    fn get(&self, node: usize) -> Entry {
        match node.checked_sub(1) {
            None => self.root,
            Some(child) => self.below[child / ARITY].0[child % ARITY],
        }
    }

    fn set(&mut self, node: usize, entry: Entry) {
        match node.checked_sub(1) {
            None => self.root = entry,
            Some(child) => self.below[child / ARITY].0[child % ARITY] = entry,
        }
    }

    fn sift_up(&mut self, mut node: usize, entry: Entry) {
        while node > 0 {
            let parent = (node - 1) / ARITY;
            let above = self.get(parent);
            if above <= entry {
                break;
            }
            self.set(node, above);
            node = parent;
        }
        self.set(node, entry);
    }

    /// Finds the place of `entry`, from the root on.
    fn sift_down(&mut self, entry: Entry) {
        let mut node = 0;
        while let Some(children) = self.below.get(node) {
            let place = children.least();
            let least = children.0[place];
            if least >= entry {
                break;
            }
            self.set(node, least);
            node = node * ARITY + 1 + place;
        }
        self.set(node, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn entries_are_a_quarter_of_a_cache_line() {
        assert_eq!(size_of::<Siblings>(), 64);
        let last = Entry::new(Timestamp::MAX, Entry::MAX_SEQUENCE, SourceId((1 << 24) - 1));
        assert!(last < Entry::NONE);
        assert_eq!((last.sequence(), last.source().0), (Entry::MAX_SEQUENCE, (1 << 24) - 1));
    }

    proptest! {
        /// `Some`: push at that time; `None`: pop, or every third time replace the top.
        #[test]
        fn the_top_is_the_least(steps in prop::collection::vec(prop::option::of(0..50_u64), 0..300)) {
            let (mut heap, mut model) = (Heap::new(), BTreeSet::new());
            for (sequence, step) in (1..).zip(steps) {
                let entry = |at| Entry::new(Timestamp::from_millis(at), sequence, SourceId(7));
                match step {
                    Some(at) => {
                        heap.push(entry(at));
                        model.insert(entry(at));
                    }
                    None if sequence % 3 == 0 && !model.is_empty() => {
                        let later = entry(sequence % 50);
                        heap.replace_top(later);
                        model.pop_first();
                        model.insert(later);
                    }
                    None => prop_assert_eq!(heap.pop(), model.pop_first()),
                }
                prop_assert_eq!((heap.top(), heap.len()), (model.first().copied(), model.len()));
            }
        }
    }
}
