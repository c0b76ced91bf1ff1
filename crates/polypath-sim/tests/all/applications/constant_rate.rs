use super::world::{HEADERS, SEGMENT, TRANSPORTS, World, link, mbit, ms, observed, run, time};
use polypath_sim::Direction;
use polypath_sim::scenario::{ConstantRate, FlowKind};
use polypath_units::ByteCount;
use std::time::Duration;

const PACKET: u64 = 1_200;
/// Of its messages at 10 Mbit/s.
const DISTANCE: Duration = Duration::from_micros(960);

fn flow(mbit_s: f64) -> FlowKind {
    FlowKind::ConstantRate(ConstantRate {
        rate: mbit(mbit_s),
        packet: ByteCount::new(PACKET),
        deadline: None,
    })
}

/// 1 Mbit/s: a message every 9.6 ms. Each finds the link idle.
#[test]
fn on_an_idle_link_a_message_takes_its_transmission_and_the_delay() {
    let report = run(&link(100.0, 10), &flow(1.0), ms(5_800), ms(10_000));
    let seen = observed!(report, Messages);
    let exact = Duration::from_millis(10) + time(PACKET + HEADERS, 100.0);
    assert_eq!((seen.delays.minimum(), seen.delays.maximum()), (Some(exact), Some(exact)));
    // 4.8 s hold 500 distances; the 501st message would leave at the stop.
    assert_eq!((seen.produced, seen.delivered, seen.missing), (500, 500, 0));
    // The stop finds the last message, of 5.7904 s, under way.
    let last = ms(1_000) + Duration::from_micros(9_600) * 499;
    assert_eq!(report.finished, Some(last + exact));
}

/// Twice what the link carries: of the messages of 4 s the last waits for the other half, in
/// segments that are at best full and at worst hold one message.
#[test]
fn on_a_slow_link_messages_wait() {
    let report = run(&link(5.0, 10), &flow(10.0), ms(5_000), ms(20_000));
    let seen = observed!(report, Messages);
    // 4 s hold 4166 2/3 distances.
    assert_eq!((seen.produced, seen.delivered), (4_167, 4_167));
    let bytes = PACKET * 4_167;
    let wait = |payload| {
        let carried = bytes as f64 * (1.0 + HEADERS as f64 / payload as f64);
        Duration::from_secs_f64(carried * 8.0 / 5e6) - Duration::from_secs(4)
    };
    let produced = ms(1_000) + DISTANCE * 4_166;
    let last = report.finished.unwrap() - produced;
    // It is produced a distance before the 4 s are over at most; a propagation, and a segment that
    // was begun before the flow filled the link.
    let (least, most) = (wait(SEGMENT), wait(PACKET) + DISTANCE + Duration::from_millis(10 + 3));
    assert!((least..=most).contains(&last), "{least:?} {last:?} {most:?}");
    // Messages of one segment come together: an earlier one may have waited a distance longer.
    let longest = seen.delays.maximum().unwrap();
    assert!((last..=last + DISTANCE).contains(&longest), "{last:?} {longest:?}");
    let median = seen.delays.quantile(0.5).unwrap().as_secs_f64();
    assert!((median / longest.as_secs_f64() * 2.0 - 1.0).abs() < 0.02, "it grows evenly: {median}");
}

/// Every transport delivers every message, either way.
#[test]
fn nothing_is_lost_on_a_stream() {
    for transport in TRANSPORTS {
        for direction in [Direction::Up, Direction::Down] {
            let mut world = World::new(transport, &link(100.0, 10));
            let id = world.flow(&flow(10.0), direction, (ms(0), ms(960)));
            world.simulator.run_until(ms(2_000));
            let seen = observed!(world.simulator.flow_report(id), Messages);
            assert_eq!((seen.produced, seen.delivered), (1_000, 1_000), "{transport:?}");
            assert_eq!(world.delivered(direction), 1_000 * PACKET);
            // The first waits for the handshake: a round trip at least.
            assert!(seen.delays.maximum() > Some(Duration::from_millis(30)));
            assert!(seen.delays.minimum() < Some(Duration::from_millis(11)));
        }
    }
}
