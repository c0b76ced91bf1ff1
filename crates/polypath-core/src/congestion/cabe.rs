//! CABE: LIA's coupled increase, and a decrease to what an adaptive estimator measured.
//!
//! Source: CABE-MPTCP, J. ICT Standardization 12(1), 2024, section 3 (S0). `a_c` is the coupling
//! factor of [`super::Lia`], `B` of [`AdaptiveEstimator`] in bytes/s, windows in bytes:
//!
//! ```text
//! avoidance:  w_i += min(a_c * acked * MSS_i / w_tot,  acked * MSS_i / w_i)      (1, 10)
//! loss:       ssthresh_i = max(B_i * rtt_min_i, 2 MSS)   w_i = min(w_i, ssthresh_i)
//! timeout:    the same ssthresh_i                        w_i = MSS
//! ```
//!
//! The equations are those of RFC 6356: as printed (1) and (10) have `w_tot` in both terms, and (2)
//! loses the indices (corrections and choices: `docs/algorithms/congestion/cabe.md`). The paper
//! leaves open the window after a loss, which is Westwood's here, and where slow start is coupled:
//! here only with `slow_start = "css"`. Deviation: as for [`super::Westwood`] the threshold is not
//! below Reno's while the first sample weighs more than `start_share`. The filter is slowest while
//! slow start doubles the samples; for that reason the paper sees the throughput fall at the
//! beginning. A pause of the sender, which the paper does not mention, is no sample.

use super::measured::{Measured, Measurement, START_SHARE, START_SHARE_PURPOSE};
use super::{Ack, CongestionAvoidance, Loss, Subflows, lia};
use crate::estimator::{AdaptiveEstimator, AdaptiveParameters, BandwidthEstimator};
use crate::registry::{Description, Kind, Values, parameters};
use polypath_units::PathId;

parameters! {
    /// The parameters of [`Cabe`].
    ///
    /// Defaults: the paper's, with Reno's threshold as the least until the estimate has settled.
    pub struct CabeParameters {
        /// `beta_u`.
        pub restlessness_gain: f64 = ESTIMATOR.restlessness_gain, "beta_u", "",
            "what remains of the restlessness U of the samples at each sample", 0.0 to 1.0;
        /// `n_rtt`.
        pub restless_rtts: f64 = ESTIMATOR.restless_rtts, "n_rtt", "RTTs",
            "by how much the largest restlessness lengthens the time constant";
        /// Samples over which the largest `U` is taken.
        pub restlessness_window: f64 = ESTIMATOR.restlessness_window, "u_window", "samples",
            "over which the largest restlessness is taken";
        /// RTTs over which the bandwidth is sampled.
        pub interval_rtts: f64 = ESTIMATOR.interval_rtts, "interval_rtts", "RTTs",
            "interval over which the bandwidth is sampled";
        /// The shortest interval over which the bandwidth is sampled, in ms.
        pub min_interval_ms: f64 = ESTIMATOR.min_interval_ms, "min_interval", "ms",
            "shortest interval over which the bandwidth is sampled";
        /// Weight of the first sample in the estimate down to which a loss leaves at least half;
        /// 1: the estimate counts from its first sample on, as in the paper.
        pub start_share: f64 = START_SHARE, "start_share", "", START_SHARE_PURPOSE, 0.0 to 1.0;
    }
}

impl CabeParameters {
    const fn estimator(&self) -> AdaptiveParameters {
        let Self { restlessness_gain, restless_rtts, restlessness_window, .. } = *self;
        let Self { interval_rtts, min_interval_ms, .. } = *self;
        AdaptiveParameters {
            restlessness_gain,
            restless_rtts,
            restlessness_window,
            interval_rtts,
            min_interval_ms,
        }
    }
}

/// CABE for the subflows of a connection.
#[derive(Clone, Debug)]
pub struct Cabe {
    estimator: AdaptiveParameters,
    measured: Measured<AdaptiveEstimator>,
}

const ESTIMATOR: AdaptiveParameters = AdaptiveParameters::DEFAULT;

impl Cabe {
    /// The registry row.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Congestion,
        name: "cabe",
        purpose: "coupled increase; a loss leaves the adaptively measured bandwidth times RTT",
        source: "CABE-MPTCP, J. ICT Standardization 12(1), 2024, equations 1 to 12",
        parameters: CabeParameters::PARAMETERS,
    };

    /// CABE with other parameters.
    pub fn new(parameters: CabeParameters) -> Self {
        Self { estimator: parameters.estimator(), measured: Measured::new(parameters.start_share) }
    }

    /// An instance for the registry; CABE draws nothing at random.
    pub fn build(values: &Values, _seed: u64) -> Box<dyn CongestionAvoidance> {
        Box::new(Self::new(CabeParameters::of(values)))
    }
}

impl Measurement for AdaptiveEstimator {}

impl Default for Cabe {
    fn default() -> Self {
        Self::new(CabeParameters::DEFAULT)
    }
}

impl CongestionAvoidance for Cabe {
    fn on_delivery(&mut self, subflow: PathId, ack: &Ack, _subflows: &Subflows) {
        let parameters = self.estimator;
        let make = || AdaptiveEstimator::new(parameters);
        self.measured.get_or_insert_with(subflow, make).on_ack(&ack.into());
    }

    fn on_ack(&mut self, subflow: PathId, ack: &Ack, subflows: &mut Subflows) {
        lia::on_ack(subflow, ack, subflows);
    }

    fn on_loss(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        self.measured.on_loss(subflow, loss, subflows);
    }

    fn on_timeout(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        self.measured.on_timeout(subflow, loss, subflows);
        if let Some(estimator) = self.measured.get_mut(subflow) {
            estimator.on_timeout(loss.now);
        }
    }

    fn on_idle_restart(&mut self, subflow: PathId, subflows: &mut Subflows) {
        if let Some(state) = subflows.get_mut(subflow) {
            state.restart_after_idle();
        }
        if let Some(estimator) = self.measured.get_mut(subflow) {
            estimator.on_idle_restart();
        }
    }

    fn on_remove(&mut self, subflow: PathId) {
        self.measured.remove(subflow);
    }

    fn bandwidth_estimate(&self, subflow: PathId) -> Option<f64> {
        self.measured.bandwidth_estimate(subflow)
    }

    fn is_coupled(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{ack, loss, path, subflows};
    use polypath_units::Timestamp;
    use std::time::Duration;

    /// One subflow with an RTT of 100 ms, of which 80 ms are the smallest, that had
    /// `delivered` bytes acknowledged in 100 ms each.
    fn measured(cabe: &mut Cabe, delivered: &[u64]) -> Subflows {
        let mut flows = subflows(1_000, &[(30_000.0, 100)]);
        flows.get_mut(path(0)).unwrap().min_rtt = Some(Duration::from_millis(80));
        for (n, &bytes) in (0..).zip([1].iter().chain(delivered)) {
            let now = Timestamp::from_millis(100 * n);
            let rtt = Some(Duration::from_millis(100));
            cabe.on_delivery(path(0), &Ack { now, rtt, ..ack(bytes, 1_000) }, &flows);
        }
        flows
    }

    fn state(flows: &Subflows) -> (f64, f64) {
        let state = flows.get(path(0)).unwrap();
        (state.ssthresh, state.cwnd)
    }

    #[test]
    fn t_cabe_1() {
        let mut cabe = Cabe::default();
        let mut flows = measured(&mut cabe, &[20_000, 30_000, 20_000, 20_000]);
        cabe.on_loss(path(0), &loss(30_000, 1_000), &mut flows);
        let (ssthresh, cwnd) = state(&flows);
        assert!((ssthresh - 16_550.472_6).abs() < 1e-4 && cwnd == ssthresh, "{ssthresh}");
        cabe.on_timeout(path(0), &loss(30_000, 1_000), &mut flows);
        assert_eq!(state(&flows), (ssthresh, 1_000.0));
    }

    /// S0 prints `w_tot` in both terms, which would limit path 0 of T-LIA-3 to 1/42.
    #[test]
    fn growth_is_that_of_lia_not_as_printed() {
        let mut flows = subflows(1, &[(2.0, 10), (40.0, 100)]);
        Cabe::default().on_ack(path(0), &ack(1, 1), &mut flows);
        assert!((flows.get(path(0)).unwrap().cwnd - 2.0 - 1.0 / 18.0).abs() < 1e-9);
    }

    /// Samples that double, as slow start makes them, are noise to the filter: after 5, 10, 20 and
    /// 40 kB the estimate is less than a third of the last one.
    #[test]
    fn the_end_of_slow_start_leaves_at_least_half() {
        for (start_share, least, most) in [(START_SHARE, 15e3, 15e3), (1.0, 2e3, 10e3)] {
            let mut cabe = Cabe::new(CabeParameters { start_share, ..CabeParameters::DEFAULT });
            let mut flows = measured(&mut cabe, &[5_000, 10_000, 20_000, 40_000]);
            cabe.on_loss(path(0), &loss(30_000, 1_000), &mut flows);
            assert!((least..=most).contains(&state(&flows).0), "{:?}", state(&flows));
        }
    }

    /// 200 kB/s, an outage of 8 s, and 20 kB in the first 100 ms after the timer expired.
    #[test]
    fn the_silence_before_a_timeout_is_not_a_sample() {
        let mut cabe = Cabe::default();
        let mut flows = measured(&mut cabe, &[20_000; 20]);
        let at = |now| Loss { now: Timestamp::from_millis(now), ..loss(10_000, 1_000) };
        cabe.on_timeout(path(0), &at(10_000), &mut flows);
        let now = Timestamp::from_millis(10_100);
        cabe.on_delivery(path(0), &Ack { now, ..ack(20_000, 1_000) }, &flows);
        cabe.on_loss(path(0), &at(10_200), &mut flows);
        assert!((state(&flows).0 - 16_000.0).abs() < 1e-6, "{:?}", state(&flows));
    }

    /// 200 kB/s, a pause of 8 s, and 20 kB in 100 ms from the first ACK on.
    #[test]
    fn a_pause_of_the_sender_is_not_a_sample() {
        let mut cabe = Cabe::default();
        let mut flows = measured(&mut cabe, &[20_000; 20]);
        cabe.on_idle_restart(path(0), &mut flows);
        assert_eq!(state(&flows), (22_500.0, 10_000.0), "the rule of all controllers");
        for (now, bytes) in [(10_100, 1_000), (10_200, 20_000)] {
            let now = Timestamp::from_millis(now);
            cabe.on_delivery(path(0), &Ack { now, ..ack(bytes, 1_000) }, &flows);
        }
        cabe.on_loss(path(0), &loss(10_000, 1_000), &mut flows);
        assert!((state(&flows).0 - 16_000.0).abs() < 1e-6, "{:?}", state(&flows));
    }

    #[test]
    fn without_a_sample_a_loss_halves_and_no_loss_raises_the_window() {
        let mut cabe = Cabe::default();
        let mut flows = measured(&mut cabe, &[]);
        cabe.on_loss(path(0), &loss(30_000, 1_000), &mut flows);
        assert_eq!(state(&flows), (15_000.0, 15_000.0));
        let mut flows = measured(&mut cabe, &[40_000; 20]);
        flows.get_mut(path(0)).unwrap().cwnd = 10_000.0;
        cabe.on_loss(path(0), &loss(10_000, 1_000), &mut flows);
        let (ssthresh, cwnd) = state(&flows);
        assert!((ssthresh - 32_000.0).abs() < 1.0 && cwnd == 10_000.0, "{ssthresh} {cwnd}");
    }
}
