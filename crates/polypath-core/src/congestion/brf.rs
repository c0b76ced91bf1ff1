//! BRF, the sender: the rate is what the switches on the path say.
//!
//! Source: "SDN-Based Congestion Control and Bandwidth Allocation Scheme in 5G Networks", Sensors
//! 24(3):749, 2024 (S4), section 3.2; `docs/algorithms/congestion/brf.md`. Rates in bytes/s,
//! windows in bytes:
//!
//! ```text
//! start:     pacing = IW / srtt, until a rate arrives
//! feedback:  pacing = rate                     w = max(4 MSS, 2 rate srtt): a safety bound only
//! loss, timeout, ECN mark:  nothing changes
//! ```
//!
//! S4 has no window, and does not say what a sender does when its switches fall silent. Here the
//! bound above holds, and after `max(4 srtt, 1 s)` without a rate CUBIC takes over with the
//! connection's slow start until one arrives, beginning with the window of the last rate (`rate
//! srtt`); all of these are assumptions, and parameters. After idling the last rate is only an
//! upper limit, because a switch gives away what is not used: the subflow starts again, no faster
//! than that rate.
//!
//! A rate is believed between two bounds: two segments per second, which is no more than what a
//! switch allots at least (2 packets in a period of at most 1 s), and a rate that the user sets. It
//! must come from a network whose switches write it, where the narrowest of them corrects what a
//! receiver forges: see the crate polypath-brf. Each subflow on its own.

use super::{Ack, CongestionAvoidance, Cubic, CubicParameters, Loss, Subflow, Subflows};
use crate::path_map::PathMap;
use crate::registry::{Description, Kind, Values, parameters};
use polypath_units::{Bandwidth, PathId, Timestamp};
use std::time::Duration;

parameters! {
    /// The constants of the sender, all of them assumptions.
    ///
    /// Defaults: the paper has none of them; see `docs/algorithms/congestion/brf.md`.
    pub struct BrfParameters {
        /// The window in products of rate and smoothed RTT.
        pub window_gain: f64 = 2.0, "window_gain", "",
            "window in products of rate and RTT: a safety bound", 0.1 to 1000.0;
        /// The smallest window in segments.
        pub min_cwnd_segments: f64 = 4.0, "min_cwnd", "segments",
            "smallest window", 1.0 to 1e6;
        /// Smoothed RTTs without a rate after which CUBIC takes over.
        pub feedback_rtts: f64 = 4.0, "feedback_rtts", "RTTs",
            "time without a rate after which CUBIC takes over";
        /// The least such time in seconds.
        pub feedback_secs: f64 = 1.0, "feedback_timeout", "s",
            "least such time";
        /// A rate below this many segments per second is taken for this.
        pub min_rate_segments: f64 = 2.0, "min_rate", "segments/s",
            "a lower rate is taken for this: less than a switch allots";
        /// A rate above this many Mbit/s is taken for this.
        pub max_rate_mbit_s: f64 = 1e6, "max_rate", "Mbit/s",
            "a higher rate is taken for this", 0.001 to 1e9;
    }
}

impl BrfParameters {
    fn window(&self, rate: f64, gain: f64, subflow: &Subflow) -> f64 {
        let product = subflow.srtt_secs().map_or_else(
            // Without an RTT the initial window is as good a bound as any.
            || subflow.initial_window(),
            |srtt| gain * rate * srtt,
        );
        product.max(self.min_cwnd_segments * subflow.mss as f64)
    }

    /// What is believed of a rate in bytes/s, which anybody on the way may have forged.
    fn bounded(&self, rate: f64, subflow: &Subflow) -> f64 {
        let most = Bandwidth::from_mbit_per_sec(self.max_rate_mbit_s).bytes_per_sec();
        rate.max(self.min_rate_segments * subflow.mss as f64).min(most)
    }

    /// Whether a rate that was told at `since` no longer counts.
    fn expired(&self, since: Timestamp, now: Timestamp, subflow: &Subflow) -> bool {
        let rtts = self.feedback_rtts * subflow.srtt_secs().unwrap_or(0.0);
        now - since > Duration::from_secs_f64(rtts.max(self.feedback_secs))
    }
}

/// What tells a subflow its rate at present. Rates in bytes/s.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    /// Nothing yet: it sends one initial window in an RTT, at most `limit`.
    Start { since: Option<Timestamp>, pacing: Option<f64>, limit: f64 },
    /// The network, which told it last at `at`.
    Told { rate: f64, at: Timestamp },
    /// CUBIC, because no rate was told for long.
    Alone,
}

impl Mode {
    const START: Self = Self::Start { since: None, pacing: None, limit: f64::INFINITY };
}

/// The sender of BRF for all subflows of a connection, each on its own.
#[derive(Clone, Debug, Default)]
pub struct Brf {
    parameters: BrfParameters,
    fallback: Cubic,
    modes: PathMap<Mode>,
}

impl Brf {
    /// The registry row.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Congestion,
        name: "brf",
        purpose: "sends at the rate that the switches of the network tell it; without them CUBIC",
        source: "Sensors 24(3):749, 2024, section 3.2",
        parameters: BrfParameters::PARAMETERS,
    };

    /// BRF with other constants; the fallback is CUBIC of RFC 9438.
    pub fn new(parameters: BrfParameters) -> Self {
        Self {
            parameters,
            fallback: Cubic::new(CubicParameters::DEFAULT),
            modes: PathMap::default(),
        }
    }

    /// An instance for the registry; BRF draws nothing at random.
    pub fn build(values: &Values, _seed: u64) -> Box<dyn CongestionAvoidance> {
        Box::new(Self::new(BrfParameters::of(values)))
    }

    fn mode(&mut self, id: PathId) -> &mut Mode {
        self.modes.get_or_insert_with(id, || Mode::START)
    }

    fn is_alone(&self, id: PathId) -> bool {
        matches!(self.modes.get(id), Some(Mode::Alone))
    }

    /// The window follows the RTT.
    fn apply(&self, rate: f64, subflow: &mut Subflow) {
        subflow.cwnd = self.parameters.window(rate, self.parameters.window_gain, subflow);
        // Slow start is over.
        subflow.ssthresh = subflow.cwnd;
    }

    /// CUBIC takes over if no rate was told for long. It begins with the last rate.
    fn leave_if_untold(&mut self, now: Timestamp, subflow: &mut Subflow) {
        let (since, rate) = match *self.mode(subflow.id) {
            Mode::Start { since, .. } => (since, None),
            Mode::Told { rate, at } => (Some(at), Some(rate)),
            Mode::Alone => return,
        };
        if !since.is_some_and(|since| self.parameters.expired(since, now, subflow)) {
            return;
        }
        if let Some(rate) = rate {
            subflow.cwnd = self.parameters.window(rate, 1.0, subflow);
            subflow.ssthresh = subflow.cwnd;
        }
        self.fallback.on_remove(subflow.id);
        *self.mode(subflow.id) = Mode::Alone;
    }
}

impl CongestionAvoidance for Brf {
    fn on_feedback(
        &mut self,
        subflow: PathId,
        now: Timestamp,
        rate: Bandwidth,
        subflows: &mut Subflows,
    ) {
        let Some(state) = subflows.get_mut(subflow) else { return };
        if rate == Bandwidth::ZERO {
            return;
        }
        let rate = self.parameters.bounded(rate.bytes_per_sec(), state);
        *self.mode(subflow) = Mode::Told { rate, at: now };
        self.apply(rate, state);
    }

    fn on_delivery(&mut self, subflow: PathId, ack: &Ack, subflows: &Subflows) {
        let Some(state) = subflows.get(subflow) else { return };
        if let Mode::Start { since, pacing, limit } = self.mode(subflow) {
            since.get_or_insert(ack.now);
            let rate = state.srtt_secs().map(|srtt| state.initial_window() / srtt);
            *pacing = rate.map(|rate| rate.min(*limit));
        }
    }

    fn on_ack(&mut self, subflow: PathId, ack: &Ack, subflows: &mut Subflows) {
        let Some(state) = subflows.get_mut(subflow) else { return };
        self.leave_if_untold(ack.now, state);
        match *self.mode(subflow) {
            Mode::Start { .. } => {}
            Mode::Told { rate, .. } => self.apply(rate, state),
            Mode::Alone => self.fallback.on_ack(subflow, ack, subflows),
        }
    }

    fn on_round(&mut self, subflow: PathId, ack: &Ack, subflows: &mut Subflows) {
        // Slow start keeps `on_ack` from being called at the start.
        if let Some(state) = subflows.get_mut(subflow) {
            self.leave_if_untold(ack.now, state);
        }
    }

    fn on_loss(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        if self.is_alone(subflow) {
            self.fallback.on_loss(subflow, loss, subflows);
        }
    }

    fn on_timeout(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        if let Mode::Start { since, .. } = self.mode(subflow) {
            since.get_or_insert(loss.now);
        }
        if let Some(state) = subflows.get_mut(subflow) {
            self.leave_if_untold(loss.now, state);
        }
        if self.is_alone(subflow) {
            self.fallback.on_timeout(subflow, loss, subflows);
        }
    }

    fn on_idle_restart(&mut self, subflow: PathId, subflows: &mut Subflows) {
        if self.is_alone(subflow) {
            return self.fallback.on_idle_restart(subflow, subflows);
        }
        if let Mode::Told { rate, .. } = *self.mode(subflow) {
            *self.mode(subflow) = Mode::Start { since: None, pacing: Some(rate), limit: rate };
        }
        if let Some(state) = subflows.get_mut(subflow) {
            state.restart_after_idle();
        }
    }

    fn on_slow_start_exit(&mut self, subflow: PathId, ack: &Ack, subflows: &mut Subflows) {
        if self.is_alone(subflow) {
            self.fallback.on_slow_start_exit(subflow, ack, subflows);
        }
    }

    fn on_spurious_loss(&mut self, subflow: PathId, subflows: &mut Subflows) {
        if self.is_alone(subflow) {
            self.fallback.on_spurious_loss(subflow, subflows);
        }
    }

    fn on_remove(&mut self, subflow: PathId) {
        self.modes.remove(subflow);
        self.fallback.on_remove(subflow);
    }

    fn pacing_rate(&self, subflow: PathId) -> Option<Bandwidth> {
        match *self.modes.get(subflow)? {
            Mode::Start { pacing, .. } => pacing.map(Bandwidth::from_bytes_per_sec),
            Mode::Told { rate, .. } => Some(Bandwidth::from_bytes_per_sec(rate)),
            Mode::Alone => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{ack, loss, path, subflows};
    use polypath_brf::Code;

    const MSS: u64 = 1_500;

    fn told(bytes_per_sec: f64, srtt: u64) -> (Brf, Subflows) {
        let mut brf = Brf::default();
        let mut flows = subflows(MSS, &[(15_000.0, srtt)]);
        let rate = Bandwidth::from_bytes_per_sec(bytes_per_sec);
        brf.on_feedback(path(0), Timestamp::ZERO, rate, &mut flows);
        (brf, flows)
    }

    fn at(millis: u64) -> Ack {
        Ack { now: Timestamp::from_millis(millis), ..ack(MSS, MSS) }
    }

    fn state(flows: &Subflows) -> &Subflow {
        flows.get(path(0)).unwrap()
    }

    fn pacing(brf: &Brf) -> Option<f64> {
        brf.pacing_rate(path(0)).map(Bandwidth::bytes_per_sec)
    }

    #[test]
    fn t_brfs_1() {
        let rate = Code::new(12_005).rate().unwrap();
        let (brf, flows) = told(rate.bytes_per_sec(), 20);
        let pacing = brf.pacing_rate(path(0)).unwrap();
        assert_eq!(pacing.bytes_per_sec(), 120e6);
        assert_eq!(pacing.time_to_send(1_500), Some(Duration::from_nanos(12_500)));
        assert!((state(&flows).cwnd - 4.8e6).abs() < 4.8);
    }

    #[test]
    fn loss_timeouts_and_marks_change_nothing_while_the_network_tells_the_rate() {
        let (mut brf, mut flows) = told(1e6, 100);
        let before = flows.clone();
        for ecn in [false, true] {
            brf.on_loss(path(0), &Loss { ecn, ..loss(100_000, MSS) }, &mut flows);
        }
        let last = Loss { now: Timestamp::from_millis(1_000), ..loss(100_000, MSS) };
        brf.on_timeout(path(0), &last, &mut flows);
        assert_eq!(pacing(&brf), Some(1e6));
        assert_eq!(state(&flows), state(&before));
    }

    #[test]
    fn the_window_follows_the_round_trip_and_has_a_floor() {
        let (mut brf, mut flows) = told(1e6, 100);
        assert_eq!(state(&flows).cwnd, 200_000.0);
        flows.get_mut(path(0)).unwrap().srtt = Some(Duration::from_millis(200));
        brf.on_ack(path(0), &at(1), &mut flows);
        assert_eq!(state(&flows).cwnd, 400_000.0);
        brf.on_feedback(path(0), Timestamp::ZERO, Bandwidth::from_bits_per_sec(48_000), &mut flows);
        assert_eq!((state(&flows).cwnd, pacing(&brf)), (4.0 * 1_500.0, Some(6_000.0)));
        assert_eq!(state(&flows).ssthresh, state(&flows).cwnd, "no slow start");
    }

    #[test]
    fn until_a_rate_arrives_an_initial_window_leaves_in_a_round_trip() {
        let mut brf = Brf::default();
        let mut flows = subflows(MSS, &[(15_000.0, 100)]);
        assert_eq!(pacing(&brf), None);
        brf.on_delivery(path(0), &at(0), &flows);
        assert_eq!(pacing(&brf), Some(146_000.0), "14600 bytes in 100 ms");
        brf.on_loss(path(0), &loss(15_000, MSS), &mut flows);
        assert_eq!(state(&flows).cwnd, 15_000.0);
    }

    /// 4 RTTs of 300 ms are more than 1 s, of 100 ms less.
    #[test]
    fn cubic_takes_over_after_silence_and_begins_with_the_last_rate() {
        for (srtt, silence) in [(300, 1_200), (100, 1_000)] {
            let (mut brf, mut flows) = told(1e6, srtt);
            brf.on_ack(path(0), &at(silence), &mut flows);
            assert_eq!(pacing(&brf), Some(1e6));
            brf.on_ack(path(0), &Ack { cwnd_limited: false, ..at(silence + 1) }, &mut flows);
            assert_eq!(pacing(&brf), None);
            let product = 1e3 * srtt as f64;
            assert_eq!((state(&flows).cwnd, state(&flows).ssthresh), (product, product));
            brf.on_loss(path(0), &loss(100_000, MSS), &mut flows);
            assert!((state(&flows).cwnd - 70_000.0).abs() < 1e-6, "0.7 of the flight");
            let rate = Bandwidth::from_bytes_per_sec(2e6);
            brf.on_feedback(path(0), Timestamp::from_millis(9_000), rate, &mut flows);
            assert_eq!(pacing(&brf), Some(2e6));
        }
    }

    #[test]
    fn who_was_never_told_leaves_the_start_to_slow_start_and_cubic() {
        let mut brf = Brf::default();
        let mut flows = Subflows::default();
        flows.insert(Subflow::new(path(0), MSS));
        brf.on_delivery(path(0), &at(0), &flows);
        brf.on_round(path(0), &at(1_000), &mut flows);
        assert!(!brf.is_alone(path(0)));
        brf.on_round(path(0), &at(1_001), &mut flows);
        assert!(brf.is_alone(path(0)));
        assert!(state(&flows).ssthresh.is_infinite());
    }

    #[test]
    fn a_timeout_in_silence_is_that_of_cubic() {
        let (mut brf, mut flows) = told(1e6, 100);
        let late = Loss { now: Timestamp::from_millis(1_001), ..loss(100_000, MSS) };
        brf.on_timeout(path(0), &late, &mut flows);
        assert_eq!(state(&flows).cwnd, 1_500.0);
    }

    #[test]
    fn after_idling_the_rate_is_a_limit_until_the_next_one() {
        for (rate, expected) in [(1e6, 146_000.0), (1e5, 1e5)] {
            let (mut brf, mut flows) = told(rate, 100);
            brf.on_idle_restart(path(0), &mut flows);
            assert!(state(&flows).cwnd <= state(&flows).initial_window());
            brf.on_delivery(path(0), &at(60_000), &flows);
            assert_eq!(pacing(&brf), Some(expected));
        }
    }

    #[test]
    fn forged_rates_are_bounded() {
        let parameters = BrfParameters { max_rate_mbit_s: 80.0, ..BrfParameters::DEFAULT };
        let mut brf = Brf::new(parameters);
        let mut flows = subflows(MSS, &[(15_000.0, 100)]);
        for (forged, expected) in [(1.0, 3_000.0), (9.9e6, 9.9e6), (6.552e12, 10e6)] {
            let rate = Bandwidth::from_bytes_per_sec(forged);
            brf.on_feedback(path(0), Timestamp::ZERO, rate, &mut flows);
            assert_eq!(pacing(&brf), Some(expected), "{forged}");
        }
    }

    #[test]
    fn a_rate_of_zero_says_nothing() {
        let (mut brf, mut flows) = told(1e6, 100);
        brf.on_feedback(path(0), Timestamp::ZERO, Bandwidth::ZERO, &mut flows);
        assert_eq!(pacing(&brf), Some(1e6));
    }
}
