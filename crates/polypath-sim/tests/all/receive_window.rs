//! What a bond does while the receive window is full: copies on the fast path, and the penalty of
//! the slow one, each with its switch (`docs/algorithms/opportunistic_retransmission.md`).

use crate::common::{link, world};
use crate::world::Transfer;
use polypath_bond::{BondConfig, BondStatus, Composition};
use polypath_core::congestion::{CongestionConfig, CongestionKind};
use polypath_core::scheduler::SchedulerKind;
use polypath_core::slow_start::SlowStartKind;
use polypath_sim::run::{Keep, Plan};
use polypath_sim::scenario::Scenario;
use polypath_units::Timestamp;
use std::path::Path;

const FAST: usize = 0;
const SLOW: usize = 1;

/// The edge after 4 s of bulk data over 50 Mbit/s at 10 ms and at 200 ms, with a window of 64 KiB:
/// as much as the fast path holds with a part of its queue, so that nothing is lost. Each path in
/// turn, so that the slow one is always used, and Reno, whose windows only losses and penalties
/// lower.
fn sending(opportunistic_retransmission: bool, penalisation: bool) -> (BondStatus, u64) {
    let composition = Composition {
        congestion: CongestionConfig {
            avoidance: CongestionKind::Reno.into(),
            slow_start: SlowStartKind::Standard.into(),
            coupled: false,
            ..CongestionConfig::default()
        },
        scheduler: SchedulerKind::RoundRobin.into(),
        opportunistic_retransmission,
        penalisation,
        ..Composition::default()
    };
    let config = BondConfig { composition, receive_buffer: 64 << 10, ..BondConfig::default() };
    let mut world = world(&[link(50.0, 5.0), link(50.0, 100.0)], &config, 0);
    let mut transfer = Transfer::start(&mut world, 1 << 40);
    transfer.run(&mut world, Timestamp::from_millis(4_000));
    (world.edge_bond().status(), transfer.delivered())
}

/// What the slow path carries holds the window up for its RTT of 200 ms: 64 KiB in that time.
/// Copies on the fast path open the window after 10 ms.
#[test]
fn copies_on_the_fast_path_open_the_window() {
    let [(with, fast), (without, slow)] = [true, false].map(|on| sending(on, false));
    let again = |status: &BondStatus| status.counters.bytes_reinjected;
    assert_eq!(again(&without), 0, "nothing is lost, and nothing at its end");
    assert!(again(&with) > 0);
    assert!(fast > 2 * slow, "{fast} against {slow} bytes");
}

/// Reno never lowers the initial window of ten segments of 1,200 bytes or more where nothing is
/// lost. Halved for every 10 ms in which the path blocks the others, the window is one segment
/// after the first round of 200 ms, and the threshold two, from which on a round adds one: at most
/// three.
#[test]
fn the_slow_path_that_blocks_the_window_is_slowed_down() {
    let [(punished, _), (free, _)] = [true, false].map(|on| sending(false, on));
    let windows = [&punished, &free].map(|status| status.paths[SLOW].cwnd);
    assert!(windows[0] <= 3 * 1_500 && windows[1] >= 10 * 1_200, "{windows:?}");
    let carried = [&punished, &free].map(|status| status.paths[SLOW].counters.bytes_new);
    assert!(carried[0] < carried[1], "{carried:?}");
    assert!(punished.paths[FAST].cwnd >= free.paths[FAST].cwnd, "the fast one is left alone");
}

const FAR_AND_NEAR: &str = r#"
duration = "9 s"
warm_up = "4 s"
[[path]]
name = "far"
rate = "124 Mbit/s"
delay = "124 ms"
queue = "1 bdp"
[[path]]
name = "near"
rate = "2.7 Mbit/s"
delay = "7.5 ms"
queue = "1 bdp"
[[connection]]
name = "bond"
transport = "bond"
carrier = "light"
receive_buffer = "12 MB"
[[flow]]
connection = "bond"
kind = "bulk"
direction = "down"
"#;

/// Start-up of the far path loses 900 packets, of which the near one would deliver each before the
/// far one, but all only in 3 s, with half of the window taken meanwhile. The far one repairs them
/// within a round trip of 0.25 s. Of the 5 s that count two such round trips may be missing: one
/// tenth.
#[test]
fn many_losses_are_not_left_to_a_small_near_path() {
    let path = Path::new("far_and_near.toml");
    let scenario = Scenario::parse(FAR_AND_NEAR, path, &mut |_| unreachable!()).unwrap();
    let run = Plan::new(scenario).unwrap().run(1, Keep::default(), &mut |_| {}).unwrap();
    let bond = &run.report.connections[0];
    let lost: Vec<_> = bond.paths.iter().map(|path| path.lost).collect();
    assert!(lost[0] > 500, "{lost:?}");
    assert!(bond.goodput_mbit_s > 0.9 * (124.0 + 2.7), "{}", bond.goodput_mbit_s);
}
