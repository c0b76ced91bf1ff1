//! Controllers in a closed loop with one bottleneck of 100 Mbit/s and 40 ms, a BDP of 333 packets,
//! and a queue of one BDP.

use crate::toy::{Bottleneck, MSS, PATH, Toy};
use polypath_core::congestion::{CongestionConfig, CongestionKind};
use polypath_core::slow_start::SlowStartKind;
use polypath_units::Bandwidth;
use std::time::Duration;

fn bottleneck(loss: f64) -> Bottleneck {
    let mut bottleneck = Bottleneck {
        rate: Bandwidth::from_mbit_per_sec(100.0),
        rtt: Duration::from_millis(40),
        queue: 0,
        loss,
    };
    bottleneck.queue = bottleneck.bdp();
    bottleneck
}

fn toy(avoidance: CongestionKind, slow_start: SlowStartKind, loss: f64, seed: u64) -> Toy {
    let config = CongestionConfig {
        avoidance: avoidance.into(),
        slow_start: slow_start.into(),
        seed,
        ..Default::default()
    };
    Toy::new(config, bottleneck(loss))
}

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// Reno halves a window of two BDP to one, CUBIC lowers it to 1.4, so the queue never runs empty
/// after start-up; start-up takes log2(333 / 10) = 5 rounds = 0.2 s of 20 s, and up to as many
/// again in overshoot. BBR sends four packets for 200 ms and one round in every 10 s. All lose less
/// than a tenth.
///
/// Two controllers do not suit BESS. wVegas takes the queue of its bursts for that of a full path,
/// at a third of a BDP or later; a packet a round makes that up in 222 rounds of 40 ms, at five
/// sixths in the mean: 7 % less. BRF, which is told no rate, paces an initial window over a round,
/// which BESS takes for a full path after one more doubling; CUBIC needs t with 0.4 t^3 = 308
/// segments, 9.2 s, and uses a quarter of them meanwhile: after the second of waiting, 0.95 - 0.35.
#[test]
fn a_queue_of_one_bdp_keeps_the_link_busy() {
    for &avoidance in CongestionKind::ALL {
        for &slow_start in SlowStartKind::ALL {
            let least = match (avoidance, slow_start) {
                (CongestionKind::Wvegas, SlowStartKind::Bess) => 0.83,
                (CongestionKind::Brf, SlowStartKind::Bess) => 0.6,
                _ => 0.9,
            };
            let used = toy(avoidance, slow_start, 0.0, 1).utilisation(secs(20));
            assert!((least..=1.0).contains(&used), "{avoidance} with {slow_start}: {used}");
        }
    }
}

/// Random loss says nothing of the bandwidth. At most 1 - p is delivered where the sender sends no
/// faster than the link; ProbeRTT costs 2.4 %, the pacing margin 1 %. Probing at 1.25 offsets p
/// up to a fifth, so that at p = 0.1 the estimate still holds.
#[test]
fn bbr_is_not_moved_by_random_loss() {
    for (loss, least) in [(0.01, 0.9), (0.1, 0.8)] {
        for seed in 0..5 {
            let used = toy(CongestionKind::Bbr, SlowStartKind::HystartPp, loss, seed)
                .utilisation(secs(20));
            assert!(used >= least, "loss {loss}, seed {seed}: {used}");
        }
    }
}

/// A round with loss while version 3 cruises lowers the rate, to no less than what was delivered in
/// it: by the pacing margin of 1 % and the loss p. It cruises for 63 rounds at most, then a probe,
/// which tolerates 2 % of loss, takes that away. With q = 0.99 (1 - p) the mean is at least
/// (1 - q^63) / (63 (1 - q)), and ProbeRTT costs another 2 % and the way there and back: 1 %.
#[test]
fn bbr3_slows_down_for_random_loss_and_recovers() {
    for loss in [0.003, 0.01] {
        let q: f64 = 0.99 * (1.0 - loss);
        let least = (1.0 - q.powi(63)) / (63.0 * (1.0 - q)) - 0.03;
        for seed in 0..5 {
            let mut toy = toy(CongestionKind::Bbr3, SlowStartKind::HystartPp, loss, seed);
            toy.utilisation(secs(5));
            let used = toy.utilisation(secs(40));
            assert!((least..=1.0 - loss).contains(&used), "loss {loss}, seed {seed}: {used}");
        }
    }
}

/// In a queue of a twentieth of a BDP version 1 loses in each cycle of eight rounds, version 3 when
/// it probes, every 63 rounds or 2 s: a sixth as often. A probe stops when 2 % are lost, at most a
/// round late, so that it loses twice as much: a third in all.
#[test]
fn bbr3_loses_less_in_a_short_queue() {
    let lost = |avoidance| {
        let mut toy = toy(avoidance, SlowStartKind::HystartPp, 0.0, 1);
        toy.bottleneck.queue /= 20;
        toy.utilisation(secs(5));
        let start_up = toy.lost;
        assert!(toy.utilisation(secs(40)) >= 0.85, "{avoidance}");
        toy.lost - start_up
    };
    let [first, third] = [CongestionKind::Bbr, CongestionKind::Bbr3].map(lost);
    assert!(3 * third < first, "{third} against {first} bytes");
}

/// The network tells 97 % of the link. The first acknowledgement comes after one RTT of 20 s (0.2
/// %), a share of the loss never arrives, and pacing rounds up to a nanosecond of 124 us: nothing
/// else is missing, and no queue builds up that could lose anything itself.
#[test]
fn brf_sends_what_it_is_told_under_any_loss() {
    for loss in [0.0, 0.02, 0.1] {
        let mut toy = toy(CongestionKind::Brf, SlowStartKind::Standard, loss, 1);
        toy.told = Some(Bandwidth::from_mbit_per_sec(97.0));
        let used = toy.utilisation(secs(20));
        let expected = 0.97 * (1.0 - loss);
        assert!((0.99 * expected..=1.01 * expected).contains(&used), "loss {loss}: {used}");
    }
}

/// Mean window in packets over `seeds` runs of a minute; the first ten seconds do not count. The
/// queue stays empty, so the RTT is 40 ms.
fn mean_window(avoidance: CongestionKind, loss: f64, seeds: u64) -> f64 {
    let run = |seed| {
        let mut toy = toy(avoidance, SlowStartKind::Standard, loss, seed);
        toy.utilisation(secs(10));
        toy.utilisation(secs(60)) * toy.bottleneck.bdp() as f64 / MSS as f64
    };
    (0..seeds).map(run).sum::<f64>() / seeds as f64
}

/// With random loss of probability p, a window that grows `alpha` a round and falls to `beta` has
/// the drift alpha / w - p (1 - beta) w per packet, and is at rest at sqrt(alpha / (p (1 - beta))).
/// Reno: sqrt(2 / p); CUBIC below its cubic region: sqrt((9/17) / (0.3 p)) = sqrt(1.76 / p). With
/// one loss every 1/p packets both have sqrt(1.5 / p) (RFC 9438 section 5.2). Losses of one round
/// count once, discrete packets cost up to one packet of window: the mean is between 0.9 times
/// the smaller and 1.1 times the larger.
#[test]
fn loss_based_controllers_follow_their_response_function() {
    for loss in [0.01, 0.003] {
        for (avoidance, drift) in [(CongestionKind::Reno, 2.0), (CongestionKind::Cubic, 1.76)] {
            let mean = mean_window(avoidance, loss, 5);
            let [low, high] = [1.5f64, drift].map(|k| (k / loss).sqrt());
            assert!(
                (0.9 * low..=1.1 * high).contains(&mean),
                "{avoidance} at {loss}: {mean} not near {low}..{high}"
            );
        }
    }
}

/// What is acknowledged in an RTT is the window below the bandwidth, and the product of bandwidth
/// and RTT above it: a loss takes away no more than the queue, and the window only climbs. Even if
/// the first packet is lost: of a window of w packets (1 - p)^w of the rounds grow it, 0.72 or more
/// at p = 0.001 and below the product of 333. It is there after 18 s, so that of the minute that
/// counts 8 s are used by two thirds. Losses in recovery and the noise of the estimate may cost as
/// much again. Reno rests at sqrt(2 / p) packets (see above), 13 % of the link.
#[test]
fn random_loss_does_not_lower_the_windows_of_the_westwood_family() {
    for avoidance in [CongestionKind::Cabe, CongestionKind::Tustin, CongestionKind::Westwood] {
        let used = mean_window(avoidance, 0.001, 5) * MSS as f64 / bottleneck(0.0).bdp() as f64;
        assert!(used >= 0.9, "{avoidance}: {used}");
    }
}

/// Westwood+ halves for the round of a recovery, and its samples see that: of n = 1 / (p w) rounds
/// one has half of the rate, so that the mean that it returns to is w / (2 n) lower. In between it
/// grows by n - 1, and is at rest below w = (2 / p^2)^(1/3): above Reno's sqrt(2 / p).
#[test]
fn westwood_plus_is_moved_less_than_reno_by_random_loss() {
    let loss = 0.001f64;
    let mean = mean_window(CongestionKind::WestwoodPlus, loss, 5);
    let [low, high] = [(2.0 / loss).sqrt(), (2.0 / (loss * loss)).cbrt()];
    assert!((1.1 * low..=1.1 * high).contains(&mean), "{mean} not between {low} and {high}");
}

/// One subflow alone: RFC 6356 has alpha = 1.
#[test]
fn lia_on_one_path_is_reno() {
    let delivered = |kind| {
        let mut toy = toy(kind, SlowStartKind::Standard, 0.003, 7);
        toy.utilisation(secs(10));
        toy.delivered
    };
    assert_eq!(delivered(CongestionKind::Lia), delivered(CongestionKind::Reno));
}

/// Alone on a path it aims at 10 packets in the queue; a round late it is a few more. Slow start,
/// which sees a queue only a round after it began, may put a BDP of 333 packets there. They leave
/// one by one in as many rounds of at most 80 and at last 40 ms: within 20 s.
#[test]
fn wvegas_keeps_the_link_busy_with_a_short_queue() {
    for slow_start in SlowStartKind::ALL {
        let mut toy = toy(CongestionKind::Wvegas, *slow_start, 0.0, 1);
        toy.utilisation(secs(20));
        let packet = toy.bottleneck.rate.time_to_send(MSS).unwrap();
        let mut used = 0.0;
        for _ in 0..200 {
            used += toy.utilisation(Duration::from_millis(100)) / 200.0;
            let queueing = toy.congestion.rtt(PATH).unwrap().latest().unwrap() - toy.bottleneck.rtt;
            assert!(queueing < 20 * packet, "{slow_start}: {queueing:?}");
        }
        assert!(used >= 0.95, "{slow_start}: {used}");
        assert_eq!(toy.lost, 0, "{slow_start}");
    }
}

/// A bond often leaves a path idle or half used. What is sent at the scheduler's pace must
/// not lower the estimate, and full speed must be back at once: within 1 s, 0.2 s of which may be a
/// ProbeRTT.
#[test]
fn bbr_remembers_the_bandwidth_while_the_scheduler_sends_little() {
    for avoidance in [CongestionKind::Bbr, CongestionKind::Bbr3] {
        let mut toy = toy(avoidance, SlowStartKind::HystartPp, 0.0, 3);
        toy.utilisation(secs(5));
        toy.demand = Some(Bandwidth::from_mbit_per_sec(5.0));
        let used = toy.utilisation(secs(30));
        // What was in flight before, at most the window of two BDP, is delivered too: 80 ms of 30
        // s.
        assert!((0.05..=0.05 + 0.08 / 30.0).contains(&used), "the demand is met: {used}");
        assert!(toy.congestion.delivery_rate(PATH) >= 0.9 * 12.5e6);
        assert!(toy.congestion.pacing_rate(PATH).unwrap().mbit_per_sec() >= 70.0);
        toy.demand = None;
        let used = toy.utilisation(secs(1));
        assert!(used >= 0.7, "{used}");
    }
}

/// With an RTT of 2 ms a ProbeRTT of 200 ms lasts a hundred rounds, ten times what the bandwidth
/// filter remembers: its samples must not count. A BDP is 17 packets, four of which are in flight
/// meanwhile; three probes in 32 s cost 2 %.
#[test]
fn bbr_does_not_forget_the_bandwidth_while_it_measures_the_rtt() {
    for avoidance in [CongestionKind::Bbr, CongestionKind::Bbr3] {
        let mut toy = toy(avoidance, SlowStartKind::HystartPp, 0.0, 3);
        toy.bottleneck.rtt = Duration::from_millis(2);
        let mut least = f64::INFINITY;
        toy.utilisation(secs(2));
        for _ in 0..300 {
            toy.utilisation(Duration::from_millis(100));
            least = least.min(toy.congestion.delivery_rate(PATH));
        }
        assert!(least >= 0.9 * 12.5e6, "{least} bytes/s");
    }
}

/// The capacity falls to a tenth: after 10 rounds the old maximum is forgotten. The old
/// window of two BDP is a queue of 20 new ones, so that a round first lasts up to 40 ms * 20.
#[test]
fn bbr_follows_a_falling_capacity() {
    for avoidance in [CongestionKind::Bbr, CongestionKind::Bbr3] {
        let mut toy = toy(avoidance, SlowStartKind::HystartPp, 0.0, 3);
        toy.utilisation(secs(5));
        toy.bottleneck.rate = Bandwidth::from_mbit_per_sec(10.0);
        toy.utilisation(secs(10));
        let pacing = toy.congestion.pacing_rate(PATH).unwrap().mbit_per_sec();
        assert!((7.0..=13.0).contains(&pacing), "{pacing}");
        let used = toy.utilisation(secs(10));
        assert!(used >= 0.9, "{used}");
    }
}

/// With a queue of four BDP, doubling until loss puts five more BDP on the path than fit; a rise of
/// the RTT by 5 ms, an eighth of a BDP in the queue, slows growth to a quarter in a round, so that
/// a quarter as much is lost. Twice that is allowed.
#[test]
fn hystart_pp_overshoots_less() {
    let lost = |slow_start| {
        let mut toy = toy(CongestionKind::Reno, slow_start, 0.0, 1);
        toy.bottleneck.queue *= 4;
        toy.utilisation(secs(3));
        toy.lost
    };
    let [standard, hystart] = [SlowStartKind::Standard, SlowStartKind::HystartPp].map(lost);
    assert!(hystart * 2 < standard, "{hystart} against {standard} bytes");
}

/// ACK trains tell BESS the product of 333 packets. Slow start ends when that much is in flight, or
/// with the eighth ACK of the round, 16 packets later: between 0.98 and 1.06 products with 1 % for
/// the time that a packet takes. The queue of four products does not overflow then, and avoidance,
/// with a segment in a round, takes longer than 3 s to make it.
#[test]
fn bess_leaves_before_anything_is_lost() {
    for avoidance in [CongestionKind::Reno, CongestionKind::Lia, CongestionKind::Cabe] {
        let mut toy = toy(avoidance, SlowStartKind::Bess, 0.0, 1);
        toy.bottleneck.queue *= 4;
        let used = toy.utilisation(secs(3));
        let left_at = toy.congestion.ssthresh(PATH).unwrap() as f64 / toy.bottleneck.bdp() as f64;
        assert!((0.98..=1.06).contains(&left_at), "{avoidance}: {left_at}");
        // Five rounds of 75 go by before the window has doubled to the product.
        assert!(used >= 0.9 && toy.lost == 0, "{avoidance}: {used}, {} lost", toy.lost);
    }
}

/// The bottleneck falls silent: everything in flight is lost, the timer doubles, and transmission
/// resumes when the path does. Up to one doubled timer of about 3 s passes before the next try,
/// then slow start. wVegas, whose queue was short, starts from half a BDP of 333 packets and grows
/// by one in a round of 40 ms: it takes 7 s more.
#[test]
fn every_controller_survives_an_outage() {
    for &avoidance in CongestionKind::ALL {
        let mut toy = toy(avoidance, SlowStartKind::HystartPp, 0.0, 1);
        toy.utilisation(secs(5));
        toy.bottleneck.loss = 1.0;
        assert!(toy.utilisation(secs(3)) < 0.05);
        toy.bottleneck.loss = 0.0;
        toy.utilisation(secs(if avoidance == CongestionKind::Wvegas { 12 } else { 5 }));
        let used = toy.utilisation(secs(5));
        assert!(used >= 0.9, "{avoidance}: {used}");
    }
}
