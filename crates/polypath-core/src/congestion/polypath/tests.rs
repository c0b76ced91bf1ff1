//! Whole senders, whose rounds one tells them.

use super::*;
use crate::congestion::testing::{ack, path, rate, subflows};
use crate::congestion::{Ack, RateSample, Subflows};
use polypath_units::Timestamp;
use std::time::Duration;

const MSS: u64 = 1_500;
/// 100 Mbit/s in bytes/s; over 20 ms a BDP of 250,000 bytes.
const RATE: f64 = 12.5e6;

/// A sender whose rounds one tells it, an ACK each.
struct Sender {
    control: PerFlow<Flow>,
    subflows: Subflows,
    now: Timestamp,
    delivered: u64,
}

impl Sender {
    fn new() -> Self {
        Self {
            control: PerFlow::new(PolypathParameters::DEFAULT, 0),
            subflows: subflows(MSS, &[(400.0 * MSS as f64, 20)]),
            now: Timestamp::ZERO,
            delivered: 0,
        }
    }

    /// Through start-up and drain.
    fn steady() -> Self {
        let mut sender = Self::new();
        (0..5).for_each(|_| sender.round(20, RATE));
        sender.round_with(20, RATE, |ack| Ack { bytes_in_flight: 100_000, ..ack });
        (0..3).for_each(|_| sender.round(20, RATE));
        sender
    }

    fn round(&mut self, rtt_ms: u64, bytes_per_sec: f64) {
        self.round_with(rtt_ms, bytes_per_sec, |ack| ack);
    }

    /// A round of this RTT in which the link delivers at this rate.
    fn round_with(&mut self, rtt_ms: u64, bytes_per_sec: f64, change: impl Fn(Ack) -> Ack) {
        let rtt = Duration::from_millis(rtt_ms);
        self.now += rtt;
        let acked = (bytes_per_sec * rtt.as_secs_f64()) as u64;
        let prior_delivered = self.delivered;
        self.delivered += acked;
        let event = change(Ack {
            now: self.now,
            rtt: Some(rtt),
            rate: Some(rate(bytes_per_sec)),
            delivered: self.delivered,
            prior_delivered,
            round_start: true,
            bytes_in_flight: self.cwnd() as u64,
            ..ack(acked, MSS)
        });
        self.control.on_ack(path(0), &event, &mut self.subflows);
    }

    fn cwnd(&self) -> f64 {
        self.subflows.get(path(0)).expect("it was inserted").cwnd
    }

    fn bandwidth(&self) -> f64 {
        self.control.bandwidth_estimate(path(0)).expect("a rate was measured")
    }

    /// Pacing over the bandwidth.
    fn gain(&self) -> f64 {
        self.pacing() / (0.99 * self.bandwidth())
    }

    fn pacing(&self) -> f64 {
        let pacing = self.control.pacing_rate(path(0)).expect("an RTT was measured");
        pacing.bytes_per_sec()
    }
}

/// A BDP is 167 segments, a quantum of a millisecond at 1.25 times the rate less 1 % is 10 of them,
/// and the even number above 167 + 30 is 198. ACKs of whole rounds look like aggregation:
/// the window may hold that in addition, 100 ms at the rate at most.
#[test]
fn the_window_is_three_quanta_above_the_bdp() {
    let sender = Sender::steady();
    assert!((sender.pacing() / (1.25 * 0.99 * RATE) - 1.0).abs() < 1e-9);
    let cwnd = sender.cwnd() / MSS as f64;
    assert!((198.0..=198.0 + 0.1 * RATE / MSS as f64).contains(&cwnd), "{cwnd}");
    let quiet = |ack: Ack| Ack { acked_bytes: 0, ..ack };
    let mut sender = sender;
    (0..10).for_each(|_| sender.round_with(20, RATE, quiet));
    assert_eq!(sender.cwnd() / MSS as f64, 198.0);
}

/// A tenth is lost behind a queue: 0.7 of the quanta's 30 segments are left above the BDP. Without
/// a queue all of them are.
#[test]
fn what_the_queue_does_not_hold_the_window_leaves_out() {
    let quiet = |ack: Ack| Ack { acked_bytes: 0, ..ack };
    for (rtt, segments) in [(26, 188.0), (25, 198.0)] {
        let mut sender = Sender::steady();
        sender.round_with(rtt, RATE, |ack| Ack { lost_bytes: ack.acked_bytes / 9, ..ack });
        (0..10).for_each(|_| sender.round_with(20, RATE, quiet));
        assert_eq!(sender.cwnd() / MSS as f64, segments, "{rtt} ms");
    }
}

/// The rate falls to a quarter. The first round with a queue still knows samples of before; the
/// second does not. It counts for nothing that the scheduler rested meanwhile.
#[test]
fn a_standing_queue_tells_the_rate() {
    let mut sender = Sender::steady();
    let held_back = |ack: Ack| {
        let rate = ack.rate.map(|sample| RateSample { app_limited: true, ..sample });
        Ack { rate, ..ack }
    };
    (0..2).for_each(|_| sender.round_with(60, RATE / 4.0, held_back));
    assert!((sender.pacing() / (1.25 * 0.99 * RATE) - 1.0).abs() < 1e-9);
    (0..2).for_each(|_| sender.round_with(60, RATE / 4.0, held_back));
    assert!((sender.pacing() / (1.25 * 0.99 * RATE / 4.0) - 1.0).abs() < 1e-9);
}

/// Without a queue, an application-limited sample is a lower bound and lowers nothing.
#[test]
fn without_a_queue_little_data_says_nothing_of_the_rate() {
    let mut sender = Sender::steady();
    for _ in 0..30 {
        sender.round_with(20, RATE / 4.0, |ack| {
            let rate = ack.rate.map(|sample| RateSample { app_limited: true, ..sample });
            Ack { rate, ..ack }
        });
    }
    assert!((sender.pacing() / (1.25 * 0.99 * RATE) - 1.0).abs() < 1e-9);
}

/// The path becomes three times as long. The window over the RTT is a third of the rate, the
/// bandwidth falls, and the queue stays: after six rounds less than a BDP is in flight for a round,
/// and then the new propagation time and the old bandwidth hold.
#[test]
fn a_longer_path_is_found_and_costs_no_bandwidth() {
    let mut sender = Sender::steady();
    let quiet = |ack: Ack| Ack { acked_bytes: 0, ..ack };
    (0..10).for_each(|_| sender.round_with(20, RATE, quiet));
    (0..7).for_each(|_| sender.round_with(60, sender.cwnd() / 0.06, quiet));
    assert!(sender.pacing() < 0.5 * RATE, "the queue has been followed: {}", sender.pacing());
    for _ in 0..4 {
        let little = |ack: Ack| Ack { bytes_in_flight: 0, ..ack };
        sender.round_with(60, RATE / 10.0, little);
    }
    assert!((sender.pacing() / (1.25 * 0.99 * RATE) - 1.0).abs() < 1e-9, "{}", sender.pacing());
    (0..5).for_each(|_| sender.round(60, RATE));
    assert!(sender.cwnd() > 1.1 * 3.0 * 250_000.0, "{}", sender.cwnd());
}

/// The path becomes longer by two fifths, less than what shows a queue: what is measured falls with
/// the window, until after 20 rounds the propagation time is measured anew. It is 28 ms then.
#[test]
fn a_path_that_becomes_a_little_longer_is_found() {
    let mut sender = Sender::steady();
    let quiet = |ack: Ack| Ack { acked_bytes: 0, ..ack };
    (0..10).for_each(|_| sender.round_with(20, RATE, quiet));
    let probes = |sender: &Sender| sender.control.holds_back(path(0));
    let mut rounds = 0;
    while !probes(&sender) {
        sender.round_with(28, sender.cwnd() / 0.028, quiet);
        rounds += 1;
    }
    assert_eq!(rounds, 21, "the first round's RTTs are known when it ends");
    let little = |ack: Ack| Ack { bytes_in_flight: 0, ..ack };
    (0..4).for_each(|_| sender.round_with(28, RATE / 10.0, little));
    (0..20).for_each(|_| sender.round_with(28, RATE, |ack| ack));
    (0..10).for_each(|_| sender.round_with(28, RATE, quiet));
    // 234 segments, and the quanta of 10.
    assert_eq!(sender.cwnd() / MSS as f64, 264.0);
}

/// The rate of the link is now eight times as much. Each round delivers what was in flight. One
/// round of growth may be chance; after the second the gain is 2, until what is delivered grows no
/// more.
#[test]
fn growth_in_two_rounds_in_a_row_doubles_the_gains() {
    let mut sender = Sender::steady();
    let quiet = |ack: Ack| Ack { acked_bytes: 0, ..ack };
    (0..12).for_each(|_| sender.round_with(20, RATE, quiet));
    sender.round(20, 1.12 * RATE);
    assert!((sender.gain() - 1.25).abs() < 1e-9, "{}", sender.gain());
    sender.round(20, 1.25 * RATE);
    assert!((sender.gain() - 2.0).abs() < 1e-9, "{}", sender.gain());
    assert!(sender.cwnd() > 1.9 * 1.12 * 250_000.0, "{}", sender.cwnd());
    sender.round(20, 1.25 * RATE);
    assert!((sender.gain() - 1.25).abs() < 1e-9, "{}", sender.gain());
}

fn limited(ack: Ack) -> Ack {
    let rate = ack.rate.map(|sample| RateSample { app_limited: true, ..sample });
    Ack { rate, ..ack }
}

/// The receive window or the scheduler limits all samples of a sender: where every RTT shows a
/// queue, three rounds without growth end start-up all the same, and the window is one BDP.
#[test]
fn a_limited_sender_that_queues_leaves_start_up() {
    let mut sender = Sender::new();
    sender.round_with(20, RATE, limited);
    (0..5).for_each(|_| sender.round_with(26, RATE, limited));
    sender.round_with(26, RATE, |ack| Ack { bytes_in_flight: 100_000, ..limited(ack) });
    assert!((sender.gain() - 1.25).abs() < 1e-9, "{}", sender.gain());
    let mut unqueued = Sender::new();
    (0..50).for_each(|_| unqueued.round_with(24, RATE, limited));
    assert!(unqueued.gain() > 2.8, "{}", unqueued.gain());
}

/// The receive window opens in bursts: three quarters of each find no queue.
#[test]
fn a_limited_sender_that_queues_at_times_leaves_start_up() {
    let mut sender = Sender::new();
    sender.round_with(20, RATE, limited);
    for _ in 0..5 {
        let part = |ack: Ack| Ack { acked_bytes: 3 * ack.acked_bytes, ..limited(ack) };
        sender.round_with(20, RATE, part);
        let last = |ack: Ack| Ack { round_start: false, ..limited(ack) };
        sender.round_with(26, RATE, last);
    }
    sender.round_with(26, RATE, |ack| Ack { bytes_in_flight: 100_000, ..limited(ack) });
    assert!((sender.gain() - 1.25).abs() < 1e-9, "{}", sender.gain());
}

/// The queue of start-up is the sender's own, and no reason to measure the propagation time.
#[test]
fn a_queue_in_start_up_is_not_foreign() {
    let mut sender = Sender::new();
    sender.round_with(20, RATE, limited);
    for n in 0..100 {
        // Growth, so that it does not end.
        sender.round_with(60, RATE * 1.3f64.powi(n), limited);
        assert!(!sender.control.holds_back(path(0)));
    }
}

/// After ten seconds without an RTT as low as the estimate, three quarters of a BDP: 187,500 bytes.
#[test]
fn the_propagation_time_is_measured_in_less_than_a_bdp() {
    let mut sender = Sender::steady();
    let mut least = f64::INFINITY;
    for _ in 0..500 {
        sender.round(21, RATE);
        least = least.min(sender.cwnd());
    }
    assert!((least - 187_500.0).abs() < MSS as f64, "{least}");
}
