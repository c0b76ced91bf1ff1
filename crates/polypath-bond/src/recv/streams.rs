//! All streams that receive, the buffer that they share, and what each may hold of it.
//!
//! Two things are held, and counted apart. What has arrived before the bytes in front of it fills
//! the receive buffer, from which the window of the bond follows: it leaves that buffer as soon as
//! it is in order. What is in order and waits for its reader is bounded by the windows of the
//! streams, which follow what readers take, and by [`RecvStreams::most_unread`] for all of them. So a stream
//! that nobody reads takes nothing from one that is read.

use super::stream::{FRAGMENT_COST, RecvStream};
use crate::codec::StreamId;
use crate::config::BondConfig;
use crate::error::{ProtocolError, ReadError, UNREAD};
use bytes::Bytes;
use polypath_units::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;

/// As many receive buffers of data may wait for readers in all, and more only where the least
/// windows of all streams are more. Windows are shares of one buffer more, so that streams that are
/// read have room while the others fill their part.
const UNREAD_BUFFERS: u64 = 2;

/// The first windows of streams come from one receive buffer: each is this part of what is left of
/// it, so that the windows of many streams that are opened at once fall.
const FIRST_WINDOW_PART: u64 = 32;
/// A first window is no larger: what a path of 100 Mbit/s carries in 80 ms.
const LARGEST_FIRST_WINDOW: u64 = 1 << 20;

/// A stream's window is so many times what its reader takes in a period: twice for growth in slow
/// start, and twice for what comes at once when a hole is filled.
const GENEROUS: u64 = 4;
/// The same while little is left of what may wait for readers.
const SPARING: u64 = 2;

/// This part of a stream's share more than the peer knows is worth telling. What is free and not
/// told is room that a sender cannot use: where the receive buffer is the limit, so much goodput.
const WORTH_TELLING: u64 = 16;
/// And at least so many bytes, or half of a share that is smaller than two of this.
const LEAST_WORTH_TELLING: u64 = 8 << 10;

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
    /// Those of them that could be read.
    unread: u64,
    /// Bytes that the windows of all streams admit beyond what was read.
    promised: u64,
    /// The same with book-keeping.
    cost: u64,
    /// DSNs that arrived and do not fill the receive buffer: in order, read, dropped, or no data.
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
            unread: 0,
            promised: 0,
            cost: 0,
            released: 0,
            receive_buffer: config.receive_buffer,
            lone_window: config.lone_stream_window(),
            initial_window: config.stream_window,
        }
    }

    pub(crate) fn open(&mut self, id: StreamId) {
        self.promised += self.initial_window;
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
    /// quarters of what is held at most beside their bytes. What follows other bytes joins them, or one of
    /// every two fragments is not short: book-keeping of less than a fifth of the buffer.
    pub(crate) fn admits(&self, segment: &Arriving) -> bool {
        let book_keeping = self.cost - self.buffered;
        book_keeping + FRAGMENT_COST <= (self.receive_buffer + self.unread) / 4 * 3
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
        let (cost, unread) = (stream.cost(), stream.unread());
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
        let in_order = stream.unread() - unread;
        self.unread += in_order;
        self.released += in_order;
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
        Ok(self.drop_data(id, code))
    }

    /// Reads at most `max` bytes in order; `Ok(None)` at the end, after which the stream is gone.
    /// `period` is the time of which the stream's window follows from what is read in it.
    pub(crate) fn read(
        &mut self,
        id: StreamId,
        max: usize,
        now: Timestamp,
        period: Duration,
    ) -> Result<Option<Bytes>, ReadError> {
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
        let len = data.len() as u64;
        stream.read_rate.on_read(len, now, period);
        self.cost = self.cost - cost + stream.cost();
        self.buffered -= len;
        self.unread -= len;
        self.promised -= len;
        Ok(Some(data))
    }

    /// The bond ended: a stream whose data is not all here can never be whole. Returns whether its
    /// waiting reader can go on.
    pub(crate) fn break_stream(&mut self, id: StreamId, code: u64) -> bool {
        let Some(stream) = self.streams.get_mut(&id) else { return false };
        if stream.is_complete() || stream.reset_code().is_some() {
            return false;
        }
        self.drop_data(id, code)
    }

    /// Drops what a stream holds; its reader is told `code`. Returns whether it waits.
    fn drop_data(&mut self, id: StreamId, code: u64) -> bool {
        let Some(stream) = self.streams.get_mut(&id) else { return false };
        let (cost, unread) = (stream.cost(), stream.unread());
        let dropped = stream.reset(code);
        let waits = std::mem::take(&mut stream.reader_waits);
        self.give_back(cost, dropped, unread);
        waits
    }

    /// Forgets a stream; what it holds is released.
    pub(crate) fn forget(&mut self, id: StreamId) -> bool {
        let Some(stream) = self.streams.remove(&id) else { return false };
        self.promised -= stream.window();
        self.give_back(stream.cost(), stream.buffered(), stream.unread());
        true
    }

    /// So much is no longer held. What was in order had left the receive buffer before.
    fn give_back(&mut self, cost: u64, bytes: u64, unread: u64) {
        self.cost -= cost;
        self.buffered -= bytes;
        self.unread -= unread;
        self.released += bytes - unread;
    }

    /// The most that may wait for readers.
    fn most_unread(&self) -> u64 {
        let least_windows = self.streams.len() as u64 * self.initial_window;
        least_windows.max(UNREAD_BUFFERS * self.receive_buffer)
    }

    /// The stream of which most waits for its reader, when more waits in all than may.
    pub(crate) fn least_read(&self) -> Option<StreamId> {
        if self.unread <= self.most_unread() {
            return None;
        }
        self.streams.iter().max_by_key(|(_, stream)| stream.unread()).map(|(&id, _)| id)
    }

    /// Gives up a stream that nobody reads, even one that is whole. Returns whether its reader
    /// waits.
    pub(crate) fn give_up(&mut self, id: StreamId) -> bool {
        self.drop_data(id, UNREAD)
    }

    /// What the stream may hold in order: nearly the whole receive buffer while it is alone, and
    /// otherwise what follows from its reader.
    fn share(&self, stream: &RecvStream) -> u64 {
        if self.streams.len() <= 1 {
            return self.lone_window;
        }
        let share = match stream.read_rate.per_period() {
            0 => self.first_window(),
            taken => self.multiple_of(taken, stream),
        };
        share.min(self.lone_window).max(self.initial_window)
    }

    /// The window of a stream whose reader has taken nothing yet.
    fn first_window(&self) -> u64 {
        let left = self.receive_buffer.saturating_sub(self.promised);
        (left / FIRST_WINDOW_PART).min(LARGEST_FIRST_WINDOW)
    }

    /// The window of a stream whose reader takes so much in a period. The multiple is smaller where
    /// it would be more than half of the rest (dynamic threshold, Choudhury and Hahne 1998), but
    /// never less than what the reader needs to go on as fast as before.
    fn multiple_of(&self, taken: u64, stream: &RecvStream) -> u64 {
        let others = self.unread - stream.unread();
        let free = self.most_unread() + self.receive_buffer - others;
        (GENEROUS * taken).min(free / 2).max(SPARING * taken)
    }

    /// A new limit for the stream if it is worth telling.
    pub(crate) fn raise_limit(&mut self, id: StreamId) -> Option<u64> {
        let stream = self.streams.get(&id)?;
        if stream.final_size().is_some() {
            return None;
        }
        let share = self.share(stream);
        let limit = stream.read_offset() + share;
        let least = (share / WORTH_TELLING).max(LEAST_WORTH_TELLING.min(share / 2));
        let worth_it = limit >= stream.max_offset + least;
        let stream = self.streams.get_mut(&id)?;
        worth_it.then(|| {
            self.promised += limit - stream.max_offset;
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

    const PERIOD: Duration = Duration::from_millis(100);

    /// Streams of an edge, all open, with a receive buffer of so many bytes.
    fn open(receive_buffer: u64, count: u64) -> (RecvStreams, Vec<StreamId>) {
        let config = BondConfig { receive_buffer, ..BondConfig::default() };
        let mut streams = RecvStreams::new(&config);
        let ids: Vec<_> = (0..count).map(|n| StreamId::new(Side::Edge, n)).collect();
        ids.iter().for_each(|&id| streams.open(id));
        (streams, ids)
    }

    fn read(
        streams: &mut RecvStreams,
        id: StreamId,
        max: usize,
        millis: u64,
    ) -> Result<usize, ReadError> {
        let data = streams.read(id, max, Timestamp::from_millis(millis), PERIOD)?;
        Ok(data.map_or(0, |data| data.len()))
    }

    #[test]
    fn what_is_in_order_leaves_the_receive_buffer() {
        let (mut streams, ids) = open(1_000, 1);
        let id = ids[0];
        assert_eq!(streams.window(), 1_000);
        let behind = segment(id, 100, 50);
        assert_eq!(streams.insert(behind), Accepted { stored: 50, readable: false });
        assert_eq!(streams.window(), 1_000, "it waits for what is before it");
        assert_eq!(streams.insert(segment(id, 0, 100)), Accepted { stored: 100, readable: true });
        assert_eq!(streams.window(), 1_150);
        assert_eq!(read(&mut streams, id, 60, 0), Ok(60));
        assert_eq!(streams.window(), 1_150, "it had left before");
        streams.insert(segment(id, 200, 7));
        assert!(!streams.reset(id, 7, 207).unwrap());
        assert_eq!((streams.window(), streams.buffered(), streams.unread), (1_157, 0, 0));
        assert_eq!(read(&mut streams, id, 60, 0), Err(ReadError::Reset(7)));
        assert_eq!(read(&mut streams, id, 60, 0), Err(ReadError::UnknownStream(id)));
    }

    #[test]
    fn a_lone_stream_has_nearly_the_whole_buffer_and_others_what_their_readers_take() {
        let (mut streams, ids) = open(1_600_000, 1);
        let (lone, other) = (ids[0], StreamId::new(Side::Edge, 1));
        assert_eq!(streams.raise_limit(lone), Some(1_500_000));
        streams.open(other);
        assert_eq!(streams.raise_limit(other), None, "16 KiB: the lone one has the rest");
        streams.insert(segment(other, 0, 10_000));
        assert_eq!(read(&mut streams, other, 10_000, 0), Ok(10_000));
        assert_eq!(streams.raise_limit(other), Some(10_000 + GENEROUS * 10_000));
        streams.insert(segment(other, 10_000, 8_000));
        assert_eq!(read(&mut streams, other, 1_000, 1_000), Ok(1_000));
        assert_eq!(streams.raise_limit(other), None, "it takes 1,000 bytes in a second");
    }

    /// Streams that nobody reads hold their first windows: large ones at first, 16 KiB in the end.
    /// A thousand of them are no more than may wait, and the window of the bond is as large as
    /// before them.
    #[test]
    fn a_thousand_stalled_streams_take_nothing_from_one_that_is_read() {
        const LEAST: u64 = 16 << 10;
        let (mut streams, _) = open(16 << 20, 0);
        let mut first_windows = Vec::new();
        for n in 0..1_000 {
            let id = StreamId::new(Side::Edge, n);
            streams.open(id);
            let window = streams.raise_limit(id).unwrap_or(LEAST);
            streams.insert(segment(id, 0, window as usize));
            first_windows.push(window);
        }
        // The first is alone. Then a 32nd of what 15 MiB leave of 16 MiB.
        assert_eq!(first_windows[1], ((1 << 20) - LEAST) / 32);
        assert_eq!(first_windows[999], LEAST);
        let held: u64 = first_windows.iter().sum();
        assert_eq!((streams.window(), streams.least_read()), (held + (16 << 20), None));
        let fast = StreamId::new(Side::Edge, 1_000);
        streams.open(fast);
        let mut offset = 0;
        for millis in 0..1_000 {
            streams.insert(segment(fast, offset, 60_000));
            offset += 60_000;
            assert_eq!(read(&mut streams, fast, 60_000, millis), Ok(60_000));
            streams.raise_limit(fast);
        }
        // 60 MB/s are 6 MB in a period. Of twice that a sixteenth is not worth telling.
        let limit = streams.streams[&fast].max_offset;
        assert!(limit >= offset + 2 * 6_000_000 / 16 * 15, "{limit} at {offset}");
    }

    /// Readers that take much and then stop leave much behind. 32 MiB may wait beside a receive buffer
    /// of 16 MiB; of what is more, the stream with most goes, although all of it is there.
    #[test]
    fn of_what_nobody_reads_the_most_goes_first() {
        const MIB: usize = 1 << 20;
        let (mut streams, ids) = open(16 << 20, 5);
        for (&id, len) in ids.iter().zip([6, 7, 6, 6, 7]) {
            streams.insert(segment(id, 0, len * MIB));
        }
        assert_eq!(streams.least_read(), None);
        streams.insert(Arriving { fin: true, ..segment(ids[2], 6 << 20, 3 * MIB) });
        assert_eq!(streams.least_read(), Some(ids[2]));
        streams.give_up(ids[2]);
        assert_eq!(streams.least_read(), None);
        assert_eq!(read(&mut streams, ids[2], 1, 0), Err(ReadError::Reset(UNREAD)));
        assert_eq!(read(&mut streams, ids[1], 1, 0), Ok(1));
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
