//! What arrives from the peer.

use super::Bond;
use crate::carried_bytes::CarriedBytes;
use crate::codec::{
    AckFrame, Control, FirstWindow, Frame, Frames, MAX_CONTROL_SPAN, StreamFrame, StreamId,
};
use crate::error::ProtocolError;
use crate::event::{BreakReason, Event};
use crate::flow::Arrived;
use crate::recv::{Arriving, SHORT};
use bytes::Bytes;
use polypath_units::{PathId, Timestamp};
use std::ops::Range;
use std::time::Duration;

/// Holes in the received numbers that are remembered: one for so many bytes of the receive buffer,
/// so that skips of single bytes cost no more than half of it.
const BYTES_PER_HOLE: u64 = 128;
const MIN_HOLES: u64 = 1_024;

/// Chunks that an acknowledgement may show as lost, from the oldest.
const OVERTAKEN_DEPTH: usize = 64;
/// A path may reorder packets that were sent within this part of its RTT (RFC 8985 section 6.2),
/// and of this time at least, or within what it has been seen to.
const REORDERING: u32 = 4;
const MIN_REORDERING: Duration = Duration::from_millis(20);

/// A short piece would keep the whole packet that it came in in memory.
fn compact(data: Bytes) -> Bytes {
    if data.len() < SHORT { Bytes::copy_from_slice(&data) } else { data }
}

impl Bond {
    /// A datagram arrived on a path. A peer that breaks the protocol breaks the bond.
    pub fn on_datagram(&mut self, id: PathId, datagram: impl Into<CarriedBytes>, now: Timestamp) {
        let CarriedBytes { data: datagram, is_marked } = datagram.into();
        if self.lifecycle.is_broken() {
            return;
        }
        let (keep_alive, bytes) = (self.keep_alive(), datagram.len() as u64);
        if !self.paths.on_arrival(id, bytes, keep_alive, now) {
            return;
        }
        self.detector.on_arrival(id, now);
        let mut is_data = false;
        for frame in Frames::new(datagram) {
            let handled = frame.map_err(ProtocolError::Malformed).and_then(|frame| {
                is_data |= frame.is_data();
                self.on_frame(id, frame, is_marked, now)
            });
            if let Err(error) = handled {
                self.break_off(BreakReason::Protocol(error));
                return;
            }
        }
        if let Some(path) = self.paths.get_mut(id).filter(|_| is_data) {
            path.receiving.count(bytes, now);
        }
        self.take_detector_actions(now);
    }

    fn on_frame(
        &mut self,
        path: PathId,
        frame: Frame,
        is_marked: bool,
        now: Timestamp,
    ) -> Result<(), ProtocolError> {
        match frame {
            Frame::Padding => Ok(()),
            Frame::Stream(stream) => self.on_stream(path, stream, now),
            Frame::Skip { dsn, len } => self.on_skip(path, dsn..dsn + len, now),
            Frame::Ack(ack) => self.on_ack_frame(&ack, now),
            Frame::Control { seq, message } => {
                self.owe_ack(path, now);
                self.acks.demand(now);
                if seq >= self.acks.control.next() + MAX_CONTROL_SPAN {
                    return Err(ProtocolError::ControlSpan { seq });
                }
                if self.acks.control.insert(seq..seq + 1, |_| ()) == 0 {
                    return Ok(());
                }
                self.on_control(message, now)
            }
            Frame::Ping { id } => {
                if let Some(path) = self.paths.get_mut(path) {
                    path.owe_pong(id);
                }
                Ok(())
            }
            Frame::Pong { id } => {
                self.on_pong(path, id, now);
                Ok(())
            }
            Frame::Datagram(mut datagram) => {
                datagram.data = compact(datagram.data);
                self.on_flow_datagram(Arrived { path, fragment: datagram.into(), is_marked }, now)
            }
            Frame::Fragment(fragment) => {
                self.on_flow_datagram(Arrived { path, fragment, is_marked }, now)
            }
            Frame::PathSuspect(report) => {
                self.ask_detector(|detector, health, _| {
                    detector.on_report(&report, now, health);
                });
                Ok(())
            }
            Frame::PathQuery(query) => {
                let state = self.receive_state();
                self.detector.on_query(query, now, &state);
                Ok(())
            }
        }
    }

    fn owe_ack(&mut self, path: PathId, now: Timestamp) {
        if let Some(path) = self.paths.get_mut(path) {
            path.acks_owed = true;
        }
        self.acks.on_arrival(now);
    }

    fn check_window(&self, range: &Range<u64>) -> Result<(), ProtocolError> {
        let limit = self.acks.advertised();
        if range.end > limit {
            let what = "the highest DSN";
            return Err(ProtocolError::FlowControl { what, given: range.end, limit });
        }
        Ok(())
    }

    /// Records arrived DSNs for acknowledgement and failure detection. Returns how many are new;
    /// `on_new` sees them.
    fn record(
        &mut self,
        path: PathId,
        range: Range<u64>,
        now: Timestamp,
        on_new: impl FnMut(Range<u64>),
    ) -> u64 {
        let before = self.acks.data.next();
        let (len, end) = (range.end - range.start, range.end);
        let new = self.acks.data.insert(range, on_new);
        if new > 0 {
            self.lifecycle.on_progress(now);
        }
        self.counters.bytes_duplicate += len - new;
        let out_of_order = self.acks.data.next() == before;
        let state = self.receive_state();
        self.detector.on_data(path, out_of_order, now, &state);
        self.owe_ack(path, now);
        // The sender may be waiting for just this: a hole that closed, or the end of its data.
        if !out_of_order && end < self.acks.data.next() {
            self.acks.demand(now);
        }
        new
    }

    fn is_next(&self, range: &Range<u64>) -> bool {
        range.start <= self.acks.data.next()
    }

    /// Whether a further hole in the received numbers can be remembered. What is next in order
    /// makes none.
    fn can_remember(&self, range: &Range<u64>) -> bool {
        let limit = (self.config.receive_buffer / BYTES_PER_HOLE).max(MIN_HOLES);
        self.is_next(range) || (self.acks.data.gaps() as u64) < limit
    }

    fn on_stream(
        &mut self,
        path: PathId,
        frame: StreamFrame,
        now: Timestamp,
    ) -> Result<(), ProtocolError> {
        let range = frame.dsn_range();
        self.check_window(&range)?;
        self.accept_stream(frame.id)?;
        let StreamFrame { id, offset, fin, data, .. } = frame;
        let segment = Arriving { id, offset, data, fin };
        self.recv.check(&segment)?;
        if !self.can_remember(&range) || !self.recv.admits(&segment) {
            self.counters.fragments_refused += 1;
            return Ok(());
        }
        let first = range.start;
        let mut pieces = self.scratch.new_ranges.take();
        self.record(path, range, now, |piece| pieces.push(piece.start - first..piece.end - first));
        for piece in &pieces {
            self.store(&segment, piece);
        }
        self.scratch.new_ranges.put_back(pieces);
        self.give_up_unread(now);
        self.after_release(now);
        if fin {
            self.acks.demand(now);
        }
        Ok(())
    }

    /// Keeps the part of a segment whose DSN are new. The rest was kept before, or skipped because
    /// its stream was reset: to keep it again would count it twice.
    fn store(&mut self, segment: &Arriving, piece: &Range<u64>) {
        let len = segment.data.len() as u64;
        let bytes = piece.start.min(len) as usize..piece.end.min(len) as usize;
        let accepted = self.recv.insert(Arriving {
            id: segment.id,
            offset: segment.offset + piece.start.min(len),
            data: segment.data.slice(bytes),
            fin: segment.fin && piece.end > len,
        });
        self.recv.release((piece.end - piece.start).saturating_sub(accepted.stored));
        if accepted.readable {
            self.events.push_back(Event::StreamReadable(segment.id));
        }
        if accepted.moves_window {
            self.tell_window_of(segment.id);
        }
    }

    fn on_skip(
        &mut self,
        path: PathId,
        range: Range<u64>,
        now: Timestamp,
    ) -> Result<(), ProtocolError> {
        self.check_window(&range)?;
        if !self.can_remember(&range) {
            self.counters.fragments_refused += 1;
            return Ok(());
        }
        let new = self.record(path, range, now, |_| ());
        self.recv.release(new);
        self.after_release(now);
        Ok(())
    }

    fn on_ack_frame(&mut self, ack: &AckFrame, now: Timestamp) -> Result<(), ProtocolError> {
        self.peer.window = self.peer.window.max(ack.window);
        let (send, events) = (&mut self.send, &mut self.events);
        let mut delivered = 0;
        let mut over = Vec::new();
        self.chunks.on_ack(ack.rcv_nxt, &ack.ranges, |id, bytes, fin| {
            delivered += bytes;
            if send.on_acked(id, bytes, fin) {
                events.push_back(Event::StreamDelivered(id));
                over.push(id);
            }
        })?;
        self.counters.bytes_delivered += delivered;
        let (congestion, paths) = (&self.congestion, &self.paths);
        self.chunks.reinject_overtaken(OVERTAKEN_DEPTH, |path| {
            let srtt = congestion.rtt(path).and_then(|rtt| rtt.srtt());
            let least = srtt.unwrap_or(MIN_REORDERING).max(MIN_REORDERING) / REORDERING;
            least.max(paths.reordering(path, congestion))
        });
        let (control, flows) = (&mut self.control, &mut self.flows);
        control.on_ack(ack.control_nxt, &ack.control_ranges, |message| {
            if let Control::FlowClose { flow } = message {
                flows.on_close_acked(flow);
            }
        })?;
        over.into_iter().for_each(|id| self.after_half_closed(id));
        self.wake_writers();
        self.progress_close(now);
        Ok(())
    }

    fn on_control(&mut self, message: Control, now: Timestamp) -> Result<(), ProtocolError> {
        match message {
            Control::MaxData { max } => self.peer.window = self.peer.window.max(max),
            Control::MaxStreamData { id, max } => {
                self.accept_stream(id)?;
                self.send.raise_limit(id, max);
                self.wake_writers();
            }
            Control::MaxStreams { max } => self.on_max_streams(max),
            Control::ResetStream { id, code, final_size } => {
                self.accept_stream(id)?;
                if self.recv.reset(id, code, final_size)? {
                    self.events.push_back(Event::StreamReadable(id));
                }
                self.after_release(now);
            }
            Control::StopSending { id, code } => {
                self.accept_stream(id)?;
                self.on_stop_sending(id, code);
            }
            Control::PathStatus { path, sequence, backup } => {
                self.paths.prefer(path, |preferences| {
                    preferences.on_path_status(path, sequence, backup);
                });
            }
            Control::PathRemove { path } => {
                if self.paths.contains(path) {
                    self.remove_path(path);
                    self.paths.on_removed_by_peer(path);
                    self.events.push_back(Event::PathRemoved(path));
                }
            }
            Control::FlowOpen { flow, config } => {
                self.on_flow_open(flow, config, now)?;
            }
            Control::FlowClose { flow } => self.on_flow_close(flow),
            Control::Close { code, reason } => self.on_close(code, reason, now),
            Control::FirstWindow(window) => self.on_first_window(&window),
        }
        Ok(())
    }

    fn on_first_window(&mut self, window: &FirstWindow) {
        self.stream_credit.on_first_window(window);
        let side = self.side;
        let open = self.send.ids_in(window.ids(side)).filter(|id| id.initiator() == side);
        for id in open.collect::<Vec<_>>() {
            self.send.raise_limit(id, window.max);
        }
        self.wake_writers();
    }

    pub(super) fn on_max_streams(&mut self, max: u64) {
        if self.stream_credit.raise_limit(max) {
            self.events.push_back(Event::StreamsAvailable);
        }
    }

    /// The peer reads no more: what is unsent is dropped, and the peer told where the data ends.
    fn on_stop_sending(&mut self, id: StreamId, code: u64) {
        if self.send.get(id).is_some() {
            self.reset(id, code);
            self.events.push_back(Event::StreamStopped { id, code });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::bond::fixtures::hub;
    use crate::codec::{Control, FirstWindow, Frame, Side, StreamFrame, StreamId};
    use crate::config::BondConfig;
    use bytes::{Bytes, BytesMut};
    use polypath_units::{PathId, Timestamp};

    const BUFFER: u64 = 64 << 10;
    const STREAM: StreamId = StreamId(0);

    /// Single bytes of streams, which nobody reads, in order of DSN; the streams in turn.
    fn crumbs(bond: &mut crate::Bond, count: u64, streams: u64) {
        for dsn in 0..count {
            let (id, offset) = (StreamId(2 * (dsn % streams)), dsn / streams);
            let data = Bytes::from(vec![offset as u8]);
            let mut datagram = BytesMut::new();
            Frame::Stream(StreamFrame { dsn, id, offset, fin: false, data })
                .encode(&mut datagram, true);
            bond.on_datagram(PathId::default(), datagram.freeze(), Timestamp::ZERO);
        }
        assert_eq!(bond.acks.data.next(), count, "all are taken");
    }

    /// Whether they are open or not; those beside them, and those of the peer, are not meant.
    #[test]
    fn a_first_window_holds_for_its_streams_alone() {
        let mut bond = hub(BondConfig::default(), None);
        let before: Vec<_> = (0..3).map(|_| bond.open_stream().unwrap()).collect();
        bond.accept_stream(StreamId::new(Side::Edge, 1)).unwrap();
        for (seq, streams) in [(0, 2..5), (1, 0..1)] {
            let window = FirstWindow { streams, max: 3 << 20 };
            let message = Control::FirstWindow(window);
            let mut datagram = BytesMut::new();
            Frame::Control { seq, message }.encode(&mut datagram, true);
            bond.on_datagram(PathId::default(), datagram.freeze(), Timestamp::ZERO);
        }
        let after: Vec<_> = (3..6).map(|_| bond.open_stream().unwrap()).collect();
        let window = |id: StreamId| bond.send.get(id).unwrap().window_left() >> 20;
        let windows: Vec<_> = before.into_iter().chain(after).map(window).collect();
        assert_eq!(windows, [3, 1, 3, 3, 3, 1]);
        assert_eq!(window(StreamId::new(Side::Edge, 1)), 1);
    }

    /// What one stream may send is its window; so the buffer is filled by four, of 16 KiB each.
    #[test]
    fn crumbs_in_order_cost_hardly_more_than_their_bytes() {
        let mut bond = hub(BondConfig { receive_buffer: BUFFER, ..BondConfig::default() }, None);
        crumbs(&mut bond, BUFFER, 4);
        assert_eq!(bond.buffered(), BUFFER);
        assert!(bond.buffer_cost() <= BUFFER + BUFFER / 5, "{}", bond.buffer_cost());
        let mut read = Vec::new();
        while let Ok(Some(data)) = bond.read(STREAM, usize::MAX, Timestamp::ZERO) {
            read.extend_from_slice(&data);
        }
        assert!(read.into_iter().eq((0..BUFFER / 4).map(|offset| offset as u8)));
    }

    /// Two bytes behind one that was not sent, with DSN in order: no sender that keeps to the order
    /// of offsets makes such pieces. They are refused once they cost 3/4 of the buffer.
    #[test]
    fn pieces_without_order_are_bounded_though_their_dsn_are_next() {
        let mut bond = hub(BondConfig { receive_buffer: BUFFER, ..BondConfig::default() }, None);
        for dsn in 0..BUFFER / 4 {
            let (id, data) = (StreamId(2 * (dsn / 8_000)), Bytes::from_static(b"x"));
            let offset = 2 * (dsn % 8_000) + 1;
            let mut datagram = BytesMut::new();
            Frame::Stream(StreamFrame { dsn, id, offset, fin: false, data })
                .encode(&mut datagram, true);
            bond.on_datagram(PathId::default(), datagram.freeze(), Timestamp::ZERO);
        }
        let most = BUFFER / 4 * 3 / 64;
        assert_eq!((bond.acks.data.next(), bond.buffer_cost()), (most, most * 65));
    }
}
