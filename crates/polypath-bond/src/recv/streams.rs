//! All streams that receive, and the buffer that they share.
//!
//! Two things are held, and counted apart. What has arrived before the bytes in front of it fills
//! the receive buffer, from which the window of the bond follows: it leaves that buffer as soon as
//! it is in order. What is in order and waits for its reader is bounded by the windows of the
//! streams, which follow what readers take, and by [`Windows::most_held`] for all of them. So a
//! stream that nobody reads takes nothing from one that is read.

use super::held::Held;
use super::live::Live;
use super::stream::{FRAGMENT_COST, RecvStream};
use super::windows::{Crowd, Windows};
use crate::codec::{FirstWindow, StreamId};
use crate::config::BondConfig;
use crate::error::{ProtocolError, ReadError, UNREAD};
use bytes::Bytes;
use polypath_units::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;

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
    /// Bytes that are held now because of it.
    pub(crate) stored: u64,
    /// Whether the waiting reader can go on.
    pub(crate) readable: bool,
    /// Whether the stream may hold more although nothing was read: it begins, or waits for what is
    /// missing.
    pub(crate) moves_window: bool,
}

impl Accepted {
    /// The stream is gone.
    const NOTHING: Self = Self { stored: 0, readable: false, moves_window: false };
}

/// The receiving halves of all streams.
#[derive(Debug)]
pub(crate) struct RecvStreams {
    streams: BTreeMap<StreamId, RecvStream>,
    /// What they hold in all.
    held: Held,
    live: Live,
    /// The streams that the peer opens next, from the first that is not open, and what it was told
    /// that they may send at first.
    promised: FirstWindow,
    /// DSNs that arrived, whatever became of them.
    arrived: u64,
    windows: Windows,
}

impl RecvStreams {
    pub(crate) fn new(config: &BondConfig) -> Self {
        Self {
            streams: BTreeMap::new(),
            held: Held::default(),
            live: Live::default(),
            promised: FirstWindow::default(),
            arrived: 0,
            windows: Windows::new(config),
        }
    }

    /// Opens a stream of this side.
    pub(crate) fn open(&mut self, id: StreamId) {
        self.open_with(id, self.windows.initial);
    }

    /// Opens the next stream of the peer, which may have been told its first window.
    pub(crate) fn open_promised(&mut self, id: StreamId) {
        let window = self.promised.of(id.index()).max(self.windows.initial);
        let next = id.index() + 1;
        self.promised.streams = next..next.max(self.promised.streams.end);
        self.open_with(id, window);
    }

    fn open_with(&mut self, id: StreamId, window: u64) {
        let stream = RecvStream::new(window);
        self.held = self.held + stream.held();
        self.streams.insert(id, stream);
    }

    /// What the peer may be told that the streams which it opens next may send at first, if it is
    /// worth telling: half of those that were promised before have been opened.
    pub(crate) fn promise(&mut self) -> Option<FirstWindow> {
        let count = self.windows.promises(self.crowd());
        let FirstWindow { streams, max } = &mut self.promised;
        let left = streams.end - streams.start;
        if left >= count || left > count / 2 {
            return None;
        }
        streams.end = streams.start + count;
        *max = self.windows.promised();
        Some(self.promised.clone())
    }

    pub(crate) fn contains(&self, id: StreamId) -> bool {
        self.streams.contains_key(&id)
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = StreamId> {
        self.streams.keys().copied()
    }

    /// Bytes held for readers.
    pub(crate) fn buffered(&self) -> u64 {
        self.held.buffered
    }

    /// The same with book-keeping.
    pub(crate) fn cost(&self) -> u64 {
        self.held.cost
    }

    /// The highest DSN, exclusive, that fits the receive buffer.
    pub(crate) fn window(&self) -> u64 {
        self.arrived - self.held.waiting() + self.windows.receive_buffer
    }

    fn crowd(&self) -> Crowd {
        let FirstWindow { streams, max } = &self.promised;
        let promised = (streams.end - streams.start) * max;
        Crowd { streams: self.streams.len(), held: self.held, live: self.live, promised }
    }

    /// Whether a piece may be stored: not one more that stands alone when those that do cost three
    /// quarters of the receive buffer, and of what waits for readers, beside their bytes. What
    /// follows other bytes joins them, or one of every two fragments is not short: book-keeping of
    /// less than a fifth of the bytes.
    pub(crate) fn admits(&self, segment: &Arriving) -> bool {
        let most = (self.windows.receive_buffer + self.held.unread) / 4 * 3;
        self.held.book_keeping() + FRAGMENT_COST <= most
            || segment.data.is_empty()
            || self.streams.get(&segment.id).is_none_or(|stream| stream.reaches(segment.offset))
    }

    /// DSNs that carry nothing to hold.
    pub(crate) fn release(&mut self, dsns: u64) {
        self.arrived += dsns;
    }

    /// Changes a stream and what all streams hold with it.
    fn change<T>(&mut self, id: StreamId, change: impl FnOnce(&mut RecvStream) -> T) -> Option<T> {
        let stream = self.streams.get_mut(&id)?;
        let before = stream.held();
        let result = change(stream);
        self.held = self.held - before + stream.held();
        Some(result)
    }

    /// Checks a segment against the stream's window and end.
    pub(crate) fn check(&self, segment: &Arriving) -> Result<(), ProtocolError> {
        let Some(stream) = self.streams.get(&segment.id) else { return Ok(()) };
        let end = segment.offset + segment.data.len() as u64;
        if end > stream.max_offset() {
            let (what, limit) = ("the end of a stream's data", stream.max_offset());
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
        let Arriving { id, offset, fin, .. } = segment;
        let admitted = self.admits(&segment);
        let end = offset + segment.data.len() as u64;
        let accepted = self.change(id, |stream| {
            let mut stored = 0;
            if admitted && stream.reset_code().is_none() {
                stored = stream.insert(offset, segment.data);
            }
            if fin {
                // Checked before: the end is where it was, or new.
                let _ = stream.set_final_size(end);
            }
            let readable = stream.reader_waits && stream.is_readable();
            if readable {
                stream.reader_waits = false;
            }
            let moves_window = offset == 0 || stream.held().waiting() > 0;
            Accepted { stored, readable, moves_window }
        });
        let accepted = accepted.unwrap_or(Accepted::NOTHING);
        self.arrived += accepted.stored;
        accepted
    }

    /// The peer reset the stream. Returns whether a waiting reader can go on.
    pub(crate) fn reset(
        &mut self,
        id: StreamId,
        code: u64,
        final_size: u64,
    ) -> Result<bool, ProtocolError> {
        let Some(stream) = self.streams.get(&id) else { return Ok(false) };
        if final_size > stream.max_offset() {
            let (what, limit) = ("the final size of a stream", stream.max_offset());
            return Err(ProtocolError::FlowControl { what, given: final_size, limit });
        }
        if let Some(Err(was)) = self.change(id, |stream| stream.set_final_size(final_size)) {
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
        let stream = self.streams.get(&id).ok_or(ReadError::UnknownStream(id))?;
        if let Some(code) = stream.reset_code() {
            self.forget(id);
            return Err(ReadError::Reset(code));
        }
        if stream.is_finished() {
            self.forget(id);
            return Ok(None);
        }
        let read = self.change(id, |stream| {
            let data = stream.read(max);
            match &data {
                Some(data) => stream.read_rate.on_read(data.len() as u64, now, period),
                None => stream.reader_waits = true,
            }
            data
        });
        let data = read.flatten().ok_or(ReadError::Blocked)?;
        self.live.on_read(data.len() as u64);
        if self.live.is_stale(now, period) {
            self.live.count(self.admitted_to_live(now, period), now);
        }
        Ok(Some(data))
    }

    fn admitted_to_live(&self, now: Timestamp, period: Duration) -> u64 {
        let live = self.streams.values().filter(|stream| stream.read_rate.is_live(now, period));
        live.map(|stream| stream.held().admitted).sum()
    }

    /// The bond ended: a stream whose data is not all here can never be whole. Returns whether its
    /// waiting reader can go on.
    pub(crate) fn break_stream(&mut self, id: StreamId, code: u64) -> bool {
        let Some(stream) = self.streams.get(&id) else { return false };
        if stream.is_complete() || stream.reset_code().is_some() {
            return false;
        }
        self.drop_data(id, code)
    }

    /// Drops what a stream holds; its reader is told `code`. Returns whether it waits.
    fn drop_data(&mut self, id: StreamId, code: u64) -> bool {
        let waits = self.change(id, |stream| {
            stream.reset(code);
            std::mem::take(&mut stream.reader_waits)
        });
        waits.unwrap_or(false)
    }

    /// Forgets a stream; what it holds is released.
    pub(crate) fn forget(&mut self, id: StreamId) -> bool {
        let Some(stream) = self.streams.remove(&id) else { return false };
        self.held = self.held - stream.held();
        true
    }

    /// Whether more is held in all than may.
    pub(crate) fn holds_too_much(&self) -> bool {
        self.held.buffered > self.windows.most_held(self.crowd())
    }

    /// The stream to give up when more is held in all than may: of those whose readers have stopped
    /// and left more than a least window the one of which most waits, and otherwise of all.
    pub(crate) fn least_read(&self, now: Timestamp, period: Duration) -> Option<StreamId> {
        if !self.holds_too_much() {
            return None;
        }
        let rank = |stream: &RecvStream| {
            let unread = stream.held().unread;
            let stopped = !stream.read_rate.is_live(now, period);
            (stopped && unread > self.windows.initial, unread)
        };
        self.streams.iter().max_by_key(|(_, stream)| rank(stream)).map(|(&id, _)| id)
    }

    /// Gives up a stream that nobody reads, even one that is whole. Returns whether its reader
    /// waits.
    pub(crate) fn give_up(&mut self, id: StreamId) -> bool {
        self.drop_data(id, UNREAD)
    }

    /// A new limit for the stream if it is worth telling.
    pub(crate) fn raise_limit(&mut self, id: StreamId) -> Option<u64> {
        let limit = self.windows.worth_telling(self.streams.get(&id)?, self.crowd())?;
        let before = self.held.admitted;
        self.change(id, |stream| stream.raise_limit(limit))?;
        self.live.on_grant(self.held.admitted - before);
        Some(limit)
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
        let accepted = Accepted { stored: 50, readable: false, moves_window: true };
        assert_eq!(streams.insert(behind), accepted);
        assert_eq!(streams.window(), 1_000, "it waits for what is before it");
        let accepted = Accepted { stored: 100, readable: true, moves_window: true };
        assert_eq!(streams.insert(segment(id, 0, 100)), accepted);
        assert_eq!(streams.window(), 1_150);
        assert_eq!(read(&mut streams, id, 60, 0), Ok(60));
        assert_eq!(streams.window(), 1_150, "it had left before");
        streams.insert(segment(id, 200, 7));
        assert!(!streams.reset(id, 7, 207).unwrap());
        assert_eq!((streams.window(), streams.buffered(), streams.held.unread), (1_157, 0, 0));
        assert_eq!(read(&mut streams, id, 60, 0), Err(ReadError::Reset(7)));
        assert_eq!(read(&mut streams, id, 60, 0), Err(ReadError::UnknownStream(id)));
    }

    /// A sender may begin four streams with a 16th of the buffer each, which is a quarter in all.
    /// Once three are open, 13/16 of the first windows are left, and a quarter of that is three.
    #[test]
    fn streams_to_come_are_promised_first_windows() {
        let (mut streams, _) = open(16 << 20, 0);
        let id = |index| StreamId::new(Side::Edge, index);
        let promise = |streams| FirstWindow { streams, max: 1 << 20 };
        assert_eq!(streams.promise(), Some(promise(0..4)));
        for index in 0..3 {
            assert_eq!(streams.promise(), None, "more than half of it is left");
            streams.open_promised(id(index));
        }
        assert_eq!(streams.promise(), Some(promise(3..6)));
        let within = segment(id(0), 0, 1 << 20);
        streams.check(&within).unwrap();
        streams.insert(within);
        streams.check(&segment(id(0), 1 << 20, 1)).unwrap_err();
        assert_eq!(read(&mut streams, id(0), 1 << 20, 0), Ok(1 << 20));
        streams.open_promised(id(3));
        streams.open_promised(id(4));
        assert_eq!(streams.promise(), Some(promise(5..8)), "a window was taken");
    }

    /// What is promised never exceeds what first windows may take, whatever streams come.
    #[test]
    fn promises_end_where_nobody_reads() {
        let (mut streams, _) = open(16 << 20, 0);
        streams.promise();
        for index in 0..1_000 {
            streams.open_promised(StreamId::new(Side::Edge, index));
            streams.promise();
        }
        assert_eq!(streams.crowd().promised, 0);
        let least: u64 = 1_000 * (16 << 10);
        let windows = streams.held.first_windows;
        assert!((least + 1..=least + (16 << 20)).contains(&windows), "{windows}");
    }

    #[test]
    fn a_lone_stream_has_nearly_the_whole_buffer_and_others_what_their_readers_take() {
        let (mut streams, ids) = open(1_600_000, 1);
        let (lone, other) = (ids[0], StreamId::new(Side::Edge, 1));
        // A quarter, less the 16 KiB that it had.
        assert_eq!(streams.raise_limit(lone), Some((1_600_000 - (16 << 10)) / 4));
        streams.insert(segment(lone, 0, 10_000));
        assert_eq!(read(&mut streams, lone, 10_000, 0), Ok(10_000));
        assert_eq!(streams.raise_limit(lone), Some(10_000 + 1_500_000));
        streams.open(other);
        assert_eq!(
            streams.raise_limit(other),
            None,
            "a 64th of what is left: hardly more than 16 KiB"
        );
        streams.insert(segment(other, 0, 10_000));
        assert_eq!(read(&mut streams, other, 10_000, 0), Ok(10_000));
        assert_eq!(streams.raise_limit(other), Some(10_000 + 2 * 10_000));
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
        // The first is alone. Then a 64th of what is left of 16 MiB.
        assert_eq!(first_windows[0], 1 << 20);
        assert_eq!(first_windows[1], ((15 << 20) - LEAST) / 64);
        assert_eq!(first_windows[999], LEAST);
        let held: u64 = first_windows.iter().sum();
        assert_eq!(
            (streams.window(), streams.least_read(Timestamp::ZERO, PERIOD)),
            (held + (16 << 20), None)
        );
        let fast = StreamId::new(Side::Edge, 1_000);
        streams.open(fast);
        let (mut offset, mut limit) = (0, LEAST);
        for millis in 0..1_000 {
            let len = (limit - offset).min(60_000) as usize;
            streams.insert(segment(fast, offset, len));
            offset += len as u64;
            assert_eq!(read(&mut streams, fast, len, millis), Ok(len));
            limit = streams.raise_limit(fast).unwrap_or(limit);
        }
        // 60 MB/s are 6 MB in a period. Twice that is more than half of the receive buffer, of
        // which a sixteenth is not worth telling.
        assert!(limit >= offset + (8 << 20) / 16 * 15, "{limit} at {offset}");
    }

    /// Readers that take much and then stop leave much behind. 48 MiB may be held where the receive
    /// buffer is 16 MiB; of what is more, the stream with most goes, although all of it is there.
    #[test]
    fn of_what_nobody_reads_the_most_goes_first() {
        const MIB: usize = 1 << 20;
        let (mut streams, ids) = open(16 << 20, 5);
        for (&id, len) in ids.iter().zip([9, 11, 9, 9, 10]) {
            streams.insert(segment(id, 0, len * MIB));
        }
        assert_eq!(streams.least_read(Timestamp::ZERO, PERIOD), None);
        streams.insert(Arriving { fin: true, ..segment(ids[2], 9 << 20, 3 * MIB) });
        assert_eq!(streams.least_read(Timestamp::ZERO, PERIOD), Some(ids[2]));
        streams.give_up(ids[2]);
        assert_eq!(streams.least_read(Timestamp::ZERO, PERIOD), None);
        assert_eq!(read(&mut streams, ids[2], 1, 0), Err(ReadError::Reset(UNREAD)));
        assert_eq!(read(&mut streams, ids[1], 1, 0), Ok(1));
        streams.insert(segment(ids[3], 9 << 20, 3 * MIB));
        streams.insert(segment(ids[0], 9 << 20, 9 * MIB));
        assert_eq!(read(&mut streams, ids[0], 1, 0), Ok(1));
        // It has most, and is being read.
        assert_eq!(streams.least_read(Timestamp::ZERO, PERIOD), Some(ids[3]));
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
