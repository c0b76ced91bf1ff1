//! What must be sent again, and what is next of it.

use super::{ChunkRef, Chunks, SegmentInfo, info};
use polypath_units::{PathId, PathSet, Timestamp};
use std::time::Duration;

impl Chunks {
    /// A copy is lost, or its path failed: what no other path carries is queued to be sent again.
    pub(crate) fn on_lost(&mut self, lost: ChunkRef, path: PathId) {
        let mut orphans = Vec::new();
        self.for_each(&lost.range(), |chunk| {
            chunk.sent_on = chunk.sent_on.without(path);
            if chunk.sent_on.is_empty() && chunk.hinted.is_none() {
                orphans.push((chunk.dsn, chunk.len));
            }
        });
        orphans.into_iter().for_each(|(dsn, len)| self.reinject.insert(dsn, len));
    }

    /// A path failed or is gone, with whatever its carrier still held: what no other path carries
    /// is queued to be sent again.
    pub(crate) fn on_path_gone(&mut self, path: PathId) {
        self.newest_acked.remove(&path);
        for chunk in self.chunks.iter_mut().filter(|c| !c.is_acked() && c.sent_on.contains(path)) {
            chunk.sent_on = chunk.sent_on.without(path);
            if chunk.sent_on.is_empty() && chunk.hinted.is_none() {
                self.reinject.insert(chunk.dsn, chunk.len);
            }
        }
    }

    /// Queues again, of the oldest `limit` chunks, what a path was given last and has not
    /// delivered, though what it was given later by more than `reordering` has been acknowledged:
    /// RFC 8985 with the peer's acknowledgements of data in place of the path's own, which may be
    /// lost.
    pub(crate) fn reinject_overtaken(
        &mut self,
        limit: usize,
        reordering: impl Fn(PathId) -> Duration,
    ) {
        for chunk in self.chunks.iter_mut().take(limit) {
            let Some((path, sent)) = chunk.last_sent.filter(|_| !chunk.is_acked()) else {
                continue;
            };
            let newest = self.newest_acked.get(&path);
            let is_overtaken = newest.is_some_and(|&newest| sent + reordering(path) < newest);
            if is_overtaken && chunk.sent_on == PathSet::only(path) {
                chunk.sent_on = PathSet::EMPTY;
                self.reinject.insert(chunk.dsn, chunk.len);
            }
        }
    }

    /// Queues again what a hint said has arrived until `before`, of the oldest `limit` chunks: it
    /// would have been acknowledged by now.
    pub(crate) fn reinject_hinted(&mut self, before: Timestamp, limit: usize) {
        for chunk in self.chunks.iter_mut().take(limit).filter(|chunk| !chunk.is_acked()) {
            if chunk.hinted.is_some_and(|at| at <= before) {
                chunk.hinted = None;
                self.reinject.insert(chunk.dsn, chunk.len);
            }
        }
    }

    /// DSN space that is queued to be sent again, without what was left behind. A chunk of that
    /// which has been taken, and is handed to a carrier before long, still counts as left behind:
    /// less by it.
    pub(crate) fn to_reinject(&self) -> u64 {
        self.reinject.space().saturating_sub(self.reserved)
    }

    /// The lowest DSN that is queued to be sent again.
    pub(crate) fn next_reinjection(&self) -> Option<SegmentInfo> {
        let dsn = self.reinject.first()?;
        self.chunks.get(self.index_of(dsn)).map(info)
    }

    /// Takes the lowest queued chunk off the queue, cut to at most `max` bytes of DSN space.
    pub(crate) fn take_reinjection(&mut self, max: u64) -> Option<SegmentInfo> {
        let dsn = self.reinject.first()?;
        self.split_if_longer(dsn, max);
        self.reinject.remove(dsn);
        self.chunks.get(self.index_of(dsn)).map(info)
    }
}
