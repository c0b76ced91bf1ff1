//! Reliable control messages: numbered, sent until acknowledged, in no particular order.

use crate::codec::{Control, MAX_CONTROL_SPAN};
use crate::error::ProtocolError;
use polypath_units::{PathId, Timestamp};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

/// Messages that the peer has not acknowledged.
#[derive(Debug, Default)]
pub(crate) struct ControlSender {
    next: u64,
    unacked: BTreeMap<u64, Entry>,
    waiting: usize,
}

#[derive(Debug)]
struct Entry {
    message: Control,
    /// `None` while it waits to be sent (again).
    sent_at: Option<Timestamp>,
}

impl ControlSender {
    /// Queues a message.
    pub(crate) fn push(&mut self, message: Control) {
        self.unacked.insert(self.next, Entry { message, sent_at: None });
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
        let mut waiting = usable.filter(|(_, entry)| entry.sent_at.is_none());
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

    pub(crate) fn on_sent(&mut self, seq: u64, now: Timestamp) {
        if let Some(entry) = self.unacked.get_mut(&seq)
            && entry.sent_at.replace(now).is_none()
        {
            self.waiting -= 1;
        }
    }

    /// The copy is lost: send the message again.
    pub(crate) fn on_lost(&mut self, seq: u64) {
        if let Some(entry) = self.unacked.get_mut(&seq)
            && entry.sent_at.take().is_some()
        {
            self.waiting += 1;
        }
    }

    /// Acknowledges everything below `next` and in `ranges`. `on_acked` gets each message.
    ///
    /// # Errors
    /// When a number is acknowledged that was never given.
    pub(crate) fn on_ack(
        &mut self,
        next: u64,
        ranges: &[Range<u64>],
        mut on_acked: impl FnMut(Control),
    ) -> Result<(), ProtocolError> {
        let highest = ranges.last().map_or(next, |range| range.end.max(next));
        if highest > self.next {
            return Err(ProtocolError::AckOfUnsent { acked: highest, sent: self.next });
        }
        for range in core::iter::once(&(0..next)).chain(ranges) {
            while let Some((&seq, _)) = self.unacked.range(range.clone()).next() {
                let Some(entry) = self.unacked.remove(&seq) else { break };
                self.waiting -= usize::from(entry.sent_at.is_none());
                on_acked(entry.message);
            }
        }
        Ok(())
    }

    /// Sends again what has been unacknowledged for `timeout`: no hint of its loss ever came.
    pub(crate) fn on_timer(&mut self, now: Timestamp, timeout: Duration) {
        for entry in self.unacked.values_mut() {
            if entry.sent_at.is_some_and(|at| at + timeout <= now) {
                entry.sent_at = None;
                self.waiting += 1;
            }
        }
    }

    /// When [`Self::on_timer`] would find something.
    pub(crate) fn next_timer(&self, timeout: Duration) -> Option<Timestamp> {
        self.unacked.values().filter_map(|entry| entry.sent_at).min().map(|at| at + timeout)
    }

    /// Whether message `seq` has been acknowledged.
    pub(crate) fn is_acked(&self, seq: u64) -> bool {
        seq < self.next && !self.unacked.contains_key(&seq)
    }

    /// The number that the next message will have.
    pub(crate) fn next_seq(&self) -> u64 {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_sent_until_acknowledged() {
        let mut control = ControlSender::default();
        for max in 0..3 {
            control.push(Control::MaxStreams { max });
        }
        let now = Timestamp::from_millis(1);
        while let Some((seq, _)) = control.peek() {
            control.on_sent(seq, now);
        }
        control.on_lost(1);
        assert_eq!(control.peek().map(|(seq, _)| seq), Some(1));
        control.on_sent(1, now);
        control.on_ack(1, std::slice::from_ref(&(2..3)), |_| ()).unwrap();
        assert!(control.is_acked(0) && control.is_acked(2) && !control.is_acked(1));
        let timeout = Duration::from_millis(50);
        assert_eq!(control.next_timer(timeout), Some(now + timeout));
        control.on_timer(now + timeout, timeout);
        assert_eq!(control.peek().map(|(seq, _)| seq), Some(1));
        control.on_ack(3, &[], |_| ()).unwrap();
        assert!(control.unacked.is_empty() && control.peek().is_none());
    }

    #[test]
    fn numbers_in_use_are_bounded() {
        let mut control = ControlSender::default();
        (0..2_000).for_each(|max| control.push(Control::MaxStreams { max }));
        while let Some((seq, _)) = control.peek() {
            control.on_sent(seq, Timestamp::ZERO);
        }
        assert_eq!(control.waiting as u64, 2_000 - MAX_CONTROL_SPAN);
        control.on_ack(1, &[], |_| ()).unwrap();
        assert_eq!(control.peek().map(|(seq, _)| seq), Some(MAX_CONTROL_SPAN));
        assert!(control.on_ack(2_001, &[], |_| ()).is_err(), "never sent");
    }
}
