//! The same scenario on both, with windows looked at.

use super::row::{Row, Run};
use super::track::Track;
use crate::kernel::{Looks, WindowSample};
use crate::plan::Prefix;
use crate::validate::measure::{LoadedPlan, MeasureError, started};
use crate::validate::{Cell, CellError, RowError, cells};
use polypath_link::Loss;
use polypath_sim::record::series::Recording;
use polypath_sim::run::{Keep, Plan, RunError};
use polypath_sim::scenario::Transport;
use polypath_units::Timestamp;
use std::time::Duration;

/// How often windows are looked at: about a round-trip time of what is compared.
pub const INTERVAL: Duration = Duration::from_millis(20);

/// Why there is no row.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WindowsError {
    /// The scenario cannot be run.
    #[error(transparent)]
    Cell(#[from] CellError),
    /// There is more than one window, or it is a matter of chance.
    #[error(
        "cell {cell}: windows are compared of one connection with one flow, over TCP, on links \
         that lose nothing but what their queues have no room for"
    )]
    Unsuited {
        /// The cell.
        cell: String,
    },
    /// One of them failed.
    #[error(transparent)]
    Run(#[from] RowError),
    /// The sender was not there after the warm-up.
    #[error("cell {cell}: there is no window after the warm-up")]
    NoWindow {
        /// The cell.
        cell: String,
    },
}

/// The shipped cells of which windows can be compared.
///
/// # Errors
/// If one of them was built in wrong.
pub fn shipped_cells() -> Result<Vec<Cell>, CellError> {
    let mut suited = Vec::new();
    for cell in cells::shipped_cells()? {
        if has_one_window(&cell.plan()?) {
            suited.push(cell);
        }
    }
    Ok(suited)
}

/// Runs a cell with the kernel and in the simulator, with the seeds from 1 to `runs` each.
///
/// # Errors
/// See [`WindowsError`].
pub fn compare(cell: &Cell, runs: u64, prefix: &Prefix) -> Result<Row, WindowsError> {
    let name = || cell.name.clone();
    let mut recorded = cell.clone();
    recorded.set.extend(record());
    let plan = recorded.plan()?;
    if !has_one_window(&plan) {
        return Err(WindowsError::Unsuited { cell: name() });
    }
    let warm_up = plan.scenario().warm_up;
    let (mut compared, mut overruns) = (Vec::new(), 0);
    for seed in 1..=runs {
        let (kernel, late) = with_kernel(&plan, prefix, seed)
            .map_err(|error| RowError::Kernel { cell: name(), error: error.into() })?;
        let simulator = with_simulator(&plan, seed)
            .map_err(|error| RowError::Simulator { cell: name(), error: error.into() })?;
        let run = Run::new(kernel, simulator, INTERVAL, warm_up);
        compared.push(run.ok_or_else(|| WindowsError::NoWindow { cell: name() })?);
        overruns += late;
    }
    let row = Row::new(&cell.name, INTERVAL, warm_up, compared, overruns);
    row.ok_or_else(|| WindowsError::NoWindow { cell: name() })
}

/// What the simulator records for it, as overrides.
fn record() -> [String; 2] {
    let series = r#"record.series=["cwnd", "ssthresh", "srtt"]"#;
    [series.to_owned(), format!("record.interval={} ms", INTERVAL.as_millis())]
}

fn has_one_window(plan: &Plan) -> bool {
    let [connection] = plan.connections() else { return false };
    let over_tcp =
        matches!(plan.scenario().connections[connection.spec].transport, Transport::Tcp(_));
    let lossless = plan.topology().edges().iter().all(|edge| edge.config.loss == Loss::None);
    over_tcp && lossless && plan.flows_of(connection).count() == 1
}

/// The windows of the kernel's sender, and how many packets the emulator handed over late or lost.
fn with_kernel(plan: &Plan, prefix: &Prefix, seed: u64) -> Result<(Track, u64), MeasureError> {
    let loaded = LoadedPlan::new(plan, prefix)?;
    let (network, end) = started(plan, prefix, seed)?;
    let looks = Looks { windows: Some(INTERVAL), ..Looks::default() };
    let outcome = loaded.run(&network, end, looks)?;
    network.stop()?;
    let samples = outcome.flows.into_iter().flatten().next().unwrap_or_default().windows;
    let overruns = outcome.end.links.iter().map(|link| link.overruns()).sum();
    Ok((Track::held(&samples, INTERVAL, end), overruns))
}

fn with_simulator(plan: &Plan, seed: u64) -> Result<Track, RunError> {
    let recording = plan.run(seed, Keep::default(), &mut |_| {})?.recording;
    let end = plan.scenario().duration.map_or(Timestamp::ZERO, |end| Timestamp::ZERO + end);
    Ok(Track::held(&samples(&recording), INTERVAL, end))
}

/// What was recorded of the only end that sends.
fn samples(recording: &Recording) -> Vec<WindowSample> {
    let Some(line) = recording.paths.lines.first() else { return Vec::new() };
    let value = |name: &str, sample: usize| line.column(name)?.get(sample);
    let sample = |(index, &at): (usize, &Timestamp)| WindowSample {
        at,
        window: value("cwnd", index).map_or(0, |bytes| bytes as u64),
        ssthresh: value("ssthresh", index).map(|bytes| bytes as u64),
        srtt: value("srtt", index).map(Duration::from_secs_f64),
    };
    recording.times.iter().enumerate().map(sample).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::windows::Sawtooth;

    fn cell(name: &str) -> Cell {
        let mut cells = cells::shipped_cells().unwrap().into_iter();
        cells.find(|cell| cell.name == name).unwrap()
    }

    #[test]
    fn cells_with_one_window_are_compared() {
        let cells = shipped_cells().unwrap();
        for control in ["reno-", "cubic-", "bbr-"] {
            let of_it = cells.iter().filter(|cell| cell.name.starts_with(control));
            assert!(of_it.count() >= 5, "{control}");
        }
        assert!(!cells.iter().any(|cell| cell.name.contains('%') || cell.name.contains("mptcp")));
        let prefix = "x".parse().unwrap();
        for name in ["mptcp-cubic-death", "cubic-10m-20ms-1bdp-1%"] {
            let refused = compare(&cell(name), 1, &prefix).unwrap_err();
            assert!(matches!(refused, WindowsError::Unsuited { .. }), "{refused}");
        }
    }

    /// In 25 s BBR looks at the round-trip time twice, 10 s and a little apart. What it then sends
    /// after a flight of four segments says nothing of the bandwidth, of which it remembers ten
    /// rounds: no longer than the look takes on a path of 20 ms.
    #[test]
    fn bbr_has_its_window_back_after_probe_rtt() {
        let mut cell = cell("bbr-100m-10ms-1bdp");
        cell.set.extend(record());
        let track = with_simulator(&cell.plan().unwrap(), 1).unwrap();
        let windows = track.windows_from(5 * 50);
        let period = Sawtooth::of(&windows, INTERVAL.as_secs_f64()).unwrap().period_s.unwrap();
        assert!((10.0..12.0).contains(&period), "{period}");
        let looks = windows.iter().filter(|&&window| window < 100.0 * 1_448.0).count();
        // Each lasts 200 ms, a round to get there, a round at least, and one until the window is
        // back.
        assert!(looks as f64 * 0.02 <= 2.0 * (0.2 + 4.0 * 0.02), "{looks}");
    }

    /// Path and queue hold two BDPs of 20 Mbit/s x 40 ms, 100 kB each, headers of 52 bytes in
    /// packets of 1500 included; CUBIC's window falls to 0.7 of it. The last packet that fits, and
    /// the one in service, come on top.
    #[test]
    fn the_simulators_window_is_recorded() {
        let mut cell = cell("cubic-20m-20ms-1bdp");
        cell.set.extend(record());
        cell.set.push("duration=12 s".to_owned());
        let plan = cell.plan().unwrap();
        let track = with_simulator(&plan, 1).unwrap();
        assert_eq!(track.window_bytes.len(), 12 * 50);
        let holds = 200e3 * 1448.0 / 1500.0;
        for window in track.windows_from(300) {
            assert!((0.68..1.05).contains(&(window / holds)), "{window}");
        }
        assert!(track.srtt_ms.iter().flatten().all(|srtt| (39.0..85.0).contains(srtt)));
        assert!(track.ssthresh_bytes.last().unwrap().is_some());
    }
}
