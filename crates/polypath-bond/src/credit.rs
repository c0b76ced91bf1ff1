//! What a token bucket holds.

use polypath_units::Timestamp;
use std::time::Duration;

/// Credit to wait for once there is none, as time at the rate: a driver is not woken for every
/// packet.
const REST: Duration = Duration::from_millis(1);

/// Bytes that may pass: they come at a rate, and no more than a burst of them is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Credit {
    bytes: f64,
    /// When there were so many.
    updated: Timestamp,
}

impl Credit {
    pub(crate) fn new(bytes: f64, now: Timestamp) -> Self {
        Self { bytes, updated: now }
    }

    /// What there is at `now`, if `rate` bytes per second have come since it was asked for last.
    pub(crate) fn renew(&mut self, rate: f64, burst: f64, now: Timestamp) -> f64 {
        let earned = rate * now.since(self.updated).as_secs_f64();
        self.bytes = (self.bytes + earned).min(burst);
        self.updated = now;
        self.bytes
    }

    /// When to ask again, by what has passed until it was asked for last.
    pub(crate) fn ready_at(&self, rate: f64) -> Timestamp {
        if self.bytes > 0.0 {
            return self.updated;
        }
        let wait = REST.as_secs_f64() - self.bytes / rate;
        self.updated + Duration::from_secs_f64(wait.min(1.0))
    }

    /// `bytes` have passed. The credit may be negative: a debt, which is paid by waiting.
    pub(crate) fn spend(&mut self, bytes: u64) {
        self.bytes -= bytes as f64;
    }
}
