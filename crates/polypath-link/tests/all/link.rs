//! What a link does, case by case.

use core::num::NonZeroU64;
use polypath_link::{
    Blackout, Counters, DropReason, Link, LinkConfig, Loss, QueueLimit, Rate, Recovery,
    SendOutcome, Sojourn, Tally, Trace,
};
use polypath_units::{Bandwidth, Timestamp};
use std::sync::Arc;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn ms(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn us(micros: u64) -> Timestamp {
    Timestamp::from_micros(micros)
}

/// 12 Mbit/s: a packet of 1500 bytes takes 1 ms.
fn config(delay: Duration) -> LinkConfig {
    let queue = QueueLimit::Packets(1000).into();
    LinkConfig { queue, ..LinkConfig::new(Bandwidth::from_mbit_per_sec(12.0), delay) }
}

fn link(config: LinkConfig) -> Link<u32> {
    Link::new(config, 7).unwrap()
}

/// Sends packets 0 to `count` - 1 of 1500 bytes at time zero.
fn fill(link: &mut Link<u32>, count: u32) {
    (0..count).for_each(|n| assert_eq!(link.send(ms(0), 1500, n), SendOutcome::Queued));
}

/// Everything that comes out, with its time, in the order of `next_event`.
fn arrivals(link: &mut Link<u32>) -> Vec<(Timestamp, u32)> {
    let mut all = Vec::new();
    while let Some(at) = link.next_event() {
        all.extend(std::iter::from_fn(|| link.poll(at)).map(|packet| (at, packet)));
    }
    all
}

fn packets(tally: Tally) -> u64 {
    tally.packets
}

#[test]
fn packets_leave_one_after_the_other_at_the_rate() {
    let mut link = link(config(5 * MS));
    for n in 0..3 {
        assert_eq!(link.send(ms(10), 1500, n), SendOutcome::Queued);
    }
    assert_eq!(arrivals(&mut link), [(ms(16), 0), (ms(17), 1), (ms(18), 2)]);
}

/// Served by 1, 2 and 3 ms after their entry; the second is lost on the line, the third is cut from
/// it, the fourth never leaves the queue.
#[test]
fn sojourn_times_are_those_of_all_packets_served() {
    let loss = Loss::Periodic { every: NonZeroU64::new(2).unwrap() };
    let mut link = link(LinkConfig { loss, ..config(100 * MS) });
    fill(&mut link, 4);
    assert_eq!(link.counters().served, Sojourn::default());
    link.poll(us(1_500));
    let first = link.counters().served;
    assert_eq!(first, Sojourn { packets: 1, total_ns: 1_000_000 });
    link.set_down(us(3_500), true);
    let all = link.counters().served;
    assert_eq!(all, Sojourn { packets: 3, total_ns: 6_000_000 });
    assert_eq!(all.mean_since(first), Some(Duration::from_micros(2_500)));
    assert_eq!(all.mean_since(all), None);
}

#[test]
fn a_late_call_learns_when_packets_arrived() {
    let mut link = link(config(5 * MS));
    fill(&mut link, 3);
    let late: Vec<_> = std::iter::from_fn(|| link.poll_due(ms(7))).collect();
    assert_eq!(late, [(ms(6), 0), (ms(7), 1)]);
    assert_eq!(link.poll_due(ms(100)), Some((ms(8), 2)));
    assert_eq!(link.counters().delivered, Tally { packets: 3, bytes: 4500 });
}

/// A third of a nanosecond more or less for each packet would add up to 0.1 ms in 300 000.
#[test]
fn the_rate_is_exact_over_many_packets() {
    let rate = Bandwidth::from_mbit_per_sec(300.0);
    let queue = QueueLimit::Packets(300_000).into();
    let mut link = link(LinkConfig { queue, ..LinkConfig::new(rate, Duration::ZERO) });
    for n in 0..300_000 {
        link.send(Timestamp::ZERO, 1400, n);
    }
    let last = arrivals(&mut link).pop().unwrap();
    assert_eq!(last, (Timestamp::ZERO + rate.time_to_send(300_000 * 1400).unwrap(), 299_999));
}

#[test]
fn the_queue_drops_what_does_not_fit_behind_the_packet_in_service() {
    let limits = [
        (QueueLimit::Packets(2), 3),
        (QueueLimit::Packets(0), 1),
        (QueueLimit::Bytes(4499), 3),
        (QueueLimit::Bytes(4500), 4),
        // 12 Mbit/s x (2 x 5 ms) = 15 000 B; with the round-trip time given: 6000 B.
        (QueueLimit::Bdp { multiple: 1.0, rtt: None }, 11),
        (QueueLimit::Bdp { multiple: 0.5, rtt: None }, 6),
        (QueueLimit::Bdp { multiple: 1.0, rtt: Some(Duration::from_millis(4)) }, 5),
    ];
    for (queue, taken) in limits {
        let mut link = link(LinkConfig { queue: queue.into(), ..config(5 * MS) });
        let outcomes: Vec<_> = (0..20).map(|n| link.send(ms(0), 1500, n)).collect();
        let full = SendOutcome::Dropped(DropReason::QueueFull);
        assert_eq!(outcomes.iter().position(|&outcome| outcome == full), Some(taken), "{queue:?}");
        assert_eq!(packets(link.counters().dropped.queue_full), 20 - taken as u64, "{queue:?}");
        // One packet has left after 1 ms and makes room for one.
        assert_eq!(link.send(ms(1), 1500, 99), SendOutcome::Queued, "{queue:?}");
    }
}

#[test]
fn packets_above_the_mtu_are_dropped() {
    let mut link = link(LinkConfig { mtu: Some(1400), ..config(MS) });
    assert_eq!(link.send(ms(0), 1401, 0), SendOutcome::Dropped(DropReason::Mtu));
    assert_eq!(link.send(ms(0), 1400, 1), SendOutcome::Queued);
    assert_eq!(link.counters().dropped.mtu, Tally { packets: 1, bytes: 1401 });
}

#[test]
fn a_change_of_rate_keeps_the_progress_of_the_packet_in_service() {
    let mut link = link(config(Duration::ZERO));
    link.send(ms(0), 1500, 0);
    link.send(ms(0), 1500, 1);
    // Half done, then a tenth of the rate: 0.5 ms + 5 ms, then 10 ms.
    link.set_rate(us(500), Bandwidth::from_mbit_per_sec(1.2)).unwrap();
    assert_eq!(link.next_event(), Some(us(5_500)));
    assert_eq!(arrivals(&mut link), [(us(5_500), 0), (us(15_500), 1)]);
}

#[test]
fn a_shorter_delay_does_not_reorder() {
    let mut link = link(config(20 * MS));
    link.send(ms(0), 1500, 0);
    link.set_config(ms(2), config(MS)).unwrap();
    link.send(ms(2), 1500, 1);
    assert_eq!(arrivals(&mut link), [(ms(21), 0), (ms(21), 1)]);
}

/// Opportunities at 2, 2 and 5 ms, then again from 5 ms on (7, 7, 10).
#[test]
fn a_trace_serves_one_mtu_each_time_and_wastes_what_nobody_uses() {
    let trace = Arc::new(Trace::from_millis(vec![2, 2, 5]).unwrap());
    let rate = Rate::Trace { trace, repeat: true };
    let mut link = link(LinkConfig { rate, ..config(Duration::ZERO) });
    // 1000 + 1000 + 1000 B in the two opportunities at 2 ms; 2000 B span those at 5 and 7 ms, of
    // which 1000 B remain; at 7 ms a second one: 600 B fit in there; the rest is wasted.
    for (n, size) in [1000, 1000, 1000, 2000, 600].into_iter().enumerate() {
        link.send(ms(0), size, n as u32);
    }
    let expected = [(ms(2), 0), (ms(2), 1), (ms(2), 2), (ms(7), 3), (ms(7), 4)];
    assert_eq!(arrivals(&mut link), expected);
    link.send(ms(7), 1500, 5);
    assert_eq!(arrivals(&mut link), [(ms(10), 5)]);
}

#[test]
fn a_trace_that_does_not_repeat_stands_still_at_its_end() {
    let trace = Arc::new(Trace::from_millis(vec![1, 2]).unwrap());
    let rate = Rate::Trace { trace, repeat: false };
    let mut link = link(LinkConfig { rate, ..config(Duration::ZERO) });
    fill(&mut link, 3);
    assert_eq!(arrivals(&mut link), [(ms(1), 0), (ms(2), 1)]);
    assert_eq!((link.poll(ms(1_000_000)), packets(link.counters().waiting)), (None, 1));
}

/// Packets 0..4 are sent at 0 ms, served for 1 ms each and 2 ms under way: due at 3, 4, 5, 6 ms.
#[test]
fn a_blackout_takes_what_is_queued_in_flight_or_entering() {
    let blackouts = vec![Blackout { from: ms(4), to: ms(8) }];
    let mut link = link(LinkConfig { blackouts, ..config(2 * MS) });
    fill(&mut link, 4);
    assert_eq!(link.send(us(3_999), 1500, 4), SendOutcome::Queued);
    for at in [ms(4), us(7_999)] {
        assert_eq!(link.send(at, 1500, 5), SendOutcome::Dropped(DropReason::Blackout));
        assert!(link.is_down());
    }
    assert_eq!(link.send(ms(8), 1500, 6), SendOutcome::Queued);
    // Packet 0 was due before 4 ms and has arrived although the link was not polled; packet 1, due
    // at 4 ms, has not.
    let taken: Vec<_> = std::iter::from_fn(|| link.poll(ms(20))).collect();
    assert_eq!(taken, [0, 6]);
    assert_eq!(packets(link.counters().dropped.blackout), 6);
}

#[test]
fn overlapping_blackouts_in_any_order_are_one() {
    let window = |from, to| Blackout { from: ms(from), to: ms(to) };
    let blackouts = vec![window(20, 30), window(12, 16), window(10, 15)];
    let mut link = link(LinkConfig { blackouts, ..config(Duration::ZERO) });
    let down: Vec<_> = (8..32)
        .filter(|&at| link.send(ms(at), 1, 0) == SendOutcome::Dropped(DropReason::Blackout))
        .collect();
    assert_eq!(down, (10..16).chain(20..30).collect::<Vec<_>>());
}

#[test]
fn switching_off_is_a_blackout_that_starts_now() {
    let mut link = link(config(2 * MS));
    fill(&mut link, 4);
    link.set_down(ms(4), true);
    assert_eq!(link.send(ms(5), 1500, 9), SendOutcome::Dropped(DropReason::Blackout));
    assert_eq!(std::iter::from_fn(|| link.poll(ms(9))).collect::<Vec<_>>(), [0]);
    link.set_down(ms(10), false);
    link.send(ms(10), 1500, 10);
    assert_eq!(arrivals(&mut link), [(ms(13), 10)]);
}

#[test]
fn switching_on_does_not_end_a_scripted_blackout() {
    let blackouts = vec![Blackout { from: ms(1), to: ms(5) }];
    let mut link = link(LinkConfig { blackouts, ..config(MS) });
    link.set_down(ms(2), true);
    link.set_down(ms(3), false);
    assert_eq!(link.send(ms(4), 1, 0), SendOutcome::Dropped(DropReason::Blackout));
    assert_eq!(link.send(ms(5), 1, 0), SendOutcome::Queued);
}

#[test]
fn new_blackouts_replace_the_old_ones() {
    let mut link = link(config(Duration::ZERO));
    link.send(ms(0), 1500, 0);
    let open = vec![Blackout { from: ms(0), to: ms(3) }, Blackout { from: ms(5), to: ms(6) }];
    link.set_config(us(500), LinkConfig { blackouts: open, ..config(Duration::ZERO) }).unwrap();
    assert!(link.is_down());
    assert_eq!(packets(link.counters().dropped.blackout), 1);
    link.set_config(ms(1), config(Duration::ZERO)).unwrap();
    assert!(!link.is_down());
    link.send(ms(1), 1500, 1);
    assert_eq!(arrivals(&mut link), [(ms(2), 1)]);
}

fn lost_of(loss: Loss, packets: u32) -> Vec<bool> {
    let rate = Bandwidth::from_bits_per_sec(u64::MAX);
    let mut link = link(LinkConfig { loss, ..LinkConfig::new(rate, Duration::ZERO) });
    let mut lost = Vec::new();
    for n in 0..packets {
        let at = us(u64::from(n));
        link.send(at, 1, n);
        lost.push(link.poll(at + Duration::from_nanos(1)).is_none());
    }
    lost
}

/// The number lost is binomial: n p = 20 000, standard deviation sqrt(n p q) = 126.5. Five of
/// them are 633; a fixed seed makes the outcome the same for ever.
#[test]
fn bernoulli_loss_has_its_probability() {
    let lost = lost_of(Loss::Bernoulli(0.2), 100_000).into_iter().filter(|&lost| lost).count();
    assert!((20_000 - 633..=20_000 + 633).contains(&lost), "{lost}");
    assert!(lost_of(Loss::Bernoulli(1.0), 1000).into_iter().all(|lost| lost));
    assert!(!lost_of(Loss::Bernoulli(0.0), 1000).into_iter().any(|lost| lost));
}

/// With loss only in the bad state, bursts are geometric of mean 1 / bad_to_good = 5 packets, and
/// gaps of mean 1 / good_to_bad = 45: a period of 50 packets, 4000 bursts in 200 000 packets.
/// The period has variance (1 - r) / r^2 + (1 - p) / p^2 = 20 + 1980 = 2000, so the number of
/// bursts has standard deviation sqrt(200 000 x 2000 / 50^3) = 56.6: five are 283. The mean burst
/// has sqrt(20 / 4000) = 0.071: five are 0.354.
#[test]
fn gilbert_elliott_loss_comes_in_bursts() {
    let (good_to_bad, bad_to_good) = (1.0 / 45.0, 0.2);
    let loss = Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good: 0.0, loss_bad: 1.0 };
    assert!((loss.mean() - 0.1).abs() < 1e-12);
    let lost = lost_of(loss, 200_000);
    let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count();
    let mean = lost.iter().filter(|&&lost| lost).count() as f64 / bursts as f64;
    assert!((4000 - 283..=4000 + 283).contains(&bursts), "{bursts}");
    assert!((mean - 5.0).abs() < 0.354, "{mean}");
}

#[test]
fn periodic_loss_takes_every_nth_packet() {
    let loss = Loss::Periodic { every: NonZeroU64::new(4).unwrap() };
    assert_eq!(loss.mean(), 0.25);
    let lost = lost_of(loss, 10);
    let numbers: Vec<_> = (1..).zip(lost).filter_map(|(n, lost)| lost.then_some(n)).collect();
    assert_eq!(numbers, [4, 8]);
    let all = Loss::Periodic { every: NonZeroU64::MIN };
    assert!(lost_of(all, 10).into_iter().all(|lost| lost));
}

#[test]
fn a_lost_packet_has_used_the_rate() {
    let mut link = link(LinkConfig { loss: Loss::Bernoulli(1.0), ..config(Duration::ZERO) });
    link.send(ms(0), 1500, 0);
    link.send(ms(0), 1500, 1);
    link.set_config(us(1_500), config(Duration::ZERO)).unwrap();
    assert_eq!(arrivals(&mut link), [(ms(2), 1)]);
}

fn with_jitter(reorder: bool, seed: u64) -> Vec<(Timestamp, u32)> {
    let config = LinkConfig { jitter: 5 * MS, reorder, ..config(20 * MS) };
    let mut link = Link::new(config, seed).unwrap();
    fill(&mut link, 500);
    arrivals(&mut link)
}

#[test]
fn jitter_stays_within_bounds_and_reorders_only_on_request() {
    for reorder in [false, true] {
        let arrivals = with_jitter(reorder, 7);
        let sorted = arrivals.windows(2).all(|pair| pair[0].1 < pair[1].1);
        assert_eq!((arrivals.len(), sorted), (500, !reorder));
        for (at, n) in arrivals {
            let departure = ms(u64::from(n) + 1);
            let delay = at.since(departure);
            // Waiting for the one before cannot exceed that one's own longest delay.
            assert!((15 * MS..=25 * MS).contains(&delay), "packet {n}: {delay:?}");
        }
    }
}

#[test]
fn equal_seeds_give_equal_runs() {
    assert_eq!(with_jitter(true, 7), with_jitter(true, 7));
    assert_ne!(with_jitter(true, 7), with_jitter(true, 8));
}

#[test]
fn losses_do_not_depend_on_jitter() {
    let survivors = |jitter| {
        let loss = Loss::Bernoulli(0.5);
        let mut link = link(LinkConfig { jitter, loss, ..config(20 * MS) });
        fill(&mut link, 200);
        arrivals(&mut link).into_iter().map(|(_, n)| n).collect::<Vec<_>>()
    };
    assert_eq!(survivors(Duration::ZERO), survivors(MS));
}

#[test]
fn settings_that_make_no_sense_are_refused_and_change_nothing() {
    let mut link = link(config(MS));
    let good = config(MS);
    let rate = |steps: &[u64]| Rate::Schedule {
        initial: Bandwidth::ZERO,
        steps: steps
            .iter()
            .map(|&at| polypath_link::RateStep { at: ms(at), rate: Bandwidth::ZERO })
            .collect(),
    };
    let bad = [
        LinkConfig { loss: Loss::Bernoulli(1.5), ..good.clone() },
        LinkConfig { loss: Loss::Bernoulli(f64::NAN), ..good.clone() },
        LinkConfig {
            recovery: Some(Recovery { block_error: 1.1, ..Recovery::nr() }),
            ..good.clone()
        },
        LinkConfig {
            recovery: Some(Recovery { retransmission_error: 1.0, ..Recovery::nr() }),
            ..good.clone()
        },
        LinkConfig { queue: QueueLimit::Bdp { multiple: -1.0, rtt: None }.into(), ..good.clone() },
        LinkConfig { blackouts: vec![Blackout { from: ms(2), to: ms(2) }], ..good.clone() },
        LinkConfig { rate: rate(&[2, 2]), ..good.clone() },
    ];
    for config in bad {
        let error = link.set_config(ms(1), config.clone()).unwrap_err();
        let on_creation = Link::<u32>::new(config, 0).unwrap_err();
        assert_eq!(on_creation.to_string(), error.to_string());
        assert_eq!(link.config(), &good);
    }
    assert_eq!(link.counters(), Counters::default());
}

#[test]
fn the_largest_settings_do_not_overflow() {
    let rate = Bandwidth::from_bits_per_sec(u64::MAX);
    let queue = QueueLimit::Bdp { multiple: f64::MAX, rtt: None }.into();
    let config =
        LinkConfig { queue, jitter: Duration::MAX, ..LinkConfig::new(rate, Duration::MAX) };
    let mut link = link(config);
    assert_eq!(link.send(ms(0), u32::MAX, 0), SendOutcome::Queued);
    assert_eq!(link.send(ms(0), u32::MAX, 1), SendOutcome::Queued);
    assert_eq!(link.poll(ms(1_000_000)), None);
    assert_eq!(packets(link.counters().propagating), 2);
}

/// A packet leaves the queue each millisecond, and nothing arrives for 50 ms: the counters are out
/// of date until the link is polled.
#[test]
fn the_counters_can_be_read_without_a_poll() {
    let mut link = link(config(50 * MS));
    fill(&mut link, 10);
    let before = link.counters();
    let later = link.counters_at(us(4_500));
    assert_eq!((packets(later.waiting), packets(later.propagating)), (6, 4));
    assert_eq!(link.counters(), before);
    assert_eq!(link.poll(us(4_500)), None);
    assert_eq!(link.counters(), later);
}
