//! Which chunks wait to be sent, or sent again, and how much DSN space they are.

use std::collections::BTreeMap;

/// Chunks by DSN, with their lengths.
#[derive(Debug, Default)]
pub(super) struct Queue {
    chunks: BTreeMap<u64, u64>,
    space: u64,
}

impl Queue {
    /// DSN space of all chunks.
    pub(super) fn space(&self) -> u64 {
        self.space
    }

    /// The lowest DSN.
    pub(super) fn first(&self) -> Option<u64> {
        self.chunks.keys().next().copied()
    }

    pub(super) fn insert(&mut self, dsn: u64, len: u64) {
        self.space += len;
        self.space -= self.chunks.insert(dsn, len).unwrap_or(0);
    }

    pub(super) fn remove(&mut self, dsn: u64) {
        self.space -= self.chunks.remove(&dsn).unwrap_or(0);
    }

    /// The chunk at `dsn`, if it waits, is two from now on: the second begins at `at`.
    pub(super) fn split(&mut self, dsn: u64, at: u64) {
        if let Some(len) = self.chunks.get_mut(&dsn) {
            let head = at - dsn;
            let tail = *len - head;
            *len = head;
            self.chunks.insert(at, tail);
        }
    }
}

#[cfg(test)]
impl Queue {
    pub(super) fn dsns(&self) -> Vec<u64> {
        self.chunks.keys().copied().collect()
    }
}
