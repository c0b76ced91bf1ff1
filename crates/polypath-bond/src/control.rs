//! Reliable control messages: numbered, sent until acknowledged, in no particular order.

use crate::codec::{Control, MAX_CONTROL_SPAN, StreamId};
use crate::error::ProtocolError;
use polypath_units::{PathId, Timestamp};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

/// Messages that the peer has not acknowledged.
#[derive(Debug, Default)]
pub(crate) struct ControlSender {
    next: u64,
    /// The end of the numbers that have been sent: messages are first sent in order.
    sent_end: u64,
    unacked: BTreeMap<u64, Entry>,
    waiting: usize,
    /// The limits of streams that have never been sent, and their numbers.
    unsent_limits: BTreeMap<StreamId, u64>,
    /// The number of the last first window, if it has never been sent.
    unsent_first_window: Option<u64>,
    /// The highest limit on streams that has been sent, 0 before the first.
    max_streams_sent: u64,
}

#[derive(Debug)]
struct Entry {
    message: Control,
    /// Over which path it went last, and when; `None` while it waits to be sent (again).
    sent: Option<(PathId, Timestamp)>,
}

impl ControlSender {
    /// Queues a message. A stream's limit takes the place of one that has never been sent, and
    /// first windows join such: else a peer that acknowledges none could pile them up with what it
    /// sends.
    pub(crate) fn push(&mut self, message: Control) {
        match &message {
            Control::MaxStreamData { id, .. } => {
                let seq = *self.unsent_limits.entry(*id).or_insert(self.next);
                if let Some(unsent) = self.unacked.get_mut(&seq) {
                    unsent.message = message;
                    return;
                }
            }
            Control::FirstWindow(window) => {
                let unsent = self.unsent_first_window.and_then(|seq| self.unacked.get_mut(&seq));
                if let Some(Entry { message: Control::FirstWindow(unsent), .. }) = unsent
                    && unsent.extend(window)
                {
                    return;
                }
                self.unsent_first_window = Some(self.next);
            }
            _ => {}
        }
        self.unacked.insert(self.next, Entry { message, sent: None });
        self.next += 1;
        self.waiting += 1;
    }

    /// The next message to send; none while the numbers in use are as far apart as allowed.
    pub(crate) fn peek(&self) -> Option<(u64, &Control)> {
        if self.waiting == 0 {
            return None;
        }
        let lowest = *self.unacked.first_key_value()?.0;
        let usable = self.unacked.range(..lowest + MAX_CONTROL_SPAN);
        let mut waiting = usable.filter(|(_, entry)| entry.sent.is_none());
        waiting.next().map(|(&seq, entry)| (seq, &entry.message))
    }

    /// A path joins again: that it was removed must not be said any more.
    pub(crate) fn withdraw_remove(&mut self, removed: PathId) {
        let nothing = Control::MaxData { max: 0 };
        for entry in self.unacked.values_mut() {
            if matches!(entry.message, Control::PathRemove { path } if path == removed) {
                entry.message = nothing.clone();
            }
        }
    }

    /// Whether the reset of a stream is not acknowledged yet.
    pub(crate) fn has_reset(&self) -> bool {
        self.unacked.values().any(|entry| matches!(entry.message, Control::ResetStream { .. }))
    }

    pub(crate) fn on_sent(&mut self, seq: u64, path: PathId, now: Timestamp) {
        let Some(entry) = self.unacked.get_mut(&seq) else { return };
        if entry.sent.replace((path, now)).is_none() {
            self.waiting -= 1;
        }
        if seq < self.sent_end {
            return;
        }
        self.sent_end = seq + 1;
        match entry.message {
            Control::MaxStreams { max } => self.max_streams_sent = self.max_streams_sent.max(max),
            Control::MaxStreamData { id, .. } => drop(self.unsent_limits.remove(&id)),
            Control::FirstWindow(_) => {
                self.unsent_first_window = self.unsent_first_window.filter(|&unsent| unsent != seq);
            }
            _ => {}
        }
    }

    /// The highest limit on streams that the peer may know, 0 if there was none.
    pub(crate) fn max_streams_sent(&self) -> u64 {
        self.max_streams_sent
    }

    /// The copy that went over this path is lost: send the message again, unless it went over
    /// another one since.
    pub(crate) fn on_lost(&mut self, seq: u64, path: PathId) {
        if let Some(entry) = self.unacked.get_mut(&seq)
            && entry.sent.take_if(|(sent_over, _)| *sent_over == path).is_some()
        {
            self.waiting += 1;
        }
    }

    /// The path has failed or is gone, with what its carrier has not sent yet.
    pub(crate) fn on_path_gone(&mut self, path: PathId) {
        for (_, entry) in self.unacked.range_mut(..self.sent_end) {
            let taken = entry.sent.take_if(|(sent_over, _)| *sent_over == path);
            self.waiting += usize::from(taken.is_some());
        }
    }

    /// Acknowledges everything below `next` and in `ranges`. `on_acked` gets each message.
    ///
    /// # Errors
    /// When a number is acknowledged that was never sent.
    pub(crate) fn on_ack(
        &mut self,
        next: u64,
        ranges: &[Range<u64>],
        mut on_acked: impl FnMut(Control),
    ) -> Result<(), ProtocolError> {
        let highest = ranges.last().map_or(next, |range| range.end.max(next));
        if highest > self.sent_end {
            return Err(ProtocolError::AckOfUnsent { acked: highest, sent: self.sent_end });
        }
        for range in core::iter::once(&(0..next)).chain(ranges) {
            while let Some((&seq, _)) = self.unacked.range(range.clone()).next() {
                let Some(entry) = self.unacked.remove(&seq) else { break };
                self.waiting -= usize::from(entry.sent.is_none());
                on_acked(entry.message);
            }
        }
        Ok(())
    }

    /// Sends again what has been unacknowledged for `timeout`: no hint of its loss ever came.
    pub(crate) fn on_timer(&mut self, now: Timestamp, timeout: Duration) {
        for (_, entry) in self.unacked.range_mut(..self.sent_end) {
            let late = entry.sent.take_if(|(_, at)| *at + timeout <= now);
            self.waiting += usize::from(late.is_some());
        }
    }

    /// When [`Self::on_timer`] would find something.
    pub(crate) fn next_timer(&self, timeout: Duration) -> Option<Timestamp> {
        let sent = self.unacked.range(..self.sent_end);
        sent.filter_map(|(_, entry)| entry.sent).map(|(_, at)| at + timeout).min()
    }

    /// Whether message `seq` has been acknowledged.
    pub(crate) fn is_acked(&self, seq: u64) -> bool {
        seq < self.next && !self.unacked.contains_key(&seq)
    }

    /// The end of the numbers that have been sent.
    #[cfg(test)]
    pub(crate) fn sent_end(&self) -> u64 {
        self.sent_end
    }

    /// The number that the next message will have.
    pub(crate) fn next_seq(&self) -> u64 {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::FirstWindow;

    const PATH: PathId = PathId::new(0).unwrap();

    #[test]
    fn a_message_is_sent_until_acknowledged() {
        let mut control = ControlSender::default();
        for max in 0..3 {
            control.push(Control::MaxStreams { max });
        }
        let now = Timestamp::from_millis(1);
        while let Some((seq, _)) = control.peek() {
            control.on_sent(seq, PATH, now);
        }
        control.on_lost(1, PATH);
        assert_eq!(control.peek().map(|(seq, _)| seq), Some(1));
        control.on_sent(1, PATH, now);
        control.on_ack(1, std::slice::from_ref(&(2..3)), |_| ()).unwrap();
        assert!(control.is_acked(0) && control.is_acked(2) && !control.is_acked(1));
        let timeout = Duration::from_millis(50);
        assert_eq!(control.next_timer(timeout), Some(now + timeout));
        control.on_timer(now + timeout, timeout);
        assert_eq!(control.peek().map(|(seq, _)| seq), Some(1));
        control.on_ack(3, &[], |_| ()).unwrap();
        assert!(control.unacked.is_empty() && control.peek().is_none());
    }

    /// What a peer sends on streams raises their limits, whether it acknowledges messages or not.
    #[test]
    fn of_a_streams_limits_that_wait_only_the_last_is_kept() {
        let mut control = ControlSender::default();
        let limit = |id, max| Control::MaxStreamData { id: StreamId(id), max };
        for max in 0..5_000 {
            control.push(limit(0, max));
            control.push(limit(1, max));
        }
        assert_eq!((control.next_seq(), control.waiting), (2, 2));
        assert_eq!(control.peek(), Some((0, &limit(0, 4_999))));
        control.on_sent(0, PATH, Timestamp::ZERO);
        control.on_lost(0, PATH);
        control.push(limit(0, 5_000));
        assert_eq!(
            control.peek(),
            Some((0, &limit(0, 4_999))),
            "a number never changes its meaning"
        );
        control.on_sent(0, PATH, Timestamp::ZERO);
        control.on_sent(1, PATH, Timestamp::ZERO);
        assert_eq!(control.peek(), Some((2, &limit(0, 5_000))));
    }

    /// A window that was never sent is no less promised: the streams of both are told.
    #[test]
    fn first_windows_that_wait_are_told_together() {
        let mut control = ControlSender::default();
        let window = |streams| Control::FirstWindow(FirstWindow { streams, max: 7 });
        for streams in [0..4, 2..6, 6..8, 9..11, 10..12] {
            control.push(window(streams));
        }
        assert_eq!(control.peek(), Some((0, &window(0..8))), "stream 8 was promised nothing");
        control.on_sent(0, PATH, Timestamp::ZERO);
        assert_eq!(control.peek(), Some((1, &window(9..12))));
        control.on_sent(1, PATH, Timestamp::ZERO);
        control.push(window(11..14));
        assert_eq!(control.peek(), Some((2, &window(11..14))));
    }

    #[test]
    fn the_limit_on_streams_counts_once_it_is_sent() {
        let mut control = ControlSender::default();
        [100, 200].into_iter().for_each(|max| control.push(Control::MaxStreams { max }));
        assert_eq!(control.max_streams_sent(), 0);
        control.on_sent(0, PATH, Timestamp::ZERO);
        assert_eq!(control.max_streams_sent(), 100);
        control.on_lost(0, PATH);
        assert_eq!(control.max_streams_sent(), 100, "it may have arrived");
        assert!(control.on_ack(2, &[], |_| ()).is_err(), "the second was not sent");
    }

    #[test]
    fn numbers_in_use_are_bounded() {
        let mut control = ControlSender::default();
        (0..2_000).for_each(|max| control.push(Control::MaxStreams { max }));
        while let Some((seq, _)) = control.peek() {
            control.on_sent(seq, PATH, Timestamp::ZERO);
        }
        assert_eq!(control.waiting as u64, 2_000 - MAX_CONTROL_SPAN);
        control.on_ack(1, &[], |_| ()).unwrap();
        assert_eq!(control.peek().map(|(seq, _)| seq), Some(MAX_CONTROL_SPAN));
        assert!(control.on_ack(2_001, &[], |_| ()).is_err(), "never sent");
    }
}
