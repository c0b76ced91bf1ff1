//! Retransmission on the radio layer, seen through a link.

use core::num::NonZeroU32;
use polypath_link::{Blackout, Link, LinkConfig, Loss, QueueLimit, Recovery};
use polypath_units::{Bandwidth, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;

/// 12 Mbit/s: packet n of 1500 bytes sets out at n + 1 ms.
fn config(recovery: Option<Recovery>) -> LinkConfig {
    let rate = Bandwidth::from_mbit_per_sec(12.0);
    let queue = QueueLimit::Packets(1_000_000).into();
    LinkConfig { queue, recovery, reorder: true, ..LinkConfig::new(rate, Duration::ZERO) }
}

/// When each of `count` packets sent at time zero arrives.
fn arrivals(config: LinkConfig, count: u32) -> BTreeMap<u32, Timestamp> {
    let mut link = Link::<u32>::new(config, 5).unwrap();
    for number in 0..count {
        link.send(Timestamp::ZERO, 1500, number);
    }
    let mut arrivals = BTreeMap::new();
    while let Some(at) = link.next_event() {
        arrivals.extend(core::iter::from_fn(|| link.poll(at)).map(|number| (number, at)));
    }
    arrivals
}

fn departure(number: u32) -> Timestamp {
    Timestamp::from_millis(u64::from(number) + 1)
}

const COUNT: u32 = 200_000;

/// Of N packets, those with k failures are binomial with p_0 = 1 - b and p_k = b r^(k-1) (1 - r):
/// within 4 sqrt(N p (1 - p)) for each k up to 5 (N p_5 = 25 at least), and none is lost.
#[test]
fn delays_follow_the_closed_form() {
    for (block_error, retransmission_error) in [(0.1, 0.2), (0.3, 0.3), (0.02, 0.5)] {
        let recovery =
            Recovery { block_error, retransmission_error, in_order: false, ..Recovery::nr() };
        let mut counts = BTreeMap::<_, u32>::new();
        for (number, at) in arrivals(config(Some(recovery)), COUNT) {
            *counts.entry(at.since(departure(number))).or_default() += 1;
        }
        assert_eq!(counts.values().sum::<u32>(), COUNT);
        let count = f64::from(COUNT);
        for failures in 0..=5_u32 {
            let share = match failures {
                0 => 1.0 - block_error,
                _ => {
                    let before = retransmission_error.powf(f64::from(failures) - 1.0);
                    block_error * before * (1.0 - retransmission_error)
                }
            };
            // 4 ms each, and 20 ms for the fourth.
            let millis = [0, 4, 8, 12, 32, 36][failures as usize];
            let seen = counts.get(&Duration::from_millis(millis)).copied().unwrap_or(0);
            let bound = 4.0 * (count * share * (1.0 - share)).sqrt();
            let off = f64::from(seen) - count * share;
            assert!(off.abs() < bound, "{failures} failures: {seen}, off by {off} of {bound}");
        }
    }
}

/// The mean delay with HARQ alone is harq_rtt x E[K]. K has a variance of E[K(K-1)] + E[K] -
/// E[K]^2 with E[K(K-1)] = 2 b r / (1 - r)^2; four standard errors are allowed.
#[test]
fn the_mean_delay_is_that_of_the_mean_failures() {
    let harq_transmissions = NonZeroU32::MAX;
    let recovery = Recovery { harq_transmissions, in_order: false, ..Recovery::lte() };
    let (b, r) = (recovery.block_error, recovery.retransmission_error);
    let delays = arrivals(config(Some(recovery)), COUNT).into_iter();
    let delays = delays.map(|(number, at)| at.since(departure(number)).as_secs_f64() / 8e-3);
    let mean = delays.sum::<f64>() / f64::from(COUNT);
    let expected = recovery.mean_failures();
    assert!((expected - 1.0 / 9.0).abs() < 1e-15);
    let variance = 2.0 * b * r / (1.0 - r).powi(2) + expected - expected * expected;
    let bound = 4.0 * (variance / f64::from(COUNT)).sqrt();
    assert!((mean - expected).abs() < bound, "{mean} instead of {expected}, {bound} allowed");
}

/// Head-of-line blocking: each packet arrives with the latest of all up to it.
#[test]
fn in_order_packets_wait_for_those_before_them() {
    let recovery = Recovery::lte();
    let free = arrivals(config(Some(Recovery { in_order: false, ..recovery })), 10_000);
    let waiting = arrivals(config(Some(recovery)), 10_000);
    let latest = free.values().scan(Timestamp::ZERO, |latest, &at| {
        *latest = at.max(*latest);
        Some(*latest)
    });
    assert!(waiting.values().copied().eq(latest));
    assert!(waiting.iter().filter(|(number, at)| free[number] < **at).count() > 1000);
    // A line in order does the same to packets that recovery hands on without order.
    let unordered = Some(Recovery { in_order: false, ..recovery });
    let line = LinkConfig { reorder: false, ..config(unordered) };
    assert_eq!(arrivals(line, 10_000), waiting);
}

/// What jitter and loss draw does not depend on recovery: the same packets are lost, and delays
/// are the sum of both.
#[test]
fn recovery_has_random_numbers_of_its_own() {
    let with = |recovery| {
        let (loss, jitter) = (Loss::Bernoulli(0.3), Duration::from_millis(2));
        let delay = Duration::from_millis(10);
        arrivals(LinkConfig { loss, jitter, delay, ..config(recovery) }, 1000)
    };
    let once = Recovery { block_error: 1.0, retransmission_error: 0.0, ..Recovery::nr() };
    let later = with(None).into_iter().map(|(n, at)| (n, at + Duration::from_millis(4)));
    assert_eq!(with(Some(once)), later.collect());
    let never = Recovery { block_error: 0.0, ..once };
    assert_eq!(with(Some(never)), with(None));
}

/// Each packet fails once and takes 4 ms more. Packet 0 would be received at 5 ms: the outage at 4
/// ms takes it, and packet 1, sent at 10 ms, does not wait for it.
#[test]
fn an_outage_ends_recovery() {
    let recovery = Recovery { block_error: 1.0, retransmission_error: 0.0, ..Recovery::nr() };
    let ms = Timestamp::from_millis;
    let blackouts = vec![Blackout { from: ms(4), to: ms(5) }];
    let mut link = Link::<u32>::new(LinkConfig { blackouts, ..config(Some(recovery)) }, 5).unwrap();
    link.send(ms(0), 1500, 0);
    link.send(ms(10), 1500, 1);
    assert_eq!(link.poll(Timestamp::from_micros(14_999)), None);
    assert_eq!((link.poll(ms(15)), link.poll(ms(15))), (Some(1), None));
    assert_eq!(link.counters().dropped.blackout.packets, 1);

    // Even one that would have been received after packet 1 is.
    let slow = Recovery { harq_rtt: Duration::from_secs(1), ..recovery };
    let mut link = Link::<u32>::new(config(Some(slow)), 5).unwrap();
    link.send(ms(0), 1500, 0);
    link.set_down(ms(4), true);
    link.set_down(ms(5), false);
    link.set_config(ms(5), config(Some(recovery))).unwrap();
    link.send(ms(10), 1500, 1);
    assert_eq!((link.poll(ms(15)), link.poll(ms(15))), (Some(1), None));
}
