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

/// 200 kB in each round trip of 40 ms are 40 Mbit/s, of a link that carries 100. The simulator has
/// that; the kernel's segments have options, and more or less memory than those that its buffer is
/// reckoned for: 1,448 bytes of 2,304 in place of 1,424, which is 1.7 %.
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

/// What fills the path is 20 Mbit/s in 40 ms, 69 segments, to which the window doubles from 10 in
/// three round trips; the queue holds four times as much. Of 2 s as many are filled then as leave
/// nine tenths of what the headers leave, 0.95: 17 Mbit/s, of which the rest is for the machine.
/// Trains that are as long as a round trip would end slow start at the second one, with a third.
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
