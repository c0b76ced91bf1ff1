//! How late packets left.

use hdrhistogram::Histogram;
use polypath_units::Timestamp;
use serde::{Serialize, Serializer};
use std::time::Duration;

/// A packet that is later than this is an overrun: the host cannot keep up with the links.
pub const OVERRUN: Duration = Duration::from_millis(1);

/// The longest time that is told apart from longer ones.
const LONGEST: Duration = Duration::from_secs(60);

/// How late packets were handed to the kernel, after the time that their link gave for them.
///
/// A histogram of fixed size, exact to 1 % from 1 microsecond on.
#[derive(Clone, Debug)]
pub struct Lateness {
    nanos: Histogram<u64>,
    overruns: u64,
}

impl Lateness {
    /// Of no packet yet.
    #[expect(clippy::missing_panics_doc, reason = "the bounds are constants that the tests try")]
    pub fn new() -> Self {
        let longest = LONGEST.as_nanos() as u64;
        let nanos = Histogram::new_with_bounds(100, longest, 2).expect("the bounds are valid");
        Self { nanos, overruns: 0 }
    }

    /// Enters a packet that was due at `due` and was handed over at `now`.
    pub fn record(&mut self, due: Timestamp, now: Timestamp) {
        let late = now.since(due);
        self.nanos.saturating_record(u64::try_from(late.as_nanos()).unwrap_or(u64::MAX));
        self.overruns += u64::from(late > OVERRUN);
    }

    /// What is told of it.
    pub fn summary(&self) -> LatenessSummary {
        let quantile = |q| Duration::from_nanos(self.nanos.value_at_quantile(q));
        LatenessSummary {
            packets: self.nanos.len(),
            p50: quantile(0.5),
            p99: quantile(0.99),
            max: Duration::from_nanos(self.nanos.max()),
            overruns: self.overruns,
        }
    }
}

impl Default for Lateness {
    fn default() -> Self {
        Self::new()
    }
}

/// Quantiles of a [`Lateness`]; serialised in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LatenessSummary {
    /// How many packets there were.
    pub packets: u64,
    /// The median.
    #[serde(rename = "p50_us", serialize_with = "micros")]
    pub p50: Duration,
    /// The 99th percentile.
    #[serde(rename = "p99_us", serialize_with = "micros")]
    pub p99: Duration,
    /// The latest; 60 s stands for all that is longer.
    #[serde(rename = "max_us", serialize_with = "micros")]
    pub max: Duration,
    /// How many packets were later than [`OVERRUN`].
    pub overruns: u64,
}

fn micros<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_nanos() as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_exact_to_a_hundredth() {
        let mut lateness = Lateness::new();
        for micros in 1..=1_100 {
            let due = Timestamp::from_millis(7);
            lateness.record(due, due + Duration::from_micros(micros));
        }
        let summary = lateness.summary();
        // The buckets of two digits are at most 1/128 of their value wide.
        let near = |got: Duration, micros: f64| (got.as_secs_f64() * 1e6 / micros - 1.0).abs();
        assert!(near(summary.p50, 550.0) < 0.01, "{summary:?}");
        assert!(near(summary.p99, 1_089.0) < 0.01, "{summary:?}");
        assert!(near(summary.max, 1_100.0) < 0.01, "{summary:?}");
        assert_eq!((summary.packets, summary.overruns), (1_100, 100));
    }

    #[test]
    fn no_packet_early_ones_and_endless_waits_count() {
        let mut lateness = Lateness::new();
        assert_eq!(lateness.summary(), LatenessSummary::default());
        lateness.record(Timestamp::from_millis(2), Timestamp::from_millis(1));
        lateness.record(Timestamp::ZERO, Timestamp::MAX);
        let summary = lateness.summary();
        assert_eq!((summary.packets, summary.overruns), (2, 1));
        assert!(summary.max >= LONGEST);
    }
}
