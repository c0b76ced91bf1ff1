//! Streams that are given up because nobody reads them.

use super::Bond;
use crate::codec::Control;
use crate::error::UNREAD;
use crate::event::Event;
use polypath_units::Timestamp;
use std::time::Duration;

/// The application hears at most this often: there may be thousands of such streams.
const NOTICE_INTERVAL: Duration = Duration::from_secs(60);

/// When the application was told last, and of how many streams.
#[derive(Debug, Default)]
pub(super) struct UnreadNotice {
    at: Option<Timestamp>,
    streams: u64,
}

impl UnreadNotice {
    /// How many more streams than at the last notice, `in_all`, have been given up, if the
    /// application is to be told so at `now`.
    fn take(&mut self, in_all: u64, now: Timestamp) -> Option<u64> {
        if self.at.is_some_and(|at| now < at + NOTICE_INTERVAL) {
            return None;
        }
        let more = in_all - self.streams;
        *self = Self { at: Some(now), streams: in_all };
        Some(more)
    }
}

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
            if let Some(count) = self.unread_notice.take(self.counters.streams_unread, now) {
                self.events.push_back(Event::StreamsUnread { count });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_application_is_told_once_a_minute_of_all_since() {
        let mut notice = UnreadNotice::default();
        let mut take =
            |in_all, secs: u64| notice.take(in_all, Timestamp::from_millis(1_000 * secs));
        assert_eq!([take(1, 5), take(2, 5), take(3, 64)], [Some(1), None, None]);
        assert_eq!(take(4, 65), Some(3));
    }
}
