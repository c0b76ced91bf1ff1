use super::world::{
    HEADERS, SEGMENT, TRANSPORTS, Transport, WINDOW, World, link, mbit, ms, observed, run, time,
};
use polypath_sim::Direction;
use polypath_sim::application::{FlowReport, VideoReport};
use polypath_sim::scenario::{FlowKind, Video};
use polypath_sim::topology::LinkId;
use polypath_units::Timestamp;
use std::time::Duration;

const CHUNK: Duration = Duration::from_secs(4);
const BUFFER: Duration = Duration::from_secs(30);
/// Mbit/s.
const RATES: [f64; 4] = [1.0, 2.0, 4.0, 8.0];

fn flow() -> FlowKind {
    let bit_rates = RATES.map(mbit).to_vec();
    FlowKind::Video(Video { chunk: CHUNK, bit_rates, buffer: BUFFER })
}

fn video(report: &FlowReport) -> VideoReport {
    observed!(report, Video)
}

/// What a viewer saw in two minutes from 1 s on, over a link of 10 ms.
fn two_minutes(mbit_s: f64) -> VideoReport {
    let report = run(&link(mbit_s, 10), &flow(), ms(121_000), ms(200_000));
    assert_eq!(report.finished, Some(ms(121_000)));
    video(&report)
}

/// All time is start-up, play or stall.
fn check_time(seen: &VideoReport) {
    let all = seen.startup_delay.unwrap() + seen.played + seen.stall_time;
    assert_eq!(all, Duration::from_secs(120));
}

/// Three times the top rate. A chunk of the top rate, 4 MB, takes 1.4 s of the 4 s that it plays
/// and some round trips of 20 ms; so it never stalls.
#[test]
fn on_a_fast_link_it_reaches_the_top_and_never_stalls() {
    let seen = two_minutes(24.0);
    assert_eq!((seen.stalls, seen.stall_time), (0, Duration::ZERO));
    assert_eq!(seen.last_bit_rate, Some(mbit(8.0)));
    check_time(&seen);
    // The first chunk of the lowest rate: 500 kB, in slow start from ten segments, at most six
    // round trips beside the transmission.
    let bytes = 500_000 + 500_000_u64.div_ceil(SEGMENT) * HEADERS;
    let least = Duration::from_millis(20) + time(bytes, 24.0);
    let startup = seen.startup_delay.unwrap();
    assert!((least..=least + Duration::from_millis(120)).contains(&startup), "{startup:?}");
    // From one rate to the next it goes once at most.
    assert!((1..=3).contains(&seen.switches), "{}", seen.switches);
    let mean = seen.mean_bit_rate.unwrap();
    let steps_lost = 3.0 * 7.0;
    let most_lost = steps_lost * 4.0 / seen.chunks as f64;
    assert!(mean <= mbit(8.0) && mean >= mbit(8.0 - most_lost), "{mean}");
    // The buffer is full at the end: another chunk has just been asked for, or has no room yet.
    let loaded = CHUNK * seen.chunks as u32;
    let level = loaded - seen.played;
    assert!((BUFFER - 2 * CHUNK..=BUFFER).contains(&level), "{level:?}");
}

/// Half of the lowest rate: a chunk takes twice the time that it plays, so that at most half of the
/// time after the first is play. It stalls for each chunk, and stays at the lowest rate.
#[test]
fn on_a_slow_link_it_stalls_at_the_lowest_rate() {
    let seen = two_minutes(0.5);
    check_time(&seen);
    assert_eq!((seen.last_bit_rate, seen.switches), (Some(mbit(1.0)), 0));
    assert_eq!(seen.mean_bit_rate, Some(mbit(1.0)));
    let chunk = time(500_000 + 500_000_u64.div_ceil(SEGMENT) * HEADERS, 0.5);
    let after_first = Duration::from_secs(120) - seen.startup_delay.unwrap();
    // Each chunk takes its transmission and at least the round trip of its request.
    let most = (Duration::from_secs(120).as_secs_f64() / chunk.as_secs_f64()) as u64;
    assert!((most - 1..=most).contains(&seen.chunks), "{} of {most}", seen.chunks);
    // A stall follows each chunk but, at the end, one that still plays.
    assert!((seen.chunks - 1..=seen.chunks).contains(&u64::from(seen.stalls)), "{seen:?}");
    assert!(seen.played <= CHUNK * seen.chunks as u32);
    assert!(seen.stall_time > after_first / 2 - CHUNK, "{seen:?}");
}

/// A link that falls to 1.5 Mbit/s: the player follows, and what it has loaded ahead bridges the
/// change. In the chunk under way are at most 4 MB, which take 22 s with headers; 22 s at least
/// are in the buffer.
#[test]
fn it_follows_the_link_down() {
    let mut world = World::new(Transport::Tcp, &link(24.0, 10));
    let id = world.flow(&flow(), Direction::Down, (ms(1_000), Timestamp::MAX));
    world.simulator.run_until(ms(60_000));
    assert_eq!(video(&world.simulator.flow_report(id)).last_bit_rate, Some(mbit(8.0)));
    for link in [LinkId(0), LinkId(1)] {
        let fabric = world.simulator.fabric_mut();
        fabric.change_link(link, |link, now| link.set_rate(now, mbit(1.5))).unwrap();
    }
    world.simulator.run_until(ms(180_000));
    let seen = video(&world.simulator.flow_report(id));
    assert_eq!(seen.last_bit_rate, Some(mbit(1.0)), "{seen:?}");
}

/// Every transport shows a video, either way.
#[test]
fn it_plays_over_every_transport() {
    for transport in TRANSPORTS {
        for direction in [Direction::Up, Direction::Down] {
            let mut world = World::new(transport, &link(24.0, 10));
            let id = world.flow(&flow(), direction, (ms(0), ms(20_000)));
            world.simulator.run_until(ms(20_000));
            let seen = video(&world.simulator.flow_report(id));
            assert_eq!((seen.stalls, seen.last_bit_rate), (0, Some(mbit(8.0))), "{transport:?}");
        }
    }
}

/// A chunk of 4 MB takes more than 8 s at 4 Mbit/s: 4 s after it was asked for half of it has not
/// left. When the player is closed no more of it does.
#[test]
fn a_chunk_under_way_is_given_up_at_the_stop() {
    for transport in TRANSPORTS {
        let bit_rates = vec![mbit(8.0)];
        let kind = FlowKind::Video(Video { chunk: CHUNK, bit_rates, buffer: BUFFER });
        let mut world = World::new(transport, &link(4.0, 10));
        world.flow(&kind, Direction::Down, (ms(0), ms(4_000)));
        world.simulator.run_until(ms(4_000));
        let before = world.delivered(Direction::Down);
        world.simulator.run_until(ms(20_000));
        let after = world.delivered(Direction::Down) - before;
        assert!((1..=WINDOW).contains(&after), "{transport:?}: {after}");
    }
}
