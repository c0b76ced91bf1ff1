//! A limit on a rate.

use crate::credit::Credit;
use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

/// Credit that may build up while nothing passes, as time at the rate: short against what an
/// operator measures, long against a driver's timers.
const BURST: Duration = Duration::from_millis(20);
/// At least this much credit may build up, in bytes: some full packets at any rate.
const MIN_BURST: f64 = 6_000.0;

/// A token bucket in bytes. What passes may exceed the credit once; the debt is paid by waiting.
#[derive(Clone, Debug)]
pub(crate) struct RateLimit {
    /// Bytes per second.
    rate: f64,
    /// Bytes.
    burst: f64,
    credit: Credit,
}

impl RateLimit {
    /// A limit of `rate`, which must not be zero, with a full bucket.
    pub(crate) fn new(rate: Bandwidth, now: Timestamp) -> Self {
        let rate = rate.bytes_per_sec();
        let burst = (rate * BURST.as_secs_f64()).max(MIN_BURST);
        Self { rate, burst, credit: Credit::new(burst, now) }
    }

    /// `Ok` if something may pass at `now`, otherwise when to ask again.
    pub(crate) fn check(&mut self, now: Timestamp) -> Result<(), Timestamp> {
        match self.credit.renew(self.rate, self.burst, now) {
            credit if credit > 0.0 => Ok(()),
            _ => Err(self.credit.ready_at(self.rate)),
        }
    }

    /// `bytes` have passed.
    pub(crate) fn take(&mut self, bytes: u64) {
        self.credit.spend(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Over a second at most the rate, the full bucket and one packet of debt pass; at least the
    /// rate less one rest of credit that is still being waited for.
    #[test]
    fn holds_the_rate_over_a_second() {
        let (rate, packet) = (Bandwidth::from_mbit_per_sec(8.0), 1_200);
        let end = Timestamp::from_millis(1_000);
        let mut now = Timestamp::ZERO;
        let mut limit = RateLimit::new(rate, now);
        let mut passed = 0u64;
        while now < end {
            match limit.check(now) {
                Ok(()) => {
                    limit.take(packet);
                    passed += packet;
                }
                Err(again) => {
                    assert!(again > now, "a driver would spin");
                    now = again;
                }
            }
        }
        let (earned, burst) = (1_000_000, 20_000);
        assert!(passed <= earned + burst + packet, "{passed}");
        assert!(passed >= earned + burst - 1_000, "{passed}");
    }

    #[test]
    fn idle_time_earns_one_burst_only() {
        let mut limit = RateLimit::new(Bandwidth::from_mbit_per_sec(8.0), Timestamp::ZERO);
        let now = Timestamp::from_millis(60_000);
        let mut passed = 0;
        while limit.check(now).is_ok() {
            limit.take(1_000);
            passed += 1_000;
        }
        assert_eq!(passed, 20_000);
    }
}
