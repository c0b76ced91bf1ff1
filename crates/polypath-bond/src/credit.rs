//! What a token bucket holds.

use polypath_units::Timestamp;

/// Bytes that may pass: they come at a rate, and no more than a burst of them is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Credit {
    pub(crate) bytes: f64,
    /// When there were so many.
    pub(crate) updated: Timestamp,
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

    /// `bytes` have passed. The credit may be negative: a debt, which is paid by waiting.
    pub(crate) fn spend(&mut self, bytes: u64) {
        self.bytes -= bytes as f64;
    }
}
