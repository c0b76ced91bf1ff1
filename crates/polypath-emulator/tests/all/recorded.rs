//! What is recorded of the kernel's Multipath TCP, in a short scenario.

use crate::alone::{alone, undisturbed};
use polypath_emulator::netns::Namespaces;
use polypath_emulator::plan::{NetworkPlan, Prefix};
use polypath_emulator::validate::{KernelRun, recorded, shipped_cells};
use polypath_sim::topology::Topology;

/// Packets of 1500 bytes that two links of 20 Mbit/s carry in 4 s.
const PACKETS: u64 = 13_000;

/// All that is recorded comes from the same transfer: what came in order is the sum of the rates,
/// each link has carried some of it, and both together no less than was delivered.
#[test]
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
fn a_run_by_the_kernel_is_recorded() {
    let _alone = alone();
    let prefix: Prefix = format!("recorded_{}", std::process::id()).parse().unwrap();
    let nothing = NetworkPlan::new(&prefix, &Topology::new()).unwrap();
    if let Err(error) = Namespaces::build(nothing) {
        eprintln!("skipped: a_run_by_the_kernel_is_recorded: {error}");
        return;
    }
    let mut cells = shipped_cells().unwrap().into_iter();
    let mut cell = cells.find(|cell| cell.name == "mptcp-cubic-20m-20ms+20m-20ms").unwrap();
    let series = r#"record.series=["goodput", "receive_buffer", "throughput"]"#;
    let more = [series, "record.interval=100 ms", "duration=4 s", "warm_up=0 s"];
    cell.set.extend(more.map(str::to_owned));
    let plan = cell.plan().unwrap();
    let run = || recorded(&plan, &prefix, 1, false).unwrap();
    let run = undisturbed(PACKETS, |run: &KernelRun| run.overruns, run);

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
