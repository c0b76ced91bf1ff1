//! What is recorded of the kernel's transfers, in short scenarios.

use crate::alone::{alone, undisturbed};
use polypath_emulator::netns::Namespaces;
use polypath_emulator::plan::{NetworkPlan, Prefix};
use polypath_emulator::validate::{KernelRun, recorded, shipped_cells, with_simulator};
use polypath_sim::run::Plan;
use polypath_sim::topology::Topology;

/// Packets of 1500 bytes that links of 40 Mbit/s carry in 4 s.
const PACKETS: u64 = 13_000;

/// A cell with other settings, by the kernel; `None` without the privilege, which the test says.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
fn by_kernel(test: &str, cell: &str, set: &[&str]) -> Option<(Plan, KernelRun)> {
    let prefix: Prefix = format!("recorded_{}", std::process::id()).parse().unwrap();
    let nothing = NetworkPlan::new(&prefix, &Topology::new()).unwrap();
    if let Err(error) = Namespaces::build(nothing) {
        eprintln!("skipped: {test}: {error}");
        return None;
    }
    let mut cells = shipped_cells().unwrap().into_iter();
    let mut cell = cells.find(|known| known.name == cell).unwrap();
    cell.set.extend(set.iter().map(|&set| set.to_owned()));
    let plan = cell.plan().unwrap();
    let run = || recorded(&plan, &prefix, 1, false).unwrap();
    let run = undisturbed(PACKETS, |run: &KernelRun| run.overruns, run);
    Some((plan, run))
}

/// A window of 200 kB in each round trip of 40 ms is 40 Mbit/s, of a link that carries 100. The
/// kernel's buffer is reckoned for segments of Multipath TCP, 1,424 bytes in 2,304 of memory. Those
/// of TCP have 1,448, so that its window is 1.7 % larger; the rest of the 5 % is for the machine.
#[test]
fn a_small_receive_buffer_limits_the_kernel_as_it_does_the_simulator() {
    let _alone = alone();
    let test = "a_small_receive_buffer_limits_the_kernel_as_it_does_the_simulator";
    let window = "connection.receive_buffer_max=200 kB";
    let set = [window, "duration=4 s", "warm_up=2 s"];
    let Some((plan, run)) = by_kernel(test, "cubic-100m-20ms-1bdp", &set) else { return };
    let (_, simulator) = with_simulator(&plan, 1).unwrap();
    let [kernel, simulator] = [run.goodputs_mbit_s[0], simulator.connections[0].goodput_mbit_s];
    assert!((simulator - 40.0).abs() < 1.0, "{simulator}");
    assert!((kernel / simulator - 1.0).abs() < 0.05, "{kernel} and {simulator} Mbit/s");
}

/// The path holds 20 Mbit/s in 40 ms, 69 segments, and its queue four times as much. The window
/// doubles from 10 to that in three round trips, 0.12 of the 2 s. In the rest the link carries
/// 1,448 bytes of payload in 1,500: 18.1 Mbit/s over the 2 s, of which a tenth is for the machine.
/// Were trains as long as a round trip, slow start would end at 25 segments, a third of the path.
#[cfg(feature = "kernel")]
#[test]
fn bess_in_the_kernel_fills_the_path_and_loses_nothing() {
    let _alone = alone();
    let test = "bess_in_the_kernel_fills_the_path_and_loses_nothing";
    let connection =
        r#"connection={ transport = "tcp", congestion = "balia", slow_start = "bess" }"#;
    let set = [connection, "path.link.queue=4 bdp", "duration=2 s", "warm_up=0 s"];
    let Some((_, run)) = by_kernel(test, "cubic-20m-20ms-1bdp", &set) else { return };
    assert!(run.goodputs_mbit_s[0] > 16.0, "{run:?}");
    assert_eq!(run.dropped_packets, 0, "{run:?}");
}

/// All that is recorded comes from the same transfer: what came in order is the sum of the rates,
/// each link has carried some of it, and both together no less than was delivered.
#[test]
fn a_run_by_the_kernel_is_recorded() {
    let _alone = alone();
    let series = r#"record.series=["goodput", "receive_buffer", "throughput"]"#;
    let set = [series, "record.interval=100 ms", "duration=4 s", "warm_up=0 s"];
    let test = "a_run_by_the_kernel_is_recorded";
    let Some((_, run)) = by_kernel(test, "mptcp-cubic-20m-20ms+20m-20ms", &set) else { return };

    let recording = &run.recording;
    assert_eq!((recording.times.len(), run.completions.len()), (40, 1));
    let [connection] = &recording.connections.lines[..] else { panic!("{recording:?}") };
    let rates: Vec<f64> = connection.column("goodput").unwrap().iter().flatten().collect();
    let mean_mbit_s = rates.iter().sum::<f64>() / rates.len() as f64 * 1e-6;
    assert!((mean_mbit_s - run.goodputs_mbit_s[0]).abs() < 1e-6, "{mean_mbit_s}, {run:?}");
    let held: Vec<f64> = connection.column("receive_buffer").unwrap().iter().flatten().collect();
    // What one look finds is there until the next: the first is taken when the transfer begins.
    assert!(held.len() >= 38 && held.iter().all(|&bytes| bytes <= 6_291_456.0), "{held:?}");
    let names: Vec<_> = recording.paths.lines.iter().map(|line| &*line.key.path).collect();
    assert_eq!(names, ["a", "b"]);
    let carried = recording.paths.lines.iter().map(|line| {
        let rates: Vec<f64> = line.column("throughput").unwrap().iter().flatten().collect();
        rates.iter().sum::<f64>() / rates.len() as f64 * 1e-6
    });
    let carried: Vec<_> = carried.collect();
    assert!(carried.iter().all(|&mbit_s| mbit_s > 1.0 && mbit_s < 20.5), "{carried:?}");
    assert!(carried.iter().sum::<f64>() > run.goodputs_mbit_s[0], "{carried:?}, {run:?}");
    assert!(run.packets > 0 && run.completions == [None]);
}
