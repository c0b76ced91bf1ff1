//! Building datagrams.

use super::{Bond, Transmit};
use crate::codec::{Frame, encode_stream_header, stream_header_size};
use crate::path::Payload;
use crate::send::{ChunkRef, Content, SegmentInfo};
use bytes::{Bytes, BytesMut};
use polypath_units::{PathId, Timestamp};

/// Room that must be left for a further segment to join a datagram.
const WORTH_FILLING: u64 = 48;
/// Segments that one datagram carries at most.
const MAX_SEGMENTS: usize = 16;

impl SegmentInfo {
    /// Encoded size of what comes before the data of the last segment in a datagram.
    fn header(&self) -> usize {
        match &self.content {
            Content::Data { id, offset, .. } => stream_header_size(self.dsn, *id, *offset, None),
            _ => 0,
        }
    }

    /// Encoded size; `last` in its datagram, so without a length.
    fn size(&self, last: bool) -> u64 {
        let size = match &self.content {
            Content::Data { id, offset, data, .. } => {
                let len = (!last).then_some(data.len());
                stream_header_size(self.dsn, *id, *offset, len) + data.len()
            }
            _ => Frame::Skip { dsn: self.dsn, len: self.len }.encoded_size(last),
        };
        size as u64
    }

    fn encode(&self, buf: &mut BytesMut, last: bool) {
        match &self.content {
            Content::Data { id, offset, data, fin } => {
                let len = (!last).then_some(data.len());
                encode_stream_header(buf, self.dsn, *id, *offset, *fin, len);
                buf.extend_from_slice(data);
            }
            _ => Frame::Skip { dsn: self.dsn, len: self.len }.encode(buf, last),
        }
    }
}

impl Bond {
    /// The most DSN space that a segment of the stream at `offset` may take in `room` bytes.
    fn payload_room(room: u64, header: usize) -> u64 {
        room.saturating_sub(header as u64)
    }

    /// Cuts new data for a datagram with `room` bytes; at most what the peer's window admits.
    fn cut_new(&mut self, room: u64) -> Option<SegmentInfo> {
        let window = self.peer.window.saturating_sub(self.chunks.next_dsn());
        let (id, stream) = self.send.next()?;
        let dsn = self.chunks.next_dsn();
        let header = stream_header_size(dsn, id, stream.next_offset(), None);
        let max = Self::payload_room(room, header).min(window);
        if max == 0 {
            return None;
        }
        let (id, piece) = self.send.cut(max)?;
        Some(self.chunks.append(id, piece))
    }

    /// Takes a chunk that must travel again for a datagram with `room` bytes.
    fn cut_again(&mut self, room: u64) -> Option<SegmentInfo> {
        let header = self.chunks.next_reinjection()?.header();
        self.chunks.take_reinjection(Self::payload_room(room, header).max(1))
    }

    /// Builds a datagram for `path` with what must travel again, or new data.
    pub(super) fn build_data(
        &mut self,
        path: PathId,
        again: bool,
        now: Timestamp,
    ) -> Option<Transmit> {
        let room = self.paths.get(path)?.max_datagram;
        let mut segments = self.scratch.segments.take();
        let mut left = room;
        while segments.len() < MAX_SEGMENTS && (segments.is_empty() || left >= WORTH_FILLING) {
            // A segment before the last needs a length: at most two bytes for any datagram.
            let space = if segments.is_empty() { left } else { left - 2 };
            let next = if again { self.cut_again(space) } else { self.cut_new(space) };
            let Some(segment) = next else { break };
            left = left.saturating_sub(segment.size(false));
            segments.push(segment);
        }
        let transmit = self.assemble(path, &segments, now);
        self.scratch.segments.put_back(segments);
        transmit
    }

    fn count(&mut self, path: PathId, segment: &SegmentInfo) {
        let Some(path) = self.paths.get_mut(path) else { return };
        if segment.is_new {
            path.counters.bytes_new += segment.len;
        } else {
            self.counters.bytes_reinjected += segment.len;
            path.counters.bytes_reinjected += segment.len;
        }
    }

    /// Leaves new data behind and builds a datagram with what follows it, if there is so much.
    pub(super) fn build_ahead(
        &mut self,
        path: PathId,
        skip: u64,
        now: Timestamp,
    ) -> Option<Transmit> {
        let mut left = match self.chunks.reserved_after(skip) {
            Ok(dsn) => return self.build_copy(path, dsn, now),
            Err(left) => left,
        };
        let room = self.paths.get(path)?.max_datagram;
        while left > 0 {
            let Some(segment) = self.cut_new(room) else { break };
            self.chunks.reserve(segment.dsn);
            left = left.saturating_sub(segment.len);
        }
        // Where no segment begins behind so much, the last one goes: whoever asked for it would ask
        // for the same again.
        self.build_data(path, false, now)
            .or_else(|| self.build_copy(path, self.chunks.last_reserved()?, now))
    }

    /// Builds a datagram with a further copy of the chunk at `dsn`.
    pub(super) fn build_copy(
        &mut self,
        path: PathId,
        dsn: u64,
        now: Timestamp,
    ) -> Option<Transmit> {
        let room = self.paths.get(path)?.max_datagram;
        let header = self.chunks.unacked_at(dsn)?.header();
        let segment = self.chunks.copy_of(dsn, Self::payload_room(room, header).max(1))?;
        self.assemble(path, std::slice::from_ref(&segment), now)
    }

    fn assemble(
        &mut self,
        path: PathId,
        segments: &[SegmentInfo],
        now: Timestamp,
    ) -> Option<Transmit> {
        let (last, before) = segments.split_last()?;
        let size = before.iter().map(|s| s.size(false)).sum::<u64>() + last.size(true);
        let mut buf = BytesMut::with_capacity(size as usize);
        before.iter().for_each(|segment| segment.encode(&mut buf, false));
        last.encode(&mut buf, true);
        let mut payload = Payload::default();
        for segment in segments {
            self.count(path, segment);
            let chunk = ChunkRef { dsn: segment.dsn, len: segment.len };
            self.chunks.on_sent(chunk, path, now);
            if payload.chunk.is_none() {
                payload.chunk = Some(chunk);
            } else {
                payload.more.push(chunk);
            }
        }
        Some(self.commit(path, buf.freeze(), payload))
    }

    /// Hands a datagram to the carrier of `path`.
    pub(super) fn commit(
        &mut self,
        path: PathId,
        datagram: Bytes,
        mut payload: Payload,
    ) -> Transmit {
        payload.len = datagram.len() as u64;
        payload.datagrams = 1;
        if let Some(path) = self.paths.get_mut(path) {
            path.commit(&payload);
        }
        Transmit { path, datagram, payload }
    }

    /// Hands one frame to the carrier of `path`, padded to `size` bytes if that is more.
    pub(super) fn commit_frame(
        &mut self,
        path: PathId,
        frame: &Frame,
        payload: Payload,
        size: usize,
    ) -> Transmit {
        let mut buf = BytesMut::with_capacity(size.max(64));
        frame.encode(&mut buf, false);
        if buf.len() < size {
            buf.resize(size, 0);
        }
        self.commit(path, buf.freeze(), payload)
    }
}
