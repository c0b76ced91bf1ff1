//! How fast datagrams leave that have waited for order.
//!
//! All of them at once would find no room at who they are for: by default a socket of Linux has
//! 212,992 bytes, and a packet of 1,500 takes 2,304 of them. A QUIC connection takes what it loses
//! so for congestion.

use crate::limit::RateLimit;
use polypath_units::Timestamp;
use std::time::Duration;

/// As many times as fast as they have come: what comes meanwhile leaves behind them.
const SPEED: f64 = 2.0;
/// As much leaves at once, in bytes: a fourth of what such a socket has room for.
const BURST: f64 = 32_768.0;
/// A wait that counts.
const LEAST_WAIT: Duration = Duration::from_micros(1);

/// The pace of those that a missing datagram has held up.
#[derive(Debug)]
pub(super) struct Pace {
    limit: RateLimit,
    /// Nothing waits for longer than until then: by then all have left, unless more and more come.
    end: Timestamp,
}

impl Pace {
    /// Of `bytes` that have come while the first one `waited`.
    pub(super) fn new(bytes: u64, waited: Duration, now: Timestamp) -> Self {
        let rate = bytes as f64 / waited.max(LEAST_WAIT).as_secs_f64();
        Self { limit: RateLimit::with_burst(rate * SPEED, BURST, now), end: now + waited }
    }

    /// Whether the next one may leave.
    pub(super) fn has_turn(&mut self, now: Timestamp) -> bool {
        now >= self.end || self.limit.check(now).is_ok()
    }

    /// One has left.
    pub(super) fn on_left(&mut self, bytes: u64) {
        self.limit.take(bytes);
    }

    /// When the next one may.
    pub(super) fn next(&self) -> Timestamp {
        self.limit.ready_at().min(self.end)
    }
}
