//! Bytes acknowledged over an interval of the caller's choice.

use super::AckRecord;
use polypath_units::Timestamp;
use std::time::Duration;

/// The interval under way. It begins with an ACK whose own bytes do not count.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckInterval {
    from: Option<Timestamp>,
    bytes: u64,
}

impl AckInterval {
    /// Counts an ACK and tells how long the interval is; `None` if this ACK begins it.
    pub(super) fn add(&mut self, ack: &AckRecord) -> Option<Duration> {
        let from = *self.from.get_or_insert(ack.at);
        if from >= ack.at {
            return None;
        }
        self.bytes = self.bytes.saturating_add(ack.acked_bytes);
        Some(ack.at.since(from))
    }

    /// Begins a new interval and returns the bytes of the old one.
    pub(super) fn restart(&mut self, now: Timestamp) -> u64 {
        self.from = Some(now);
        core::mem::take(&mut self.bytes)
    }
}
