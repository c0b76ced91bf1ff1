//! The state machine, ACK by ACK: one ACK of a segment ends a round of 20 ms at 100 Mbit/s.

use super::*;
use crate::congestion::bbr_model::Flow as _;
use crate::congestion::testing::{ack, path, rate};
use crate::congestion::{Ack, LostPacket, RateSample};
use polypath_units::Timestamp;

const MSS: u64 = 1_500;
const PARAMETERS: Bbr3Parameters = Bbr3Parameters::DEFAULT;
/// 100 Mbit/s.
const RATE: f64 = 12.5e6;
/// 20 ms of it: 166.7 segments.
const BDP: f64 = 250_000.0;

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

    /// A round of 20 ms that ends with `in_flight` segments in flight.
    fn round(&mut self, in_flight: u64) -> &mut Self {
        self.event(in_flight, 20, |ack| ack)
    }

    fn rounds(&mut self, count: usize, in_flight: u64) -> &mut Self {
        (0..count).fold(self, |sender, _| sender.round(in_flight))
    }

    /// Rounds of 1 ms that say nothing of the RTT.
    fn quick_rounds(&mut self, count: usize, in_flight: u64) -> &mut Self {
        (0..count).fold(self, |s, _| s.event(in_flight, 1, |ack| Ack { rtt: None, ..ack }))
    }

    /// The same after `millis`, of an ACK that is changed.
    fn event(&mut self, in_flight: u64, millis: u64, change: impl Fn(Ack) -> Ack) -> &mut Self {
        self.now += Duration::from_millis(millis);
        let prior_delivered = self.delivered;
        self.delivered += MSS;
        self.subflow.srtt = Some(Duration::from_millis(20));
        self.subflow.in_flight = in_flight * MSS;
        let sample =
            RateSample { delivered: BDP as u64, tx_in_flight: in_flight * MSS, ..rate(RATE) };
        let ack = change(Ack {
            now: self.now,
            rtt: self.subflow.srtt,
            rate: Some(sample),
            delivered: self.delivered,
            prior_delivered,
            round_start: true,
            prior_in_flight: in_flight * MSS,
            bytes_in_flight: in_flight * MSS,
            cwnd_limited: false,
            ..ack(MSS, MSS)
        });
        let Self { flow, subflow, random, .. } = self;
        flow.on_ack(Step { ack: &ack, subflow, parameters: &PARAMETERS, random });
        self
    }

    /// A segment is lost, after `lost` segments since it was sent into a flight of `tx_in_flight`.
    fn lose(&mut self, lost: u64, tx_in_flight: u64) {
        let packet = LostPacket {
            now: self.now,
            bytes: MSS,
            lost: lost * MSS,
            tx_in_flight: tx_in_flight * MSS,
            app_limited: false,
            delivered: self.delivered,
        };
        self.flow.on_packet_lost(&packet, &self.subflow, &PARAMETERS, &mut self.random);
    }

    /// Through start-up and Drain into ProbeBW_CRUISE.
    fn cruising() -> Self {
        let mut sender = Self::new();
        sender.rounds(4, 400);
        sender.round(160).round(160);
        assert_eq!(sender.flow.state, State::Cruise);
        sender.subflow.cwnd = 2.0 * BDP;
        sender
    }

    /// Into ProbeBW_UP: 3 s are the longest wait, one round refills.
    fn probing() -> Self {
        let mut sender = Self::cruising();
        sender.event(160, 3_001, |ack| ack).round(160);
        assert_eq!(sender.flow.state, State::Up);
        sender
    }

    fn paced_at(&self, gain: f64) -> bool {
        (self.flow.pacing().unwrap() / (gain * RATE * 0.99) - 1.0).abs() < 1e-9
    }
}

#[test]
fn start_up_ends_with_a_plateau_and_drain_with_a_flight_of_a_bdp() {
    let mut sender = Sender::new();
    for _ in 0..3 {
        sender.round(400);
        assert_eq!(sender.flow.state, State::Startup);
        assert!(sender.paced_at(4.0 * core::f64::consts::LN_2));
        assert!(sender.subflow.ssthresh.is_infinite());
    }
    sender.round(400);
    assert_eq!(sender.flow.state, State::Drain { since_round: 4 });
    assert!(sender.paced_at(0.5) && sender.subflow.ssthresh.is_finite());
    sender.round(167);
    assert_eq!(sender.flow.state, State::Drain { since_round: 4 });
    sender.round(166);
    assert_eq!(sender.flow.state, State::Cruise, "down and, drained, on");
}

#[test]
fn drain_takes_four_rounds_at_most() {
    let mut sender = Sender::new();
    sender.rounds(7, 400);
    assert_eq!(sender.flow.state, State::Drain { since_round: 4 });
    sender.round(400);
    assert_eq!(sender.flow.state, State::Down);
}

#[test]
fn excess_loss_ends_start_up_and_bounds_the_flight() {
    let mut sender = Sender::new();
    sender.flow.on_loss(&mut sender.subflow);
    let sample = |n| RateSample { delivered: 0, ..rate(RATE * f64::from(n)) };
    let growing = |n| move |ack| Ack { rate: Some(sample(n)), ..ack };
    let lossy = |ack| Ack { lost_bytes: MSS, round_start: false, rate: None, ..ack };
    for n in 1..3 {
        for _ in 0..6 {
            sender.event(1_000, 1, lossy);
        }
        sender.event(1_000, 14, growing(2 * n));
    }
    assert_eq!(sender.flow.undo.ended, Some(State::Startup));
    assert!(matches!(sender.flow.state, State::Drain { .. }));
    assert!((sender.flow.bounds.long_term - 4.0 * BDP).abs() < 1e-6, "a BDP at 400 Mbit/s");
    sender.flow.on_spurious_loss(&mut sender.subflow);
    assert_eq!(sender.flow.state, State::Startup);
    assert!(sender.flow.bounds.long_term.is_infinite() && !sender.flow.filled);
}

#[test]
fn the_cycle_goes_down_cruises_refills_and_climbs() {
    let mut sender = Sender::cruising();
    assert!(sender.paced_at(1.0));
    sender.round(160);
    assert_eq!(sender.flow.state, State::Cruise);
    sender.event(160, 3_001, |ack| ack);
    assert_eq!(sender.flow.state, State::Refill);
    sender.round(160);
    assert_eq!(sender.flow.state, State::Up);
    assert!(sender.paced_at(1.25));
    sender.round(200).round(250);
    assert_eq!(sender.flow.state, State::Up);
    sender.round(260);
    assert_eq!(sender.flow.state, State::Down, "three rounds without growth");
    assert!(sender.paced_at(0.9));
    sender.round(200);
    assert_eq!(sender.flow.state, State::Down, "more than a BDP is in flight");
    sender.round(150);
    assert_eq!(sender.flow.state, State::Cruise);
}

/// Small BDPs probe as often as Reno grows by theirs: 63 rounds at most, of which one may be drawn.
#[test]
fn rounds_limit_the_wait_as_well() {
    let mut sender = Sender::cruising();
    sender.quick_rounds(60, 160);
    assert_eq!(sender.flow.state, State::Cruise);
    sender.quick_rounds(3, 160);
    assert_ne!(sender.flow.state, State::Cruise);
}

#[test]
fn too_much_loss_ends_a_probe_and_the_next_one_is_careful() {
    let mut sender = Sender::probing();
    sender.lose(4, 200);
    assert_eq!(sender.flow.state, State::Up, "2 % is allowed");
    sender.lose(5, 200);
    assert_eq!(sender.flow.state, State::Down);
    // (0.02 * 199 - 4) / 0.98 segments less than the 199 before it.
    let bound = (199.0 - 0.02 / 0.98) * 1_500.0;
    assert!((sender.flow.bounds.long_term - bound).abs() < 1e-6);
    sender.lose(50, 200);
    assert!((sender.flow.bounds.long_term - bound).abs() < 1e-6, "once for each probe");
    // Down and 63 rounds of which one may be drawn, of refill one.
    while sender.flow.state != State::Up {
        sender.quick_rounds(1, 150);
    }
    sender.round(199);
    assert_eq!(sender.flow.state, State::Down, "where the last one lost too much");
    sender.round(150);
    assert_eq!(sender.flow.state, State::Refill, "that went well: at once again");
    sender.round(150).round(199);
    assert_eq!(sender.flow.state, State::Up, "and without the precaution");
}

#[test]
fn a_probe_at_its_bound_raises_it() {
    let mut sender = Sender::probing();
    sender.flow.bounds.long_term = 300_000.0;
    sender.subflow.cwnd = 300_000.0;
    sender.flow.bounds.steepen(1_500.0, MSS);
    let limited = |ack| Ack { cwnd_limited: true, ..ack };
    sender.event(199, 20, limited);
    assert_eq!(sender.flow.bounds.long_term, 301_500.0, "a segment for each");
}

#[test]
fn a_plateau_that_the_bound_makes_does_not_end_a_probe() {
    let mut sender = Sender::probing();
    sender.flow.bounds.long_term = 300_000.0;
    sender.subflow.cwnd = 300_000.0;
    for _ in 0..5 {
        sender.event(199, 20, |ack| Ack { cwnd_limited: true, ..ack });
        assert_eq!(sender.flow.state, State::Up);
    }
    sender.rounds(3, 199);
    assert_eq!(sender.flow.state, State::Down);
}

#[test]
fn a_probe_does_not_mind_a_little_loss() {
    let mut sender = Sender::probing();
    sender.lose(1, 200);
    sender.round(200).round(200);
    assert_eq!(sender.flow.state, State::Up);
    let Bounds { bandwidth, short_term, long_term, .. } = sender.flow.bounds;
    assert_eq!([bandwidth, short_term, long_term], [f64::INFINITY; 3]);
}

#[test]
fn while_cruising_loss_lowers_the_bounds_of_the_present_once_a_round() {
    let mut sender = Sender::cruising();
    sender.lose(1, 160);
    sender.lose(2, 160);
    sender.round(160);
    let Bounds { bandwidth, short_term, long_term, .. } = sender.flow.bounds;
    assert_eq!((bandwidth, long_term), (RATE, f64::INFINITY), "all of it was delivered");
    assert!((short_term - 0.7 * 2.0 * BDP).abs() < 1e-6);
    sender.round(160);
    assert_eq!(sender.flow.bounds.short_term, short_term);
    assert!((sender.subflow.cwnd - short_term).abs() < 1e-6);
    sender.event(160, 3_001, |ack| ack);
    assert_eq!(sender.flow.state, State::Refill);
    assert!(sender.flow.bounds.short_term.is_infinite());
}

#[test]
fn cruising_leaves_headroom_below_the_long_term_bound() {
    let mut sender = Sender::cruising();
    sender.flow.bounds.long_term = 300_000.0;
    sender.round(150);
    assert!((sender.subflow.cwnd - 255_000.0).abs() < 1e-6);
}

#[test]
fn an_old_propagation_time_is_measured_with_half_a_bdp() {
    let mut sender = Sender::cruising();
    let before = sender.subflow.cwnd;
    sender.event(160, 5_001, |ack| ack);
    assert_eq!(sender.flow.state, State::ProbeRtt(ProbeRtt::Draining));
    assert!((sender.subflow.cwnd - 0.5 * BDP).abs() < 1e-6);
    sender.flow.bounds.short_term = 1e5;
    sender.round(83);
    sender.rounds(10, 83);
    assert!(matches!(sender.flow.state, State::ProbeRtt(_)), "200 ms are not over");
    sender.round(83);
    assert_eq!(sender.flow.state, State::Cruise);
    assert!(sender.flow.bounds.short_term.is_infinite());
    assert!(sender.subflow.cwnd >= before, "the window is restored");
}

#[test]
fn idling_is_no_reason_to_measure_anew() {
    let mut sender = Sender::cruising();
    sender.flow.on_idle_restart(&mut sender.subflow, &PARAMETERS);
    sender.event(160, 5_001, |ack| ack);
    assert!(!matches!(sender.flow.state, State::ProbeRtt(_)));
}

#[test]
fn a_timeout_leaves_a_segment_until_the_next_round() {
    let mut sender = Sender::cruising();
    let before = sender.subflow.cwnd;
    sender.subflow.in_flight = 0;
    sender.flow.on_timeout(&mut sender.subflow);
    assert_eq!(sender.subflow.cwnd, 1_500.0);
    sender.event(1, 1, |ack| Ack { round_start: false, ..ack });
    assert_eq!(sender.subflow.cwnd, 4.0 * 1_500.0);
    sender.round(4);
    assert!(sender.subflow.cwnd >= before);
}

#[test]
fn a_spurious_loss_takes_a_probe_up_again() {
    let mut sender = Sender::probing();
    sender.lose(50, 200);
    sender.flow.on_loss(&mut sender.subflow);
    sender.round(160);
    assert!(sender.flow.bounds.long_term.is_finite());
    sender.flow.on_spurious_loss(&mut sender.subflow);
    assert_eq!(sender.flow.state, State::Refill);
    assert!(sender.flow.bounds.long_term.is_infinite());
}

#[test]
fn recovery_gives_the_window_back() {
    let mut sender = Sender::cruising();
    sender.flow.on_loss(&mut sender.subflow);
    sender.subflow.cwnd = 10_000.0;
    sender.flow.on_recovery_exit(&mut sender.subflow);
    assert_eq!(sender.subflow.cwnd, 2.0 * BDP);
    sender.subflow.cwnd = 10_000.0;
    sender.flow.on_recovery_exit(&mut sender.subflow);
    assert_eq!(sender.subflow.cwnd, 10_000.0, "once");
}
