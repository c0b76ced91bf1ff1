//! What applications call: streams.

use super::{Bond, Phase};
use crate::codec::{Control, Side, StreamId};
use crate::error::{OpenError, ReadError, WriteError};
use crate::event::Event;
use bytes::Bytes;
use polypath_units::Timestamp;

impl Bond {
    /// Opens a bidirectional stream.
    ///
    /// # Errors
    /// When the peer's limit is reached or the bond is closing.
    pub fn open_stream(&mut self) -> Result<StreamId, OpenError> {
        if self.phase != Phase::Open {
            return Err(OpenError::Closed);
        }
        if self.opened >= self.peer.max_streams {
            self.opener_waits = true;
            return Err(OpenError::LimitReached);
        }
        let id = StreamId::new(self.side, self.opened);
        self.opened += 1;
        self.send.open(id, self.peer.stream_window);
        self.recv.open(id);
        Ok(id)
    }

    /// Bytes that the send buffer takes now, of all streams together.
    pub fn send_room(&self) -> u64 {
        self.config.send_buffer.saturating_sub(self.send.held())
    }

    /// Queues as much of `data` as the send buffer takes and returns how many bytes that is.
    ///
    /// # Errors
    /// When the buffer is full, or the stream cannot be written.
    pub fn write(&mut self, id: StreamId, data: &Bytes) -> Result<usize, WriteError> {
        self.check_writable(id)?;
        let room = self.send_room() as usize;
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
            Some(stream) if stream.is_open() && self.phase == Phase::Open => Ok(()),
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
        if self.holds_reader(id, now) {
            return Err(ReadError::Blocked);
        }
        let result = self.recv.read(id, max);
        match &result {
            Ok(Some(data)) => {
                self.count_read(data.len() as u64);
                self.after_release(now);
                if let Some(max) = self.recv.raise_limit(id) {
                    self.tell(Control::MaxStreamData { id, max });
                }
            }
            Ok(None) | Err(ReadError::Reset(_)) => self.after_half_closed(id),
            Err(_) => {}
        }
        result
    }

    /// Gives up reading: the peer is told to stop, what is buffered is dropped.
    pub fn stop(&mut self, id: StreamId, code: u64, now: Timestamp) {
        if self.recv.forget(id) {
            self.tell(Control::StopSending { id, code });
            self.after_release(now);
            self.after_half_closed(id);
        }
    }

    /// Whether a [`Bond::read`] at this time has left something that the peer must hear at once.
    pub fn has_news(&self, now: Timestamp) -> bool {
        self.acks.due().is_some_and(|due| due <= now) || self.control.peek().is_some()
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
        self.peer_finished += 1;
        let grant = self.peer_finished + self.config.max_streams;
        if grant >= self.granted_streams + (self.config.max_streams / 4).max(1) {
            self.granted_streams = grant;
            self.tell(Control::MaxStreams { max: grant });
        }
    }

    /// Writers that wait hear of room once a quarter of the send buffer is free.
    pub(super) fn wake_writers(&mut self) {
        if self.send.held() <= self.config.send_buffer / 4 * 3 {
            let waiting = self.send.take_waiting();
            self.events.extend(waiting.into_iter().map(Event::StreamWritable));
        }
    }

    /// Whether `id` names a stream that the peer may have opened, and opens it and those before it.
    pub(super) fn accept_stream(&mut self, id: StreamId) -> Result<(), crate::ProtocolError> {
        if id.initiator() == self.side {
            return if id.index() < self.opened {
                Ok(())
            } else {
                Err(crate::ProtocolError::StreamState(id))
            };
        }
        if id.index() >= self.granted_streams {
            return Err(crate::ProtocolError::StreamLimit(id));
        }
        while self.peer_opened <= id.index() {
            let opened = StreamId::new(self.peer_side(), self.peer_opened);
            self.peer_opened += 1;
            self.recv.open(opened);
            self.open_answer(opened);
            self.events.push_back(Event::StreamOpened(opened));
        }
        Ok(())
    }

    /// Opens our half of a stream of the peer. After a close here it is reset: nobody answers, and
    /// an empty answer must not look like one.
    fn open_answer(&mut self, id: StreamId) {
        let code = match self.phase {
            Phase::Open => None,
            Phase::Draining { code, .. } => Some(code),
            // The close message has left: what the peer still waits for ends with the bond.
            _ => return,
        };
        self.send.open(id, self.peer.stream_window);
        if let Some(code) = code {
            self.reset(id, code);
        }
    }

    fn peer_side(&self) -> Side {
        self.side.peer()
    }
}
