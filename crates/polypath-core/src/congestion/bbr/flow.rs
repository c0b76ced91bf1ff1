//! BBR's state machine for one subflow, in the order of Linux `bbr_main`.

mod follow;
mod recovery;

use super::BbrParameters;
use super::aggregation::Aggregation;
use super::excess::{ExcessLoss, LossLimits};
use super::growth::Growth;
use super::model::{FullPipe, Model};
use super::overflow::Overflow;
use super::probe_rtt::ProbeRtt;
use super::steady::{StandingQueue, Steady};
use crate::congestion::queued::is_queued;
use crate::congestion::{Ack, Subflow, initial_window};
use crate::random::SplitMix64;
use polypath_units::Timestamp;
use recovery::Recovering;
use std::time::Duration;

/// Pacing gains of ProbeBW: probe for more, drain what that queued, cruise.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// The phases of the cycle with a meaning of their own.
const PHASE_PROBE: usize = 0;
const PHASE_DRAIN: usize = 1;
const PHASE_CRUISE: usize = 2;
/// A send quantum is this much time at the pacing rate, in seconds.
const QUANTUM_SECS: f64 = 1.0 / 1024.0;
const QUANTUM_MAX_BYTES: f64 = 65_536.0;
const QUANTUM_MAX_SEGMENTS: f64 = 127.0;
/// Below this rate (1.2 Mbit/s) a quantum may be a single segment; in bytes/s.
const SLOW: f64 = 150_000.0;
/// A pacing rate is at least this, in bytes/s, so that a sender never stops for good.
const SLOWEST: f64 = 1.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mode {
    Startup,
    Drain,
    ProbeBw { phase: usize, since: Timestamp },
    ProbeRtt(ProbeRtt),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Flow {
    pub(super) mode: Mode,
    model: Model,
    full_pipe: FullPipe,
    excess_loss: ExcessLoss,
    aggregation: Aggregation,
    pub(super) pacing: Option<f64>,
    prior_cwnd: f64,
    idle_restart: bool,
    recovering: Option<Recovering>,
    /// What replaces the gain cycle, for controllers that have none.
    steady: Option<Steady>,
    queue: StandingQueue,
    growth: Growth,
    overflow: Overflow,
}

impl Flow {
    /// `steady`: instead of the gain cycle.
    pub(super) fn new(parameters: &BbrParameters, steady: Option<Steady>) -> Self {
        Self {
            mode: Mode::Startup,
            model: Model::new(parameters),
            full_pipe: FullPipe::default(),
            excess_loss: ExcessLoss::default(),
            aggregation: Aggregation::default(),
            pacing: None,
            prior_cwnd: 0.0,
            idle_restart: false,
            recovering: None,
            steady,
            queue: StandingQueue::default(),
            growth: Growth::default(),
            overflow: Overflow::default(),
        }
    }

    /// The bandwidth estimate in bytes/s; 0 before the first sample.
    pub(super) fn bandwidth(&self) -> f64 {
        self.model.bandwidth()
    }

    pub(super) fn on_ack(
        &mut self,
        ack: &Ack,
        subflow: &mut Subflow,
        parameters: &BbrParameters,
        random: &mut SplitMix64,
    ) {
        let foreign = self.steady.is_some_and(|steady| self.follow_queue(ack, parameters, steady));
        self.model.update_bandwidth(ack);
        self.follow_growth(ack);
        self.aggregation.on_ack(ack, self.model.bandwidth(), subflow.cwnd);
        self.advance_cycle(ack, subflow.departs_ahead);
        if ack.round_start && (self.queue.busy() || ack.rate.is_some_and(|it| !it.app_limited)) {
            let BbrParameters { full_pipe_growth, full_pipe_rounds, .. } = *parameters;
            self.full_pipe.on_round(self.model.bandwidth(), full_pipe_growth, full_pipe_rounds);
        }
        if self.mode == Mode::Startup && self.lost_too_much(ack, parameters) {
            self.full_pipe.reach();
        }
        self.leave_startup(ack, subflow, random);
        self.model.update_rtprop(ack, parameters, self.steady.is_none());
        self.probe_rtt(ack, subflow, parameters, random, foreign);
        self.idle_restart = false;
        self.set_pacing(self.pacing_gain(parameters), subflow, parameters);
        self.set_cwnd(ack, subflow, parameters);
    }

    fn lost_too_much(&mut self, ack: &Ack, parameters: &BbrParameters) -> bool {
        let limits = LossLimits {
            share: parameters.startup_loss_share,
            events: parameters.startup_loss_events,
        };
        // Random loss shows no queue.
        let queued = is_queued(ack.rtt, self.model.rtprop());
        self.excess_loss.on_ack(ack, self.recovering.is_some(), queued, &limits)
    }

    /// Ends a phase of ProbeBW (`bbr_is_next_cycle_phase`).
    fn advance_cycle(&mut self, ack: &Ack, departs_ahead: bool) {
        if self.steady.is_some() {
            return;
        }
        let Mode::ProbeBw { phase, since } = self.mode else { return };
        let full_length = self.model.rtprop().is_some_and(|rtprop| ack.now - since > rtprop);
        let in_flight = ack.prior_in_flight as f64;
        let next = match phase {
            PHASE_PROBE => {
                // `bbr_packets_in_net_at_edt`
                let ahead = if departs_ahead { self.quantum(ack.mss) } else { 0.0 };
                let next = ahead * ack.mss as f64;
                let target = self.inflight(CYCLE[phase], ack.mss);
                full_length && (ack.lost_bytes > 0 || in_flight + next >= target)
            }
            PHASE_DRAIN => full_length || in_flight <= self.inflight(1.0, ack.mss),
            _ => full_length,
        };
        if next {
            self.mode = Mode::ProbeBw { phase: (phase + 1) % CYCLE.len(), since: ack.now };
        }
    }

    fn leave_startup(&mut self, ack: &Ack, subflow: &mut Subflow, random: &mut SplitMix64) {
        if self.mode == Mode::Startup && self.full_pipe.reached() {
            self.mode = Mode::Drain;
            subflow.ssthresh = self.inflight(1.0, ack.mss);
        }
        if self.mode == Mode::Drain && ack.bytes_in_flight as f64 <= self.inflight(1.0, ack.mss) {
            self.enter_probe_bw(ack.now, random);
        }
    }

    /// Starts the cycle anywhere but in the phase that drains.
    fn enter_probe_bw(&mut self, now: Timestamp, random: &mut SplitMix64) {
        if self.steady.is_some() {
            self.mode = Mode::ProbeBw { phase: PHASE_CRUISE, since: now };
            return;
        }
        let drawn = random.below(CYCLE.len() as u64 - 1) as usize;
        let phase = (PHASE_DRAIN + 1 + drawn) % CYCLE.len();
        self.mode = Mode::ProbeBw { phase, since: now };
    }

    fn probe_rtt(
        &mut self,
        ack: &Ack,
        subflow: &mut Subflow,
        parameters: &BbrParameters,
        random: &mut SplitMix64,
        foreign_queue: bool,
    ) {
        let probing = matches!(self.mode, Mode::ProbeRtt(_));
        let wanted = self.model.rtprop_expired() || foreign_queue;
        if wanted && !self.idle_restart && !probing {
            self.save_cwnd(subflow);
            self.queue.restart();
            self.mode = Mode::ProbeRtt(ProbeRtt::Draining);
        }
        let Mode::ProbeRtt(stage) = self.mode else { return };
        if self.steady.is_some() && matches!(stage, ProbeRtt::Measuring { .. }) {
            self.model.probe_rtprop(ack);
        }
        let duration = Duration::from_secs_f64(parameters.probe_rtt_ms / 1e3);
        match stage.on_ack(ack, self.probe_rtt_cwnd(parameters, ack.mss), duration) {
            Some(stage) => self.mode = Mode::ProbeRtt(stage),
            None => self.leave_probe_rtt(ack.now, subflow, random),
        }
    }

    /// What may be in flight in ProbeRTT.
    fn probe_rtt_cwnd(&self, parameters: &BbrParameters, mss: u64) -> f64 {
        let gain = self.steady.map_or(0.0, |steady| steady.probe_rtt_gain);
        min_cwnd(parameters, mss).max(gain * self.model.bdp().unwrap_or(0.0))
    }

    fn leave_probe_rtt(&mut self, now: Timestamp, subflow: &mut Subflow, random: &mut SplitMix64) {
        self.model.confirm_rtprop(now, self.steady.map_or(1.0, |steady| steady.excess_rtts));
        subflow.cwnd = subflow.cwnd.max(self.prior_cwnd);
        if self.full_pipe.reached() {
            self.enter_probe_bw(now, random);
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn pacing_gain(&self, parameters: &BbrParameters) -> f64 {
        match self.mode {
            Mode::Startup => parameters.high_gain,
            Mode::Drain => 1.0 / parameters.high_gain,
            Mode::ProbeBw { phase, .. } => {
                self.steady.map_or(CYCLE[phase], |it| self.grown_gain(&it, it.pacing_gain))
            }
            Mode::ProbeRtt(_) => 1.0,
        }
    }

    fn cwnd_gain(&self, parameters: &BbrParameters) -> f64 {
        match self.mode {
            Mode::Startup | Mode::Drain => parameters.startup_cwnd_gain,
            Mode::ProbeBw { .. } => self
                .steady
                .map_or(parameters.cwnd_gain, |it| self.grown_gain(&it, parameters.cwnd_gain)),
            Mode::ProbeRtt(_) => 1.0,
        }
    }

    /// Before the pipe was full once, the pacing rate only rises (`bbr_set_pacing_rate`).
    fn set_pacing(&mut self, gain: f64, subflow: &Subflow, parameters: &BbrParameters) {
        let rate = gain * self.model.bandwidth() * (1.0 - parameters.pacing_margin);
        let initial = || Some(parameters.high_gain * subflow.cwnd / subflow.srtt_secs()?);
        self.pacing = match self.pacing.or_else(initial) {
            Some(present) if !self.full_pipe.reached() => Some(rate.max(present)),
            Some(_) => Some(rate.max(SLOWEST)),
            None => None,
        };
    }

    fn set_cwnd(&mut self, ack: &Ack, subflow: &mut Subflow, parameters: &BbrParameters) {
        if !self.conserve(ack, subflow) {
            self.grow_cwnd(ack, subflow, parameters);
        }
        if matches!(self.mode, Mode::ProbeRtt(_)) {
            subflow.cwnd = subflow.cwnd.min(self.probe_rtt_cwnd(parameters, ack.mss));
        }
    }

    fn grow_cwnd(&self, ack: &Ack, subflow: &mut Subflow, parameters: &BbrParameters) {
        let grown = subflow.cwnd + ack.acked_bytes as f64;
        let target = self.target(self.cwnd_gain(parameters), ack.mss);
        if self.full_pipe.reached() {
            subflow.cwnd = grown.min(target);
        } else if subflow.cwnd < target || (ack.delivered as f64) < subflow.initial_window() {
            subflow.cwnd = grown;
        }
        subflow.cwnd = subflow.cwnd.max(min_cwnd(parameters, ack.mss));
    }

    /// Sends again after idling: at the estimated rate, without the gain of an old phase
    /// (`bbr_cwnd_event`). The window stays, or is restored if what was lost last ended the flight:
    /// pacing prevents the burst.
    pub(super) fn on_idle_restart(&mut self, subflow: &mut Subflow, parameters: &BbrParameters) {
        self.idle_restart = true;
        self.restore_cwnd(subflow);
        self.aggregation.end_epoch();
        if matches!(self.mode, Mode::ProbeBw { .. }) {
            self.set_pacing(1.0, subflow, parameters);
        }
    }

    /// `gain` bandwidth-delay products in whole segments, in bytes (`bbr_bdp`).
    fn bdp(&self, gain: f64, mss: u64) -> f64 {
        match self.model.bdp() {
            Some(bdp) => (gain * bdp / mss as f64).ceil() * mss as f64,
            None => initial_window(mss),
        }
    }

    /// Room for three send quanta, so that batching and delayed ACKs do not stop the sender
    /// (`bbr_quantization_budget`): an even number of segments, two more while probing. Less where
    /// the queue does not hold it.
    fn quantised(&self, bytes: f64, mss: u64) -> f64 {
        let segments = bytes / mss as f64 + 3.0 * self.quantum(mss) * self.overflow.room();
        let even = 2.0 * (segments.ceil() / 2.0).ceil();
        let probing = matches!(self.mode, Mode::ProbeBw { phase: PHASE_PROBE, .. });
        (even + if probing { 2.0 } else { 0.0 }) * mss as f64
    }

    /// The send quantum in segments (`bbr_tso_segs_goal`).
    fn quantum(&self, mss: u64) -> f64 {
        let rate = self.pacing.unwrap_or(0.0);
        let least = if rate < SLOW { 1.0 } else { 2.0 };
        let bytes = (rate * QUANTUM_SECS).min(QUANTUM_MAX_BYTES);
        (bytes / mss as f64).floor().max(least).min(QUANTUM_MAX_SEGMENTS)
    }

    /// What should be in flight at a gain (`bbr_inflight`), in bytes.
    fn inflight(&self, gain: f64, mss: u64) -> f64 {
        self.quantised(self.bdp(gain, mss), mss)
    }

    /// The window to reach, in bytes.
    fn target(&self, gain: f64, mss: u64) -> f64 {
        let extra = if self.full_pipe.reached() {
            self.aggregation.allowance(self.model.bandwidth()) * self.overflow.room()
        } else {
            0.0
        };
        self.quantised(self.bdp(gain, mss) + extra, mss)
    }
}

fn min_cwnd(parameters: &BbrParameters, mss: u64) -> f64 {
    parameters.min_cwnd_segments * mss as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::RateSample;
    use crate::congestion::testing::{ack, path, rate};

    const MSS: u64 = 1_500;
    const PARAMETERS: BbrParameters = BbrParameters::DEFAULT;

    /// 100 Mbit/s.
    const RATE: f64 = 12.5e6;

    struct Sender {
        flow: Flow,
        subflow: Subflow,
        random: SplitMix64,
        now: Timestamp,
        delivered: u64,
    }

    impl Sender {
        fn new() -> Self {
            Self {
                flow: Flow::new(&PARAMETERS, None),
                subflow: Subflow::new(path(0), MSS),
                random: SplitMix64::new(1),
                now: Timestamp::ZERO,
                delivered: 0,
            }
        }

        /// One ACK that ends a round of 20 ms, with `in_flight` segments before and after it.
        fn round(&mut self, in_flight: u64, sample: RateSample) -> &mut Self {
            self.event(in_flight, 20, |ack| Ack { rate: Some(sample), ..ack })
        }

        fn event(&mut self, in_flight: u64, rtt: u64, change: impl Fn(Ack) -> Ack) -> &mut Self {
            let rtt = Duration::from_millis(rtt);
            self.now += rtt;
            let prior_delivered = self.delivered;
            self.delivered += MSS;
            self.subflow.srtt = Some(rtt);
            let event = change(Ack {
                now: self.now,
                rtt: Some(rtt),
                delivered: self.delivered,
                prior_delivered,
                round_start: true,
                prior_in_flight: in_flight * MSS,
                bytes_in_flight: in_flight * MSS,
                ..ack(MSS, MSS)
            });
            self.flow.on_ack(&event, &mut self.subflow, &PARAMETERS, &mut self.random);
            self
        }

        /// Through start-up and drain into ProbeBW at 100 Mbit/s and 20 ms.
        fn cruising() -> Self {
            let mut sender = Self::new();
            for _ in 0..5 {
                sender.round(400, rate(RATE));
            }
            sender.round(160, rate(RATE));
            sender
        }

        fn enter_phase(&mut self, phase: usize) {
            self.flow.mode = Mode::ProbeBw { phase, since: self.now };
            self.flow.set_pacing(CYCLE[phase], &self.subflow, &PARAMETERS);
        }

        fn phase(&self) -> usize {
            match self.flow.mode {
                Mode::ProbeBw { phase, .. } => phase,
                mode => panic!("not in ProbeBW but in {mode:?}"),
            }
        }
    }

    #[test]
    fn t_bbr1_1() {
        let mut sender = Sender::cruising();
        sender.flow.aggregation = Aggregation::default();
        sender.enter_phase(2);
        let flow = &sender.flow;
        assert!((flow.model.bdp().unwrap() - 250_000.0).abs() < 1e-6);
        assert_eq!([1.0, 2.0].map(|gain| flow.bdp(gain, MSS)), [167.0, 334.0].map(|n| n * 1_500.0));
        assert!((flow.pacing.unwrap() - 12.375e6).abs() < 1e-6);
        assert_eq!(flow.quantum(MSS), 8.0);
        assert_eq!(flow.target(2.0, MSS), 358.0 * 1_500.0);
        sender.flow.mode = Mode::ProbeBw { phase: PHASE_PROBE, since: sender.now };
        assert_eq!(sender.flow.target(2.0, MSS), 360.0 * 1_500.0);
    }

    #[test]
    fn a_quantum_is_a_millisecond_of_pacing_within_limits() {
        let mut flow = Sender::cruising().flow;
        for (rate, segments) in [(140_000.0, 1.0), (160_000.0, 2.0), (12.375e6, 8.0), (1e9, 43.0)] {
            flow.pacing = Some(rate);
            assert_eq!(flow.quantum(MSS), segments, "at {rate} bytes/s");
        }
        assert_eq!(flow.quantum(100), 127.0);
    }

    #[test]
    fn start_up_ends_when_the_bandwidth_stops_growing() {
        let mut sender = Sender::new();
        // The first round sets the plateau, three confirm it.
        for _ in 0..3 {
            sender.round(400, rate(RATE));
            assert_eq!(sender.flow.mode, Mode::Startup);
            assert!(sender.subflow.ssthresh.is_infinite());
        }
        sender.round(400, rate(RATE));
        assert_eq!(sender.flow.mode, Mode::Drain);
        assert!(sender.subflow.ssthresh.is_finite());
        assert!((sender.flow.pacing.unwrap() - RATE * 0.99 / PARAMETERS.high_gain).abs() < 1.0);
        // A BDP is 167 segments, and three quanta of 2 segments at the drain rate are added: 174.
        sender.round(200, rate(RATE));
        assert_eq!(sender.flow.mode, Mode::Drain);
        sender.round(167, rate(RATE));
        assert!(matches!(sender.flow.mode, Mode::ProbeBw { .. }));
    }

    #[test]
    fn rounds_without_data_do_not_end_start_up() {
        let mut sender = Sender::new();
        let limited = RateSample { app_limited: true, ..rate(RATE / 10.0) };
        for _ in 0..20 {
            sender.round(20, limited);
        }
        assert_eq!(sender.flow.mode, Mode::Startup);
    }

    #[test]
    fn no_cycle_begins_by_draining() {
        let mut sender = Sender::cruising();
        let mut seen = [false; CYCLE.len()];
        for _ in 0..200 {
            sender.flow.enter_probe_bw(sender.now, &mut sender.random);
            seen[sender.phase()] = true;
        }
        assert_eq!(seen, [true, false, true, true, true, true, true, true]);
    }

    #[test]
    fn the_probing_phase_waits_for_the_queue_it_makes_or_for_loss() {
        let mut sender = Sender::cruising();
        sender.enter_phase(PHASE_PROBE);
        sender.event(167, 21, |ack| ack).event(167, 21, |ack| ack);
        assert_eq!(sender.phase(), PHASE_PROBE);
        sender.event(260, 21, |ack| ack);
        assert_eq!(sender.phase(), PHASE_DRAIN);
        sender.enter_phase(PHASE_PROBE);
        sender.event(167, 21, |ack| Ack { lost_bytes: MSS, ..ack });
        assert_eq!(sender.phase(), PHASE_DRAIN);
    }

    /// 208.3 segments of 1.25 BDP, three quanta of 10 at 1.25 times the rate, two more, even: 242.
    /// The quantum that leaves next counts where it departs ahead.
    #[test]
    fn a_burst_that_departs_ahead_counts_while_probing() {
        for (ahead, in_flight, next) in
            [(false, 241, false), (false, 242, true), (true, 231, false), (true, 232, true)]
        {
            let mut sender = Sender::cruising();
            sender.subflow.departs_ahead = ahead;
            sender.enter_phase(PHASE_PROBE);
            assert_eq!(sender.flow.quantum(MSS), 10.0);
            sender.event(in_flight, 21, |ack| ack);
            assert_eq!(sender.phase() == PHASE_DRAIN, next, "{in_flight} segments, {ahead}");
        }
    }

    #[test]
    fn the_draining_phase_ends_early_when_drained() {
        let mut sender = Sender::cruising();
        sender.enter_phase(PHASE_DRAIN);
        sender.event(300, 10, |ack| Ack { rtt: None, ..ack });
        assert_eq!(sender.phase(), PHASE_DRAIN);
        sender.event(160, 1, |ack| Ack { rtt: None, ..ack });
        assert_eq!(sender.phase(), PHASE_DRAIN + 1);
    }

    #[test]
    fn an_old_propagation_time_is_measured_anew_with_four_segments() {
        let mut sender = Sender::cruising();
        let before = sender.subflow.cwnd;
        sender.event(160, 10_001, |ack| ack);
        assert_eq!(sender.flow.mode, Mode::ProbeRtt(ProbeRtt::Draining));
        assert_eq!(sender.subflow.cwnd, 4.0 * 1_500.0);
        sender.event(4, 20, |ack| ack);
        let Mode::ProbeRtt(ProbeRtt::Measuring { until, .. }) = sender.flow.mode else {
            panic!("not measuring");
        };
        assert_eq!(until - sender.now, Duration::from_millis(200));
        for _ in 0..10 {
            sender.event(4, 20, |ack| ack);
        }
        assert!(matches!(sender.flow.mode, Mode::ProbeRtt(_)), "200 ms are not over");
        sender.event(4, 20, |ack| ack);
        assert!(matches!(sender.flow.mode, Mode::ProbeBw { .. }));
        assert!(sender.subflow.cwnd >= before, "the window is restored");
    }

    #[test]
    fn idling_is_no_reason_to_measure_anew() {
        let mut sender = Sender::cruising();
        sender.flow.on_idle_restart(&mut sender.subflow, &PARAMETERS);
        sender.event(160, 10_001, |ack| ack);
        assert!(matches!(sender.flow.mode, Mode::ProbeBw { .. }));
    }

    #[test]
    fn the_first_round_of_recovery_sends_what_is_delivered() {
        let mut sender = Sender::cruising();
        let before = sender.subflow.cwnd;
        sender.flow.on_loss(&sender.subflow);
        let conserved = |ack| Ack { rtt: None, lost_bytes: 2 * MSS, round_start: false, ..ack };
        sender.event(150, 1, conserved);
        assert_eq!(sender.subflow.cwnd, 151.0 * 1_500.0);
        let start = sender.delivered;
        let sent_at = |prior_delivered, lost_bytes| {
            move |ack| Ack { rtt: None, prior_delivered, lost_bytes, round_start: false, ..ack }
        };
        sender.event(150, 1, sent_at(start - 1, 0));
        assert_eq!(sender.subflow.cwnd, 151.0 * 1_500.0);
        sender.event(150, 1, sent_at(start, MSS));
        assert_eq!(sender.subflow.cwnd, 151.0 * 1_500.0, "one lost, and the second round grows");
        sender.event(150, 1, sent_at(start + MSS, 0));
        assert_eq!(sender.subflow.cwnd, 152.0 * 1_500.0, "a round without loss is not over");
        let clean = sender.delivered;
        sender.event(150, 1, sent_at(clean, 0));
        assert!(sender.subflow.cwnd >= before);
    }

    /// A transfer that ends with losses must not leave the next one their small window.
    #[test]
    fn recovery_ends_with_the_flight_or_after_it() {
        let conserving = || {
            let mut sender = Sender::cruising();
            let before = sender.subflow.cwnd;
            sender.flow.on_loss(&sender.subflow);
            let entered = |ack| Ack { lost_bytes: MSS, prior_delivered: 0, ..ack };
            sender.event(10, 1, entered);
            assert!(sender.subflow.cwnd < before);
            (sender, before)
        };
        let (mut sender, before) = conserving();
        let last = |ack| Ack { bytes_in_flight: 0, prior_delivered: 0, round_start: false, ..ack };
        sender.event(1, 1, last);
        assert!(sender.subflow.cwnd >= before);
        let (mut sender, before) = conserving();
        sender.flow.on_idle_restart(&mut sender.subflow, &PARAMETERS);
        assert!(sender.subflow.cwnd >= before);
    }

    #[test]
    fn a_timeout_leaves_a_segment_until_the_next_round() {
        let mut sender = Sender::cruising();
        let before = sender.subflow.cwnd;
        sender.flow.on_timeout(&mut sender.subflow);
        assert_eq!(sender.subflow.cwnd, 1_500.0);
        sender.event(1, 20, |ack| Ack { round_start: false, ..ack });
        assert_eq!(sender.subflow.cwnd, 4.0 * 1_500.0);
        sender.event(1, 20, |ack| ack);
        assert!(sender.subflow.cwnd >= before);
        assert_eq!(sender.flow.model.bandwidth(), RATE, "a timeout says nothing of the bandwidth");
    }
}
