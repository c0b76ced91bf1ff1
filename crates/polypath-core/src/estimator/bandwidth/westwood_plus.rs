//! The estimator of Westwood+: a sample for each round trip, through two poles of 7/8.
//!
//! Source: Linux `tcp_westwood.c` (`westwood_filter`, `westwood_update_window`); Grieco and
//! Mascolo, CCR 34(2), 2004. An interval ends with the first ACK after more than `max(rtt, 50 ms)`;
//! with `x` its bytes over its length:
//!
//! ```text
//! ns = B = x                                            the first time
//! ns = (7 ns + x) / 8,   B = (7 B + ns) / 8             later
//! ```
//!
//! Deviations: before the first RTT sample there is no sample (Linux takes 20 s for the RTT); the
//! ACK that ends an interval counts in it, and the one that began it does not (Linux has it the
//! other way round); after a pause of the sender the interval begins anew (in Linux the pause is
//! part of it).

use super::interval::AckInterval;
use super::{AckRecord, BandwidthEstimator};
use std::time::Duration;

/// What remains of the old value in each of the two filters.
const POLE: f64 = 7.0 / 8.0;

/// The parameters of [`WestwoodPlusEstimator`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WestwoodPlusFilter {
    /// The shortest interval in ms (`TCP_WESTWOOD_RTT_MIN`).
    pub min_interval_ms: f64,
    /// 0: real numbers. Otherwise the whole bytes per tick of a kernel with so many ticks a second
    /// (its `HZ`), rounded down at every step, as Linux calculates.
    pub linux_hz: f64,
}

impl WestwoodPlusFilter {
    /// The interval of Linux, in real numbers.
    pub const DEFAULT: Self = Self { min_interval_ms: 50.0, linux_hz: 0.0 };

    /// One of the two filters.
    fn blend(&self, old: f64, new: f64) -> f64 {
        self.rounded(POLE * old + (1.0 - POLE) * new)
    }

    fn rounded(&self, bytes_per_sec: f64) -> f64 {
        if self.linux_hz > 0.0 {
            (bytes_per_sec / self.linux_hz).floor() * self.linux_hz
        } else {
            bytes_per_sec
        }
    }
}

impl Default for WestwoodPlusFilter {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// One sample for each round trip, smoothed twice.
#[derive(Clone, Debug, Default)]
pub struct WestwoodPlusEstimator {
    filter: WestwoodPlusFilter,
    rtt: Option<Duration>,
    interval: AckInterval,
    /// `ns` and `B` in bytes/s.
    smoothed: Option<[f64; 2]>,
    /// The weight of the first sample in both.
    start_share: [f64; 2],
}

impl WestwoodPlusEstimator {
    /// An estimator without samples.
    pub fn new(filter: WestwoodPlusFilter) -> Self {
        Self { filter, start_share: [1.0; 2], ..Self::default() }
    }

    /// Data is sent again after a pause: the next ACK begins an interval, because the pause says
    /// nothing about the path; estimates are kept.
    pub(crate) fn on_idle_restart(&mut self) {
        self.interval.forget();
    }

    fn on_sample(&mut self, sample: f64) {
        let sample = self.filter.rounded(sample);
        let Some([once, twice]) = self.smoothed.filter(|values| *values != [0.0; 2]) else {
            self.smoothed = Some([sample; 2]);
            self.start_share = [1.0; 2];
            return;
        };
        let once = self.filter.blend(once, sample);
        self.smoothed = Some([once, self.filter.blend(twice, once)]);
        let [share_once, share_twice] = self.start_share;
        let share_once = POLE * share_once;
        self.start_share = [share_once, POLE * share_twice + (1.0 - POLE) * share_once];
    }
}

impl BandwidthEstimator for WestwoodPlusEstimator {
    fn on_ack(&mut self, ack: &AckRecord) {
        self.rtt = ack.rtt.or(self.rtt);
        let Some((elapsed, rtt)) = self.interval.add(ack).zip(self.rtt) else { return };
        let secs = elapsed.as_secs_f64();
        if secs > rtt.as_secs_f64().max(self.filter.min_interval_ms / 1e3) {
            let bytes = self.interval.restart(ack.at);
            self.on_sample(bytes as f64 / secs);
        }
    }

    fn bytes_per_sec(&self) -> Option<f64> {
        self.smoothed.map(|[_, twice]| twice)
    }

    fn start_share(&self) -> f64 {
        self.start_share[1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimator::bandwidth::tests::{after, record};

    /// Samples of 100, 200 and 200 kB/s: 100, 200 and 200 bytes in each tick of a millisecond.
    const THREE: [(u64, u64); 4] = [(0, 9), (100, 10_000), (200, 20_000), (300, 20_000)];

    #[test]
    fn t_wwp_1() {
        let mut real = WestwoodPlusEstimator::new(WestwoodPlusFilter::DEFAULT);
        let values = after(&mut real, &THREE);
        assert_eq!(values[0], None);
        for (value, expected) in values[1..].iter().zip([100e3, 101_562.5, 104_296.875]) {
            assert!((value.unwrap() - expected).abs() < 1e-6, "{value:?}");
        }
        let linux = WestwoodPlusFilter { linux_hz: 1_000.0, ..WestwoodPlusFilter::DEFAULT };
        let values = after(&mut WestwoodPlusEstimator::new(linux), &THREE);
        assert_eq!(values[1..], [Some(100e3), Some(101e3), Some(103e3)]);
    }

    #[test]
    fn an_interval_is_longer_than_the_rtt_and_than_50_ms() {
        for (rtt, ends) in [(10, 51), (60, 61)] {
            let mut estimator = WestwoodPlusEstimator::new(WestwoodPlusFilter::DEFAULT);
            for at in 0..ends {
                estimator.on_ack(&record(at, 1_000, Some(rtt)));
                assert_eq!(estimator.bytes_per_sec(), None, "{at} of {ends}");
            }
            estimator.on_ack(&record(ends, 1_000, None));
            assert!((estimator.bytes_per_sec().unwrap() - 1e6).abs() < 1e-6);
        }
    }

    #[test]
    fn without_an_rtt_there_is_no_sample() {
        let mut estimator = WestwoodPlusEstimator::new(WestwoodPlusFilter::DEFAULT);
        (0..1_000).for_each(|at| estimator.on_ack(&record(at, 1_000, None)));
        assert_eq!(estimator.bytes_per_sec(), None);
    }

    #[test]
    fn the_share_of_the_first_sample_is_its_weight() {
        let mut estimator = WestwoodPlusEstimator::new(WestwoodPlusFilter::DEFAULT);
        estimator.on_sample(100.0);
        for _ in 0..20 {
            estimator.on_sample(0.0);
            let weight = estimator.bytes_per_sec().unwrap() / 100.0;
            assert!((estimator.start_share() - weight).abs() < 1e-12);
        }
    }
}
