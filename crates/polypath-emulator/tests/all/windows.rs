//! Congestion windows of the kernel of the machine that runs the tests, next to those of the
//! simulator, in one short cell. The whole table is `polypath validate windows`.

use crate::alone::{alone, undisturbed};
use polypath_emulator::netns::Namespaces;
use polypath_emulator::plan::{NetworkPlan, Prefix};
use polypath_emulator::validate::windows::{Row, compare, shipped_cells};
use polypath_sim::topology::Topology;

/// 5 Mbit/s, a packet every 2.4 ms: a machine that is late by some milliseconds is so by a packet
/// or two.
const SHORT: [&str; 3] = ["path.link.rate=5 Mbit/s", "duration=12 s", "warm_up=4 s"];

/// Data that it carries in 12 s.
const PACKETS: u64 = 5_000;

/// What path and queue hold: two BDPs of 5 Mbit/s x 40 ms, 25 kB each, of which 1448 of 1500 bytes
/// are payload.
const HELD: f64 = 50e3 * 1448.0 / 1500.0;
const SEGMENT: f64 = 1448.0;

/// One run; nothing where namespaces may not be made, which is said.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
fn row(test: &str, name: &str) -> Option<Row> {
    let _alone = alone();
    let prefix: Prefix = format!("pp_window_{}", std::process::id()).parse().unwrap();
    let nothing = NetworkPlan::new(&prefix, &Topology::new()).unwrap();
    if let Err(error) = Namespaces::build(nothing) {
        eprintln!("skipped: {test}: {error}");
        return None;
    }
    let mut cells = shipped_cells().unwrap().into_iter();
    let mut cell = cells.find(|cell| cell.name == name).unwrap();
    cell.set.extend(SHORT.map(str::to_owned));
    Some(undisturbed(PACKETS, |row: &Row| row.overruns, || compare(&cell, 1, &prefix).unwrap()))
}

/// CUBIC grows until the queue overflows, at `HELD` and the two segments that are in service and
/// one too many; the loss leaves 0.7 of it. So both windows are in the mean between these, and
/// return to the fall after 1.3 s: Reno's growth of 0.53 segments in a round trip of 60 ms in the
/// mean needs that for the 10 or 11 segments that were taken. A burst of acknowledgements from a
/// machine that was late overflows the queue by as many packets sooner. Three of them are 9 % of
/// the height of each tooth, and as much again is left for segments being whole: windows of 23 to
/// 34 of them.
#[test]
fn cubic_of_the_kernel_has_the_windows_of_the_simulator() {
    let test = "cubic_of_the_kernel_has_the_windows_of_the_simulator";
    let Some(row) = row(test, "cubic-20m-20ms-1bdp") else { return };
    let median = row.median;
    for sawtooth in [median.kernel, median.simulator] {
        let most = HELD + 2.0 * SEGMENT;
        assert!((0.7 * (HELD - 3.0 * SEGMENT)..most).contains(&sawtooth.mean_bytes), "{median:?}");
        assert!(sawtooth.period_s.is_some_and(|period| (0.4..4.0).contains(&period)), "{median:?}");
    }
    let difference = median.difference;
    assert!(difference.since_reduction.unwrap() < 0.18, "{median:?}");
    assert!(difference.sorted < 0.18, "{median:?}");
    // Every sample was taken, of the kernel as of the simulator, and in bytes.
    let tracks = [&row.runs[0].kernel_track, &row.runs[0].simulator_track];
    for track in tracks {
        assert_eq!(track.window_bytes.len(), 600);
        assert!(track.window_bytes[200..].iter().all(|&window| window as f64 >= 2.0 * SEGMENT));
        assert!(track.srtt_ms[200..].iter().flatten().count() == 400);
    }
}
