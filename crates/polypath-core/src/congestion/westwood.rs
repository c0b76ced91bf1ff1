//! Westwood: after a loss the window is what the path was measured to carry, not half.
//!
//! Source: Mascolo et al., "TCP Westwood: bandwidth estimation for enhanced transport over wireless
//! links", Mobicom 2001, section 2. `B` in bytes/s of [`WestwoodEstimator`] with a fixed pole,
//! windows in bytes:
//!
//! ```text
//! avoidance:  as Reno
//! loss:       ssthresh = max(B * rtt_min, 2 MSS)    w = min(w, ssthresh)
//! timeout:    the same ssthresh                     w = MSS
//! ```
//!
//! Deviation: the paper says nothing about losses that come before the filter, which begins at
//! zero, knows the path. While that start weighs more than `start_share` in the estimate, the
//! threshold is not below Reno's: otherwise the overshoot of the first slow start would end in a
//! window far below the bandwidth, from which avoidance takes a round for each segment to come
//! back.

use super::{Ack, CongestionAvoidance, Loss, Subflow, Subflows, reno};
use crate::estimator::{BandwidthEstimator, BandwidthFilter, WestwoodEstimator};
use crate::path_map::PathMap;
use crate::registry::{Description, Kind, Values, parameters};
use polypath_units::PathId;
use std::time::Duration;

parameters! {
    /// The parameters of [`Westwood`].
    pub struct WestwoodParameters {
        /// What remains of the estimate at each ACK.
        pub pole: f64 = BandwidthFilter::POLE, "pole", "",
            "what remains of the estimate at each ACK", 0.0 to 1.0;
        /// Weight of the filter's start in the estimate down to which a loss leaves at least half;
        /// 1: the estimate counts from its first sample on.
        pub start_share: f64 = START_SHARE, "start_share", "", START_SHARE_PURPOSE, 0.0 to 1.0;
    }
}

/// The weight of the start below which an estimate is relied on, in all algorithms of the family:
/// an error of 2 % is less than what the samples differ by.
pub(super) const START_SHARE: f64 = 0.02;

/// What `start_share` does, in all algorithms of the family.
pub(super) const START_SHARE_PURPOSE: &str =
    "weight of the filter's start in the estimate above which a loss leaves at least half";

/// Westwood for all subflows of a connection, each on its own.
#[derive(Clone, Debug)]
pub struct Westwood {
    filter: BandwidthFilter,
    start_share: f64,
    estimators: PathMap<WestwoodEstimator>,
}

impl Westwood {
    /// The registry row.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Congestion,
        name: "westwood",
        purpose: "as Reno, but a loss leaves the measured bandwidth times the smallest RTT",
        source: "Mascolo et al., TCP Westwood, Mobicom 2001, section 2",
        parameters: WestwoodParameters::PARAMETERS,
    };

    /// Westwood with other parameters.
    pub fn new(parameters: WestwoodParameters) -> Self {
        let WestwoodParameters { pole, start_share } = parameters;
        Self::with_filter(BandwidthFilter::FixedPole { pole }, start_share)
    }

    /// Westwood with another filter.
    pub fn with_filter(filter: BandwidthFilter, start_share: f64) -> Self {
        Self { filter, start_share, estimators: PathMap::default() }
    }

    /// An instance for the registry; Westwood draws nothing at random.
    pub fn build(values: &Values, _seed: u64) -> Box<dyn CongestionAvoidance> {
        Box::new(Self::new(WestwoodParameters::of(values)))
    }

    /// The threshold after a loss.
    fn threshold(&mut self, subflow: &Subflow, loss: &Loss) -> f64 {
        let halved = reno::threshold(loss);
        let Some(estimator) = self.estimators.get_mut(subflow.id) else { return halved };
        estimator.on_silence(loss.now);
        let product = Product { min_rtt: subflow.min_rtt, mss: loss.mss, halved };
        product.of(estimator, self.start_share)
    }
}

impl Default for Westwood {
    fn default() -> Self {
        Self::new(WestwoodParameters::DEFAULT)
    }
}

/// What a path holds, by an estimate of its bandwidth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product {
    pub(super) min_rtt: Option<Duration>,
    pub(super) mss: u64,
    /// What Reno would leave.
    pub(super) halved: f64,
}

impl Product {
    /// Bandwidth times smallest RTT, at least two segments; not below what Reno would leave while
    /// the start of the filter weighs more than `start_share`.
    pub(super) fn of(&self, estimator: &dyn BandwidthEstimator, start_share: f64) -> f64 {
        let Some((rate, rtt)) = estimator.bytes_per_sec().zip(self.min_rtt) else {
            return self.halved;
        };
        let product = (rate * rtt.as_secs_f64()).max(2.0 * self.mss as f64);
        if estimator.start_share() > start_share { product.max(self.halved) } else { product }
    }
}

/// Lowers the window to the threshold, but never raises it.
pub(super) fn on_loss(subflow: &mut Subflow, threshold: f64) {
    subflow.ssthresh = threshold;
    subflow.cwnd = subflow.cwnd.min(threshold);
}

impl CongestionAvoidance for Westwood {
    fn on_delivery(&mut self, subflow: PathId, ack: &Ack, _subflows: &Subflows) {
        let filter = self.filter;
        let make = || WestwoodEstimator::new(filter);
        self.estimators.get_or_insert_with(subflow, make).on_ack(&ack.into());
    }

    fn on_ack(&mut self, subflow: PathId, ack: &Ack, subflows: &mut Subflows) {
        reno::on_ack(subflow, ack, subflows);
    }

    fn on_loss(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        if let Some(state) = subflows.get_mut(subflow) {
            on_loss(state, self.threshold(state, loss));
        }
    }

    fn on_timeout(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        if let Some(state) = subflows.get_mut(subflow) {
            state.ssthresh = self.threshold(state, loss);
            state.cwnd = loss.mss as f64;
        }
    }

    fn on_remove(&mut self, subflow: PathId) {
        self.estimators.remove(subflow);
    }

    fn bandwidth_estimate(&self, subflow: PathId) -> Option<f64> {
        self.estimators.get(subflow)?.bytes_per_sec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{ack, loss, path, subflows};
    use polypath_units::Timestamp;

    const fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    /// One subflow with a window of 30000 bytes and an RTT of 80 ms, on which `count` ACKs of
    /// 20.8 kB came 100 ms apart: 208 kB/s.
    fn measured(westwood: &mut Westwood, count: u64) -> Subflows {
        let flows = subflows(1_000, &[(30_000.0, 80)]);
        for n in 0..count {
            westwood.on_delivery(path(0), &Ack { now: at(100 * n), ..ack(20_800, 1_000) }, &flows);
        }
        flows
    }

    fn state(flows: &Subflows) -> (f64, f64) {
        let state = flows.get(path(0)).unwrap();
        (state.ssthresh, state.cwnd)
    }

    #[test]
    fn t_ww_1() {
        let mut westwood = Westwood::default();
        // The start weighs 0.9^300.
        let mut flows = measured(&mut westwood, 300);
        westwood.on_loss(path(0), &loss(30_000, 1_000), &mut flows);
        let (ssthresh, cwnd) = state(&flows);
        assert!((ssthresh - 16_640.0).abs() < 1e-6 && cwnd == ssthresh, "{ssthresh} {cwnd}");
        westwood.on_timeout(path(0), &loss(30_000, 1_000), &mut flows);
        let (ssthresh, cwnd) = state(&flows);
        assert!((ssthresh - 16_640.0).abs() < 1e-6 && cwnd == 1_000.0, "{ssthresh} {cwnd}");
    }

    #[test]
    fn a_loss_never_raises_the_window() {
        let mut westwood = Westwood::default();
        let mut flows = measured(&mut westwood, 300);
        flows.get_mut(path(0)).unwrap().cwnd = 5_000.0;
        westwood.on_loss(path(0), &loss(5_000, 1_000), &mut flows);
        assert_eq!(state(&flows).1, 5_000.0);
        assert!((state(&flows).0 - 16_640.0).abs() < 1e-6, "but slow start may reach it");
    }

    /// With five ACKs the start weighs 0.9^4 = 0.66 and the estimate is a third of the bandwidth.
    #[test]
    fn before_the_estimate_is_settled_a_loss_leaves_at_least_half() {
        for (start_share, expected) in [(0.02, 15_000.0), (1.0, 16_640.0 * (1.0 - 0.9f64.powi(4)))]
        {
            let mut westwood =
                Westwood::new(WestwoodParameters { start_share, ..WestwoodParameters::DEFAULT });
            let mut flows = measured(&mut westwood, 5);
            westwood.on_loss(path(0), &loss(30_000, 1_000), &mut flows);
            assert!((state(&flows).0 - expected).abs() < 1e-6, "{:?}", state(&flows));
        }
        let mut flows = subflows(1_000, &[(30_000.0, 80)]);
        Westwood::default().on_loss(path(0), &loss(30_000, 1_000), &mut flows);
        assert_eq!(state(&flows), (15_000.0, 15_000.0), "without any ACK");
    }

    #[test]
    fn the_threshold_is_at_least_two_segments() {
        let mut westwood = Westwood::default();
        let mut flows = measured(&mut westwood, 300);
        flows.get_mut(path(0)).unwrap().min_rtt = Some(Duration::from_micros(1));
        westwood.on_loss(path(0), &loss(30_000, 1_000), &mut flows);
        assert_eq!(state(&flows), (2_000.0, 2_000.0));
    }
}
