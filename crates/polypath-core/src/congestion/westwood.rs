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
//! `per_round` takes a sample of `B` for each round trip instead of each ACK, as Westwood+ does.
//!
//! Deviation: the paper says nothing about losses that come before the filter, which begins at
//! zero, knows the path. While that start weighs more than `start_share` in the estimate, the
//! threshold is not below Reno's: otherwise the overshoot of the first slow start would end in a
//! window far below the bandwidth, from which avoidance takes a round for each segment to come
//! back.

use super::measured::{Measured, Measurement, START_SHARE, START_SHARE_PURPOSE};
use super::{Ack, CongestionAvoidance, Loss, Subflows, reno};
use crate::estimator::{BandwidthEstimator, BandwidthFilter, WestwoodEstimator};
use crate::registry::{Description, Kind, Values, parameters};
use polypath_units::PathId;

parameters! {
    /// The parameters of [`Westwood`].
    pub struct WestwoodParameters {
        /// What remains of the estimate at each sample.
        pub pole: f64 = BandwidthFilter::POLE, "pole", "",
            "what remains of the estimate at each sample", 0.0 to 1.0;
        /// Whether there is a sample for each round trip and not for each ACK.
        pub per_round: bool = false, "per_round", "", PER_ROUND_PURPOSE;
        /// Weight of the filter's start in the estimate down to which a loss leaves at least half;
        /// 1: the estimate counts from its first sample on.
        pub start_share: f64 = START_SHARE, "start_share", "", START_SHARE_PURPOSE, 0.0 to 1.0;
    }
}

/// Westwood for all subflows of a connection, each on its own.
#[derive(Clone, Debug)]
pub struct Westwood {
    filter: BandwidthFilter,
    per_round: bool,
    measured: Measured<WestwoodEstimator>,
}

/// What the switch of that name does.
pub(super) const PER_ROUND_PURPOSE: &str = "1: a sample for each round trip, not for each ACK";

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
        let WestwoodParameters { pole, per_round, start_share } = parameters;
        Self::with_filter(BandwidthFilter::FixedPole { pole }, per_round, start_share)
    }

    /// Westwood with another filter.
    pub(crate) fn with_filter(filter: BandwidthFilter, per_round: bool, start_share: f64) -> Self {
        Self { filter, per_round, measured: Measured::new(start_share) }
    }

    /// An instance for the registry; Westwood draws nothing at random.
    pub fn build(values: &Values, _seed: u64) -> Box<dyn CongestionAvoidance> {
        Box::new(Self::new(WestwoodParameters::of(values)))
    }

    /// Some filters decay while no ACK arrives.
    fn note_silence(&mut self, subflow: PathId, loss: &Loss) {
        if let Some(estimator) = self.measured.get_mut(subflow) {
            estimator.on_silence(loss.now);
        }
    }
}

impl Measurement for WestwoodEstimator {}

impl Default for Westwood {
    fn default() -> Self {
        Self::new(WestwoodParameters::DEFAULT)
    }
}

impl CongestionAvoidance for Westwood {
    fn on_delivery(&mut self, subflow: PathId, ack: &Ack, _subflows: &Subflows) {
        let (filter, per_round) = (self.filter, self.per_round);
        let make = || match per_round {
            true => WestwoodEstimator::per_round(filter),
            false => WestwoodEstimator::new(filter),
        };
        self.measured.get_or_insert_with(subflow, make).on_ack(&ack.into());
    }

    fn on_ack(&mut self, subflow: PathId, ack: &Ack, subflows: &mut Subflows) {
        reno::on_ack(subflow, ack, subflows);
    }

    fn on_loss(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        self.note_silence(subflow, loss);
        self.measured.on_loss(subflow, loss, subflows);
    }

    fn on_timeout(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        self.note_silence(subflow, loss);
        self.measured.on_timeout(subflow, loss, subflows);
    }

    fn on_remove(&mut self, subflow: PathId) {
        self.measured.remove(subflow);
    }

    fn bandwidth_estimate(&self, subflow: PathId) -> Option<f64> {
        self.measured.bandwidth_estimate(subflow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{ack, loss, path, subflows};
    use polypath_units::Timestamp;
    use std::time::Duration;

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

    /// Of an RTT of 150 ms, with ACKs every 100 ms, each second ACK ends a round.
    #[test]
    fn samples_of_round_trips_settle_half_as_fast() {
        let share = |per_round| {
            let mut westwood =
                Westwood::new(WestwoodParameters { per_round, ..WestwoodParameters::DEFAULT });
            let flows = subflows(1_000, &[(30_000.0, 80)]);
            for n in 0..21 {
                let rtt = Some(Duration::from_millis(150));
                let ack = Ack { now: at(100 * n), rtt, ..ack(20_800, 1_000) };
                westwood.on_delivery(path(0), &ack, &flows);
            }
            westwood.bandwidth_estimate(path(0)).unwrap() / 208e3
        };
        assert!((share(false) - (1.0 - 0.9_f64.powi(20))).abs() < 1e-9);
        assert!((share(true) - (1.0 - 0.9_f64.powi(10))).abs() < 1e-9);
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
