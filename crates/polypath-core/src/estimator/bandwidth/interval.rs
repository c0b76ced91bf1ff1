//! Bytes acknowledged over an interval of the caller's choice.

use super::AckRecord;
use polypath_units::Timestamp;
use std::time::Duration;

/// The interval under way. The first begins with an ACK whose own bytes do not count.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckInterval {
    from: Option<Timestamp>,
    /// Whether it follows another: what else comes at the time that ended that one counts in it.
    follows: bool,
    bytes: u64,
}

impl AckInterval {
    /// Whether an ACK has begun it.
    pub(super) const fn is_under_way(&self) -> bool {
        self.from.is_some()
    }

    /// Counts an ACK and tells how long the interval is; `None` while no time has passed in it.
    pub(super) fn add(&mut self, ack: &AckRecord) -> Option<Duration> {
        let from = *self.from.get_or_insert(ack.at);
        let later = ack.at > from;
        if later || self.follows {
            self.bytes = self.bytes.saturating_add(ack.acked_bytes);
        }
        later.then(|| ack.at.since(from))
    }

    /// Begins a new interval and returns the bytes of the old one.
    pub(super) fn restart(&mut self, now: Timestamp) -> u64 {
        let ended = core::mem::replace(self, Self { from: Some(now), follows: true, bytes: 0 });
        ended.bytes
    }

    /// Nothing was under way for a while: the next ACK begins a first interval.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}
