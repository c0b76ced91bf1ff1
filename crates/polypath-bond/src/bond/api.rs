//! What applications call: streams.

use super::Bond;
use crate::codec::{Control, Side, StreamId};
use crate::error::{OpenError, ProtocolError, ReadError, WriteError};
use crate::event::Event;
use bytes::Bytes;
use polypath_units::Timestamp;
use std::time::Duration;

/// What a reader takes is measured over this time at least: a path that fails is noticed within
/// it, and data fills the hole.
const LEAST_READING_PERIOD: Duration = Duration::from_millis(100);

impl Bond {
    /// Opens a bidirectional stream.
    ///
    /// # Errors
    /// When the peer's limit is reached or the bond is closing.
    pub fn open_stream(&mut self) -> Result<StreamId, OpenError> {
        if !self.lifecycle.is_open() {
            return Err(OpenError::Closed);
        }
        let id = self.stream_credit.open().ok_or(OpenError::LimitReached)?;
        let window = self.stream_credit.first_window(id).max(self.peer.stream_window);
        self.send.open(id, window);
        self.recv.open(id);
        self.tell_window_of(id);
        Ok(id)
    }

    /// Bytes that the send buffer takes now of this stream. What the stream's window does not admit
    /// yet takes little of it, so that a stream that nobody reads leaves room for the others.
    pub fn send_room(&self, id: StreamId) -> u64 {
        self.send.room_of(id, self.config.send_buffer)
    }

    /// Queues as much of `data` as the send buffer takes of this stream and returns how many bytes
    /// that is.
    ///
    /// # Errors
    /// When there is no room, or the stream cannot be written.
    pub fn write(&mut self, id: StreamId, data: &Bytes) -> Result<usize, WriteError> {
        self.check_writable(id)?;
        let room = self.send_room(id) as usize;
        let len = data.len().min(room);
        if len == 0 && !data.is_empty() {
            self.send.mark_waiting(id);
            return Err(WriteError::Blocked);
        }
        self.send.push(id, data.slice(..len));
        Ok(len)
    }

    /// Takes back what was written and is in no segment yet; returns how many bytes that is, none
    /// of a stream that is unknown. The stream goes on, or ends if it was finished, after what is
    /// in segments.
    pub fn withdraw(&mut self, id: StreamId) -> u64 {
        let bytes = self.send.withdraw(id);
        self.wake_writers();
        bytes
    }

    /// Marks the end of what is written: the peer reads the end after the last byte.
    ///
    /// # Errors
    /// When the stream cannot be written.
    pub fn finish(&mut self, id: StreamId) -> Result<(), WriteError> {
        self.check_writable(id)?;
        self.send.finish(id);
        Ok(())
    }

    fn check_writable(&self, id: StreamId) -> Result<(), WriteError> {
        match self.send.get(id) {
            Some(stream) if stream.is_open() && self.lifecycle.is_open() => Ok(()),
            _ => Err(WriteError::UnknownStream(id)),
        }
    }

    /// Gives up writing: what is not delivered is lost, the peer's reads end with `code`.
    pub fn reset(&mut self, id: StreamId, code: u64) {
        if self.send.get(id).is_none() {
            return;
        }
        let held = self.chunks.abandon(id);
        if let Some(final_size) = self.send.remove(id, held) {
            self.tell(Control::ResetStream { id, code, final_size });
        }
        self.after_half_closed(id);
        self.wake_writers();
    }

    /// Reads at most `max` bytes in order; `Ok(None)` at the end of the stream.
    ///
    /// # Errors
    /// When nothing is there yet, the peer reset the stream, or it cannot be read.
    pub fn read(
        &mut self,
        id: StreamId,
        max: usize,
        now: Timestamp,
    ) -> Result<Option<Bytes>, ReadError> {
        if self.limits.holds_reader(id, now) {
            return Err(ReadError::Blocked);
        }
        let result = self.recv.read(id, max, now, self.reading_period());
        match &result {
            Ok(Some(data)) => {
                self.counters.bytes_read += data.len() as u64;
                self.limits.on_read(data.len() as u64);
                self.after_release(now);
                self.tell_window_of(id);
            }
            Ok(None) | Err(ReadError::Reset(_)) => self.after_half_closed(id),
            Err(_) => {}
        }
        self.tell_first_windows();
        result
    }

    /// Tells the peer a new limit of the stream if it is worth it.
    pub(super) fn tell_window_of(&mut self, id: StreamId) {
        if let Some(max) = self.recv.raise_limit(id) {
            self.tell(Control::MaxStreamData { id, max });
        }
    }

    /// Tells the peer which streams that it will open may send more at first, if it is worth it. To
    /// an edge this is worth it from the first stream on that its hub opens: most hubs open none.
    pub(super) fn tell_first_windows(&mut self) {
        if self.side == Side::Edge && !self.stream_credit.has_peer_opened() {
            return;
        }
        if let Some(window) = self.recv.promise() {
            self.tell(Control::FirstWindow(window));
        }
    }

    /// The time in which a reader takes what the window of its stream follows from: long enough for
    /// data to be asked for and to come over any path, and for a hole to be filled.
    pub(super) fn reading_period(&self) -> Duration {
        let rtts = self.paths.ids().filter_map(|id| self.congestion.rtt(id)?.srtt());
        rtts.max().unwrap_or_default().max(LEAST_READING_PERIOD)
    }

    /// Gives up reading: the peer is told to stop, what is buffered is dropped.
    pub fn stop(&mut self, id: StreamId, code: u64, now: Timestamp) {
        if self.recv.forget(id) {
            self.tell(Control::StopSending { id, code });
            self.after_release(now);
            self.after_half_closed(id);
        }
    }

    /// Whether a [`Bond::read`] at this time has left something that the peer must hear, at once or
    /// at a time that [`Bond::poll_timeout`] did not say before.
    pub fn has_news(&self, now: Timestamp) -> bool {
        let is_due = |due| due <= now || self.acks.peer_is_short(self.recv.window());
        self.acks.due().is_some_and(is_due) || self.control.peek().is_some()
    }

    /// Says a larger window when it is worth it.
    pub(super) fn after_release(&mut self, now: Timestamp) {
        let window = self.recv.window();
        self.acks.on_window(window, self.config.receive_buffer, now);
    }

    /// A stream of the peer that is over in both directions makes room for another.
    pub(super) fn after_half_closed(&mut self, id: StreamId) {
        let over = !self.recv.contains(id) && self.send.get(id).is_none();
        if !over || id.initiator() == self.side {
            return;
        }
        if let Some(max) = self.stream_credit.on_peer_finished() {
            self.tell(Control::MaxStreams { max });
        }
    }

    /// Writers that wait hear of room once it is worth while.
    pub(super) fn wake_writers(&mut self) {
        let roomy = self.send.take_roomy(self.config.send_buffer);
        self.events.extend(roomy.into_iter().map(Event::StreamWritable));
    }

    /// Whether `id` names a stream that the peer may have opened, and opens it and those before it.
    pub(super) fn accept_stream(&mut self, id: StreamId) -> Result<(), ProtocolError> {
        if id.initiator() == self.side {
            let known = self.stream_credit.has_opened(id);
            return known.then_some(()).ok_or(ProtocolError::StreamState(id));
        }
        if !self.stream_credit.admits(id, self.control.max_streams_sent()) {
            return Err(ProtocolError::StreamLimit(id));
        }
        while let Some(opened) = self.stream_credit.open_up_to(id) {
            self.recv.open_promised(opened);
            self.open_answer(opened);
            self.events.push_back(Event::StreamOpened(opened));
        }
        self.tell_first_windows();
        Ok(())
    }

    /// Opens our half of a stream of the peer. After a close here it is reset: nobody answers, and
    /// an empty answer must not look like one.
    fn open_answer(&mut self, id: StreamId) {
        let code = self.lifecycle.draining().map(|(code, _)| code);
        if code.is_none() && !self.lifecycle.is_open() {
            // The close message has left: what the peer still waits for ends with the bond.
            return;
        }
        self.send.open(id, self.peer.stream_window);
        if let Some(code) = code {
            self.reset(id, code);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bond::fixtures::{OVERHEAD, hub};
    use crate::codec::{AckFrame, Frame, Frames, MAX_CONTROL_SPAN};
    use crate::config::BondConfig;
    use bytes::BytesMut;
    use polypath_units::PathId;

    const STREAMS: u64 = 64;

    /// An edge that opens streams and gives up both halves of each.
    struct Peer {
        bond: Bond,
        now: Timestamp,
        packets: u64,
        /// The next number of its messages.
        seq: u64,
        /// What it was told.
        max_streams: u64,
    }

    impl Peer {
        fn new() -> Self {
            let bond = hub(BondConfig { max_streams: STREAMS, ..BondConfig::default() }, None);
            Self { bond, now: Timestamp::ZERO, packets: 0, seq: 0, max_streams: STREAMS }
        }

        fn say(&mut self, frame: &Frame) {
            let mut datagram = BytesMut::new();
            frame.encode(&mut datagram, true);
            self.bond.on_datagram(PathId::default(), datagram.freeze(), self.now);
        }

        fn tell(&mut self, message: Control) {
            let seq = self.seq;
            self.seq += 1;
            self.say(&Frame::Control { seq, message });
        }

        /// Opens the stream, gives it up, and lets the application find out.
        fn waste(&mut self, index: u64) {
            let id = StreamId::new(Side::Edge, index);
            self.tell(Control::ResetStream { id, code: 0, final_size: 0 });
            self.tell(Control::StopSending { id, code: 0 });
            let _ = self.bond.read(id, 1, self.now);
        }

        /// Takes what the bond sends; the path works.
        fn listen(&mut self) {
            self.now += Duration::from_millis(1);
            self.bond.handle_timeout(self.now);
            while let Some(sent) = self.bond.poll_transmit(self.now) {
                for frame in Frames::new(sent.datagram) {
                    if let Frame::Control { message: Control::MaxStreams { max }, .. } =
                        frame.unwrap()
                    {
                        self.max_streams = self.max_streams.max(max);
                    }
                }
                let (path, bytes) = (sent.path, sent.payload.len + OVERHEAD);
                self.bond.on_packet_sent(path, self.packets, bytes, sent.payload, self.now);
                self.bond.on_packet_acked(path, self.packets, self.now);
                self.bond.on_acks_end(path, self.now);
                self.packets += 1;
            }
        }

        /// Acknowledges the bond's messages below `next`.
        fn acknowledge(&mut self, next: u64) {
            self.say(&Frame::Ack(AckFrame {
                rcv_nxt: 0,
                window: 0,
                ranges: Vec::new(),
                control_nxt: next,
                control_ranges: Vec::new(),
                arrivals: Vec::new(),
            }));
        }
    }

    /// It knows the limits that it would be told, and goes on until the bond breaks. Each stream
    /// leaves a message. Those that are sent are 1,024 at most; the last MAX_STREAMS among them
    /// admits no more than 64 streams that were not over when it was queued, and four more of its
    /// kind.
    #[test]
    fn messages_do_not_pile_up_for_a_peer_that_acknowledges_none() {
        let mut peer = Peer::new();
        let index = (0..20_000).find(|&index| {
            peer.listen();
            peer.waste(index);
            peer.bond.is_closed()
        });
        assert_eq!(index, Some(peer.max_streams));
        let messages = peer.bond.control.next_seq();
        assert!((MAX_CONTROL_SPAN..=MAX_CONTROL_SPAN + 68).contains(&messages), "{messages}");
        let error = ProtocolError::StreamLimit(StreamId::new(Side::Edge, peer.max_streams));
        let reason = crate::BreakReason::Protocol(error);
        let mut events = std::iter::from_fn(|| peer.bond.poll_event());
        assert!(events.any(|event| event == Event::Broken { reason: reason.clone() }));
    }

    #[test]
    fn streams_go_on_for_a_peer_that_acknowledges() {
        let mut peer = Peer::new();
        for index in 0..20 * STREAMS {
            peer.listen();
            peer.waste(index);
            let next = peer.bond.control.sent_end();
            peer.acknowledge(next);
        }
        assert!(!peer.bond.is_closed());
    }
}
