//! What the peer's data acknowledgements release.

use super::{Chunk, Chunks, Content};
use crate::codec::StreamId;
use crate::error::ProtocolError;
use std::ops::Range;

impl Chunks {
    /// A data acknowledgement. `on_acked` gets each stream with its newly acknowledged data bytes
    /// and whether its end mark was among them.
    pub(crate) fn on_ack(
        &mut self,
        rcv_nxt: u64,
        ranges: &[Range<u64>],
        mut on_acked: impl FnMut(StreamId, u64, bool),
    ) -> Result<(), ProtocolError> {
        let highest = ranges.last().map_or(rcv_nxt, |range| range.end.max(rcv_nxt));
        if highest > self.next_dsn {
            return Err(ProtocolError::AckOfUnsent { acked: highest, sent: self.next_dsn });
        }
        let una = self.una();
        let mut new = Vec::new();
        if rcv_nxt > una {
            self.acked.insert(una..rcv_nxt, |range| new.push(range));
        }
        for range in ranges {
            let range = range.start.max(una)..range.end.max(una);
            self.acked.insert(range, |range| new.push(range));
        }
        for range in new {
            self.release(&range, &mut on_acked);
        }
        self.pop_acked();
        Ok(())
    }

    fn release(&mut self, range: &Range<u64>, on_acked: &mut impl FnMut(StreamId, u64, bool)) {
        self.split_at(range.start);
        self.split_at(range.end);
        let first = self.index_of(range.start);
        for chunk in self.chunks.range_mut(first..) {
            if chunk.dsn >= range.end {
                break;
            }
            self.reinject.remove(chunk.dsn);
            self.unacked -= chunk.len;
            self.reserved -= chunk.take_reserved();
            if let Some((path, sent)) = chunk.last_sent.filter(|_| chunk.times_sent == 1) {
                let newest = self.newest_acked.entry(path).or_insert(sent);
                *newest = sent.max(*newest);
            }
            let content = std::mem::replace(&mut chunk.content, Content::Acked);
            if let Content::Data { id, data, fin, .. } = content {
                on_acked(id, data.len() as u64, fin);
            }
        }
    }

    fn pop_acked(&mut self) {
        while self.chunks.front().is_some_and(Chunk::is_acked) {
            self.chunks.pop_front();
        }
        self.acked.remove_below(self.una());
    }
}
