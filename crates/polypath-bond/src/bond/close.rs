//! The end of the bond.

use super::{Bond, Phase};
use crate::codec::{CloseCode, Control, StreamId};
use crate::event::{BreakReason, Event};
use polypath_units::Timestamp;
use std::time::Duration;

/// How long a side that has closed waits without news for the peer to do the same.
const CLOSE_WAIT: Duration = Duration::from_secs(3);

/// Code with which streams end here because their bond broke. It never travels.
pub const BROKEN: u64 = u64::MAX;

impl Bond {
    /// Closes gracefully: no new streams or writes; everything written, and the end of every
    /// stream, is delivered first. [`Event::Closed`] follows.
    pub fn close(&mut self, code: u64, reason: &str, now: Timestamp) {
        if self.phase != Phase::Open {
            return;
        }
        for id in self.send.ids().collect::<Vec<_>>() {
            self.send.finish(id);
        }
        self.phase = Phase::Draining { code, reason: reason.to_owned() };
        self.progress_close(now);
    }

    /// Gives up the streams whose end has not been written: the peer reads an error with `code`,
    /// and never takes what was written so far for the whole.
    pub fn reset_unfinished(&mut self, code: u64) {
        let open = |id: &StreamId| self.send.get(*id).is_some_and(|stream| stream.is_open());
        let unfinished: Vec<_> = self.send.ids().filter(open).collect();
        unfinished.into_iter().for_each(|id| self.reset(id, code));
    }

    /// Whether the bond has ended: closed by either side, or broken.
    pub fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed | Phase::Broken)
    }

    /// The code that closes the connections of the bond.
    pub(crate) fn close_code(&self) -> CloseCode {
        match self.phase {
            Phase::Broken => self.broken_by.unwrap_or(CloseCode::BondClosed),
            _ => CloseCode::BondClosed,
        }
    }

    /// Whether everything is delivered and both ends know of the close, or nothing can be done.
    pub(super) fn progress_close(&mut self, now: Timestamp) {
        if let Phase::Draining { code, reason } = &self.phase
            && self.send.is_empty()
            && self.chunks.unacked() == 0
            && !self.control.has_reset()
        {
            let message = Control::Close { code: *code, reason: reason.clone() };
            self.phase = Phase::Closing { seq: self.control.next_seq() };
            self.tell(message);
        }
        if let Phase::Closing { seq } = self.phase
            && self.control.is_acked(seq)
        {
            match self.peer_closed {
                true => self.finish_close(),
                false => self.close_deadline = self.close_deadline.or(Some(now + CLOSE_WAIT)),
            }
        }
    }

    /// The peer is still delivering: it is waited for as long as something new comes.
    pub(super) fn extend_close(&mut self, now: Timestamp) {
        if self.close_deadline.is_some() {
            self.close_deadline = Some(now + CLOSE_WAIT);
        }
    }

    pub(super) fn finish_close(&mut self) {
        self.phase = Phase::Closed;
        self.close_deadline = None;
        self.break_streams();
        self.events.push_back(Event::Closed);
    }

    /// The peer has delivered all it had and closes. What was finished here is still delivered,
    /// what was not is reset: a reader must not take a part for the whole.
    pub(super) fn on_close(&mut self, code: u64, reason: String, now: Timestamp) {
        if self.is_closed() || self.peer_closed {
            return;
        }
        self.peer_closed = true;
        if self.phase == Phase::Open {
            let open = |bond: &Self, id| bond.send.get(id).is_some_and(|s| s.is_open());
            for id in self.send.ids().filter(|&id| open(self, id)).collect::<Vec<_>>() {
                self.reset(id, code);
                self.events.push_back(Event::StreamStopped { id, code });
            }
            self.phase = Phase::Draining { code, reason: reason.clone() };
        }
        self.events.push_back(Event::PeerClosed { code, reason });
        self.progress_close(now);
    }

    /// The peer closed a connection together with the whole bond.
    pub(crate) fn on_peer_ended(&mut self, code: CloseCode) {
        match self.phase {
            Phase::Closing { .. } if code == CloseCode::BondClosed => self.finish_close(),
            Phase::Closed | Phase::Broken => {}
            _ => self.break_off(BreakReason::PeerEnded(code)),
        }
    }

    /// Gives up at once: streams end with an error unless all their data is here.
    pub fn break_off(&mut self, reason: BreakReason) {
        if self.phase == Phase::Broken {
            return;
        }
        self.phase = Phase::Broken;
        if let BreakReason::Protocol(error) = &reason {
            self.broken_by = Some(error.code());
        }
        for id in self.send.ids().collect::<Vec<_>>() {
            let held = self.chunks.abandon(id);
            self.send.remove(id, held);
            self.events.push_back(Event::StreamStopped { id, code: BROKEN });
        }
        self.break_streams();
        self.events.push_back(Event::Broken { reason });
    }

    /// Streams whose end has not arrived never will be whole.
    fn break_streams(&mut self) {
        for id in self.recv.ids().collect::<Vec<_>>() {
            if self.recv.break_stream(id, BROKEN) {
                self.events.push_back(Event::StreamReadable(id));
            }
        }
    }
}
