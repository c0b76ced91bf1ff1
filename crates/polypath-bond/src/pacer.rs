//! Spreads a path's segments over time.

use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

/// Credit that may build up while nothing is sent, as time at the pacing rate: as long as the
/// coarsest timer of a driver, so that a wake-up that is late by it costs no rate.
const MAX_CREDIT: Duration = Duration::from_millis(2);
/// What may be added to it where a driver is late, as on a host whose processors are busy: several
/// time slices. Without it such a driver sends two segments in each of its turns, the congestion
/// control takes that for what the link can carry, and paces at it.
const MAX_LATE: Duration = Duration::from_millis(20);
/// Sending is released in quanta of this length, so that a driver is not woken for every segment.
const QUANTUM: Duration = Duration::from_micros(250);
/// No quantum is larger than this: one offloaded batch.
const MAX_QUANTUM: u64 = 60_000;
/// An initial window of RFC 6928 may leave at once.
const INITIAL_CREDIT: f64 = 14_600.0;

/// A token bucket in bytes, filled at the pacing rate.
#[derive(Clone, Debug)]
pub(crate) struct Pacer {
    credit: f64,
    /// What is left of the initial credit.
    initial: f64,
    /// The most credit at the time `updated`, as time at the pacing rate.
    most: Duration,
    updated: Timestamp,
}

impl Pacer {
    pub(crate) fn new(now: Timestamp) -> Self {
        Self { credit: INITIAL_CREDIT, initial: INITIAL_CREDIT, most: MAX_CREDIT, updated: now }
    }

    /// The driver comes `late` after the time for which it was asked.
    pub(crate) fn woken(&mut self, now: Timestamp, late: Duration) {
        if now > self.updated {
            self.most = MAX_CREDIT + late.min(MAX_LATE);
        }
    }

    fn refill(&mut self, now: Timestamp, rate: f64, segment: u64) {
        let elapsed = now.since(self.updated).as_secs_f64();
        let ceiling = (rate * self.most.as_secs_f64()).max(2.0 * segment as f64);
        self.credit = (self.credit + rate * elapsed).min(ceiling.max(self.initial));
        self.updated = now;
    }

    /// When the next segment of `segment` bytes may leave: `now` or earlier if at once. `committed`
    /// bytes were let go before it and have not left yet.
    ///
    /// `rate` is `None` before the first RTT sample: nothing is held back then.
    pub(crate) fn ready_at(
        &mut self,
        now: Timestamp,
        rate: Option<Bandwidth>,
        segment: u64,
        committed: u64,
    ) -> Timestamp {
        let Some(rate) = rate.map(Bandwidth::bytes_per_sec).filter(|&rate| rate > 0.0) else {
            return now;
        };
        self.refill(now, rate, segment);
        let credit = self.credit - committed as f64;
        if credit >= segment as f64 {
            return now;
        }
        let quantum = (rate * QUANTUM.as_secs_f64()).min(MAX_QUANTUM as f64).max(segment as f64);
        let wait = (quantum - credit) / rate;
        // One nanosecond more than computed, so that waking at that time finds the credit there.
        now + Duration::from_nanos((wait.min(1.0) * 1e9) as u64 + 1)
    }

    /// A packet of `bytes` left.
    pub(crate) fn on_sent(&mut self, bytes: u64) {
        self.credit -= bytes as f64;
        self.initial = (self.initial - bytes as f64).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 12 packets of 1,200 bytes are the last that fit 14,600. At 80 Mbit/s one more takes 120 us.
    #[test]
    fn an_initial_window_of_rfc_6928_leaves_at_once_though_a_rate_is_known() {
        let rate = Some(Bandwidth::from_mbit_per_sec(80.0));
        let mut pacer = Pacer::new(Timestamp::ZERO);
        let mut leaves = || {
            let ready = pacer.ready_at(Timestamp::ZERO, rate, 1_200, 0);
            pacer.on_sent(1_200);
            ready
        };
        assert_eq!([(); 12].map(|()| leaves()), [Timestamp::ZERO; 12]);
        assert!(leaves() > Timestamp::from_micros(100));
    }

    /// At most the rate, plus one quantum and the initial credit; at least the rate while data
    /// waits, less the same.
    #[test]
    fn holds_the_rate_over_a_second() {
        let rate = Bandwidth::from_mbit_per_sec(80.0);
        let mut now = Timestamp::ZERO;
        let mut pacer = Pacer::new(now);
        let mut sent = 0u64;
        while now < Timestamp::from_millis(1_000) {
            let ready = pacer.ready_at(now, Some(rate), 1_200, 0);
            if ready > now {
                now = ready;
                continue;
            }
            pacer.on_sent(1_200);
            sent += 1_200;
        }
        let slack = (INITIAL_CREDIT + 10_000_000.0 * QUANTUM.as_secs_f64()) as u64 + 2 * 1_200;
        assert!(sent.abs_diff(10_000_000) <= slack, "{sent}");
    }

    #[test]
    fn a_late_driver_may_catch_up_by_two_milliseconds_only() {
        let rate = Bandwidth::from_mbit_per_sec(80.0);
        let mut pacer = Pacer::new(Timestamp::ZERO);
        let now = Timestamp::from_millis(500);
        let mut sent = 0;
        while pacer.ready_at(now, Some(rate), 1_000, 0) <= now {
            pacer.on_sent(1_000);
            sent += 1_000;
        }
        assert_eq!(sent, 20_000);
    }

    #[test]
    fn what_a_driver_missed_is_made_up_for_once() {
        let rate = Bandwidth::from_mbit_per_sec(80.0);
        let mut pacer = Pacer::new(Timestamp::ZERO);
        let sent = |pacer: &mut Pacer, now, late| {
            pacer.woken(now, late);
            let mut sent = 0;
            while pacer.ready_at(now, Some(rate), 1_000, 0) <= now {
                pacer.on_sent(1_000);
                sent += 1_000;
            }
            sent
        };
        let ms = Duration::from_millis;
        assert_eq!(sent(&mut pacer, Timestamp::from_millis(500), ms(12)), 140_000);
        assert_eq!(sent(&mut pacer, Timestamp::from_millis(1_000), ms(400)), 220_000);
        assert_eq!(sent(&mut pacer, Timestamp::from_millis(1_500), ms(0)), 20_000);
    }

    #[test]
    fn what_was_let_go_counts_before_it_leaves() {
        let rate = Some(Bandwidth::from_mbit_per_sec(80.0));
        let now = Timestamp::from_millis(500);
        let mut pacer = Pacer::new(now);
        assert_eq!(pacer.ready_at(now, rate, 1_000, 13_600), now);
        // One byte is missing, and a quantum of 2500 is waited for: 1901 bytes at 10 MB/s.
        let ready = pacer.ready_at(now, rate, 1_000, 13_601);
        assert_eq!(ready, now + Duration::from_nanos(150_101));
    }
}
