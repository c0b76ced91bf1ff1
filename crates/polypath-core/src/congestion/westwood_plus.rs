//! Westwood+, as Linux has it: one sample of the bandwidth for each round trip, and the measured
//! window at the end of recovery.
//!
//! Source: Linux `tcp_westwood.c`; Grieco and Mascolo, CCR 34(2), 2004. `B` in bytes/s of
//! [`WestwoodPlusEstimator`], windows in bytes:
//!
//! ```text
//! avoidance:        as Reno
//! loss:             as Reno, for the time of the recovery
//! end of recovery:  ssthresh = w = max(B * rtt_min, 2 MSS)
//! timeout:          ssthresh = max(B * rtt_min, 2 MSS)   w = MSS
//! ```
//!
//! The end of a recovery may raise the window. After a timeout `rtt_min` begins anew with the next
//! RTT sample: the path may be another one. Deviations: as for [`super::Westwood`] the threshold is
//! not below Reno's while the first sample, of a round of slow start, weighs more than
//! `start_share`; before the first sample it is Reno's (Linux takes 20 s for the RTT). A pause of
//! the sender is no part of a sample (in Linux it is).

use super::measured::{Measured, Measurement, START_SHARE, START_SHARE_PURPOSE};
use super::{Ack, CongestionAvoidance, Loss, Subflow, Subflows, reno};
use crate::estimator::{AckRecord, BandwidthEstimator, WestwoodPlusEstimator, WestwoodPlusFilter};
use crate::registry::{Description, Kind, Values, parameters};
use polypath_units::PathId;
use std::time::Duration;

parameters! {
    /// The parameters of [`WestwoodPlus`].
    ///
    /// Defaults: real numbers, and Reno's threshold as the least until the estimate has settled.
    pub struct WestwoodPlusParameters {
        /// The shortest interval over which the bandwidth is sampled, in ms.
        pub min_interval_ms: f64 = WestwoodPlusFilter::DEFAULT.min_interval_ms,
            "min_interval", "ms", "shortest interval over which the bandwidth is sampled";
        /// Ticks a second of the kernel whose whole numbers are to be imitated; 0: real numbers.
        pub linux_hz: f64 = WestwoodPlusFilter::DEFAULT.linux_hz, "linux_hz", "1/s",
            "whole bytes per tick of such a kernel, rounded down; 0 = real numbers";
        /// Weight of the first sample in the estimate down to which a loss leaves at least half;
        /// 1: the estimate counts from its first sample on, as in Linux.
        pub start_share: f64 = START_SHARE, "start_share", "", START_SHARE_PURPOSE, 0.0 to 1.0;
    }
}

impl WestwoodPlusParameters {
    /// A kernel with so many ticks a second.
    pub const fn linux(hz: f64) -> Self {
        Self { linux_hz: hz, start_share: 1.0, ..Self::DEFAULT }
    }

    const fn filter(&self) -> WestwoodPlusFilter {
        let Self { min_interval_ms, linux_hz, .. } = *self;
        WestwoodPlusFilter { min_interval_ms, linux_hz }
    }
}

/// Westwood+ for all subflows of a connection, each on its own.
#[derive(Clone, Debug)]
pub struct WestwoodPlus {
    filter: WestwoodPlusFilter,
    measured: Measured<Flow>,
}

#[derive(Clone, Debug)]
struct Flow {
    estimator: WestwoodPlusEstimator,
    min_rtt: Option<Duration>,
    /// The next RTT sample replaces the minimum.
    resets_min_rtt: bool,
}

impl Flow {
    fn new(filter: WestwoodPlusFilter) -> Self {
        let estimator = WestwoodPlusEstimator::new(filter);
        Self { estimator, min_rtt: None, resets_min_rtt: false }
    }
}

impl BandwidthEstimator for Flow {
    fn on_ack(&mut self, ack: &AckRecord) {
        if let Some(rtt) = ack.rtt {
            let old = self.min_rtt.filter(|_| !self.resets_min_rtt);
            self.min_rtt = Some(old.map_or(rtt, |min| min.min(rtt)));
            self.resets_min_rtt = false;
        }
        self.estimator.on_ack(ack);
    }

    fn bytes_per_sec(&self) -> Option<f64> {
        self.estimator.bytes_per_sec()
    }

    fn start_share(&self) -> f64 {
        self.estimator.start_share()
    }
}

impl Measurement for Flow {
    fn min_rtt(&self, _subflow: &Subflow) -> Option<Duration> {
        self.min_rtt
    }
}

impl WestwoodPlus {
    /// The registry row.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Congestion,
        name: "westwood_plus",
        purpose: "Westwood with one bandwidth sample for each round trip, as in Linux",
        source: "Linux tcp_westwood.c; Grieco and Mascolo, CCR 34(2), 2004",
        parameters: WestwoodPlusParameters::PARAMETERS,
    };

    /// Westwood+ with other parameters.
    pub fn new(parameters: WestwoodPlusParameters) -> Self {
        Self { filter: parameters.filter(), measured: Measured::new(parameters.start_share) }
    }

    /// An instance for the registry; Westwood+ draws nothing at random.
    pub fn build(values: &Values, _seed: u64) -> Box<dyn CongestionAvoidance> {
        Box::new(Self::new(WestwoodPlusParameters::of(values)))
    }
}

impl Default for WestwoodPlus {
    fn default() -> Self {
        Self::new(WestwoodPlusParameters::DEFAULT)
    }
}

impl CongestionAvoidance for WestwoodPlus {
    fn on_delivery(&mut self, subflow: PathId, ack: &Ack, _subflows: &Subflows) {
        let filter = self.filter;
        self.measured.get_or_insert_with(subflow, || Flow::new(filter)).on_ack(&ack.into());
    }

    fn on_ack(&mut self, subflow: PathId, ack: &Ack, subflows: &mut Subflows) {
        reno::on_ack(subflow, ack, subflows);
    }

    fn on_loss(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        if let Some(state) = subflows.get_mut(subflow) {
            reno::on_loss(state, loss);
        }
    }

    fn on_recovery_exit(&mut self, subflow: PathId, _ack: &Ack, subflows: &mut Subflows) {
        if let Some(state) = subflows.get_mut(subflow) {
            state.ssthresh = self.measured.window(state, state.mss, state.ssthresh);
            state.cwnd = state.ssthresh;
        }
    }

    fn on_timeout(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        self.measured.on_timeout(subflow, loss, subflows);
        if let Some(flow) = self.measured.get_mut(subflow) {
            flow.resets_min_rtt = true;
        }
    }

    fn on_idle_restart(&mut self, subflow: PathId, subflows: &mut Subflows) {
        if let Some(state) = subflows.get_mut(subflow) {
            state.restart_after_idle();
        }
        if let Some(flow) = self.measured.get_mut(subflow) {
            flow.estimator.on_idle_restart();
        }
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

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// ACKs of 20 kB every 100 ms, 200 kB/s, from ACK number `from` to before `to`.
    fn measure(control: &mut WestwoodPlus, flows: &Subflows, from: u64, to: u64, rtt: u64) {
        for n in from..to {
            let now = Timestamp::from_millis(100 * n);
            let ack = Ack { now, rtt: Some(ms(rtt)), ..ack(20_000, 1_000) };
            control.on_delivery(path(0), &ack, flows);
        }
    }

    fn state(flows: &Subflows) -> (f64, f64) {
        let state = flows.get(path(0)).unwrap();
        (state.ssthresh, state.cwnd)
    }

    fn exit(control: &mut WestwoodPlus, flows: &mut Subflows) {
        control.on_recovery_exit(path(0), &ack(1_000, 1_000), flows);
    }

    /// 200 kB/s and 80 ms are 16000 bytes; half of the flight holds until the end of recovery.
    #[test]
    fn the_end_of_recovery_sets_the_measured_window() {
        for in_flight in [20_000, 60_000] {
            let mut control = WestwoodPlus::default();
            let mut flows = subflows(1_000, &[(in_flight as f64, 80)]);
            measure(&mut control, &flows, 0, 100, 80);
            control.on_loss(path(0), &loss(in_flight, 1_000), &mut flows);
            assert_eq!(state(&flows).1, in_flight as f64 / 2.0);
            exit(&mut control, &mut flows);
            let (ssthresh, cwnd) = state(&flows);
            assert!((cwnd - 16_000.0).abs() < 1e-6 && ssthresh == cwnd, "{cwnd}");
        }
    }

    /// The first sample of 100 kB/s weighs (7/8)^2 + (7/8)(1/8) = 0.875 with the second one.
    #[test]
    fn before_the_estimate_is_settled_recovery_leaves_at_least_half() {
        for (parameters, expected) in [
            (WestwoodPlusParameters::DEFAULT, 15_000.0),
            (WestwoodPlusParameters::linux(1_000.0), 16_000.0 * 0.5),
        ] {
            let mut control = WestwoodPlus::new(parameters);
            let mut flows = subflows(1_000, &[(30_000.0, 80)]);
            let first = Ack { rtt: Some(ms(80)), ..ack(1, 1_000) };
            control.on_delivery(path(0), &first, &flows);
            let now = Timestamp::from_millis(100);
            control.on_delivery(path(0), &Ack { now, ..ack(10_000, 1_000) }, &flows);
            control.on_loss(path(0), &loss(30_000, 1_000), &mut flows);
            exit(&mut control, &mut flows);
            assert!((state(&flows).1 - expected).abs() < 1e-6, "{:?}", state(&flows));
        }
    }

    #[test]
    fn after_a_timeout_the_smallest_rtt_is_that_of_the_new_path() {
        let mut control = WestwoodPlus::default();
        let mut flows = subflows(1_000, &[(30_000.0, 80)]);
        measure(&mut control, &flows, 0, 100, 80);
        control.on_timeout(path(0), &loss(30_000, 1_000), &mut flows);
        assert!((state(&flows).0 - 16_000.0).abs() < 1e-6 && state(&flows).1 == 1_000.0);
        measure(&mut control, &flows, 100, 102, 90);
        measure(&mut control, &flows, 102, 103, 95);
        exit(&mut control, &mut flows);
        assert!((state(&flows).1 - 18_000.0).abs() < 1e-6, "90 ms: {:?}", state(&flows));
    }

    /// 8 s without an ACK; then the same rate as before.
    #[test]
    fn a_pause_of_the_sender_is_not_a_sample() {
        let mut control = WestwoodPlus::default();
        let mut flows = subflows(1_000, &[(40_000.0, 80)]);
        measure(&mut control, &flows, 0, 20, 80);
        control.on_idle_restart(path(0), &mut flows);
        assert_eq!(state(&flows), (30_000.0, 10_000.0), "the rule of all controllers");
        measure(&mut control, &flows, 100, 102, 80);
        let estimate = control.bandwidth_estimate(path(0)).unwrap();
        assert!((estimate - 200e3).abs() < 1e-6, "{estimate}");
    }

    #[test]
    fn without_a_sample_it_is_reno() {
        let mut control = WestwoodPlus::default();
        let mut flows = subflows(1_000, &[(30_000.0, 80)]);
        control.on_loss(path(0), &loss(30_000, 1_000), &mut flows);
        exit(&mut control, &mut flows);
        assert_eq!(state(&flows), (15_000.0, 15_000.0));
        control.on_timeout(path(0), &loss(15_000, 1_000), &mut flows);
        assert_eq!(state(&flows), (7_500.0, 1_000.0));
    }
}
