//! All streams that receive, and the buffer that they share.

use super::stream::{FRAGMENT_COST, RecvStream};
use crate::codec::StreamId;
use crate::config::BondConfig;
use crate::error::{ProtocolError, ReadError};
use bytes::Bytes;
use std::collections::BTreeMap;

/// This part of a stream's share more than the peer knows is worth telling. What is free and not
/// told is room that a sender cannot use: where the receive buffer is the limit, so much goodput.
const WORTH_TELLING: u64 = 16;

/// A segment of a stream as it arrived.
#[derive(Debug)]
pub(crate) struct Arriving {
    pub(crate) id: StreamId,
    pub(crate) offset: u64,
    pub(crate) data: Bytes,
    pub(crate) fin: bool,
}

/// What became of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Accepted {
    /// Bytes that the shared buffer holds now because of it.
    pub(crate) stored: u64,
    /// Whether the waiting reader can go on.
    pub(crate) readable: bool,
}

/// The receiving halves of all streams.
#[derive(Debug)]
pub(crate) struct RecvStreams {
    streams: BTreeMap<StreamId, RecvStream>,
    /// Bytes that arrived and were not read.
    buffered: u64,
    /// The same with book-keeping.
    cost: u64,
    /// DSNs that arrived and are no longer held: read, dropped, or no data.
    released: u64,
    receive_buffer: u64,
    lone_window: u64,
    initial_window: u64,
}

impl RecvStreams {
    pub(crate) fn new(config: &BondConfig) -> Self {
        Self {
            streams: BTreeMap::new(),
            buffered: 0,
            cost: 0,
            released: 0,
            receive_buffer: config.receive_buffer,
            lone_window: config.lone_stream_window(),
            initial_window: config.initial_stream_window(),
        }
    }

    pub(crate) fn open(&mut self, id: StreamId) {
        self.streams.insert(id, RecvStream::new(self.initial_window));
    }

    pub(crate) fn contains(&self, id: StreamId) -> bool {
        self.streams.contains_key(&id)
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = StreamId> {
        self.streams.keys().copied()
    }

    /// Bytes held for readers.
    pub(crate) fn buffered(&self) -> u64 {
        self.buffered
    }

    /// The same with book-keeping.
    pub(crate) fn cost(&self) -> u64 {
        self.cost
    }

    /// The highest DSN, exclusive, that fits the buffer.
    pub(crate) fn window(&self) -> u64 {
        self.released + self.receive_buffer
    }

    /// Whether a piece may be stored: not one more that stands alone when those that do cost three
    /// quarters of the buffer beside their bytes. What follows other bytes joins them, or one of
    /// every two fragments is not short: book-keeping of less than a fifth of the buffer.
    pub(crate) fn admits(&self, segment: &Arriving) -> bool {
        let book_keeping = self.cost - self.buffered;
        book_keeping + FRAGMENT_COST <= self.receive_buffer / 4 * 3
            || segment.data.is_empty()
            || self.streams.get(&segment.id).is_none_or(|stream| stream.reaches(segment.offset))
    }

    /// DSNs that carry nothing to hold.
    pub(crate) fn release(&mut self, dsns: u64) {
        self.released += dsns;
    }

    /// Checks a segment against the stream's window and end.
    pub(crate) fn check(&self, segment: &Arriving) -> Result<(), ProtocolError> {
        let Some(stream) = self.streams.get(&segment.id) else { return Ok(()) };
        let end = segment.offset + segment.data.len() as u64;
        if end > stream.max_offset {
            let (what, limit) = ("the end of a stream's data", stream.max_offset);
            return Err(ProtocolError::FlowControl { what, given: end, limit });
        }
        let was = stream.final_size().unwrap_or(u64::MAX);
        if end > was || (segment.fin && was != u64::MAX && end != was) {
            return Err(ProtocolError::FinalSize { id: segment.id, was, now: end });
        }
        if segment.fin && stream.max_end() > end {
            let was = stream.max_end();
            return Err(ProtocolError::FinalSize { id: segment.id, was, now: end });
        }
        Ok(())
    }

    /// Takes a segment that was checked. Data of a stream that is closed or reset is dropped; so is
    /// a piece that is not admitted: bytes before it have been skipped, as only a reset allows.
    pub(crate) fn insert(&mut self, segment: Arriving) -> Accepted {
        let admitted = self.admits(&segment);
        let Some(stream) = self.streams.get_mut(&segment.id) else {
            return Accepted { stored: 0, readable: false };
        };
        let end = segment.offset + segment.data.len() as u64;
        let cost = stream.cost();
        let mut stored = 0;
        if admitted && stream.reset_code().is_none() {
            stored = stream.insert(segment.offset, segment.data);
        }
        if segment.fin {
            // Checked before: the end is where it was, or new.
            let _ = stream.set_final_size(end);
        }
        self.buffered += stored;
        self.cost = self.cost - cost + stream.cost();
        let readable = stream.reader_waits && stream.is_readable();
        if readable {
            stream.reader_waits = false;
        }
        Accepted { stored, readable }
    }

    /// The peer reset the stream. Returns whether a waiting reader can go on.
    pub(crate) fn reset(
        &mut self,
        id: StreamId,
        code: u64,
        final_size: u64,
    ) -> Result<bool, ProtocolError> {
        let Some(stream) = self.streams.get_mut(&id) else { return Ok(false) };
        if final_size > stream.max_offset {
            let (what, limit) = ("the final size of a stream", stream.max_offset);
            return Err(ProtocolError::FlowControl { what, given: final_size, limit });
        }
        if let Err(was) = stream.set_final_size(final_size) {
            return Err(ProtocolError::FinalSize { id, was, now: final_size });
        }
        self.cost -= stream.cost();
        let dropped = stream.reset(code);
        self.buffered -= dropped;
        self.released += dropped;
        Ok(std::mem::take(&mut stream.reader_waits))
    }

    /// Reads at most `max` bytes in order; `Ok(None)` at the end, after which the stream is gone.
    pub(crate) fn read(&mut self, id: StreamId, max: usize) -> Result<Option<Bytes>, ReadError> {
        let stream = self.streams.get_mut(&id).ok_or(ReadError::UnknownStream(id))?;
        if let Some(code) = stream.reset_code() {
            self.forget(id);
            return Err(ReadError::Reset(code));
        }
        let cost = stream.cost();
        let Some(data) = stream.read(max) else {
            if stream.is_finished() {
                self.forget(id);
                return Ok(None);
            }
            stream.reader_waits = true;
            return Err(ReadError::Blocked);
        };
        self.cost = self.cost - cost + stream.cost();
        self.buffered -= data.len() as u64;
        self.released += data.len() as u64;
        Ok(Some(data))
    }

    /// The bond ended: a stream whose data is not all here can never be whole. Returns whether its
    /// waiting reader can go on.
    pub(crate) fn break_stream(&mut self, id: StreamId, code: u64) -> bool {
        let Some(stream) = self.streams.get_mut(&id) else { return false };
        if stream.is_complete() || stream.reset_code().is_some() {
            return false;
        }
        self.cost -= stream.cost();
        let dropped = stream.reset(code);
        self.buffered -= dropped;
        self.released += dropped;
        std::mem::take(&mut stream.reader_waits)
    }

    /// Forgets a stream; what it holds is released.
    pub(crate) fn forget(&mut self, id: StreamId) -> bool {
        let Some(stream) = self.streams.remove(&id) else { return false };
        self.cost -= stream.cost();
        self.buffered -= stream.buffered();
        self.released += stream.buffered();
        true
    }

    /// What the stream may hold: nearly all while it is alone, half of what is free otherwise, so
    /// that slow readers share what they block (dynamic threshold, Choudhury and Hahne 1998).
    fn share(&self, stream: &RecvStream) -> u64 {
        if self.streams.len() <= 1 {
            return self.lone_window;
        }
        let others = self.buffered - stream.buffered();
        let free = self.receive_buffer.saturating_sub(others);
        (free / 2).min(self.lone_window).max(self.initial_window)
    }

    /// A new limit for the stream if it is worth telling.
    pub(crate) fn raise_limit(&mut self, id: StreamId) -> Option<u64> {
        let stream = self.streams.get(&id)?;
        if stream.final_size().is_some() {
            return None;
        }
        let share = self.share(stream);
        let limit = stream.read_offset() + share;
        let worth_it = limit >= stream.max_offset + share / WORTH_TELLING;
        let stream = self.streams.get_mut(&id)?;
        worth_it.then(|| {
            stream.max_offset = limit;
            limit
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Side;

    fn segment(id: StreamId, offset: u64, len: usize) -> Arriving {
        Arriving { id, offset, data: Bytes::from(vec![1; len]), fin: false }
    }

    #[test]
    fn everything_that_arrives_is_held_or_released() {
        let config = BondConfig { receive_buffer: 1_000, ..BondConfig::default() };
        let mut streams = RecvStreams::new(&config);
        let id = StreamId::new(Side::Edge, 0);
        streams.open(id);
        assert_eq!(streams.window(), 1_000);
        assert_eq!(streams.insert(segment(id, 0, 100)), Accepted { stored: 100, readable: true });
        assert_eq!(streams.window(), 1_000, "held data gives no room");
        assert_eq!(streams.read(id, 60).unwrap().unwrap().len(), 60);
        assert_eq!(streams.window(), 1_060);
        assert!(!streams.reset(id, 7, 100).unwrap());
        assert_eq!((streams.window(), streams.buffered()), (1_100, 0));
        assert_eq!(streams.read(id, 60), Err(ReadError::Reset(7)));
        assert_eq!(streams.read(id, 60), Err(ReadError::UnknownStream(id)));
    }

    #[test]
    fn a_second_stream_halves_what_a_slow_reader_may_hold() {
        let config = BondConfig { receive_buffer: 80_000, ..BondConfig::default() };
        let mut streams = RecvStreams::new(&config);
        let first = StreamId::new(Side::Edge, 0);
        let second = StreamId::new(Side::Edge, 1);
        streams.open(first);
        assert_eq!(streams.raise_limit(first), Some(75_000));
        streams.insert(segment(first, 0, 40_000));
        streams.open(second);
        assert_eq!(
            streams.raise_limit(second),
            None,
            "half of the free 40,000 is its first window"
        );
        assert_eq!(streams.raise_limit(first), None, "no more until the reader goes on");
    }

    /// A lone byte costs 65. The book-keeping of what is refused first would be more than 3/4 of
    /// the buffer.
    #[test]
    fn crumbs_are_refused_before_they_cost_twice_the_buffer() {
        let config = BondConfig { receive_buffer: 1_000, ..BondConfig::default() };
        let mut streams = RecvStreams::new(&config);
        let id = StreamId::new(Side::Edge, 0);
        streams.open(id);
        let crumb = |n: u64| segment(id, 2 * n + 1, 1);
        let admitted = (0..100).take_while(|&n| {
            let admitted = streams.admits(&crumb(n));
            streams.insert(crumb(n));
            admitted
        });
        assert_eq!(admitted.count(), 11);
        assert_eq!(streams.cost(), 11 * 65);
        assert!(streams.admits(&segment(id, 22, 1)), "it joins the last");
        for n in 0..11 {
            assert!(streams.admits(&segment(id, 2 * n, 1)));
            streams.insert(segment(id, 2 * n, 1));
        }
        assert_eq!(streams.cost(), 22 + 64, "all are one");
    }

    /// Two short ones and a packet's data in turn: of each three, two fragments are left.
    #[test]
    fn what_is_in_order_costs_less_than_a_fifth_beside_its_bytes() {
        let config = BondConfig { receive_buffer: 1 << 20, ..BondConfig::default() };
        let id = StreamId::new(Side::Edge, 0);
        for lens in [&[1][..], &[699], &[700], &[1, 1, 700], &[1, 699, 1, 1_200], &[4_095, 1]] {
            let mut streams = RecvStreams::new(&config);
            streams.open(id);
            let mut end = 0;
            for &len in lens.iter().cycle().take(300) {
                streams.insert(segment(id, end, len));
                end += len as u64;
            }
            let book_keeping = streams.cost() - end;
            assert!(book_keeping <= end / 700 * 128 + 64, "{lens:?}: {book_keeping} of {end}");
        }
    }
}
