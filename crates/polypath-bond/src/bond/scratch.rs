//! Vectors that are kept so that filling them anew for each packet needs no allocation.

use crate::send::SegmentInfo;
use polypath_core::failure::PathHealth;
use std::ops::Range;

/// A vector whose content is of no use after the call that filled it.
#[derive(Debug)]
pub(super) struct Reused<T>(Vec<T>);

impl<T> Default for Reused<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Reused<T> {
    /// The empty vector, to be given back with [`Self::put_back`].
    pub(super) fn take(&mut self) -> Vec<T> {
        std::mem::take(&mut self.0)
    }

    pub(super) fn put_back(&mut self, mut used: Vec<T>) {
        used.clear();
        self.0 = used;
    }

    /// These items as a slice.
    pub(super) fn fill(&mut self, items: impl Iterator<Item = T>) -> &[T] {
        self.0.clear();
        self.0.extend(items);
        &self.0
    }
}

/// The vectors of a bond.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// What the failure detector is shown of each path.
    pub(super) health: Reused<PathHealth>,
    /// The segments of a datagram that is being built.
    pub(super) segments: Reused<SegmentInfo>,
    /// The parts of an arrived segment that are new.
    pub(super) new_ranges: Reused<Range<u64>>,
}
