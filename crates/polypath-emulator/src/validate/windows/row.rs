//! A cell of the table, in several runs.

use super::difference::{BOUND, Difference, Sawtooth};
use super::track::Track;
use polypath_model::metrics::quantile;
use serde::Serialize;
use std::time::Duration;

/// Both windows from the end of the warm-up on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// How far they are apart.
    pub difference: Difference,
    /// The kernel's.
    pub kernel: Sawtooth,
    /// That of the simulator.
    pub simulator: Sawtooth,
}

/// A run on both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Run {
    /// What comes out.
    #[serde(flatten)]
    pub compared: Compared,
    /// The kernel's sender.
    pub kernel_track: Track,
    /// That of the simulator.
    pub simulator_track: Track,
}

/// A cell, run on both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The name of the cell.
    pub cell: String,
    /// The end of the warm-up in seconds: what lies before it is not compared.
    pub warm_up_s: f64,
    /// The interval of the tracks in seconds.
    pub interval_s: f64,
    /// The medians of all runs.
    pub median: Compared,
    /// Packets that the emulator handed over late or lost, in all runs.
    pub overruns: u64,
    /// The runs.
    pub runs: Vec<Run>,
}

impl Run {
    /// Of tracks of this interval; `None` if the kernel's sender had no window after the warm-up.
    pub fn new(
        kernel_track: Track,
        simulator_track: Track,
        interval: Duration,
        warm_up: Duration,
    ) -> Option<Self> {
        let first = warm_up.as_secs_f64() / interval.as_secs_f64();
        let windows = |track: &Track| track.windows_from(first.ceil() as usize);
        let (kernel, simulator) = (windows(&kernel_track), windows(&simulator_track));
        let sawtooth = |windows: &[f64]| Sawtooth::of(windows, interval.as_secs_f64());
        let compared = Compared {
            difference: Difference::of(&kernel, &simulator)?,
            kernel: sawtooth(&kernel)?,
            simulator: sawtooth(&simulator)?,
        };
        Some(Self { compared, kernel_track, simulator_track })
    }
}

impl Compared {
    /// The medians of several; `None` if there are none.
    fn median(runs: &[Run]) -> Option<Self> {
        let of = |value: fn(&Self) -> Option<f64>| {
            let mut values: Vec<_> = runs.iter().filter_map(|run| value(&run.compared)).collect();
            quantile(&mut values, 0.5)
        };
        Some(Self {
            difference: Difference {
                in_time: of(|run| Some(run.difference.in_time))?,
                since_reduction: of(|run| run.difference.since_reduction),
                sorted: of(|run| Some(run.difference.sorted))?,
            },
            kernel: Sawtooth {
                mean_bytes: of(|run| Some(run.kernel.mean_bytes))?,
                period_s: of(|run| run.kernel.period_s),
            },
            simulator: Sawtooth {
                mean_bytes: of(|run| Some(run.simulator.mean_bytes))?,
                period_s: of(|run| run.simulator.period_s),
            },
        })
    }
}

impl Row {
    /// A cell from its runs; `None` if there are none.
    pub fn new(
        cell: &str,
        interval: Duration,
        warm_up: Duration,
        runs: Vec<Run>,
        overruns: u64,
    ) -> Option<Self> {
        Some(Self {
            cell: cell.to_owned(),
            warm_up_s: warm_up.as_secs_f64(),
            interval_s: interval.as_secs_f64(),
            median: Compared::median(&runs)?,
            overruns,
            runs,
        })
    }

    /// Whether the windows are as near to each other as they have to be.
    pub fn is_within_bound(&self) -> bool {
        self.median.difference.judged() <= BOUND
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn track(windows: &[u64]) -> Track {
        Track { window_bytes: windows.to_vec(), ..Track::default() }
    }

    /// A warm-up of two samples, then 100 next to `window`.
    fn run(window: u64) -> Run {
        let simulator = track(&[0, 10, window, window]);
        Run::new(track(&[0, 900, 100, 100]), simulator, SECOND, 2 * SECOND).unwrap()
    }

    #[test]
    fn what_lies_before_the_end_of_the_warm_up_is_not_compared() {
        let Run { compared: Compared { difference, kernel, .. }, kernel_track, .. } = run(110);
        assert!((difference.in_time - 0.1).abs() < 1e-12);
        assert_eq!(kernel.mean_bytes, 100.0);
        assert_eq!(kernel_track.window_bytes.len(), 4, "it is shown");
        let late = Run::new(track(&[1, 1]), track(&[1, 1]), SECOND, 2 * SECOND);
        assert_eq!(late, None);
    }

    #[test]
    fn rows_have_medians_and_judge_them() {
        let row = |windows: [u64; 3]| {
            Row::new("x", SECOND, 2 * SECOND, windows.map(run).to_vec(), 0).unwrap()
        };
        let near = row([100, 115, 190]);
        assert!((near.median.difference.judged() - 0.15).abs() < 1e-12);
        assert_eq!(near.median.simulator.mean_bytes, 115.0);
        assert_eq!(near.median.kernel.period_s, None);
        assert!(near.is_within_bound());
        assert!(!row([100, 116, 190]).is_within_bound());
        assert_eq!(Row::new("x", SECOND, SECOND, Vec::new(), 0), None);
    }
}
