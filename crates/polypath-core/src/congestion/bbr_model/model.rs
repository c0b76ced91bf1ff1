//! BBR's model of the path: bottleneck bandwidth and propagation time.

use crate::congestion::{Ack, InitialWindow, RateSample};
use crate::estimator::WindowedMax;
use polypath_units::Timestamp;
use std::time::Duration;

/// Bandwidth in bytes/s and propagation time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Model {
    max_bandwidth: WindowedMax<f64>,
    round: u64,
    rtprop: Option<Duration>,
    rtprop_at: Timestamp,
    rtprop_expired: bool,
}

impl Model {
    /// Without samples; the bandwidth is the maximum over so many rounds.
    pub(crate) fn new(bandwidth_rounds: f64) -> Self {
        Self {
            max_bandwidth: WindowedMax::new(bandwidth_rounds as u64),
            round: 0,
            rtprop: None,
            rtprop_at: Timestamp::ZERO,
            rtprop_expired: false,
        }
    }

    /// Bottleneck bandwidth in bytes/s; 0 before the first sample.
    pub(crate) fn bandwidth(&self) -> f64 {
        self.max_bandwidth.get().unwrap_or(0.0)
    }

    /// Round-trip propagation time.
    pub(crate) const fn rtprop(&self) -> Option<Duration> {
        self.rtprop
    }

    /// Bandwidth-delay product in bytes; `None` before the first RTT sample.
    pub(crate) fn bdp(&self) -> Option<f64> {
        Some(self.flight(self.rtprop?))
    }

    /// What the bandwidth brings in this time, in bytes.
    fn flight(&self, time: Duration) -> f64 {
        self.bandwidth() * time.as_secs_f64()
    }

    /// `gain` bandwidth-delay products in whole segments, in bytes; the initial window before the
    /// first RTT sample (`bbr_bdp`).
    pub(crate) fn whole_bdp(&self, gain: f64, mss: u64) -> f64 {
        self.whole_flight(gain, self.rtprop, mss)
    }

    /// The same with this time in place of the propagation time.
    pub(crate) fn whole_flight(&self, gain: f64, time: Option<Duration>, mss: u64) -> f64 {
        let Some(time) = time else { return InitialWindow::Rfc6928.bytes(mss, None) };
        (gain * self.flight(time) / mss as f64).ceil() * mss as f64
    }

    /// Whether the propagation time was not confirmed for longer than its window, as of the last
    /// [`Model::update_rtprop`].
    pub(crate) const fn rtprop_expired(&self) -> bool {
        self.rtprop_expired
    }

    /// Takes the rate sample, unless it is only a lower bound below the estimate.
    pub(crate) fn update_bandwidth(&mut self, ack: &Ack) {
        self.round += u64::from(ack.round_start);
        if let Some(sample) = ack.rate.filter(|s| self.admits(s)) {
            self.max_bandwidth.update(self.round, sample.bytes_per_sec);
        }
    }

    fn admits(&self, sample: &RateSample) -> bool {
        !sample.app_limited || sample.bytes_per_sec >= self.bandwidth()
    }

    /// Forgets all rate samples for this bandwidth in bytes/s.
    pub(crate) fn replace_bandwidth(&mut self, bytes_per_sec: f64) {
        self.max_bandwidth.reset();
        self.max_bandwidth.update(self.round, bytes_per_sec);
    }

    /// Takes the RTT sample if it is not above the estimate, and tells the age of the estimate by a
    /// window of `rtprop_secs`.
    pub(crate) fn update_rtprop(&mut self, ack: &Ack, rtprop_secs: f64) {
        let window = Duration::from_secs_f64(rtprop_secs);
        self.rtprop_expired = self.rtprop.is_some() && ack.now - self.rtprop_at > window;
        let Some(rtt) = ack.rtt else { return };
        if self.rtprop.is_none_or(|rtprop| rtt <= rtprop) {
            self.replace_rtprop(rtt, ack.now);
        }
    }

    /// This RTT is the propagation time, whatever was known before.
    pub(crate) const fn replace_rtprop(&mut self, rtt: Duration, now: Timestamp) {
        self.rtprop = Some(rtt);
        self.rtprop_at = now;
    }

    /// ProbeRTT has measured: the estimate is as new as it can be.
    pub(crate) const fn confirm_rtprop(&mut self, now: Timestamp) {
        self.rtprop_at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{ack, rate};

    #[test]
    fn an_application_limited_sample_raises_the_bandwidth_but_does_not_lower_it() {
        let mut model = Model::new(10.0);
        let sample = |bytes_per_sec, app_limited| Ack {
            rate: Some(RateSample { app_limited, ..rate(bytes_per_sec) }),
            round_start: true,
            ..ack(1_000, 1_000)
        };
        model.update_bandwidth(&sample(100.0, false));
        (0..50).for_each(|_| model.update_bandwidth(&sample(10.0, true)));
        assert_eq!(model.bandwidth(), 100.0);
        model.update_bandwidth(&sample(120.0, true));
        assert_eq!(model.bandwidth(), 120.0);
        (0..11).for_each(|_| model.update_bandwidth(&sample(10.0, false)));
        assert_eq!(model.bandwidth(), 10.0);
    }
}
