//! The DSN space: what was sent, where, and what must be sent again.

mod acks;
mod again;
mod ahead;
mod queue;

use self::queue::Queue;
use super::stream::Piece;
use crate::codec::StreamId;
use crate::ranges::RangeSet;
use bytes::Bytes;
use polypath_units::{PathId, PathSet, Timestamp};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// The DSN range that one datagram carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkRef {
    pub(crate) dsn: u64,
    pub(crate) len: u64,
}

impl ChunkRef {
    fn range(self) -> Range<u64> {
        self.dsn..self.dsn + self.len
    }
}

/// What a chunk's DSN range stands for.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// Bytes of a stream, and its end mark (one DSN) if `fin`.
    Data { id: StreamId, offset: u64, data: Bytes, fin: bool },
    /// Bytes that will never be sent: their stream was reset.
    Skip,
    /// Acknowledged; nothing is held any more.
    Acked,
}

/// A contiguous DSN range that was sent in one datagram.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    dsn: u64,
    len: u64,
    content: Content,
    /// Paths with a copy that is neither acknowledged nor lost.
    sent_on: PathSet,
    /// When and where it was sent last.
    last_sent: Option<(PathId, Timestamp)>,
    /// How often it was sent, up to the most that can be counted.
    times_sent: u8,
    /// Whether it was left behind by what was sent ahead of it, and is still to be sent.
    reserved: bool,
    /// When QUIC acknowledged a copy of it: only a hint.
    hinted: Option<Timestamp>,
}

impl Chunk {
    fn end(&self) -> u64 {
        self.dsn + self.len
    }

    fn is_acked(&self) -> bool {
        matches!(self.content, Content::Acked)
    }

    /// It is reserved no longer: how much DSN space that was.
    fn take_reserved(&mut self) -> u64 {
        if std::mem::take(&mut self.reserved) { self.len } else { 0 }
    }

    fn split_off(&mut self, at: u64) -> Self {
        let mut tail = self.clone();
        let head_len = at - self.dsn;
        tail.dsn = at;
        tail.len = self.len - head_len;
        self.len = head_len;
        if let (Content::Data { data: head, fin, .. }, Content::Data { data: rest, offset, .. }) =
            (&mut self.content, &mut tail.content)
        {
            *rest = head.split_off(head_len as usize);
            *offset += head_len;
            *fin = false;
        }
        tail
    }
}

/// A segment ready to be built: a chunk to send (again).
#[derive(Clone, Debug)]
pub(crate) struct SegmentInfo {
    pub(crate) dsn: u64,
    pub(crate) len: u64,
    pub(crate) content: Content,
    pub(crate) sent_on: PathSet,
    /// Whether it was never sent.
    pub(crate) is_new: bool,
}

/// The oldest byte that is not acknowledged: when and where it was sent last, and which paths carry
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Oldest {
    pub(crate) dsn: u64,
    pub(crate) sent_on: PathSet,
    pub(crate) last_sent: Option<(PathId, Timestamp)>,
    pub(crate) hinted: Option<Timestamp>,
}

/// An unacknowledged chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentChunk {
    pub(crate) sent_on: PathSet,
    pub(crate) last_sent: Option<(PathId, Timestamp)>,
    pub(crate) is_oldest: bool,
}

/// Everything between the oldest unacknowledged DSN and the next to be given.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    chunks: VecDeque<Chunk>,
    next_dsn: u64,
    /// Acknowledged ranges at or above the oldest chunk.
    acked: RangeSet,
    unacked: u64,
    /// Chunks to be sent again, and those left behind by what was sent ahead of them.
    reinject: Queue,
    /// DSN space of those left behind.
    reserved: u64,
    /// Of what each path was the only one to carry and the peer has acknowledged: when the newest
    /// was sent.
    newest_acked: BTreeMap<PathId, Timestamp>,
}

impl Chunks {
    pub(crate) fn next_dsn(&self) -> u64 {
        self.next_dsn
    }

    /// The oldest unacknowledged DSN.
    pub(crate) fn una(&self) -> u64 {
        self.chunks.front().map_or(self.next_dsn, |chunk| chunk.dsn)
    }

    /// DSN space that was given and is not acknowledged.
    pub(crate) fn unacked(&self) -> u64 {
        self.unacked
    }

    pub(crate) fn oldest(&self) -> Option<Oldest> {
        let &Chunk { dsn, sent_on, last_sent, hinted, .. } = self.chunks.front()?;
        Some(Oldest { dsn, sent_on, last_sent, hinted })
    }

    /// Gives the next DSNs to a piece of a stream.
    pub(crate) fn append(&mut self, id: StreamId, piece: Piece) -> SegmentInfo {
        let Piece { offset, data, fin } = piece;
        let len = data.len() as u64 + u64::from(fin);
        let chunk = Chunk {
            dsn: self.next_dsn,
            len,
            content: Content::Data { id, offset, data, fin },
            sent_on: PathSet::EMPTY,
            last_sent: None,
            times_sent: 0,
            reserved: false,
            hinted: None,
        };
        self.next_dsn += len;
        self.unacked += len;
        let info = info(&chunk);
        self.chunks.push_back(chunk);
        info
    }

    /// Index of the first chunk that ends above `dsn`. Most often that is the newest, just sent, or
    /// the oldest, just acknowledged: both are cheaper to look at than to search for.
    fn index_of(&self, dsn: u64) -> usize {
        match (self.chunks.front(), self.chunks.back()) {
            (Some(first), _) if dsn < first.end() => 0,
            (_, Some(last)) if last.dsn <= dsn && dsn < last.end() => self.chunks.len() - 1,
            _ => self.chunks.partition_point(|chunk| chunk.end() <= dsn),
        }
    }

    /// Applies `change` to every unacknowledged chunk that overlaps `range`.
    fn for_each(&mut self, range: &Range<u64>, mut change: impl FnMut(&mut Chunk)) {
        let first = self.index_of(range.start);
        for chunk in self.chunks.range_mut(first..) {
            if chunk.dsn >= range.end {
                return;
            }
            if !chunk.is_acked() {
                change(chunk);
            }
        }
    }

    /// Cuts the chunk that contains `at` in two there.
    fn split_at(&mut self, at: u64) {
        let index = self.index_of(at);
        let Some(chunk) = self.chunks.get_mut(index) else { return };
        if chunk.dsn >= at {
            return;
        }
        self.reinject.split(chunk.dsn, at);
        let tail = chunk.split_off(at);
        self.chunks.insert(index + 1, tail);
    }

    pub(crate) fn on_sent(&mut self, chunk: ChunkRef, path: PathId, now: Timestamp) {
        let mut reserved = 0;
        self.for_each(&chunk.range(), |chunk| {
            chunk.sent_on = chunk.sent_on.with(path);
            chunk.last_sent = Some((path, now));
            chunk.times_sent = chunk.times_sent.saturating_add(1);
            chunk.hinted = None;
            reserved += chunk.take_reserved();
        });
        if reserved > 0 {
            self.reserved -= reserved;
            self.reinject.remove(chunk.dsn);
        }
    }

    /// QUIC acknowledged a copy: it will most likely be acknowledged here soon.
    pub(crate) fn on_hint(&mut self, chunk: ChunkRef, path: PathId, now: Timestamp) {
        self.for_each(&chunk.range(), |chunk| {
            chunk.sent_on = chunk.sent_on.without(path);
            chunk.hinted = Some(now);
        });
    }

    /// The chunk at `dsn`, if it is not acknowledged.
    pub(crate) fn unacked_at(&self, dsn: u64) -> Option<SegmentInfo> {
        let chunk = self.chunks.get(self.index_of(dsn))?;
        (!chunk.is_acked()).then(|| info(chunk))
    }

    /// The same, cut to at most `max`, to send a further copy of it.
    pub(crate) fn copy_of(&mut self, dsn: u64, max: u64) -> Option<SegmentInfo> {
        self.split_if_longer(dsn, max);
        self.unacked_at(dsn)
    }

    /// Content that is not stream data may be of any length.
    fn split_if_longer(&mut self, dsn: u64, max: u64) {
        let index = self.index_of(dsn);
        let longer = self
            .chunks
            .get(index)
            .is_some_and(|chunk| matches!(chunk.content, Content::Data { .. }) && chunk.len > max);
        if longer {
            self.split_at(dsn + max);
        }
    }

    /// The first chunk, of the oldest `limit`, of which `due` says that a copy is wanted by now;
    /// or when one will be.
    pub(crate) fn find_late(
        &self,
        limit: usize,
        now: Timestamp,
        due: impl Fn(&SentChunk) -> Option<Timestamp>,
    ) -> Result<u64, Timestamp> {
        let pending =
            self.chunks.iter().take(limit).filter(|c| !c.is_acked() && c.hinted.is_none());
        let mut later = Timestamp::MAX;
        for (i, chunk) in pending.enumerate() {
            let Chunk { sent_on, last_sent, .. } = *chunk;
            match due(&SentChunk { sent_on, last_sent, is_oldest: i == 0 }) {
                Some(at) if at <= now => return Ok(chunk.dsn),
                Some(at) => later = later.min(at),
                None => {}
            }
        }
        Err(later)
    }

    /// Whether a path carries the chunk at `dsn`.
    pub(crate) fn is_on(&self, dsn: u64, path: PathId) -> bool {
        let chunk = self.chunks.get(self.index_of(dsn));
        chunk.is_some_and(|chunk| chunk.sent_on.contains(path))
    }

    /// Turns everything unacknowledged of a reset stream into skips, to be sent at once. Returns
    /// how many data bytes were held.
    pub(crate) fn abandon(&mut self, stream: StreamId) -> u64 {
        let mut held = 0;
        for chunk in &mut self.chunks {
            match &chunk.content {
                Content::Data { id, data, .. } if *id == stream => held += data.len() as u64,
                _ => continue,
            }
            chunk.content = Content::Skip;
            self.reserved -= chunk.take_reserved();
            self.reinject.insert(chunk.dsn, chunk.len);
        }
        held
    }
}

fn info(chunk: &Chunk) -> SegmentInfo {
    SegmentInfo {
        dsn: chunk.dsn,
        len: chunk.len,
        content: chunk.content.clone(),
        sent_on: chunk.sent_on,
        is_new: chunk.times_sent == 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Side;
    use crate::error::ProtocolError;
    use std::time::Duration;

    const NOW: Timestamp = Timestamp::ZERO;

    fn stream() -> StreamId {
        StreamId::new(Side::Edge, 0)
    }

    fn path(n: u8) -> PathId {
        PathId::new(n).unwrap()
    }

    fn chunks(lens: &[usize]) -> Chunks {
        let mut chunks = Chunks::default();
        let mut offset = 0;
        for &len in lens {
            let data = Bytes::from(vec![7; len]);
            let sent = chunks.append(stream(), Piece { offset, data, fin: false });
            chunks.on_sent(ChunkRef { dsn: sent.dsn, len: sent.len }, path(0), NOW);
            offset += len as u64;
        }
        chunks
    }

    #[test]
    fn acknowledgements_may_cut_chunks_anywhere() {
        let mut chunks = chunks(&[10, 10, 10]);
        let mut acked = 0;
        chunks.on_ack(4, &[6..12, 25..30], |_, bytes, _| acked += bytes).unwrap();
        assert_eq!((acked, chunks.una(), chunks.unacked()), (15, 4, 15));
        chunks.on_ack(4, &[6..12, 25..30], |_, bytes, _| acked += bytes).unwrap();
        assert_eq!(acked, 15, "a repeated acknowledgement releases nothing twice");
        chunks.on_ack(30, &[], |_, bytes, _| acked += bytes).unwrap();
        assert_eq!((acked, chunks.una(), chunks.unacked()), (30, 30, 0));
    }

    /// Ten bytes that are sent ahead of twenty.
    #[test]
    fn what_is_left_behind_waits_to_be_sent_for_the_first_time() {
        let mut chunks = chunks(&[]);
        for offset in [0, 10, 20] {
            let data = Bytes::from(vec![7; 10]);
            let dsn = chunks.append(stream(), Piece { offset, data, fin: false }).dsn;
            if offset < 20 {
                chunks.reserve(dsn);
            } else {
                chunks.on_sent(ChunkRef { dsn, len: 10 }, path(1), NOW);
            }
        }
        assert_eq!((chunks.next_dsn(), chunks.una(), chunks.reserved()), (30, 0, 20));
        assert_eq!((chunks.reserved_after(4), chunks.reserved_after(25)), (Ok(10), Err(5)));
        chunks.on_path_gone(path(0));
        assert_eq!(chunks.to_reinject(), 0);
        let first = chunks.take_reinjection(4).unwrap();
        assert!(first.is_new && first.sent_on.is_empty());
        chunks.on_sent(ChunkRef { dsn: 0, len: 4 }, path(0), NOW);
        assert_eq!((chunks.reserved(), chunks.reserved_after(6)), (16, Ok(10)));
        // Not from the head of the queue, but by its number.
        let second = chunks.copy_of(10, 100).unwrap();
        chunks.on_sent(ChunkRef { dsn: second.dsn, len: second.len }, path(1), NOW);
        assert_eq!((chunks.reserved(), chunks.next_reinjection().map(|s| s.dsn)), (6, Some(4)));
        chunks.abandon(stream());
        assert_eq!((chunks.reserved(), chunks.reserved_after(1)), (0, Err(1)));
    }

    /// Every third of 30 chunks is sent, the others are left behind.
    #[test]
    fn what_is_left_behind_is_found_from_either_end() {
        let mut chunks = chunks(&[]);
        let mut left_behind = Vec::new();
        for i in 0..30 {
            let data = Bytes::from(vec![7; 10 + i]);
            let SegmentInfo { dsn, len, .. } =
                chunks.append(stream(), Piece { offset: chunks.next_dsn(), data, fin: false });
            if i % 3 == 1 {
                chunks.on_sent(ChunkRef { dsn, len }, path(1), NOW);
            } else {
                chunks.reserve(dsn);
                left_behind.push((dsn, len));
            }
        }
        let mut before = 0_u64;
        for (dsn, len) in left_behind {
            for skip in [before, before.saturating_sub(1)] {
                let found = (chunks.seek_forwards(skip), chunks.seek_backwards(skip));
                assert_eq!(found.0, found.1, "after {skip} bytes");
            }
            assert_eq!(chunks.reserved_after(before), Ok(dsn));
            before += len;
        }
        assert_eq!(chunks.reserved_after(before), Err(0));
    }

    #[test]
    fn an_acknowledgement_of_unsent_data_is_refused() {
        let mut chunks = chunks(&[10]);
        let error = chunks.on_ack(0, std::slice::from_ref(&(5..11)), |_, _, _| ()).unwrap_err();
        assert_eq!(error, ProtocolError::AckOfUnsent { acked: 11, sent: 10 });
    }

    #[test]
    fn only_what_no_path_carries_is_sent_again() {
        let mut chunks = chunks(&[10, 10]);
        let first = ChunkRef { dsn: 0, len: 10 };
        chunks.on_sent(first, path(1), NOW);
        chunks.on_lost(first, path(0));
        assert_eq!(chunks.reinject.dsns(), []);
        chunks.on_lost(first, path(1));
        assert_eq!(chunks.to_reinject(), 10);
        let head = chunks.take_reinjection(4).unwrap();
        assert_eq!((head.dsn, head.len, chunks.to_reinject()), (0, 4, 6));
        let rest = chunks.take_reinjection(100).unwrap();
        assert_eq!((rest.dsn, rest.len), (4, 6));
        assert!(
            matches!(rest.content, Content::Data { offset: 4, ref data, .. } if data.len() == 6)
        );
        assert_eq!(chunks.reinject.dsns(), []);
    }

    /// What a carrier took and never sent is neither acknowledged nor lost.
    #[test]
    fn a_path_that_is_gone_gives_up_what_it_was_handed() {
        let mut chunks = chunks(&[10, 10, 10]);
        let (second, third) = (ChunkRef { dsn: 10, len: 10 }, ChunkRef { dsn: 20, len: 10 });
        chunks.on_sent(second, path(1), NOW);
        chunks.on_hint(third, path(0), NOW);
        chunks.on_path_gone(path(0));
        assert_eq!(chunks.reinject.dsns(), [0]);
        chunks.reinject_hinted(NOW, 3);
        assert_eq!((chunks.reinject.dsns(), chunks.to_reinject()), (vec![0, 20], 20));
        chunks.on_ack(0, std::slice::from_ref(&(4..8)), |_, _, _| ()).unwrap();
        assert_eq!((chunks.reinject.dsns(), chunks.to_reinject()), (vec![0, 8, 20], 16));
    }

    /// The path's own acknowledgements are lost, so QUIC cannot tell.
    #[test]
    fn what_later_data_of_the_same_path_has_overtaken_is_sent_again() {
        let ms = Timestamp::from_millis;
        let mut chunks = chunks(&[10, 10, 10, 10]);
        let sent = [(0, 0), (1, 0), (0, 9), (0, 10)];
        for (i, (n, at)) in (0..).zip(sent) {
            let info = chunks.unacked_at(i * 10).unwrap();
            chunks.chunks[i as usize].times_sent = 0;
            chunks.chunks[i as usize].sent_on = PathSet::EMPTY;
            chunks.on_sent(ChunkRef { dsn: info.dsn, len: info.len }, path(n), ms(at));
        }
        let window = |_| Duration::from_millis(9);
        chunks.on_ack(0, std::slice::from_ref(&(20..30)), |_, _, _| ()).unwrap();
        chunks.reinject_overtaken(4, window);
        assert_eq!(chunks.reinject.dsns(), [], "it may only have been reordered");
        chunks.on_ack(0, std::slice::from_ref(&(20..40)), |_, _, _| ()).unwrap();
        chunks.reinject_overtaken(4, window);
        assert_eq!(chunks.reinject.dsns(), [0]);
    }

    #[test]
    fn a_reset_stream_leaves_skips() {
        let mut chunks = chunks(&[10, 10]);
        chunks.on_ack(0, std::slice::from_ref(&(10..20)), |_, _, _| ()).unwrap();
        assert_eq!(chunks.abandon(stream()), 10);
        let skip = chunks.take_reinjection(3).unwrap();
        assert!(matches!(skip.content, Content::Skip));
        assert_eq!((skip.dsn, skip.len), (0, 10), "a skip needs no cutting");
    }
}
