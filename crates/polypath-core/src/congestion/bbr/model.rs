//! BBR's model of the path: bottleneck bandwidth, propagation time, and whether the pipe is full.

use super::BbrParameters;
use crate::congestion::{Ack, RateSample};
use crate::estimator::WindowedMax;
use polypath_units::Timestamp;
use std::time::Duration;

/// Bandwidth and propagation time, in bytes/s and seconds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Model {
    max_bandwidth: WindowedMax<f64>,
    round: u64,
    rtprop: Option<Duration>,
    rtprop_at: Timestamp,
    rtprop_expired: bool,
    /// The least RTT of the ProbeRTT under way.
    probed: Option<Duration>,
    /// The bandwidth before it was lowered because of a queue.
    unlowered: Option<f64>,
}

impl Model {
    pub(super) fn new(parameters: &BbrParameters) -> Self {
        Self {
            max_bandwidth: WindowedMax::new(parameters.bandwidth_rounds as u64),
            round: 0,
            rtprop: None,
            rtprop_at: Timestamp::ZERO,
            rtprop_expired: false,
            probed: None,
            unlowered: None,
        }
    }

    /// Bottleneck bandwidth in bytes/s; 0 before the first sample.
    pub(super) fn bandwidth(&self) -> f64 {
        self.max_bandwidth.get().unwrap_or(0.0)
    }

    /// Round-trip propagation time.
    pub(super) const fn rtprop(&self) -> Option<Duration> {
        self.rtprop
    }

    /// Bandwidth-delay product in bytes; `None` before the first RTT sample.
    pub(super) fn bdp(&self) -> Option<f64> {
        Some(self.bandwidth() * self.rtprop?.as_secs_f64())
    }

    /// Whether the propagation time was not confirmed for longer than its window, as of the last
    /// [`Model::update_rtprop`].
    pub(super) const fn rtprop_expired(&self) -> bool {
        self.rtprop_expired
    }

    /// A queue stood while no more than `bytes_per_sec` came through, which therefore is the
    /// bandwidth.
    pub(super) fn lower_bandwidth(&mut self, bytes_per_sec: f64) {
        let present = self.bandwidth();
        if 0.0 < bytes_per_sec && bytes_per_sec < present {
            self.unlowered.get_or_insert(present);
            self.replace_bandwidth(bytes_per_sec);
        }
    }

    /// The queue has drained: it was a queue, and the bandwidth was rightly lowered.
    pub(super) const fn trust_bandwidth(&mut self) {
        self.unlowered = None;
    }

    fn replace_bandwidth(&mut self, bytes_per_sec: f64) {
        self.max_bandwidth.reset();
        self.max_bandwidth.update(self.round, bytes_per_sec);
    }

    /// Takes the RTT sample of a ProbeRTT whose result shall replace the estimate.
    pub(super) fn probe_rtprop(&mut self, ack: &Ack) {
        self.probed = match (self.probed, ack.rtt) {
            (Some(least), Some(rtt)) => Some(least.min(rtt)),
            (least, rtt) => least.or(rtt),
        };
    }

    /// ProbeRTT has measured, so that the estimate is fresh. If it rose by more than `factor`, what
    /// looked like a queue was the path itself, and the bandwidth was lowered without reason.
    pub(super) fn confirm_rtprop(&mut self, now: Timestamp, factor: f64) {
        self.rtprop_at = now;
        let unlowered = self.unlowered.take();
        let Some(probed) = self.probed.take() else { return };
        let longer = self.rtprop.is_some_and(|rtprop| probed > rtprop.mul_f64(factor));
        if let Some(bandwidth) = unlowered.filter(|_| longer) {
            self.replace_bandwidth(bandwidth);
        }
        self.rtprop = Some(probed);
    }

    /// Takes the rate sample, unless it is only a lower bound below the estimate.
    pub(super) fn update_bandwidth(&mut self, ack: &Ack) {
        self.round += u64::from(ack.round_start);
        if let Some(sample) = ack.rate.filter(|s| self.admits(s)) {
            self.max_bandwidth.update(self.round, sample.bytes_per_sec);
        }
    }

    fn admits(&self, sample: &RateSample) -> bool {
        !sample.app_limited || sample.bytes_per_sec >= self.bandwidth()
    }

    /// Takes the RTT sample if it is not above the estimate; or, with `expires`, if the estimate
    /// has expired.
    pub(super) fn update_rtprop(&mut self, ack: &Ack, parameters: &BbrParameters, expires: bool) {
        let window = Duration::from_secs_f64(parameters.rtprop_secs);
        self.rtprop_expired = self.rtprop.is_some() && ack.now - self.rtprop_at > window;
        let Some(rtt) = ack.rtt else { return };
        if (self.rtprop_expired && expires) || self.rtprop.is_none_or(|rtprop| rtt <= rtprop) {
            self.rtprop = Some(rtt);
            self.rtprop_at = ack.now;
        }
    }
}

/// Start-up's end: the bandwidth has not grown by a quarter in each of three rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::congestion) struct FullPipe {
    bandwidth: f64,
    rounds: u32,
    reached: bool,
}

impl FullPipe {
    pub(in crate::congestion) const fn reached(&self) -> bool {
        self.reached
    }

    /// Something else says that the pipe is full.
    pub(super) const fn reach(&mut self) {
        self.reached = true;
    }

    /// A timeout: the plateau found before may no longer hold.
    pub(super) const fn restart(&mut self) {
        self.bandwidth = 0.0;
        self.rounds = 0;
    }

    /// A plateau that begins at `bandwidth` and is not reached yet.
    pub(in crate::congestion) const fn restart_from(&mut self, bandwidth: f64) {
        *self = Self { bandwidth, rounds: 0, reached: false };
    }

    /// A round ended with an ACK that was not application-limited: the pipe is full after `rounds`
    /// in which the bandwidth did not grow by a factor of `growth`.
    pub(in crate::congestion) fn on_round(&mut self, bandwidth: f64, growth: f64, rounds: f64) {
        if self.reached {
            return;
        }
        if bandwidth >= growth * self.bandwidth {
            self.bandwidth = bandwidth;
            self.rounds = 0;
        } else {
            self.rounds += 1;
            self.reached = f64::from(self.rounds) >= rounds;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{ack, rate};

    #[test]
    fn t_bbr1_2() {
        let mut pipe = FullPipe::default();
        let reached = [10.0, 20.0, 30.0, 36.0, 37.0, 37.0].map(|bandwidth| {
            pipe.on_round(bandwidth, 1.25, 3.0);
            pipe.reached()
        });
        assert_eq!(reached, [false, false, false, false, false, true]);
    }

    #[test]
    fn an_application_limited_sample_raises_the_bandwidth_but_does_not_lower_it() {
        let mut model = Model::new(&BbrParameters::DEFAULT);
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

    #[test]
    fn the_propagation_time_expires_after_ten_seconds() {
        let mut model = Model::new(&BbrParameters::DEFAULT);
        let mut at = |secs: u64, millis| {
            let now = Timestamp::from_millis(secs * 1_000);
            let sample = Ack { now, rtt: Some(Duration::from_millis(millis)), ..ack(1, 1_000) };
            model.update_rtprop(&sample, &BbrParameters::DEFAULT, true);
            (model.rtprop().unwrap().as_millis(), model.rtprop_expired())
        };
        assert_eq!(at(0, 20), (20, false));
        assert_eq!(at(1, 30), (20, false));
        assert_eq!(at(10, 30), (20, false));
        assert_eq!(at(11, 30), (30, true));
        assert_eq!(at(12, 31), (30, false));
    }
}
