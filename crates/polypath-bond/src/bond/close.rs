//! The end of the bond.

use super::Bond;
use crate::codec::{CloseCode, Control, StreamId};
use crate::event::{BreakReason, Event};
use polypath_units::Timestamp;

/// Code with which streams end here because their bond broke. It never travels.
pub(super) const BROKEN: u64 = u64::MAX;

impl Bond {
    /// Closes gracefully: no new streams or writes; everything written, and the end of every
    /// stream, is delivered first. [`Event::Closed`] follows.
    pub fn close(&mut self, code: u64, reason: &str, now: Timestamp) {
        if !self.lifecycle.is_open() {
            return;
        }
        for id in self.send.ids().collect::<Vec<_>>() {
            self.send.finish(id);
        }
        self.lifecycle.close(code, reason.to_owned());
        self.progress_close(now);
    }

    /// Gives up the streams whose end has not been written: the peer reads an error with `code`,
    /// and never takes what was written so far for the whole.
    pub fn reset_unfinished(&mut self, code: u64) {
        for id in self.unfinished() {
            self.reset(id, code);
        }
    }

    /// Streams whose end has not been written.
    fn unfinished(&self) -> Vec<StreamId> {
        let open = |id: &StreamId| self.send.get(*id).is_some_and(|stream| stream.is_open());
        self.send.ids().filter(open).collect()
    }

    /// Whether streams can be opened and written: neither side has closed it, and it is not broken.
    pub fn is_open(&self) -> bool {
        self.lifecycle.is_open()
    }

    /// Whether the bond has ended: closed by either side, or broken.
    pub fn is_closed(&self) -> bool {
        self.lifecycle.has_ended()
    }

    /// The code that closes the connections of the bond.
    pub(crate) fn close_code(&self) -> CloseCode {
        self.lifecycle.close_code()
    }

    /// Says the close once everything is delivered, and ends once both sides know of it.
    pub(super) fn progress_close(&mut self, now: Timestamp) {
        let is_draining = self.lifecycle.draining().is_some();
        if is_draining && !self.paths.have_begun() && self.send.is_empty() {
            // Nobody has heard of the bond, or is to hear anything.
            self.finish_close();
            return;
        }
        if let Some((code, reason)) = self.lifecycle.draining()
            && self.send.is_empty()
            && self.chunks.unacked() == 0
            && !self.control.has_reset()
        {
            let message = Control::Close { code, reason: reason.to_owned() };
            self.lifecycle.on_message_queued(self.control.next_seq());
            self.tell(message);
        }
        if self.lifecycle.message().is_some_and(|seq| self.control.is_acked(seq))
            && self.lifecycle.on_message_acked(now)
        {
            self.finish_close();
        }
    }

    pub(super) fn finish_close(&mut self) {
        self.lifecycle.finish();
        self.break_streams();
        self.events.push_back(Event::Closed);
    }

    /// The peer has delivered all it had and closes. What was finished here is still delivered,
    /// what was not is reset: a reader must not take a part for the whole.
    pub(super) fn on_close(&mut self, code: u64, reason: String, now: Timestamp) {
        if !self.lifecycle.on_peer_close() {
            return;
        }
        if self.lifecycle.is_open() {
            for id in self.unfinished() {
                self.reset(id, code);
                self.events.push_back(Event::StreamStopped { id, code });
            }
            self.lifecycle.close(code, reason.clone());
        }
        self.events.push_back(Event::PeerClosed { code, reason });
        self.progress_close(now);
    }

    /// The peer closed a connection together with the whole bond. Returns whether that was to be
    /// expected, because the bond has ended at this end as well.
    pub(crate) fn on_peer_ended(&mut self, code: CloseCode) -> bool {
        if self.lifecycle.message().is_some() && code == CloseCode::BondClosed {
            self.finish_close();
        } else if !self.lifecycle.has_ended() {
            self.break_off(BreakReason::PeerEnded(code));
            return false;
        }
        code == CloseCode::BondClosed
    }

    /// Gives up at once: streams end with an error unless all their data is here.
    // For tests, where an end breaks off for a reason of their choice.
    #[doc(hidden)]
    pub fn break_off(&mut self, reason: BreakReason) {
        let code = match &reason {
            BreakReason::Protocol(error) => Some(error.code()),
            _ => None,
        };
        if !self.lifecycle.break_off(code) {
            return;
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
