//! Queue disciplines against theory and their documents.

use crate::common::{Dice, ENDLESS, MS, Probe, arrivals, link, mbit, send};
use polypath_link::{
    CoDelConfig, DropReason, FqCoDelConfig, Link, LinkConfig, PeakRate, PriorityConfig,
    QueueConfig, QueueLimit, RedConfig, RedThresholds, SendOutcome, TokenBucketConfig,
};
use polypath_units::{Bandwidth, Timestamp, millis};
use std::time::Duration;

/// At 12 Mbit/s a packet of 1500 bytes takes 1 ms.
const PACKET: u32 = 1500;

fn ms(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn slow_link(queue: impl Into<QueueConfig>) -> Link<Probe> {
    link(mbit(12.0), queue)
}

/// Packets at a fixed distance, from time zero.
fn regular(every: Duration, count: u64, flow: u64) -> impl Iterator<Item = (Timestamp, Probe)> {
    (0..count).map(move |n| {
        let class = flow as u8;
        let at = Timestamp::ZERO + Duration::from_nanos(every.as_nanos() as u64 * n);
        (at, Probe { flow, class, ..Probe::new(n, PACKET) })
    })
}

/// Sends all in the order of their times and returns what came out by the last time.
fn run(
    link: &mut Link<Probe>,
    sends: impl IntoIterator<Item = (Timestamp, Probe)>,
) -> Vec<(Timestamp, Probe)> {
    let mut sends: Vec<_> = sends.into_iter().collect();
    sends.sort_by_key(|&(at, _)| at);
    let mut taken = Vec::new();
    for (at, probe) in sends {
        taken.extend(arrivals(link, at));
        send(link, at, probe);
    }
    taken
}

fn of_flow(taken: &[(Timestamp, Probe)], flow: u64) -> Vec<(Timestamp, Probe)> {
    taken.iter().copied().filter(|(_, probe)| probe.flow == flow).collect()
}

/// The mean wait before service of packets that come at random, in service times.
fn mean_wait_of_poisson_arrivals(load: f64, packets: u64) -> f64 {
    let (mut link, mut dice, mut now) = (slow_link(ENDLESS), Dice(1), Timestamp::ZERO);
    let (mut wait, mut count) = (0.0, 0_u64);
    for n in 0..packets {
        now += dice.exponential(MS.div_f64(load));
        for (at, probe) in arrivals(&mut link, now) {
            wait += (at.since(probe.sent) - MS).as_secs_f64() / 1e-3;
            count += 1;
        }
        send(&mut link, now, Probe::new(n, PACKET));
    }
    wait / count as f64
}

/// M/D/1: Pollaczek-Khinchine gives rho / (2 (1 - rho)) service times.
///
/// The variance of the mean of n waits in M/M/1, which is larger than that of M/D/1, tends to
/// rho (2 + 5 rho - 4 rho^2 + rho^3) / ((1 - rho)^4 n) squared service times (Daley 1968). For
/// n = 5 million that is a standard deviation of 0.0016 of 0.5 at rho = 0.5, and of 0.0082 of 1.17
/// at rho = 0.7: 2 % are 6 and 3 of them at least.
#[test]
fn a_fifo_has_the_delay_of_an_m_d_1_queue() {
    for load in [0.5, 0.7] {
        let expected = load / (2.0 * (1.0 - load));
        let measured = mean_wait_of_poisson_arrivals(load, 5_000_000);
        assert!((measured / expected - 1.0).abs() < 0.02, "{load}: {measured}, not {expected}");
    }
}

/// 11 packets come for 10 that are served, so 1 in 11 must be dropped. With gaps between drops
/// uniform in 1 to 1 / p_b - 1, that takes p_b = 1 / 22, which the average queue 50 + 100 p_b / 0.1
/// = 95.5 gives.
///
/// Noise: gaps have variance (21^2 - 1) / 12, so drops vary by 36.7 / 11^3 = 0.028 for each packet,
/// and 1 packet too many raises the drop rate by 2 x 0.1 / 100 = 0.002: the queue varies by about
/// 0.028 / (2 x 0.002), times two as the average lags: 14, over times of 1 / 0.002 = 500
/// packets. The mean over 500 000 has a standard deviation of sqrt(14 x 2 x 500 / 500 000) = 0.17.
/// The packet in service adds 0.5 +- 0.05. 1 % are 5 standard deviations.
#[test]
fn red_settles_where_its_drop_probability_balances_the_overload() {
    let red = RedConfig {
        thresholds: RedThresholds::Packets { min: 50, max: 150 },
        limit: ENDLESS,
        ..RedConfig::default()
    };
    let mut link = slow_link(red);
    let taken = run(&mut link, regular(MS * 10 / 11, 550_000, 0));
    let settled = &taken[50_000..];
    let waits = settled.iter().map(|(at, probe)| millis(at.since(probe.sent) - MS));
    let mean = waits.sum::<f64>() / settled.len() as f64 - 0.5;
    let expected = 50.0 + 100.0 / 0.1 / 22.0;
    assert!((mean / expected - 1.0).abs() < 0.01, "{mean}, not {expected}");
    let counters = link.counters();
    assert_eq!(counters.dropped.total(), counters.dropped.aqm);
}

/// The link stands still, and with weight 1 the average is the queue: how many RED lets in, and how
/// many of them with a mark.
fn fill_red(gentle: bool, ecn: bool) -> (u64, u64) {
    let thresholds = RedThresholds::Packets { min: 5, max: 15 };
    let red = RedConfig { thresholds, weight: 1.0, gentle, ecn, ..RedConfig::default() };
    let mut link = link(Bandwidth::ZERO, red);
    for n in 0..2_000 {
        send(&mut link, ms(0), Probe { ecn: true, ..Probe::new(n, PACKET) });
    }
    // One packet is in service.
    (link.counters().waiting.packets - 1, link.counters().marked.packets)
}

/// Drops are certain from p_b = 1/2 on, where the uniform gaps are of one packet. The gentle rise
/// 0.1 + 0.9 (average / 15 - 1) is there above 21 packets. A mark lets a packet pass until it
/// reaches 1, at 30.
#[test]
fn red_stops_at_a_certain_drop() {
    assert_eq!(fill_red(false, false), (15, 0));
    assert_eq!(fill_red(true, false), (22, 0));
    let (waiting, marked) = fill_red(true, true);
    assert_eq!(waiting, 30);
    // Certain from 22 packets on.
    assert!((8..=30 - 5).contains(&marked), "{marked}");
}

/// All packets are there at time zero and the first one is in service. The delay reaches the
/// target of 5 ms with the packet that is served from 5 ms on; an interval later the first one is
/// dropped, and the distances from then on are interval / sqrt(count), seen at the next beginning
/// of a service.
fn control_law_times(drops: usize) -> Vec<u64> {
    let mut at = 105.0;
    let mut times = vec![105];
    for count in 1..drops {
        at += 100.0 / (count as f64).sqrt();
        times.push(at.ceil() as u64);
    }
    times
}

fn codel_drop_times(ecn: bool) -> (Vec<u64>, Link<Probe>) {
    let mut link = slow_link(CoDelConfig { limit: ENDLESS, ecn, ..CoDelConfig::default() });
    for n in 0..10_000 {
        send(&mut link, ms(0), Probe { ecn, ..Probe::new(n, PACKET) });
    }
    let (mut times, mut before) = (Vec::new(), 0);
    for at in 0..3_000 {
        link.poll(ms(at));
        while link.poll(ms(at)).is_some() {}
        let counters = link.counters();
        let now = counters.dropped.aqm.packets + counters.marked.packets;
        times.extend((before..now).map(|_| at));
        before = now;
    }
    (times, link)
}

#[test]
fn codel_drops_at_distances_of_interval_over_root_count() {
    let (times, link) = codel_drop_times(false);
    assert_eq!(times, control_law_times(times.len()));
    // Sum of 1 / sqrt(k) up to n is about 2 sqrt(n): 2895 ms are n = 216 and some.
    assert!(times.len() > 200, "{}", times.len());
    assert_eq!(link.counters().marked.packets, 0);
}

#[test]
fn codel_marks_instead_if_it_may() {
    let (times, link) = codel_drop_times(true);
    assert_eq!(times, control_law_times(times.len()));
    assert_eq!(link.counters().dropped.total().packets, 0);
    assert_eq!(link.counters().marked.packets, times.len() as u64);
}

#[test]
fn codel_leaves_a_short_queue_and_a_short_burst_alone() {
    // 4 packets wait: less than 5 ms.
    let mut link = slow_link(CoDelConfig::default());
    run(&mut link, regular(MS, 2_000, 0).chain(regular(Duration::ZERO, 4, 0)));
    assert_eq!(link.counters().dropped.total().packets, 0);
    // 90 ms of burst are over before the interval is.
    let mut link = slow_link(CoDelConfig::default());
    run(&mut link, regular(Duration::ZERO, 90, 0));
    arrivals(&mut link, ms(1_000));
    assert_eq!(link.counters().delivered.packets, 90);
}

/// At 120 kbit/s a packet takes 100 ms: no queue that keeps the link busy has a delay below the
/// target, so a packet may wait behind
/// the one that is next.
#[test]
fn codel_lets_a_packet_wait_on_a_slow_link() {
    let mut link = link(mbit(0.12), CoDelConfig::default());
    let backlog = regular(Duration::ZERO, 2, 0);
    run(&mut link, backlog.chain(regular(100 * MS, 200, 0)));
    assert_eq!(link.counters().dropped.total().packets, 0);
    assert_eq!(link.counters().waiting.packets, 3);
}

/// The sparse flow's packet waits for the packet in service, and, if its queue is in the old
/// list, for the other flow's turn: a quantum of 1514 B, which ends after two packets of 1500 B.
/// With its own service that is 4 ms.
#[test]
fn fq_codel_keeps_a_sparse_flow_from_the_queue_of_a_greedy_one() {
    let mut link = slow_link(FqCoDelConfig::default());
    let greedy = regular(MS / 10, 100_000, 1);
    let sparse = regular(Duration::from_micros(20_123), 490, 2);
    let taken = run(&mut link, greedy.chain(sparse));
    let of_sparse = of_flow(&taken, 2);
    assert_eq!(of_sparse.len(), 490);
    let worst = of_sparse.iter().map(|(at, probe)| at.since(probe.sent)).max();
    assert!(worst <= Some(4 * MS), "{worst:?}");
}

/// Many greedy flows take turns of two packets each; a new flow goes before all of them.
#[test]
fn fq_codel_serves_new_flows_first() {
    let mut link = slow_link(FqCoDelConfig { interval: 100_000 * MS, ..FqCoDelConfig::default() });
    let greedy = (10..60).flat_map(|flow| regular(Duration::ZERO, 20, flow));
    let sparse = regular(Duration::from_micros(300_500), 3, 2).skip(1);
    let taken = run(&mut link, greedy.chain(sparse).chain(regular(700 * MS, 2, 2).skip(1)));
    let waits = of_flow(&taken, 2).into_iter().map(|(at, probe)| at.since(probe.sent));
    assert_eq!(waits.collect::<Vec<_>>(), [MS * 3 / 2, 2 * MS]);
}

/// What cannot stay even alone in the fattest flow queue is refused.
#[test]
fn fq_codel_tells_when_the_packet_that_came_is_the_one_dropped() {
    let limit = QueueLimit::Bytes(2_000);
    let mut link = link(Bandwidth::ZERO, FqCoDelConfig { limit, ..FqCoDelConfig::default() });
    for (number, bytes) in [(0, 100), (1, 900)] {
        let probe = Probe { flow: 1, ..Probe::new(number, bytes) };
        assert_eq!(send(&mut link, ms(0), probe), SendOutcome::Queued);
    }
    let fat = Probe { flow: 2, ..Probe::new(2, 1_500) };
    assert_eq!(send(&mut link, ms(0), fat), SendOutcome::Dropped(DropReason::QueueFull));
    assert_eq!(link.counters().waiting.packets, 2);
}

/// Both always have packets, so each gets every second quantum, whatever it offers: the
/// difference is at most a turn of each.
#[test]
fn fq_codel_shares_equally_among_those_that_want_more() {
    let mut link = slow_link(FqCoDelConfig::default());
    let taken = run(&mut link, regular(MS / 10, 100_000, 1).chain(regular(MS, 10_000, 2)));
    let counts = [1, 2].map(|flow| of_flow(&taken, flow).len());
    assert!(counts[0].abs_diff(counts[1]) <= 4, "{counts:?}");
    assert!(counts[0] + counts[1] >= 9_998, "the link is always busy: {counts:?}");
}

/// 20 packets of flow 1 fill the queue; what then comes of others stays, and half of flow 1 goes
/// from its head.
#[test]
fn fq_codel_drops_from_the_fattest_flow() {
    let limit = QueueLimit::Packets(20);
    let mut link = link(Bandwidth::ZERO, FqCoDelConfig { limit, ..FqCoDelConfig::default() });
    for n in 0..21 {
        send(&mut link, ms(0), Probe { flow: 1, ..Probe::new(n, PACKET) });
    }
    assert_eq!(link.counters().dropped.total().packets, 0, "one is in service");
    for number in 21..29 {
        let thin = Probe { flow: number, ..Probe::new(number, PACKET) };
        assert_eq!(send(&mut link, ms(0), thin), SendOutcome::Queued);
    }
    assert_eq!(link.counters().dropped.queue_full.packets, 10);
    link.set_rate(ms(0), mbit(12.0)).unwrap();
    let numbers: Vec<_> = arrivals(&mut link, ms(99)).iter().map(|(_, p)| p.number).collect();
    assert_eq!(numbers[0], 0);
    let mut rest = numbers[1..].to_vec();
    rest.sort_unstable();
    assert_eq!(rest, (11..29).collect::<Vec<_>>());
}

/// An urgent packet waits for the one in service only; the other band gets what is left, and its
/// own limit.
#[test]
fn the_urgent_band_waits_for_nobody() {
    let bands = vec![QueueLimit::Packets(10).into(), QueueLimit::Packets(5).into()];
    let mut link = slow_link(PriorityConfig { bands });
    let urgent = regular(MS * 5 / 2, 400, 0);
    let taken = run(&mut link, urgent.chain(regular(MS / 2, 2_000, 1)));
    let worst = of_flow(&taken, 0).iter().map(|(at, probe)| at.since(probe.sent)).max();
    assert!(worst <= Some(2 * MS), "{worst:?}");
    // 400 urgent packets in 1000 ms leave 600 ms, but for what is in the queue at the end.
    let rest = of_flow(&taken, 1).len();
    assert!((599..=600).contains(&rest), "{rest}");
    assert!(link.counters().dropped.queue_full.packets > 1_300);
}

/// 8 Mbit/s is a byte in a microsecond; packets of 1000 B before a link that needs less than a
/// nanosecond for all of them: they arrive at the end of the nanosecond.
fn shaped(config: TokenBucketConfig, packets: u64) -> Vec<u64> {
    let mut link = link(Bandwidth::from_bits_per_sec(u64::MAX), config);
    for n in 0..packets {
        send(&mut link, ms(0), Probe::new(n, 1_000));
    }
    arrivals(&mut link, ms(1_000)).iter().map(|(at, _)| at.as_nanos()).collect()
}

#[test]
fn a_token_bucket_passes_the_burst_at_once_and_the_rest_at_the_rate() {
    let times = shaped(TokenBucketConfig::new(mbit(8.0), 10_000), 100);
    let expected = (0..100).map(|n: u64| n.saturating_sub(9) * 1_000_000 + 1);
    assert_eq!(times, expected.collect::<Vec<_>>());
}

/// Packet n needs (n + 1) kB: from the one bucket after n - 9 ms, from the other after n / 2 ms.
#[test]
fn a_peak_rate_spreads_the_burst() {
    let peak = Some(PeakRate { rate: mbit(16.0), burst: 1_000 });
    let config = TokenBucketConfig { peak, ..TokenBucketConfig::new(mbit(8.0), 10_000) };
    let expected = (0..100).map(|n: u64| (n * 500_000).max(n.saturating_sub(9) * 1_000_000) + 1);
    assert_eq!(shaped(config, 100), expected.collect::<Vec<_>>());
}

/// A third of a nanosecond more or less for each packet would add up to 0.1 ms.
#[test]
fn a_token_bucket_is_exact_over_many_packets() {
    let config =
        TokenBucketConfig { queue: ENDLESS.into(), ..TokenBucketConfig::new(mbit(300.0), 1_000) };
    let mut link = link(Bandwidth::from_bits_per_sec(u64::MAX), config);
    for n in 0..300_001 {
        send(&mut link, ms(0), Probe::new(n, 1_000));
    }
    // The first one goes at once.
    let last = mbit(300.0).time_to_send(300_000 * 1_000).unwrap();
    let at = arrivals(&mut link, ms(99_999)).pop().unwrap().0;
    assert_eq!(at, Timestamp::ZERO + last + Duration::from_nanos(1));
}

#[test]
fn the_link_announces_when_the_shaper_lets_go() {
    let config = TokenBucketConfig::new(mbit(8.0), 1_000);
    let mut link = link(Bandwidth::from_bits_per_sec(u64::MAX), config);
    for n in 0..2 {
        send(&mut link, ms(0), Probe::new(n, 1_000));
    }
    arrivals(&mut link, Timestamp::from_micros(1));
    assert_eq!(link.next_event(), Some(ms(1)));
    assert_eq!(send(&mut link, ms(0), Probe::new(2, 1_001)), SendOutcome::Dropped(DropReason::Mtu));
}

/// Without room behind the packet that the shaper holds, a third one is refused.
#[test]
fn a_limit_counts_what_waits_behind_the_packet_that_the_shaper_holds() {
    let queue = QueueLimit::Packets(0).into();
    let config = TokenBucketConfig { queue, ..TokenBucketConfig::new(mbit(8.0), 1_000) };
    let mut link = link(Bandwidth::from_bits_per_sec(u64::MAX), config);
    let outcome =
        [0_u32, 1, 2].map(|n| send(&mut link, ms(0) + MS * n / 10, Probe::new(n.into(), 1_000)));
    let full = SendOutcome::Dropped(DropReason::QueueFull);
    assert_eq!(outcome, [SendOutcome::Queued, SendOutcome::Queued, full]);
}

/// What waits moves to the new queue in the order of its arrival; limits apply to what comes.
#[test]
fn a_change_of_discipline_keeps_what_waits() {
    let two = QueueLimit::Packets(2);
    let queues: [QueueConfig; 5] = [
        FqCoDelConfig::default().into(),
        PriorityConfig::default().into(),
        CoDelConfig::default().into(),
        TokenBucketConfig::new(mbit(100.0), 1_500).into(),
        two.into(),
    ];
    let mut link = slow_link(QueueLimit::Packets(100));
    for n in 0..20 {
        let (flow, class) = (n % 5, (n % 3) as u8);
        send(&mut link, Timestamp::from_nanos(n), Probe { flow, class, ..Probe::new(n, PACKET) });
    }
    for queue in queues {
        let config = LinkConfig { queue, ..link.config().clone() };
        link.set_config(Timestamp::from_micros(1), config).unwrap();
        assert_eq!(link.counters().waiting.packets, 20);
    }
    let late = send(&mut link, Timestamp::from_micros(2), Probe::new(20, PACKET));
    assert_eq!(late, SendOutcome::Dropped(DropReason::QueueFull));
    let numbers = arrivals(&mut link, ms(99)).into_iter().map(|(_, probe)| probe.number);
    assert_eq!(numbers.collect::<Vec<_>>(), (0..20).collect::<Vec<_>>());
}
