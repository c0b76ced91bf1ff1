//! The adaptive estimator of CABE: a pole that follows the noise of the samples.
//!
//! Source: CABE-MPTCP, J. ICT Standardization 12(1), 2024, equations 5 to 9, 11 and 12, which are
//! the ABSE estimator (Wang, Valla, Sanadidi, Gerla, GLOBECOM 2002) for bytes and time separately;
//! `docs/algorithms/estimators.md`. An interval ends with the first ACK after `Ts = max(1 srtt, 10
//! ms)`; with `p` its bytes, `dt` its length in seconds and `s = p / dt`:
//!
//! ```text
//! U    = 0.6 U + 0.4 |s - s_prev|                (9)   how much the samples differ
//! tau  = srtt + N srtt U / Umax                  (8)   Umax: largest of the last 10 U
//! a    = (2 tau - dt) / (2 tau + dt), 0 to 0.999 (7)
//! S    = a S + (1 - a) p,   T = a T + (1 - a) dt (5, 6)
//! B    = S / T                                   (12)
//! ```
//!
//! The first sample sets `S = p`, `T = dt`. Deviations: equation (9) as printed has U_k on both
//! sides; N = 10 and the window of Umax, which the paper leaves out, are recalled from ABSE;
//! intervals without bytes, which the paper takes for an estimate of zero, are skipped.

use super::interval::AckInterval;
use super::{AckRecord, BandwidthEstimator};
use crate::estimator::RttEstimator;
use polypath_units::Timestamp;
use std::collections::VecDeque;
use std::time::Duration;

/// The largest pole.
const MAX_POLE: f64 = 0.999;

/// The parameters of [`AdaptiveEstimator`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveParameters {
    /// `beta_U`: what remains of the old `U`.
    pub restlessness_gain: f64,
    /// `N_rtt`: by how many RTTs the largest `U` lengthens the time constant.
    pub restless_rtts: f64,
    /// `U_window`: samples over which the largest `U` is taken; 1 or more.
    pub restlessness_window: f64,
    /// Length of an interval in smoothed RTTs.
    pub interval_rtts: f64,
    /// The shortest interval in ms.
    pub min_interval_ms: f64,
}

impl AdaptiveParameters {
    /// 0.6 from the paper; the rest as recalled from ABSE.
    pub const DEFAULT: Self = Self {
        restlessness_gain: 0.6,
        restless_rtts: 10.0,
        restlessness_window: 10.0,
        interval_rtts: 1.0,
        min_interval_ms: 10.0,
    };

    fn interval_secs(&self, srtt: Duration) -> f64 {
        (self.interval_rtts * srtt.as_secs_f64()).max(self.min_interval_ms / 1e3)
    }
}

impl Default for AdaptiveParameters {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// One sample for each round trip, smoothed the more the more the samples differ.
#[derive(Clone, Debug, Default)]
pub struct AdaptiveEstimator {
    parameters: AdaptiveParameters,
    rtt: RttEstimator,
    interval: AckInterval,
    smoothed: Option<Smoothed>,
    restlessness: Restlessness,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Smoothed {
    /// `S` in bytes.
    bytes: f64,
    /// `T` in seconds.
    secs: f64,
    /// `s_prev` in bytes/s.
    last_sample: f64,
    start_share: f64,
}

/// `U` and its recent values in bytes/s.
#[derive(Clone, Debug, Default)]
struct Restlessness {
    present: f64,
    recent: VecDeque<f64>,
}

impl Restlessness {
    /// Takes the difference of two samples; returns `U / Umax`, 0 to 1.
    fn update(&mut self, distance: f64, parameters: &AdaptiveParameters) -> f64 {
        let gain = parameters.restlessness_gain;
        self.present = gain * self.present + (1.0 - gain) * distance;
        self.recent.push_back(self.present);
        while self.recent.len() as f64 > parameters.restlessness_window.max(1.0) {
            self.recent.pop_front();
        }
        let largest = self.recent.iter().copied().fold(0.0, f64::max);
        if largest > 0.0 { self.present / largest } else { 0.0 }
    }
}

impl AdaptiveEstimator {
    /// An estimator without samples.
    pub fn new(parameters: AdaptiveParameters) -> Self {
        Self { parameters, ..Self::default() }
    }

    /// The retransmission timer expired: the interval under way says nothing about the path;
    /// estimates are kept.
    pub fn on_timeout(&mut self, now: Timestamp) {
        self.interval.restart(now);
    }

    /// Data is sent again after a pause: the next ACK begins an interval, because the pause says
    /// nothing about the path; estimates are kept.
    pub(crate) fn on_idle_restart(&mut self) {
        self.interval.forget();
    }

    fn on_sample(&mut self, bytes: f64, secs: f64, srtt: Duration) {
        let sample = bytes / secs;
        let Some(old) = self.smoothed else {
            self.smoothed = Some(Smoothed { bytes, secs, last_sample: sample, start_share: 1.0 });
            return;
        };
        let distance = (sample - old.last_sample).abs();
        let noise = self.restlessness.update(distance, &self.parameters);
        let srtt = srtt.as_secs_f64();
        let twice_tau = 2.0 * (srtt + self.parameters.restless_rtts * srtt * noise);
        let pole = ((twice_tau - secs) / (twice_tau + secs)).clamp(0.0, MAX_POLE);
        self.smoothed = Some(Smoothed {
            bytes: pole * old.bytes + (1.0 - pole) * bytes,
            secs: pole * old.secs + (1.0 - pole) * secs,
            last_sample: sample,
            start_share: pole * old.start_share,
        });
    }
}

impl BandwidthEstimator for AdaptiveEstimator {
    fn on_ack(&mut self, ack: &AckRecord) {
        if let Some(rtt) = ack.rtt {
            self.rtt.on_sample(rtt);
        }
        let Some((elapsed, srtt)) = self.interval.add(ack).zip(self.rtt.srtt()) else { return };
        let secs = elapsed.as_secs_f64();
        if secs < self.parameters.interval_secs(srtt) {
            return;
        }
        let bytes = self.interval.restart(ack.at);
        if bytes > 0 {
            self.on_sample(bytes as f64, secs, srtt);
        }
    }

    fn bytes_per_sec(&self) -> Option<f64> {
        self.smoothed.map(|smoothed| smoothed.bytes / smoothed.secs)
    }

    fn start_share(&self) -> f64 {
        self.smoothed.map_or(1.0, |smoothed| smoothed.start_share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimator::bandwidth::tests::{after, at, record};

    /// An RTT of 100 ms and 20, 30, 20, 20 kB in 100 ms each. The threshold of the example is
    /// checked with the congestion control.
    #[test]
    fn t_cabe_1_estimates() {
        let trace = [(0, 1), (100, 20_000), (200, 30_000), (300, 20_000), (400, 20_000)];
        let mut estimator = AdaptiveEstimator::default();
        let expected = [200_000.0, 208_695.652, 207_939.509, 206_880.907];
        estimator.on_ack(&record(0, 1, Some(100)));
        for ((when, bytes), expected) in trace[1..].iter().zip(expected) {
            estimator.on_ack(&record(*when, *bytes, Some(100)));
            let value = estimator.bytes_per_sec().unwrap();
            assert!((value - expected).abs() < 1e-6 * expected, "{value} for {expected}");
        }
        let smoothed = estimator.smoothed.unwrap();
        assert!((smoothed.bytes - 20_688.090_7).abs() < 1e-4);
        assert!((smoothed.start_share - 0.913_043_5 * 0.913_043_5 * 0.866_666_7).abs() < 1e-6);
        assert!((estimator.restlessness.present - 38_400.0).abs() < 1e-6);
    }

    #[test]
    fn an_interval_lasts_an_rtt_and_at_least_10_ms() {
        for (rtt, ends) in [(1, 10), (60, 60)] {
            let mut estimator = AdaptiveEstimator::default();
            for when in 0..ends {
                estimator.on_ack(&record(when, 1_000, Some(rtt)));
                assert_eq!(estimator.bytes_per_sec(), None, "{when} of {ends}");
            }
            estimator.on_ack(&record(ends, 1_000, None));
            assert_eq!(estimator.bytes_per_sec(), Some(1e6));
        }
    }

    #[test]
    fn an_interval_without_bytes_changes_nothing() {
        let mut estimator = AdaptiveEstimator::default();
        let values = after(&mut estimator, &[(0, 1), (100, 20_000), (300, 0), (400, 20_000)]);
        assert_eq!(values[1..], [Some(200_000.0); 3]);
    }

    /// Without noise the time constant is one RTT: a = (2 - 1) / (2 + 1), and a third is kept.
    #[test]
    fn a_steady_path_is_followed_quickly() {
        let mut estimator = AdaptiveEstimator::default();
        (0..10).for_each(|n| estimator.on_ack(&record(100 * n, 10_000, Some(100))));
        assert!((estimator.bytes_per_sec().unwrap() - 100_000.0).abs() < 1e-6);
        assert!((estimator.start_share() - 3f64.powi(-8)).abs() < 1e-12);
    }

    /// A step from 100 to 400 kB/s is noise at first: U = Umax, tau = 11 RTT, a = 21/23, so that
    /// 2/23 of the step is taken. When the samples are steady U falls by 0.6 for each, and the
    /// filter is quick.
    #[test]
    fn a_step_is_followed_when_the_samples_rest() {
        let mut estimator = AdaptiveEstimator::default();
        let mut step = |n: u64, bytes| {
            estimator.on_ack(&record(100 * n, bytes, Some(100)));
            estimator.bytes_per_sec().unwrap_or(0.0)
        };
        (0..10).for_each(|n| assert!(step(n, 10_000) <= 100_001.0));
        let first = step(10, 40_000);
        assert!((first - (100e3 + 300e3 * 2.0 / 23.0)).abs() < 1.0, "{first}");
        let rested = (11..40).map(|n| step(n, 40_000)).last().unwrap();
        assert!((rested - 400e3).abs() < 400.0, "{rested}");
    }

    #[test]
    fn a_timeout_discards_the_interval_and_keeps_the_estimate() {
        let mut estimator = AdaptiveEstimator::default();
        after(&mut estimator, &[(0, 1), (100, 20_000), (150, 20_000)]);
        estimator.on_timeout(at(1_000));
        assert_eq!(estimator.bytes_per_sec(), Some(200_000.0));
        let value = after(&mut estimator, &[(1_100, 20_000)])[0];
        assert_eq!(value, Some(200_000.0), "20 kB in the 100 ms since");
    }
}
