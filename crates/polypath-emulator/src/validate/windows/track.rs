//! A sender's window over time, at equal intervals.

use crate::kernel::WindowSample;
use polypath_units::{Timestamp, millis};
use serde::Serialize;
use std::time::Duration;

/// What a sender's congestion control was at, at equal intervals from time zero on.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Track {
    /// The congestion window in bytes; 0 before there is a connection.
    pub window_bytes: Vec<u64>,
    /// The slow-start threshold in bytes; null while it is infinite.
    pub ssthresh_bytes: Vec<Option<u64>>,
    /// The smoothed round-trip time in milliseconds; null before the first measurement.
    pub srtt_ms: Vec<Option<f64>>,
}

impl Track {
    /// Of samples in the order of time, each of which holds until the next. The value of an
    /// interval is that in its middle, so that a sample may be late by half of it.
    pub fn held(samples: &[WindowSample], interval: Duration, end: Timestamp) -> Self {
        let mut track = Self::default();
        let mut at = Timestamp::ZERO + interval / 2;
        while at < end && !interval.is_zero() {
            let after = samples.partition_point(|sample| sample.at <= at);
            track.push(after.checked_sub(1).map(|last| &samples[last]));
            at += interval;
        }
        track
    }

    fn push(&mut self, sample: Option<&WindowSample>) {
        let srtt = sample.and_then(|sample| sample.srtt);
        self.window_bytes.push(sample.map_or(0, |sample| sample.window));
        self.ssthresh_bytes.push(sample.and_then(|sample| sample.ssthresh));
        self.srtt_ms.push(srtt.map(millis));
    }

    /// The windows in bytes without the first ones.
    pub(crate) fn windows_from(&self, first: usize) -> Vec<f64> {
        self.window_bytes.iter().skip(first).map(|&window| window as f64).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn sample(millis: u64, window: u64) -> WindowSample {
        let at = Timestamp::from_millis(millis);
        WindowSample {
            at,
            window,
            ssthresh: Some(window / 2),
            srtt: Some(Duration::from_millis(9)),
        }
    }

    #[test]
    fn samples_hold_until_the_next_and_may_be_late() {
        let samples = [sample(21, 10), sample(49, 20), sample(61, 30), sample(63, 40)];
        let end = Timestamp::from_millis(120);
        let track = Track::held(&samples, Duration::from_millis(20), end);
        // In the middle of each interval: 10, 30, 50, 70, 90 and 110 ms.
        assert_eq!(track.window_bytes, [0, 10, 20, 40, 40, 40]);
        assert_eq!(track.ssthresh_bytes[..2], [None, Some(5)]);
        assert_eq!(track.srtt_ms[..2], [None, Some(9.0)]);
        assert_eq!(track.windows_from(4), [40.0, 40.0]);
    }

    #[test]
    fn nothing_gives_nothing() {
        let track = Track::held(&[], Duration::from_millis(20), Timestamp::from_millis(40));
        assert_eq!(track.window_bytes, [0, 0]);
        assert_eq!(Track::held(&[], Duration::ZERO, Timestamp::MAX), Track::default());
    }
}
