//! The simulator against the kernel of the machine that runs the tests, in two short cells. The
//! whole table is `polypath validate kernel`.

use crate::alone::{alone, undisturbed};
use polypath_emulator::netns::Namespaces;
use polypath_emulator::plan::{NetworkPlan, Prefix};
use polypath_emulator::validate::{Row, compare, shipped_cells};
use polypath_sim::topology::Topology;

/// What a cell has in common with the simulator: 10 % is the bound of the whole table. A few
/// seconds of a bulk transfer that fills its link are known much better than that.
const BOUND: f64 = 0.1;

/// Data that a link of 20 Mbit/s carries in 8 s.
const PACKETS: u64 = 13_000;

/// A cell in one short run; nothing where namespaces may not be made, which is said.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
fn row(test: &str, name: &str) -> Option<Row> {
    let _alone = alone();
    let transport = name.split('-').next().unwrap();
    let prefix: Prefix = format!("fidelity_{transport}_{}", std::process::id()).parse().unwrap();
    let nothing = NetworkPlan::new(&prefix, &Topology::new()).unwrap();
    if let Err(error) = Namespaces::build(nothing) {
        eprintln!("skipped: {test}: {error}");
        return None;
    }
    let mut cells = shipped_cells().unwrap().into_iter();
    let mut cell = cells.find(|cell| cell.name == name).unwrap();
    cell.set.extend(["duration=8 s", "warm_up=3 s"].map(str::to_owned));
    let plan = cell.plan().unwrap();
    let run = || compare(&cell.name, &plan, 1, &prefix).unwrap();
    Some(undisturbed(PACKETS, |row: &Row| row.overruns, run))
}

#[test]
fn tcp_of_the_kernel_is_that_of_the_simulator() {
    let Some(row) = row("tcp_of_the_kernel_is_that_of_the_simulator", "cubic-20m-20ms-1bdp") else {
        return;
    };
    assert!(row.goodput_mbit_s.difference.abs() < BOUND, "{row:?}");
    // A link of 20 Mbit/s carries 1448 payload bytes in packets of 1500.
    assert!(row.goodput_mbit_s.kernel <= 20.0 * 1448.0 / 1500.0 * 1.01, "{row:?}");
    // What waits in CUBIC's queue of one BDP (40 ms) is more than half of it in the mean.
    assert!((20.0..42.0).contains(&row.sojourn_ms.kernel), "{row:?}");
}

/// Both subflows are there: one link alone carries at most half.
#[test]
fn multipath_tcp_of_the_kernel_is_that_of_the_simulator() {
    let test = "multipath_tcp_of_the_kernel_is_that_of_the_simulator";
    let Some(row) = row(test, "mptcp-cubic-20m-20ms+20m-20ms") else { return };
    assert!(row.goodput_mbit_s.difference.abs() < BOUND, "{row:?}");
    assert!(row.goodput_mbit_s.kernel > 1.8 * 20.0 * 1424.0 / 1500.0, "{row:?}");
    let names: Vec<_> = row.links.iter().map(|link| &*link.name).collect();
    assert_eq!(names, ["a", "b"]);
}

/// The same of a congestion control that Polypath brings. With a queue of one BDP a link stays full
/// through a halving of the window, so that a packet which the machine loses costs nothing.
#[cfg(feature = "kernel")]
#[test]
fn what_the_kernel_is_given_is_that_of_the_simulator() {
    let test = "what_the_kernel_is_given_is_that_of_the_simulator";
    let Some(row) = row(test, "balia-20m-20ms-1bdp") else { return };
    assert!(row.goodput_mbit_s.difference.abs() < BOUND, "{row:?}");
    assert!(row.goodput_mbit_s.kernel > 0.9 * 20.0 * 1448.0 / 1500.0, "{row:?}");
}
