use super::world::{TRANSPORTS, Transport, WINDOW, World, link, ms, time};
use polypath_sim::Direction;
use polypath_sim::scenario::{Bulk, FlowKind};
use polypath_units::{ByteCount, Timestamp};

const STOP: Timestamp = ms_const(2_000);

const fn ms_const(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// At the stop a window at most is under way; on 10 Mbit/s and 10 ms it is there after 10 ms and
/// the time that the window takes with its headers: 215 ms, of 1,500 bytes at least 1,380.
#[test]
fn an_endless_transfer_stops() {
    for transport in TRANSPORTS {
        for direction in [Direction::Up, Direction::Down] {
            let mut world = World::new(transport, &link(10.0, 10));
            let kind = FlowKind::Bulk(Bulk { bytes: None });
            let flow = world.flow(&kind, direction, (ms(100), STOP));
            world.simulator.run_until(STOP);
            let before = world.delivered(direction);
            // 1.9 s at 10 Mbit/s, less the start-up and what is under way.
            let least = 1.9e6 / 8.0 * 10.0 * 1_380.0 / 1_500.0 - 2.0 * WINDOW as f64;
            assert!(before as f64 > least, "{transport:?} {direction:?}: {before}");
            assert_eq!(world.simulator.finished(flow), None);
            world.simulator.run_until(ms(10_000));
            let after = world.delivered(direction) - before;
            assert!((1..=WINDOW).contains(&after), "{transport:?} {direction:?}: {after} more");
            let finished = world.simulator.finished(flow).expect("everything came");
            let drained = STOP + time(WINDOW, 10.0).mul_f64(1_500.0 / 1_380.0);
            assert!(STOP < finished && finished <= drained + time(12_500, 10.0), "{finished}");
        }
    }
}

/// Nothing new leaves after the stop: what had left is all that comes.
#[test]
fn what_left_before_the_stop_is_all_that_comes() {
    for bytes in [None, Some(ByteCount::new(1 << 30))] {
        let mut world = World::new(Transport::Tcp, &link(10.0, 10));
        let flow = world.flow(&FlowKind::Bulk(Bulk { bytes }), Direction::Up, (ms(0), STOP));
        world.simulator.run_until(STOP);
        let sent = world.simulator.report(world.ends.0).paths[0].sent_bytes;
        world.simulator.run_until(ms(10_000));
        assert_eq!(world.delivered(Direction::Up), sent);
        assert!(world.simulator.finished(flow).is_some());
    }
}

#[test]
fn a_transfer_that_is_over_does_not_wait_for_its_stop() {
    let mut world = World::new(Transport::Tcp, &link(10.0, 10));
    let kind = FlowKind::Bulk(Bulk { bytes: Some(ByteCount::new(100_000)) });
    let flow = world.flow(&kind, Direction::Down, (ms(0), STOP));
    world.simulator.run_until(ms(10_000));
    assert_eq!(world.delivered(Direction::Down), 100_000);
    assert!(world.simulator.finished(flow).is_some_and(|at| at < STOP));
}
