use super::*;
use crate::congestion::testing::{ack, path, subflows};

const MS: Duration = Duration::from_millis(1);

/// A subflow of an example, with packets of one byte.
struct Example {
    cwnd: f64,
    rtt: u64,
    in_flight: u64,
    min_delay: u64,
    /// Packets sent in 10 ms.
    sent: u64,
}

const R1: Example = Example { cwnd: 250.0, rtt: 25, in_flight: 250, min_delay: 20, sent: 100 };
const R2: Example = Example { cwnd: 120.0, rtt: 60, in_flight: 120, min_delay: 60, sent: 20 };

fn starting(examples: &[&Example]) -> Vec<Subflow> {
    let pairs: Vec<_> = examples.iter().map(|e| (e.cwnd, e.rtt)).collect();
    let mut flows = subflows(1, &pairs).as_slice().to_vec();
    for (subflow, example) in flows.iter_mut().zip(examples) {
        subflow.ssthresh = f64::INFINITY;
        subflow.in_flight = example.in_flight;
        subflow.min_rtt = Some(Duration::from_millis(example.min_delay));
    }
    flows
}

/// A round of `example` on path `number`: eight ACKs over 10 ms, in which all packets are sent.
/// Returns the answer to each ACK.
fn round(bess: &mut Bess, number: u8, example: &Example, flows: &[Subflow]) -> Vec<Growth> {
    let acked = |n: u32| Ack {
        now: Timestamp::from_millis(1_000) + 10 * MS * n / 7,
        rtt: Some(Duration::from_millis(example.min_delay)),
        ..ack(1, 1)
    };
    bess.on_round(path(number), &acked(0), flows);
    bess.on_sent(path(number), example.sent);
    (0..8).map(|n| bess.on_ack(path(number), &acked(n), flows)).collect()
}

/// The answer to the eighth ACK of `first` when `second` has been measured.
fn eighth(bess: &mut Bess, first: &Example, second: &Example, flows: &[Subflow]) -> Growth {
    let waiting = round(bess, 1, second, flows);
    assert_eq!(waiting, [Growth::Grow(1.0); 8], "path 0 is not measured yet");
    let growth = round(bess, 0, first, flows);
    assert_eq!(growth[..7], [Growth::Grow(1.0); 7], "seven ACKs are too few");
    growth[7]
}

#[test]
fn t_bess_1() {
    let flows = starting(&[&R1, &R2]);
    let mut bess = Bess::default();
    assert_eq!(eighth(&mut bess, &R1, &R2, &flows), Growth::Exit);
    let left = bess.flows.get(path(0)).unwrap();
    assert!(!left.permitted && (left.occupied - 10_000.0).abs() < 1e-6, "{left:?}");
    assert!(bess.flows.get(path(1)).unwrap().permitted, "the other one decides for itself");
}

#[test]
fn t_bess_1_is_a_product_of_360_packets() {
    for (in_flight, growth) in [(239, Growth::Grow(1.0)), (240, Growth::Exit)] {
        let r1 = Example { in_flight, ..R1 };
        let flows = starting(&[&r1, &R2]);
        assert_eq!(eighth(&mut Bess::default(), &r1, &R2, &flows), growth, "{in_flight}");
    }
}

#[test]
fn t_bess_2() {
    let r1 = Example { cwnd: 200.0, in_flight: 200, ..R1 };
    let third = Example { cwnd: 1_100.0, rtt: 100, in_flight: 0, min_delay: 100, sent: 0 };
    for (occupied, growth) in [(false, Growth::Grow(1.0)), (true, Growth::Exit)] {
        let mut flows = starting(&[&r1, &R2, &third]);
        // The third one is in congestion avoidance with 11000 packets/s, or has not begun.
        (flows[2].ssthresh, flows[2].usable) = (1_100.0, occupied);
        let mut bess = Bess::new(BessParameters { conssthresh: 400.0, ..BessParameters::DEFAULT });
        if occupied {
            bess.on_threshold(path(2), &flows);
            // 10000 packets/s are above 20000 - 11000 from the first ACK on.
            assert_eq!(round(&mut bess, 0, &r1, &flows)[0], growth);
        } else {
            assert_eq!(eighth(&mut bess, &r1, &R2, &flows), growth);
        }
    }
}

#[test]
fn t_bess_3() {
    let huge = Example { in_flight: 1 << 40, ..R1 };
    let flows = starting(&[&huge]);
    let mut bess = Bess::default();
    let growth = round(&mut bess, 0, &huge, &flows);
    assert_eq!(growth[0], Growth::Grow(1.0), "the first ACK must not end it");
    assert_eq!(growth[7], Growth::Exit);
}

/// Alone path 0 is full with 100 packets (10000/s for 10 ms), and has 250. Beside it, a path that
/// has not measured holds the decision up; one that its window does not limit does not.
#[test]
fn only_a_path_that_is_being_filled_is_waited_for() {
    let idle = Example { in_flight: 0, ..R2 };
    for (other, waits) in [(&R2, true), (&idle, false)] {
        let flows = starting(&[&R1, other]);
        let growth = round(&mut Bess::default(), 0, &R1, &flows)[7];
        assert_eq!(growth == Growth::Grow(1.0), waits);
    }
    let flows = starting(&[&R1, &R2]);
    let mut bess = Bess::default();
    for _ in 0..2 {
        // Two rounds of path 1 without an ACK that its window limited.
        bess.on_round(path(1), &ack(1, 1), &flows);
    }
    assert_eq!(round(&mut bess, 0, &R1, &flows)[7], Growth::Exit);
}

#[test]
fn a_round_in_which_little_was_sent_or_no_time_passed_measures_nothing() {
    let quiet = Example { sent: 7, ..R1 };
    let flows = starting(&[&quiet]);
    assert_eq!(round(&mut Bess::default(), 0, &quiet, &flows), [Growth::Grow(1.0); 8]);
    let mut bess = Bess::default();
    bess.on_round(path(0), &ack(1, 1), &flows);
    bess.on_sent(path(0), 100);
    let sampled = Ack { rtt: Some(20 * MS), ..ack(1, 1) };
    assert!((0..20).all(|_| bess.on_ack(path(0), &sampled, &flows) == Growth::Grow(1.0)));
}

/// A path that is declared failed answers again after a timeout: nothing is known of it, and
/// nothing in flight on it is not a full pipe.
#[test]
fn the_first_ack_of_a_failed_path_does_not_end_it() {
    let mut flows = starting(&[&R1, &R2]);
    flows[0].usable = false;
    flows[0].in_flight = 0;
    let mut bess = Bess::default();
    bess.on_timeout(path(0));
    assert_eq!(round(&mut bess, 0, &R1, &flows)[..7], [Growth::Grow(1.0); 7]);
    // Nor does it hold up the other one.
    let mut flows = starting(&[&R1, &R2]);
    flows[1].usable = false;
    assert_eq!(round(&mut Bess::default(), 0, &R1, &flows)[7], Growth::Exit);
}

#[test]
fn who_has_left_grows_again_and_is_judged_again_after_a_timeout() {
    let mut flows = starting(&[&R1]);
    let mut bess = Bess::default();
    assert_eq!(round(&mut bess, 0, &R1, &flows)[7], Growth::Exit);
    assert_eq!(bess.pacing_gain(path(0)), DEFAULT_PACING_GAIN);
    flows[0].ssthresh = 1_000.0;
    assert_eq!(round(&mut bess, 0, &R1, &flows), [Growth::Grow(1.0); 8]);
    bess.on_timeout(path(0));
    assert_eq!(bess.pacing_gain(path(0)), BessParameters::DEFAULT.pacing_gain);
    assert_eq!(round(&mut bess, 0, &R1, &flows)[7], Growth::Exit);
}

/// A loss that leaves the window at the threshold ends it; one that leaves it below does not.
#[test]
fn a_loss_leaves_it_where_the_window_is_at_the_threshold() {
    for (ssthresh, permitted) in [(250.0, false), (400.0, true)] {
        let mut flows = starting(&[&R1]);
        flows[0].ssthresh = ssthresh;
        let mut bess = Bess::default();
        bess.on_threshold(path(0), &flows);
        let flow = bess.flows.get(path(0)).copied().unwrap_or_default();
        assert_eq!((flow.permitted, flow.occupied > 0.0), (permitted, !permitted));
    }
    let mut flows = starting(&[&R1]);
    flows[0].ssthresh = 200.0;
    let mut bess = Bess::default();
    bess.on_round(path(0), &ack(1, 1), &flows);
    assert!(!bess.flows.get(path(0)).unwrap().permitted, "the window has passed the threshold");
}
