//! Streams that are given up because nobody reads them.

use super::Bond;
use crate::codec::Control;
use crate::error::UNREAD;
use crate::event::Event;
use polypath_units::Timestamp;
use std::time::Duration;

/// The application hears at most this often: there may be thousands of such streams.
pub(super) const NOTICE_INTERVAL: Duration = Duration::from_secs(60);

impl Bond {
    /// While more waits for readers than may, streams are given up: those of which most waits,
    /// and rather those whose readers have stopped.
    pub(super) fn give_up_unread(&mut self, now: Timestamp) {
        if !self.recv.holds_too_much() {
            return;
        }
        let period = self.reading_period();
        while let Some(id) = self.recv.least_read(now, period) {
            if self.recv.give_up(id) {
                self.events.push_back(Event::StreamReadable(id));
            }
            self.tell(Control::StopSending { id, code: UNREAD });
            self.counters.streams_unread += 1;
            if let Some(unsaid) = self.unread_notice.admit(now) {
                self.events.push_back(Event::StreamsUnread { count: unsaid + 1 });
            }
        }
    }
}
