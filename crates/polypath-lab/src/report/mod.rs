//! Results for people: that of `polypath demo` as a table, as JSON and as a page with charts, and
//! the pages of a simulated run ([`simulation`]), of traces ([`trace`]), of the simulator beside
//! the kernel ([`fidelity`], [`windows`]), of algorithms beside each other ([`comparison`]), and of
//! reproduced papers ([`reproduction`]).

mod chart;
pub mod comparison;
mod demo_page;
pub mod fec;
pub mod fidelity;
mod html;
pub mod reproduction;
pub mod simulation;
mod table;
mod thin;
pub mod trace;
pub mod windows;

pub use chart::{Line, Mark};
pub use table::Row;
pub(crate) use table::{MOST_ROWS, more};

use serde::Serialize;

/// What a bond achieved, next to what its paths achieve alone. Rates are goodput in Mbit/s; `None`
/// stands for what was not seen, and for a figure of a run that does not count, because the machine
/// did not keep up with the links, and what follows from it.
///
/// The names of the fields are those of the JSON form and stay as they are.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DemoReport {
    /// Each path alone.
    pub paths: Vec<PathResult>,
    /// The fastest path alone.
    pub best_path_mbit_s: Option<f64>,
    /// All paths bonded.
    pub bond_mbit_s: Option<f64>,
    /// All paths alone, added up: what an ideal bond reaches.
    pub sum_mbit_s: Option<f64>,
    /// The bond over the sum, from 0 to 1.
    pub efficiency: Option<f64>,
    /// Longest pause of delivery after a path died silently, in milliseconds.
    pub failure_gap_ms: Option<f64>,
    /// From the return of the path until it carried data again, in milliseconds.
    pub reuse_ms: Option<f64>,
    /// Whether every byte arrived as it was sent.
    pub sha256_ok: bool,
    /// How late the emulated links were in each run.
    pub timing: Vec<RunTiming>,
    /// Throughput over time.
    pub series: Vec<RunSeries>,
}

/// How late packets left the emulated links in a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunTiming {
    /// What was run.
    pub run: String,
    /// How often it was run until it counted, or for the last time.
    pub tries: u32,
    /// The 99th percentile of the path and direction that were the latest, in milliseconds.
    pub late_p99_ms: f64,
    /// The latest packet, in milliseconds.
    pub late_max_ms: f64,
    /// Whether the figures of this run count: the machine kept up with the links.
    pub counts: bool,
}

/// A path alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathResult {
    /// Its name.
    pub name: String,
    /// Its goodput in Mbit/s.
    pub mbit_s: Option<f64>,
}

/// One run: the throughput of each path over time, and what happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunSeries {
    /// What was run, for example `bond with a failure`.
    pub run: String,
    /// What happened to the paths.
    pub events: Vec<PathEvent>,
    /// One series for each path.
    pub paths: Vec<PathSeries>,
}

/// The throughput of a path over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathSeries {
    /// The name of the path.
    pub name: String,
    /// Samples in the order of time.
    pub samples: Vec<Sample>,
}

/// The throughput of a path at one time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// Seconds since the start of the run.
    pub t: f64,
    /// Throughput in Mbit/s.
    pub mbit_s: f64,
}

/// Something that happened to a path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathEvent {
    /// Seconds since the start of the run.
    pub t: f64,
    /// The name of the path.
    pub path: String,
    /// What happened.
    pub what: PathChange,
}

/// What can happen to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PathChange {
    /// It went silent.
    Failed,
    /// It carried packets again.
    Returned,
}

/// What was measured; [`DemoReport::new`] derives the rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Each path alone.
    pub paths: Vec<PathResult>,
    /// See [`DemoReport::bond_mbit_s`].
    pub bond_mbit_s: Option<f64>,
    /// See [`DemoReport::failure_gap_ms`].
    pub failure_gap_ms: Option<f64>,
    /// See [`DemoReport::reuse_ms`].
    pub reuse_ms: Option<f64>,
    /// See [`DemoReport::sha256_ok`].
    pub sha256_ok: bool,
    /// See [`DemoReport::timing`].
    pub timing: Vec<RunTiming>,
    /// See [`DemoReport::series`].
    pub series: Vec<RunSeries>,
}

impl DemoReport {
    /// The report of what was measured.
    pub fn new(measured: Measured) -> Self {
        let Measured { paths, bond_mbit_s, failure_gap_ms, reuse_ms, sha256_ok, timing, series } =
            measured;
        let rates: Option<Vec<f64>> = paths.iter().map(|path| path.mbit_s).collect();
        let best_path_mbit_s =
            rates.as_ref().map(|rates| rates.iter().copied().fold(0.0, f64::max));
        let sum_mbit_s = rates.map(|rates| rates.iter().sum::<f64>());
        let of_sum = |(bond, sum): (f64, f64)| if sum > 0.0 { bond / sum } else { 0.0 };
        let efficiency = bond_mbit_s.zip(sum_mbit_s).map(of_sum);
        Self {
            paths,
            best_path_mbit_s,
            bond_mbit_s,
            sum_mbit_s,
            efficiency,
            failure_gap_ms,
            reuse_ms,
            sha256_ok,
            timing,
            series,
        }
    }

    /// A table for the terminal.
    pub(crate) fn to_table(&self) -> String {
        table::render(self)
    }

    /// One JSON object, with the names of the fields above.
    ///
    /// # Errors
    /// Never for finite numbers.
    pub(crate) fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }

    /// A page that needs nothing but a browser.
    pub(crate) fn to_html(&self) -> String {
        demo_page::render(self)
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod well_formed;
