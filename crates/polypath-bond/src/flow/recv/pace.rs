//! How fast datagrams leave that have waited for order.
//!
//! All of them at once would find no room at who they are for: by default a socket of Linux has
//! 212,992 bytes, and a packet of 1,500 takes 2,304 of them. A QUIC connection takes what it loses
//! so for congestion.

use crate::credit::Credit;
use polypath_units::Timestamp;
use std::time::Duration;

/// As many times as fast as they have come: what comes meanwhile leaves behind them.
const SPEED: f64 = 1.5;
/// As much leaves at once, in bytes: an eighth of what such a socket has room for.
const LEAST_BURST: f64 = 16_384.0;
/// As much leaves at once, as time at the pace: a driver's timers are no finer.
const BURST: Duration = Duration::from_millis(1);
/// A wait that counts.
const LEAST_WAIT: Duration = Duration::from_micros(1);

/// The pace of those that a missing datagram has held up.
#[derive(Debug)]
pub(super) struct Pace {
    /// In bytes per second. It never falls: what comes later leaves no later than it would have.
    rate: f64,
    credit: Credit,
}

impl Pace {
    pub(super) fn new(now: Timestamp) -> Self {
        Self { rate: 0.0, credit: Credit::new(LEAST_BURST, now) }
    }

    /// Whether the next one may leave, where `held` bytes wait that have come `since` then. They
    /// have left after two thirds of the time that they came in.
    pub(super) fn has_turn(&mut self, held: u64, since: Timestamp, now: Timestamp) -> bool {
        let came = held as f64 / now.since(since).max(LEAST_WAIT).as_secs_f64();
        self.rate = self.rate.max(came * SPEED);
        let burst = (self.rate * BURST.as_secs_f64()).max(LEAST_BURST);
        self.credit.renew(self.rate, burst, now) > 0.0
    }

    /// One has left.
    pub(super) fn on_left(&mut self, bytes: u64) {
        self.credit.spend(bytes);
    }

    /// When the next one may.
    pub(super) fn next(&self) -> Timestamp {
        self.credit.ready_at(self.rate)
    }
}
