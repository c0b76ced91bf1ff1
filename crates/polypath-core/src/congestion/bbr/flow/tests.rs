//! The state machine, ACK by ACK: one ACK of a segment ends a round of 20 ms at 100 Mbit/s.

use super::cycle::{CYCLE, PHASE_DRAIN, PHASE_PROBE};
use super::*;
use crate::congestion::RateSample;
use crate::congestion::bbr_model::Flow as _;
use crate::congestion::testing::{ack, path, rate};
use polypath_units::Timestamp;

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
            flow: Flow::new(&PARAMETERS),
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
        let Self { flow, subflow, random, .. } = self;
        flow.on_ack(Step { ack: &event, subflow, parameters: &PARAMETERS, random });
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
        self.flow.mode = Mode::ProbeBw(Phase { number: phase, since: self.now });
        self.flow.set_pacing(CYCLE[phase], &self.subflow, &PARAMETERS);
    }

    fn phase(&self) -> usize {
        match self.flow.mode {
            Mode::ProbeBw(phase) => phase.number,
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
    assert_eq!(
        [1.0, 2.0].map(|gain| flow.model.whole_bdp(gain, MSS)),
        [167.0, 334.0].map(|n| n * 1_500.0)
    );
    assert!((flow.pacing().unwrap() - 12.375e6).abs() < 1e-6);
    assert_eq!(flow.pacing.quantum(MSS), 8.0);
    assert_eq!(flow.target(2.0, MSS), 358.0 * 1_500.0);
    sender.flow.mode = Mode::ProbeBw(Phase { number: PHASE_PROBE, since: sender.now });
    assert_eq!(sender.flow.target(2.0, MSS), 360.0 * 1_500.0);
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
    assert!((sender.flow.pacing().unwrap() - RATE * 0.99 / PARAMETERS.high_gain).abs() < 1.0);
    // A BDP is 167 segments, and three quanta of 2 segments at the drain rate are added: 174.
    sender.round(200, rate(RATE));
    assert_eq!(sender.flow.mode, Mode::Drain);
    sender.round(167, rate(RATE));
    assert!(matches!(sender.flow.mode, Mode::ProbeBw(_)));
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
fn the_propagation_time_expires_after_ten_seconds() {
    let mut flow = Flow::new(&PARAMETERS);
    let mut at = |secs: u64, millis| {
        let now = Timestamp::from_millis(secs * 1_000);
        let sample = Ack { now, rtt: Some(Duration::from_millis(millis)), ..ack(1, 1_000) };
        flow.update_rtprop(&sample, &PARAMETERS);
        (flow.model.rtprop().unwrap().as_millis(), flow.model.rtprop_expired())
    };
    assert_eq!(at(0, 20), (20, false));
    assert_eq!(at(1, 30), (20, false));
    assert_eq!(at(10, 30), (20, false));
    assert_eq!(at(11, 30), (30, true));
    assert_eq!(at(12, 31), (30, false));
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
        assert_eq!(sender.flow.pacing.quantum(MSS), 10.0);
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
    assert!(matches!(sender.flow.mode, Mode::ProbeBw(_)));
    assert!(sender.subflow.cwnd >= before, "the window is restored");
}

#[test]
fn idling_is_no_reason_to_measure_anew() {
    let mut sender = Sender::cruising();
    sender.flow.on_idle_restart(&mut sender.subflow, &PARAMETERS);
    sender.event(160, 10_001, |ack| ack);
    assert!(matches!(sender.flow.mode, Mode::ProbeBw(_)));
}

#[test]
fn the_first_round_of_recovery_sends_what_is_delivered() {
    let mut sender = Sender::cruising();
    let before = sender.subflow.cwnd;
    sender.flow.on_loss(&mut sender.subflow);
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
        sender.flow.on_loss(&mut sender.subflow);
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
