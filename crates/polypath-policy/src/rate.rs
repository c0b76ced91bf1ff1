//! Limits of rates.

use std::time::Duration;

use polypath_units::{Bandwidth, Timestamp};

/// The lowest rate that a rule can have: less than a full packet a second is a mistake.
pub const MIN_RATE: Bandwidth = Bandwidth::from_bits_per_sec(12_000);

/// The highest: more than any bond carries.
pub const MAX_RATE: Bandwidth = Bandwidth::from_bits_per_sec(1_000_000_000_000);

/// What may pass at once after a silence, as time at the rate: as long as queues of routers may
/// stay, and long enough that the host comes in time for what follows.
const BURST: Duration = Duration::from_millis(50);

/// Keeps what passes to a rate, over any time but for bursts of 50 ms and one packet: the virtual
/// scheduling algorithm (GCRA; ITU-T I.371, annex A), which is a token bucket that has to remember
/// one time alone.
#[derive(Clone, Copy, Debug)]
pub struct RateLimit {
    rate: Bandwidth,
    /// When all that has passed would have passed at the rate.
    due: Timestamp,
}

impl RateLimit {
    /// Nothing has passed yet.
    pub const fn new(rate: Bandwidth) -> Self {
        Self { rate, due: Timestamp::ZERO }
    }

    /// How long it takes until something may pass; zero if it may now.
    pub fn wait(&self, now: Timestamp) -> Duration {
        self.due.since(now).saturating_sub(BURST)
    }

    /// So many bytes pass, whether they may or not: what is too much now is waited for later.
    pub fn pass(&mut self, bytes: usize, now: Timestamp) {
        let time = self.rate.time_to_send(bytes as u64).unwrap_or(Duration::MAX);
        self.due = self.due.max(now) + time;
    }

    /// Lets so many bytes pass if they may now. Returns whether they have.
    pub fn admit(&mut self, bytes: usize, now: Timestamp) -> bool {
        let may = self.wait(now).is_zero();
        if may {
            self.pass(bytes, now);
        }
        may
    }

    /// What may pass at once after a silence, in bytes.
    pub fn burst(&self) -> usize {
        usize::try_from(self.rate.bytes_in(BURST)).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RATE: Bandwidth = Bandwidth::from_bits_per_sec(2_000_000);

    fn ms(ms: u64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    #[test]
    fn what_passes_is_the_rate_and_a_burst() {
        let mut limit = RateLimit::new(RATE);
        // Ten times the rate: 2.5 MB/s in packets of 1,250 B, 2 each ms.
        let sent = (0..20_000).map(|at| at / 2);
        let passed = sent.filter(|at| limit.admit(1_250, ms(*at))).count() * 1_250;
        // In 10 s 2.5 MB, 12,500 B of a burst, and a packet that the burst ends in.
        assert!((2_500_000..=2_513_750).contains(&passed), "{passed}");
    }

    #[test]
    fn a_burst_passes_after_a_silence_and_then_nothing_until_its_time() {
        let mut limit = RateLimit::new(RATE);
        assert_eq!(limit.burst(), 12_500);
        let passed = (0..20).filter(|_| limit.admit(1_250, ms(0))).count();
        assert_eq!(passed, 11, "ten in 50 ms, and the one that was begun");
        assert_eq!(limit.wait(ms(0)), Duration::from_millis(5));
        assert!(!limit.admit(1, ms(4)) && limit.admit(1, ms(5)));
    }

    #[test]
    fn what_has_passed_is_waited_for() {
        let mut limit = RateLimit::new(RATE);
        limit.pass(250_000, ms(0));
        assert_eq!(limit.wait(ms(100)), Duration::from_millis(850));
        assert_eq!(limit.wait(ms(2_000)), Duration::ZERO);
    }

    proptest! {
        #[test]
        fn no_interval_has_more_than_its_share(
            packets in prop::collection::vec((0u64..20, 1usize..3_000), 1..200),
        ) {
            let (mut limit, mut now, mut passed) = (RateLimit::new(RATE), 0, Vec::new());
            for (pause, bytes) in packets {
                now += pause;
                if limit.admit(bytes, ms(now)) {
                    passed.push((now, bytes));
                }
            }
            for from in 0..passed.len() {
                let mut sum = 0;
                for (at, bytes) in &passed[from..] {
                    // All but the last are within the burst when it is admitted.
                    prop_assert!(sum as u64 <= 12_500 + (at - passed[from].0) * 250);
                    sum += bytes;
                }
            }
        }
    }
}
