//! All streams that send, and whose turn it is.

use super::stream::{Piece, SendStream};
use crate::codec::StreamId;
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// What a stream may queue beyond its window, for a send buffer of so many bytes: enough to go on
/// with when the window opens until its writer has written more.
const fn ahead_of_window(buffer: u64) -> u64 {
    buffer / 16
}

/// What all streams may queue beyond their windows, beside a send buffer of so many bytes. It is
/// no part of the buffer, as nobody knows when those bytes leave.
const fn ahead_of_windows(buffer: u64) -> u64 {
    buffer / 4
}

/// The sending halves of all streams, served in turn: a segment each.
#[derive(Debug, Default)]
pub(crate) struct SendStreams {
    streams: BTreeMap<StreamId, SendStream>,
    turns: VecDeque<StreamId>,
    has_turn: BTreeSet<StreamId>,
    /// Streams whose writers were refused for want of room.
    waiting: BTreeSet<StreamId>,
    /// Streams whose writers were refused because their windows are full: only a higher limit lets
    /// them go on, so that they need not be looked at until then.
    waiting_for_window: BTreeSet<StreamId>,
    /// Bytes written and in no segment yet, over all streams.
    unsent: u64,
    /// Those of them that the windows of their streams admit.
    sendable: u64,
    /// Bytes held for sending: waiting and unacknowledged.
    held: u64,
}

impl SendStreams {
    pub(crate) fn open(&mut self, id: StreamId, max_offset: u64) {
        self.streams.insert(id, SendStream::new(max_offset));
    }

    pub(crate) fn get(&self, id: StreamId) -> Option<&SendStream> {
        self.streams.get(&id)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    pub(crate) fn unsent(&self) -> u64 {
        self.unsent
    }

    /// Unsent bytes that the windows of their streams admit.
    pub(crate) fn sendable(&self) -> u64 {
        self.sendable
    }

    /// Whether data waits for nothing but the windows of its streams.
    pub(crate) fn is_blocked(&self) -> bool {
        self.unsent > 0 && !self.is_ready()
    }

    /// Changes a stream and keeps count of what it may send; `None` if there is no such stream.
    fn change<T>(&mut self, id: StreamId, change: impl FnOnce(&mut SendStream) -> T) -> Option<T> {
        let stream = self.streams.get_mut(&id)?;
        self.sendable -= stream.sendable();
        let result = change(stream);
        self.sendable += stream.sendable();
        Some(result)
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = StreamId> {
        self.streams.keys().copied()
    }

    /// The streams whose IDs are in this range.
    pub(crate) fn ids_in(&self, ids: Range<StreamId>) -> impl Iterator<Item = StreamId> {
        self.streams.range(ids).map(|(&id, _)| id)
    }

    pub(crate) fn push(&mut self, id: StreamId, data: Bytes) {
        let len = data.len() as u64;
        if self.change(id, |stream| stream.push(data)).is_some() {
            self.unsent += len;
            self.held += len;
        }
        self.give_turn(id);
    }

    /// Gives up what no segment of the stream carries yet; returns how many bytes.
    pub(crate) fn withdraw(&mut self, id: StreamId) -> u64 {
        let Some(bytes) = self.change(id, SendStream::withdraw) else { return 0 };
        self.unsent -= bytes;
        self.held -= bytes;
        self.stop_waiting(id);
        self.end_turn(id);
        // An end mark may be left.
        self.give_turn(id);
        bytes
    }

    pub(crate) fn finish(&mut self, id: StreamId) {
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.finish();
        }
        self.give_turn(id);
    }

    pub(crate) fn raise_limit(&mut self, id: StreamId, max_offset: u64) {
        self.change(id, |stream| stream.raise_limit(max_offset));
        if self.waiting_for_window.remove(&id) {
            self.waiting.insert(id);
        }
        self.give_turn(id);
    }

    /// Remembers that the stream's writer was refused.
    pub(crate) fn mark_waiting(&mut self, id: StreamId) {
        let full = self.streams.get(&id).is_some_and(|stream| stream.window_left() == 0);
        if full {
            self.waiting_for_window.insert(id);
        } else {
            self.waiting.insert(id);
        }
    }

    /// Whether any writer waits for room: there is more to send than is queued.
    pub(crate) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Bytes queued beyond the windows of all streams.
    fn beyond(&self) -> u64 {
        self.unsent - self.sendable
    }

    /// What is free of a buffer of so many bytes.
    fn room(&self, buffer: u64) -> u64 {
        buffer.saturating_sub(self.held - self.beyond())
    }

    /// What the stream may queue beyond its window: as much as it leaves to others.
    fn most_beyond(&self, stream: &SendStream, buffer: u64) -> u64 {
        let others = self.beyond() - stream.beyond();
        let half = ahead_of_windows(buffer).saturating_sub(others) / 2;
        half.min(ahead_of_window(buffer))
    }

    /// How much the stream may take: of a buffer of so many bytes what its window admits, and
    /// little beyond that, which leaves the buffer to others.
    pub(crate) fn room_of(&self, id: StreamId, buffer: u64) -> u64 {
        let Some(stream) = self.streams.get(&id) else { return 0 };
        let (within, room) = (stream.window_left(), self.room(buffer));
        if within > room {
            return room;
        }
        within + self.most_beyond(stream, buffer).saturating_sub(stream.beyond())
    }

    /// Streams whose writers wait and have room worth waking for in a buffer of so many bytes, each
    /// named once: a quarter of the buffer, or half of what the stream could queue at most now.
    pub(crate) fn take_roomy(&mut self, buffer: u64) -> BTreeSet<StreamId> {
        let quarter = buffer / 4;
        // No stream has more room than there is: mostly there is nobody to look for.
        if self.waiting.is_empty() || self.room(buffer) < quarter.min(ahead_of_window(buffer) / 2) {
            return BTreeSet::new();
        }
        let is_roomy = |id: &StreamId| {
            let Some(stream) = self.streams.get(id) else { return true };
            let half = (stream.window_left() + self.most_beyond(stream, buffer)) / 2;
            self.room_of(*id, buffer) >= quarter.min(half).max(1)
        };
        let (roomy, waiting) = self.waiting.iter().copied().partition(is_roomy);
        self.waiting = waiting;
        roomy
    }

    fn stop_waiting(&mut self, id: StreamId) {
        self.waiting.remove(&id);
        self.waiting_for_window.remove(&id);
    }

    fn give_turn(&mut self, id: StreamId) {
        let ready = self.streams.get(&id).is_some_and(SendStream::is_ready);
        if ready && self.has_turn.insert(id) {
            self.turns.push_back(id);
        }
    }

    fn end_turn(&mut self, id: StreamId) {
        if self.has_turn.remove(&id) {
            self.turns.retain(|&other| other != id);
        }
    }

    /// Whether any stream has something to send within its window.
    pub(crate) fn is_ready(&self) -> bool {
        !self.turns.is_empty()
    }

    /// The stream whose turn it is.
    pub(crate) fn next(&self) -> Option<(StreamId, &SendStream)> {
        let id = *self.turns.front()?;
        self.streams.get(&id).map(|stream| (id, stream))
    }

    /// Cuts a segment of at most `max` bytes of DSN space off the stream whose turn it is.
    pub(crate) fn cut(&mut self, max: u64) -> Option<(StreamId, Piece)> {
        let id = self.turns.pop_front()?;
        self.has_turn.remove(&id);
        let piece = self.change(id, |stream| stream.cut(max))?;
        self.unsent -= piece.data.len() as u64;
        self.give_turn(id);
        Some((id, piece))
    }

    /// `data` bytes, and the end mark if `fin`, of the stream were acknowledged. Returns whether
    /// the stream is wholly delivered; it is forgotten then.
    pub(crate) fn on_acked(&mut self, id: StreamId, data: u64, fin: bool) -> bool {
        let Some(stream) = self.streams.get_mut(&id) else { return false };
        self.held -= data;
        let done = stream.on_acked(data + u64::from(fin));
        if done {
            self.streams.remove(&id);
        }
        done
    }

    /// Forgets a stream and what it holds. Returns its final size: the end of what was cut.
    pub(crate) fn remove(&mut self, id: StreamId, unacked_data: u64) -> Option<u64> {
        let stream = self.streams.remove(&id)?;
        self.sendable -= stream.sendable();
        self.unsent -= stream.queued();
        self.held -= stream.queued() + unacked_data;
        self.stop_waiting(id);
        self.end_turn(id);
        Some(stream.next_offset())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Side;

    #[test]
    fn streams_take_turns_and_accounts_end_at_zero() {
        let ids = [StreamId::new(Side::Edge, 0), StreamId::new(Side::Edge, 1)];
        let mut streams = SendStreams::default();
        for id in ids {
            streams.open(id, 1_000);
            streams.push(id, Bytes::from(vec![0; 20]));
            streams.finish(id);
        }
        let mut order = Vec::new();
        while let Some((id, piece)) = streams.cut(15) {
            order.push(id);
            let done = streams.on_acked(id, piece.data.len() as u64, piece.fin);
            assert_eq!(done, piece.fin);
        }
        assert_eq!(order, [ids[0], ids[1], ids[0], ids[1]]);
        assert!(streams.is_empty() && streams.held == 0 && streams.unsent() == 0);
    }

    #[test]
    fn what_the_windows_of_streams_admit_is_counted() {
        let [wide, narrow] = [0, 1].map(|n| StreamId::new(Side::Edge, n));
        let mut streams = SendStreams::default();
        for (id, limit) in [(wide, 1_000), (narrow, 10)] {
            streams.open(id, limit);
            streams.push(id, Bytes::from(vec![0; 20]));
        }
        let counts = |streams: &SendStreams| (streams.sendable(), streams.is_blocked());
        assert_eq!(counts(&streams), (30, false));
        while streams.cut(15).is_some() {}
        assert_eq!(counts(&streams), (0, true), "10 bytes wait for the window of their stream");
        streams.raise_limit(narrow, 15);
        assert_eq!(counts(&streams), (5, false));
        streams.remove(narrow, 10);
        assert_eq!((counts(&streams), streams.unsent()), ((0, false), 0));
        streams.push(wide, Bytes::from(vec![0; 20]));
        streams.withdraw(wide);
        assert_eq!(counts(&streams), (0, false));
    }

    /// A sixteenth of 1.6 MB is 100 kB, and a quarter 400 kB. A stream whose window admits all
    /// takes all that is left of the buffer.
    #[test]
    fn streams_take_little_beyond_their_windows() {
        const BUFFER: u64 = 1_600_000;
        let ids: Vec<_> = (0..5).map(|n| StreamId::new(Side::Edge, n)).collect();
        let mut streams = SendStreams::default();
        let mut fill = |id, window| {
            streams.open(id, window);
            let taken = streams.room_of(id, BUFFER);
            streams.push(id, Bytes::from(vec![0; taken as usize]));
            assert_eq!(streams.room_of(id, BUFFER), 0);
            taken
        };
        let taken = [fill(ids[0], 1_250_000), fill(ids[1], 0), fill(ids[2], 0), fill(ids[3], 0)];
        // Of the last 100 kB the fourth leaves as much as it takes.
        assert_eq!(taken, [1_350_000, 100_000, 100_000, 50_000]);
        assert_eq!(fill(ids[4], u64::MAX), 350_000);
    }

    #[test]
    fn writers_are_woken_where_they_have_room_worth_while() {
        const BUFFER: u64 = 1 << 20;
        let [wide, narrow] = [0, 1].map(|n| StreamId::new(Side::Edge, n));
        let mut streams = SendStreams::default();
        streams.open(narrow, 0);
        let ahead = ahead_of_window(BUFFER);
        streams.push(narrow, Bytes::from(vec![0; ahead as usize]));
        streams.open(wide, u64::MAX);
        streams.push(wide, Bytes::from(vec![0; BUFFER as usize]));
        [wide, narrow].into_iter().for_each(|id| streams.mark_waiting(id));
        assert!(streams.take_roomy(BUFFER).is_empty());
        while streams.cut(1_000).is_some() {}
        streams.on_acked(wide, BUFFER / 4 - 1, false);
        assert!(streams.take_roomy(BUFFER).is_empty());
        streams.on_acked(wide, 1, false);
        assert_eq!(streams.take_roomy(BUFFER), BTreeSet::from([wide]));
        assert!(streams.take_roomy(BUFFER).is_empty(), "once");
        streams.on_acked(wide, BUFFER / 4 * 3, false);
        assert!(!streams.has_waiting(), "the narrow one waits for its window");
        // Half of what the narrow one may have beyond its window.
        streams.raise_limit(narrow, ahead / 2 - 1);
        assert!(streams.take_roomy(BUFFER).is_empty());
        streams.raise_limit(narrow, ahead / 2);
        assert_eq!(streams.take_roomy(BUFFER), BTreeSet::from([narrow]));
        assert!(!streams.has_waiting());
    }

    #[test]
    fn what_is_withdrawn_is_never_cut() {
        let (id, other) = (StreamId::new(Side::Edge, 0), StreamId::new(Side::Edge, 1));
        let mut streams = SendStreams::default();
        for id in [id, other] {
            streams.open(id, 1_000);
            streams.push(id, Bytes::from(vec![0; 20]));
        }
        assert_eq!(streams.cut(15).map(|(id, piece)| (id, piece.data.len())), Some((id, 15)));
        streams.mark_waiting(id);
        assert_eq!((streams.withdraw(id), streams.withdraw(id)), (5, 0));
        assert_eq!((streams.unsent(), streams.held, streams.has_waiting()), (20, 35, false));
        assert_eq!(streams.cut(50).map(|(id, _)| id), Some(other));
        assert!(!streams.is_ready());
        streams.push(id, Bytes::from(vec![0; 20]));
        streams.finish(id);
        assert_eq!(streams.withdraw(id), 20);
        let (last, piece) = streams.cut(50).unwrap();
        assert_eq!((last, piece.offset, piece.data.len(), piece.fin), (id, 15, 0, true));
        assert!(!streams.is_ready());
    }
}
