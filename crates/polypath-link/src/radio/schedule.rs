//! Rates in order of time as a schedule.

use crate::rate::{Rate, RateStep};
use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

/// A schedule of rates that start at ascending times, the first at time zero; of those at one
/// time the last holds. Steps that change nothing are left out.
pub(super) fn schedule(rates: impl IntoIterator<Item = (Timestamp, Bandwidth)>) -> Rate {
    let mut steps: Vec<RateStep> = Vec::new();
    let mut initial = Bandwidth::ZERO;
    for (at, rate) in rates {
        if steps.last().is_some_and(|last| last.at == at) {
            steps.pop();
        }
        let before = steps.last().map_or(initial, |last| last.rate);
        if at == Timestamp::ZERO {
            initial = rate;
        } else if rate != before {
            steps.push(RateStep { at, rate });
        }
    }
    Rate::Schedule { initial, steps }
}

/// A number of seconds, at least a nanosecond, so that times ascend.
pub(super) fn seconds(seconds: f64) -> Duration {
    Duration::from_nanos((seconds * 1e9) as u64).max(Duration::from_nanos(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_become_steps() {
        let at = Timestamp::from_millis;
        let mbit = Bandwidth::from_mbit_per_sec;
        let rates = [(0, 9.0), (0, 1.0), (1, 1.0), (2, 2.0), (3, 4.0), (3, 2.0), (4, 0.0)];
        let rate = schedule(rates.map(|(time, rate)| (at(time), mbit(rate))));
        let step = |time, rate| RateStep { at: at(time), rate: mbit(rate) };
        let steps = vec![step(2, 2.0), step(4, 0.0)];
        assert_eq!(rate, Rate::Schedule { initial: mbit(1.0), steps });
        assert_eq!(seconds(0.0), Duration::from_nanos(1));
    }
}
