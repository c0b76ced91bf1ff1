use super::world::{TRANSPORTS, Transport, World, link, mbit, ms, observed, tcp_settings};
use polypath_sim::Direction;
use polypath_sim::endpoint::TcpEnd;
use polypath_sim::scenario::{FlowKind, OnOff, Spread};
use polypath_sim::tcp::Reading;
use std::time::Duration;

const FLOW: OnOff = OnOff {
    on: Duration::from_millis(100),
    off: Duration::from_millis(150),
    durations: Spread::Constant,
    rate: None,
};
const PIECE: u64 = 1_200;

/// Ten times on for 100 ms at 10 Mbit/s, at which a piece takes 0.96 ms: 1041 2/3 pieces have
/// begun.
#[test]
fn the_mean_rate_is_that_of_the_on_times() {
    for transport in TRANSPORTS {
        let mut world = World::new(transport, &link(1_000.0, 10));
        let kind = FlowKind::OnOff(OnOff { rate: Some(mbit(10.0)), ..FLOW });
        let flow = world.flow(&kind, Direction::Up, (ms(1_000), ms(3_500)));
        world.simulator.run_until(ms(5_000));
        assert_eq!(world.delivered(Direction::Up), 1_042 * PIECE, "{transport:?}");
        let seen = observed!(world.simulator.flow_report(flow), Bursts);
        assert_eq!((seen.bursts, seen.on_time), (10, Duration::from_secs(1)));
        // The last piece was written at the end of the last on-time.
        assert!(world.simulator.finished(flow) == Some(ms(3_500)), "{transport:?}");
    }
}

/// In drawn on-times too, to a piece; their own mean is a matter of the unit tests.
#[test]
fn drawn_on_times_have_the_rate() {
    let mut world = World::new(Transport::Tcp, &link(1_000.0, 10));
    let durations = Spread::Exponential;
    let kind = FlowKind::OnOff(OnOff { durations, rate: Some(mbit(10.0)), ..FLOW });
    let flow = world.flow(&kind, Direction::Up, (ms(1_000), ms(21_000)));
    world.simulator.run_until(ms(22_000));
    let seen = observed!(world.simulator.flow_report(flow), Bursts);
    let pieces = seen.on_time.as_secs_f64() * 10e6 / 8.0 / PIECE as f64;
    assert_eq!(world.delivered(Direction::Up), pieces.ceil() as u64 * PIECE);
    assert!(seen.bursts > 50 && seen.on_time > Duration::from_secs(4), "{seen:?}");
}

/// Without a rate nothing new leaves in silence. 20 ms after an on-time everything is there: 10 ms
/// of propagation, and at most the window of 256 kB with headers at 1 Gbit/s, 2.3 ms. The on-times
/// have five round trips of 20 ms, of which the first carries ten segments.
#[test]
fn off_times_are_silent_and_on_times_are_not() {
    for transport in TRANSPORTS {
        let mut world = World::new(transport, &link(1_000.0, 10));
        let flow = world.flow(&FlowKind::OnOff(FLOW), Direction::Up, (ms(1_000), ms(6_000)));
        let mut before = 0;
        for begin in (1_000..6_000).step_by(250) {
            assert_eq!(world.delivered_at(ms(begin + 5)), before, "{transport:?} at {begin}");
            let mid = world.delivered_at(ms(begin + 100));
            let end = world.delivered_at(ms(begin + 120));
            // What left in the last round trip may come later.
            assert!(mid >= before + 4 * 10 * 1_380, "{transport:?} at {begin}: {before} {mid}");
            before = end;
        }
        world.simulator.run_until(ms(7_000));
        assert_eq!(world.delivered(Direction::Up), before);
        assert_eq!(world.simulator.finished(flow), Some(ms(6_000)));
    }
}

#[test]
fn without_off_times_it_is_endless() {
    let off = Duration::ZERO;
    let mut world = World::new(Transport::Tcp, &link(10.0, 10));
    world.flow(&FlowKind::OnOff(OnOff { off, ..FLOW }), Direction::Up, (ms(0), ms(60_000)));
    let begin = world.delivered_at(ms(2_000));
    let bytes = world.delivered_at(ms(6_000)) - begin;
    let full = 4.0 * 10e6 / 8.0 * 1_448.0 / 1_500.0;
    // What is under way at the two ends of the interval differs by a segment at most.
    assert!((bytes as f64 - full).abs() <= 1_448.0, "{bytes} of {full}");
}

/// A reader that does not read closes the window. It is probed for what waits, not in silence.
#[test]
fn nothing_is_probed_for_in_silence() {
    let mut settings = tcp_settings();
    settings.tcp.reading = Reading::WhenTold;
    let mut world = World::with_tcp(Transport::Tcp, &link(100.0, 10), &settings);
    let (on, off) = (Duration::from_secs(2), Duration::from_secs(60));
    world.flow(&FlowKind::OnOff(OnOff { on, off, ..FLOW }), Direction::Up, (ms(0), ms(70_000)));
    let mut probes_at = |at| {
        world.simulator.run_until(at);
        let end: &TcpEnd = world.simulator.endpoint(world.ends.0).unwrap();
        end.tcp().endpoint().stats().window_probes
    };
    let [early, before, after] = [500, 2_001, 60_000].map(|at| probes_at(ms(at)));
    assert!(early < before && before == after, "{early} {before} {after}");
}
