//! What the streams that are being read may hold.

use polypath_units::Timestamp;
use std::time::Duration;

/// Counted so many times in a period, and kept up with what is read and granted in between.
const COUNTS_PER_PERIOD: u32 = 4;

/// The windows of all streams whose readers are at work.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Live {
    counted: Option<Timestamp>,
    admitted: u64,
}

impl Live {
    pub(super) fn admitted(self) -> u64 {
        self.admitted
    }

    pub(super) fn is_stale(self, now: Timestamp, period: Duration) -> bool {
        self.counted.is_none_or(|at| now.since(at) >= period / COUNTS_PER_PERIOD)
    }

    pub(super) fn count(&mut self, admitted: u64, now: Timestamp) {
        *self = Self { counted: Some(now), admitted };
    }

    pub(super) fn on_read(&mut self, bytes: u64) {
        self.admitted = self.admitted.saturating_sub(bytes);
    }

    pub(super) fn on_grant(&mut self, bytes: u64) {
        self.admitted += bytes;
    }
}
