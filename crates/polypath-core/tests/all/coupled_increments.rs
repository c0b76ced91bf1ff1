//! Growth of the coupled controls against the integer arithmetic of the Multipath TCP kernel v0.9x
//! (`mptcp_coupled.c`, `mptcp_olia.c`, `mptcp_balia.c`), over random windows and RTTs.
//!
//! The kernel counts whole segments, microseconds and powers of two, and truncates. Each model
//! takes the numbers of bits that the kernel keeps as parameters and also tells what they leave
//! out, its resolution. With the kernel's own bits the growth must be within 1 % and that
//! resolution; with more bits there is nothing to leave out and 1 % is all.

use polypath_core::congestion::{
    Ack, CongestionAvoidance, CongestionKind, Loss, Subflow, Subflows,
};
use polypath_units::{PathId, Timestamp};
use proptest::prelude::*;
use std::time::Duration;

const MSS: u64 = 1_448;

/// A subflow: its window in segments, RTT in microseconds, bytes acknowledged between the last two
/// losses and since the last.
#[derive(Clone, Copy, Debug)]
struct State {
    window: u128,
    rtt: u128,
    acked: [u64; 2],
}

fn states() -> impl Strategy<Value = Vec<State>> {
    let acked = || prop_oneof![Just(0), 1u64..10_000_000];
    let state = (1u128..2_000, 1_000u128..1_000_000, acked(), acked())
        .prop_map(|(window, rtt, last, present)| State { window, rtt, acked: [last, present] });
    (prop::collection::vec(state, 1..5), any::<bool>()).prop_map(|(mut states, alike)| {
        // Equal paths are common, and what decides between sets.
        if alike {
            let first = states[0];
            states.iter_mut().skip(1).step_by(2).for_each(|state| *state = first);
        }
        states
    })
}

const fn path(number: usize) -> PathId {
    PathId::new(number as u8).unwrap()
}

const fn ack(acked_bytes: u64) -> Ack {
    Ack {
        now: Timestamp::ZERO,
        acked_bytes,
        rtt: None,
        flight_time: None,
        rate: None,
        delivered: acked_bytes,
        prior_delivered: 0,
        cwnd_limited: true,
        round_start: false,
        ecn_ce_bytes: 0,
        lost_bytes: 0,
        prior_in_flight: acked_bytes,
        bytes_in_flight: 0,
        mss: MSS,
    }
}

const LOSS: Loss =
    Loss { now: Timestamp::ZERO, lost_bytes: MSS, bytes_in_flight: MSS, ecn: false, mss: MSS };

/// Growth of each path in segments for one segment acknowledged.
fn growth(kind: CongestionKind, states: &[State]) -> Vec<f64> {
    let (mut controller, mut subflows) = (kind.build(0), Subflows::default());
    for (number, state) in states.iter().enumerate() {
        subflows.insert(Subflow::new(path(number), MSS));
        go_through_losses(controller.as_mut(), path(number), state.acked, &mut subflows);
        subflows.insert(Subflow {
            cwnd: (state.window as u64 * MSS) as f64,
            ssthresh: 1.0,
            srtt: Some(Duration::from_micros(state.rtt as u64)),
            ..Subflow::new(path(number), MSS)
        });
    }
    (0..states.len()).map(|number| grown(controller.as_mut(), path(number), &subflows)).collect()
}

fn go_through_losses(
    controller: &mut dyn CongestionAvoidance,
    id: PathId,
    acked: [u64; 2],
    subflows: &mut Subflows,
) {
    controller.on_delivery(id, &ack(acked[0]), subflows);
    controller.on_loss(id, &LOSS, subflows);
    controller.on_delivery(id, &ack(acked[1]), subflows);
}

fn grown(controller: &mut dyn CongestionAvoidance, id: PathId, subflows: &Subflows) -> f64 {
    let mut after = subflows.clone();
    controller.on_ack(id, &ack(MSS), &mut after);
    (after.get(id).unwrap().cwnd - subflows.get(id).unwrap().cwnd) / MSS as f64
}

/// Growth for one segment, and what the truncated numbers leave out of it.
struct Increment {
    segments: f64,
    resolution: f64,
}

fn check(ours: f64, model: &Increment, what: &str) -> Result<(), TestCaseError> {
    let tolerance = 0.01 * model.segments.abs() + model.resolution;
    let off = (ours - model.segments).abs();
    prop_assert!(off <= tolerance, "{what}: {ours} is not {} +- {tolerance}", model.segments);
    Ok(())
}

/// `mptcp_coupled.c`: bits of windows, of alpha, and of the count of ACKs for one increment.
#[derive(Clone, Copy)]
struct LiaBits {
    window: u32,
    alpha: u32,
    count: u32,
}

const LIA_KERNEL: LiaBits = LiaBits { window: 10, alpha: 12, count: 0 };
const LIA_FINE: LiaBits = LiaBits { window: 20, alpha: 64, count: 40 };

/// One increment after `max(2^12 / alpha, w)` ACKs, with alpha scaled by `2^12` and without the
/// factor of the total window, which cancels. The best path is the exact one: the kernel's quotient
/// `w 2^32 / rtt^2` is 0 for most RTTs above 10 ms, and then any path passes for the best.
fn lia(states: &[State], at: usize, bits: LiaBits) -> Option<Increment> {
    let by_window = |s: &&State| (s.window << 80) / (s.rtt * s.rtt);
    let best = states.iter().max_by_key(by_window)?;
    let sum: u128 = states.iter().map(|s| (s.window << bits.window) * best.rtt / s.rtt).sum();
    let alpha = (best.window << (bits.alpha + 2 * bits.window)) / (sum * sum);
    let linked = (1 << (bits.alpha + bits.count)) / Some(alpha).filter(|&alpha| alpha > 0)?;
    let acks = linked.max(states[at].window << bits.count);
    let segments = (1u128 << bits.count) as f64 / acks as f64;
    // A whole number x stands for x to x + 1: 1/x of it. The best path alone is window << bits of
    // the sum, in which each path is truncated, and which is squared.
    let sum_part = 2.0 * states.len() as f64 / (best.window << bits.window) as f64;
    let left_out = 1.0 / alpha as f64 + 1.0 / acks as f64 + sum_part;
    Some(Increment { segments, resolution: 1.1 * segments * left_out })
}

/// `mptcp_olia.c`: `scale` bits of windows and of the growth, 10 in the kernel.
fn olia(states: &[State], at: usize, scale: u32) -> Increment {
    let State { window, rtt, .. } = states[at];
    let sum: u128 = 1 + states.iter().map(|s| (s.window << scale) * rtt / s.rtt).sum::<u128>();
    let (rate, scaled) = ((sum * sum) as i128, (window << scale) as i128);
    let (numerator, denominator) = epsilon(states, at);
    let growth = numerator * rate + denominator * scaled * scaled;
    let step = (growth << scale) / (denominator * window as i128 * rate);
    let unit = 1.0 / (1u128 << scale) as f64;
    // One unit of the result, and of the linked part, at most 1/w, what each path and the 1 change
    // in the sum, in which the path itself is window << scale, and which is squared.
    let sum_part = 2.0 * (states.len() + 1) as f64 * unit / (window * window) as f64;
    Increment { segments: step as f64 * unit, resolution: unit + 1.1 * sum_part }
}

/// Numerator and denominator of `e`.
fn epsilon(states: &[State], at: usize) -> (i128, i128) {
    let largest = states.iter().map(|s| s.window).max().unwrap_or(0);
    let l = |s: &State| u128::from(s.acked[0].max(s.acked[1]));
    let is_best = |s: &State| states.iter().all(|o| l(s) * o.rtt * o.rtt >= l(o) * s.rtt * s.rtt);
    let in_m = |s: &State| s.window == largest;
    let count = |set: &dyn Fn(&State) -> bool| states.iter().filter(|s| set(s)).count() as i128;
    let collected = count(&|s| !in_m(s) && is_best(s));
    let all = states.len() as i128;
    match &states[at] {
        _ if collected == 0 => (0, 1),
        s if in_m(s) => (-1, all * count(&in_m)),
        s if is_best(s) => (1, all * collected),
        _ => (0, 1),
    }
}

/// `mptcp_balia.c`: rates of at most `rate` bits, scaled by 2^-10 until they are, and the count of
/// ACKs for one increment. `None` if nothing is left of a rate.
fn balia(states: &[State], at: usize, rate_bits: u32, count: u32) -> Option<Increment> {
    let rate = |s: &State| ((u128::from(MSS) * s.window * 1_000_000) << count) / s.rtt;
    let fastest = states.iter().map(rate).max()?;
    let shift = (0..).step_by(10).find(|shift| (fastest >> shift) <= 1 << rate_bits)?;
    let (max, own) = (fastest >> shift, rate(&states[at]) >> shift);
    let sum: u128 = states.iter().map(|s| rate(s) >> shift).sum();
    let least = states.iter().map(|s| rate(s) >> shift).min().filter(|&least| least > 0)?;
    let window = states[at].window << count;
    let acks = sum * sum * 10 / (own + max) * window / (4 * own + max);
    let segments = (1u128 << count) as f64 / acks as f64;
    // Each rate x stands for x to x + 1. Of the sum that is at most 1 / least and counts twice; of
    // the two divisors, which have 2 and 5 rates, 1 / least each.
    let left_out = 4.0 / least as f64 + 1.0 / acks as f64;
    Some(Increment { segments, resolution: 1.1 * segments * left_out })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn lia_grows_as_the_kernels(states in states()) {
        for (at, ours) in growth(CongestionKind::Lia, &states).into_iter().enumerate() {
            if let Some(model) = lia(&states, at, LIA_KERNEL) {
                check(ours, &model, "kernel")?;
            }
            let fine = lia(&states, at, LIA_FINE).expect("alpha has enough bits");
            prop_assert!(fine.resolution < 1e-3 * fine.segments);
            check(ours, &fine, "fine")?;
        }
    }

    #[test]
    fn olia_grows_as_the_kernels(states in states()) {
        for (at, ours) in growth(CongestionKind::Olia, &states).into_iter().enumerate() {
            check(ours, &olia(&states, at, 10), "kernel")?;
            let fine = olia(&states, at, 24);
            prop_assert!(fine.resolution < 1e-6);
            check(ours, &fine, "fine")?;
        }
    }

    #[test]
    fn balia_grows_as_the_kernels(states in states()) {
        for (at, ours) in growth(CongestionKind::Balia, &states).into_iter().enumerate() {
            // Beyond a third, what is left out is more than the first order of it.
            let model = balia(&states, at, 25, 0);
            if let Some(model) = model.filter(|m| m.resolution < m.segments / 3.0) {
                check(ours, &model, "kernel")?;
            }
            let fine = balia(&states, at, 100, 16).expect("nothing is scaled down");
            prop_assert!(fine.resolution < 1e-3 * fine.segments);
            check(ours, &fine, "fine")?;
        }
    }
}
