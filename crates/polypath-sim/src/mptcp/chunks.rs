//! Data that was sent and is not acknowledged.

use polypath_units::{PathId, PathSet, Timestamp};
use std::collections::{BTreeMap, VecDeque};

/// A stretch of the data sequence, as it was sent first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    /// Data sequence number of its first byte.
    pub(super) dsn: u64,
    /// Bytes.
    pub(super) len: u32,
    /// Subflows that carry it.
    pub(super) sent_on: PathSet,
    /// Where and when it was sent last; `None` if it was left behind by what was sent ahead of it.
    pub(super) last_sent: Option<(PathId, Timestamp)>,
}

impl Chunk {
    /// Whether it was never sent.
    pub(super) const fn is_new(&self) -> bool {
        self.last_sent.is_none()
    }

    fn end(&self) -> u64 {
        self.dsn + u64::from(self.len)
    }
}

/// Chunks in the order of the data sequence, without gaps, from the first that is not
/// acknowledged.
#[derive(Debug)]
pub(super) struct Chunks {
    chunks: VecDeque<Chunk>,
    una: u64,
    next: u64,
    /// Those that must travel again, or were left behind, by number: their bytes.
    again: BTreeMap<u64, u32>,
    /// Bytes of all of those.
    waiting: u64,
    /// Bytes left behind.
    reserved: u64,
}

impl Chunks {
    /// None; the data sequence begins at `first`.
    pub(super) fn new(first: u64) -> Self {
        Self {
            chunks: VecDeque::new(),
            una: first,
            next: first,
            again: BTreeMap::new(),
            waiting: 0,
            reserved: 0,
        }
    }

    /// The first number that is not acknowledged.
    pub(super) const fn una(&self) -> u64 {
        self.una
    }

    /// The number of the next new byte.
    pub(super) const fn next(&self) -> u64 {
        self.next
    }

    /// Bytes sent and not acknowledged.
    pub(super) const fn outstanding(&self) -> u64 {
        (self.next - self.una).saturating_sub(self.reserved)
    }

    /// Bytes that were left behind by what was sent ahead of them.
    pub(super) const fn reserved(&self) -> u64 {
        self.reserved
    }

    /// Bytes that must travel again.
    pub(super) const fn to_reinject(&self) -> u64 {
        self.waiting - self.reserved
    }

    /// New data was sent.
    pub(super) fn push(&mut self, len: u32, path: PathId, now: Timestamp) {
        self.append(len, PathSet::only(path), Some((path, now)));
    }

    /// New data is left behind, to be sent later.
    pub(super) fn reserve(&mut self, len: u32) {
        self.again.insert(self.next, len);
        self.waiting += u64::from(len);
        self.reserved += u64::from(len);
        self.append(len, PathSet::EMPTY, None);
    }

    fn append(&mut self, len: u32, sent_on: PathSet, last_sent: Option<(PathId, Timestamp)>) {
        self.chunks.push_back(Chunk { dsn: self.next, len, sent_on, last_sent });
        self.next += u64::from(len);
    }

    /// The newest chunk has so many bytes more: they joined the segment that carries it.
    pub(super) fn lengthen_last(&mut self, len: u32) {
        if let Some(last) = self.chunks.back_mut() {
            last.len += len;
            self.next += u64::from(len);
        }
    }

    /// The first chunk with at least `skip` bytes left behind before it, itself left behind; or
    /// how many bytes more would have to be.
    pub(super) fn reserved_after(&self, skip: u64) -> Result<Chunk, u64> {
        let mut left = skip;
        for chunk in self.again.keys().filter_map(|&dsn| self.at(dsn)).filter(Chunk::is_new) {
            if left == 0 {
                return Ok(chunk);
            }
            left = left.saturating_sub(chunk.len.into());
        }
        Err(left)
    }

    /// A chunk was sent again, or one that was left behind for the first time.
    pub(super) fn on_sent_again(&mut self, dsn: u64, path: PathId, now: Timestamp) {
        self.waiting -= self.again.remove(&dsn).map_or(0, u64::from);
        let Some(chunk) = self.get_mut(dsn) else { return };
        let first = if chunk.is_new() { chunk.len } else { 0 };
        chunk.sent_on = chunk.sent_on.with(path);
        chunk.last_sent = Some((path, now));
        self.reserved -= u64::from(first);
    }

    /// The peer has everything below `dsn`. Returns whether that is news.
    pub(super) fn on_ack(&mut self, dsn: u64) -> bool {
        if dsn <= self.una || dsn > self.next {
            return false;
        }
        self.una = dsn;
        while self.chunks.front().is_some_and(|chunk| chunk.end() <= dsn) {
            let chunk = self.chunks.pop_front();
            self.reserved -= chunk.filter(Chunk::is_new).map_or(0, |chunk| chunk.len.into());
        }
        let front = self.front_dsn();
        while let Some(first) = self.again.first_entry().filter(|first| *first.key() < front) {
            self.waiting -= u64::from(first.remove());
        }
        true
    }

    fn front_dsn(&self) -> u64 {
        self.chunks.front().map_or(self.next, |chunk| chunk.dsn)
    }

    /// What `path` carried last must travel again: it has failed, or timed out.
    pub(super) fn reinject(&mut self, path: PathId) {
        for chunk in &mut self.chunks {
            chunk.sent_on = chunk.sent_on.without(path);
            if chunk.last_sent.is_some_and(|(last, _)| last == path) {
                self.waiting += u64::from(chunk.len);
                self.waiting -= self.again.insert(chunk.dsn, chunk.len).map_or(0, u64::from);
            }
        }
    }

    /// The oldest chunk that must travel again, or was left behind.
    pub(super) fn next_again(&self) -> Option<Chunk> {
        self.again.keys().next().and_then(|&dsn| self.at(dsn))
    }

    /// The oldest chunk.
    pub(super) fn oldest(&self) -> Option<Chunk> {
        self.chunks.front().copied()
    }

    /// Forgets which subflows carry a chunk, when all that could take it do.
    pub(super) fn clear_mask(&mut self, dsn: u64) {
        if let Some(chunk) = self.get_mut(dsn) {
            chunk.sent_on = PathSet::EMPTY;
        }
    }

    fn index(&self, dsn: u64) -> Option<usize> {
        self.chunks.binary_search_by_key(&dsn, |chunk| chunk.dsn).ok()
    }

    /// The chunk that begins at `dsn`.
    pub(super) fn at(&self, dsn: u64) -> Option<Chunk> {
        self.index(dsn).map(|index| self.chunks[index])
    }

    fn get_mut(&mut self, dsn: u64) -> Option<&mut Chunk> {
        self.index(dsn).map(|index| &mut self.chunks[index])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(number: u8) -> PathId {
        PathId::new(number).unwrap()
    }

    #[test]
    fn what_a_failed_subflow_carries_travels_again_until_it_is_acknowledged() {
        let mut chunks = Chunks::new(1);
        for (n, at) in [(0, 0), (1, 1), (0, 2)] {
            chunks.push(100, path(n), Timestamp::from_millis(at));
        }
        assert_eq!((chunks.una(), chunks.next(), chunks.outstanding()), (1, 301, 300));
        chunks.reinject(path(0));
        assert_eq!(chunks.to_reinject(), 200);
        assert_eq!(chunks.next_again().map(|chunk| (chunk.dsn, chunk.len)), Some((1, 100)));
        chunks.on_sent_again(1, path(1), Timestamp::from_millis(3));
        assert_eq!(chunks.next_again().map(|chunk| chunk.dsn), Some(201));
        assert_eq!(chunks.to_reinject(), 100);
        assert!(chunks.on_ack(150) && !chunks.on_ack(150) && !chunks.on_ack(400));
        assert_eq!(chunks.oldest().map(|chunk| chunk.dsn), Some(101));
        assert!(chunks.on_ack(301));
        assert!(chunks.next_again().is_none() && chunks.oldest().is_none());
        assert_eq!(chunks.to_reinject(), 0);
    }

    #[test]
    fn what_is_left_behind_waits_to_be_sent_for_the_first_time() {
        let mut chunks = Chunks::new(0);
        chunks.reserve(100);
        chunks.reserve(100);
        chunks.push(100, path(1), Timestamp::ZERO);
        assert_eq!((chunks.next(), chunks.outstanding(), chunks.reserved()), (300, 100, 200));
        assert_eq!(chunks.reserved_after(1).map(|chunk| chunk.dsn), Ok(100));
        assert_eq!(chunks.reserved_after(350).map(|chunk| chunk.dsn), Err(150));
        chunks.reinject(path(0));
        let first = chunks.next_again().unwrap();
        assert!(first.dsn == 0 && first.is_new());
        chunks.on_sent_again(0, path(0), Timestamp::ZERO);
        assert_eq!((chunks.outstanding(), chunks.reserved()), (200, 100));
        assert_eq!(chunks.to_reinject(), 0);
        // A peer that acknowledges what was never sent gets no more of it.
        assert!(chunks.on_ack(300));
        assert_eq!((chunks.outstanding(), chunks.reserved()), (0, 0));
    }
}
