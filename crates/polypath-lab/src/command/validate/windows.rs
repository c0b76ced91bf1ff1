//! `polypath validate windows`: the congestion windows of the kernel's TCP over emulated links, and
//! of the same in the simulator.

use std::process::ExitCode;

use polypath_emulator::validate::Cell;
use polypath_emulator::validate::windows::{
    BOUND, Compared, Row, Run, Track, compare, shipped_cells,
};
use serde::Serialize;

use super::cells::CellOptions;
use super::kernel_version;
use crate::report::Line;
use crate::report::windows::{self, WindowChart};
use polypath::output::columns;

/// The whole comparison; what `--json` prints.
#[derive(Clone, Debug, Serialize)]
struct Windows {
    kernel: String,
    /// How many runs of each cell.
    runs: u64,
    /// How far windows may be apart.
    bound: f64,
    rows: Vec<Row>,
}

pub(super) fn run(options: &CellOptions) -> anyhow::Result<ExitCode> {
    let CellOptions { runs, netns, .. } = options;
    let compare = |cell: &Cell| {
        let row = compare(cell, *runs, netns)?;
        let line = line(&row.median);
        Ok((row, line))
    };
    let Some(rows) = options.rows(shipped_cells()?, compare)? else { return Ok(ExitCode::SUCCESS) };
    let windows = Windows { kernel: kernel_version()?, runs: *runs, bound: BOUND, rows };
    options.show(&windows, || windows.page(), || windows.text())?;
    let within = windows.rows.iter().all(Row::is_within_bound);
    Ok(if within { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What stands above each column.
const HEADINGS: [&str; 9] = [
    "cell",
    "kernel, kB",
    "simulator, kB",
    "kernel, s",
    "simulator, s",
    "in time",
    "since reduction",
    "sorted",
    "late",
];

impl Windows {
    fn title(&self) -> String {
        let Self { kernel, runs, .. } = self;
        format!("Congestion windows of the simulator against {kernel}, medians of {runs} runs")
    }

    /// The table with its headings: mean windows, times between reductions, differences.
    fn cells(&self) -> Vec<[String; 9]> {
        let heading = HEADINGS.map(str::to_owned);
        std::iter::once(heading).chain(self.rows.iter().map(cells)).collect()
    }

    /// The cells that are beyond the bound.
    fn notes(&self) -> Vec<String> {
        let beyond = self.rows.iter().filter(|row| !row.is_within_bound());
        let note = |row: &Row| format!("{}: beyond {}", row.cell, share(self.bound));
        beyond.map(note).collect()
    }

    fn text(&self) -> String {
        let notes: String = self.notes().iter().map(|note| format!("{note}\n")).collect();
        format!("{}\n{}{notes}", self.title(), columns(&self.cells(), 1))
    }

    fn page(&self) -> String {
        let charts: Vec<_> = self.rows.iter().filter_map(chart).collect();
        windows::page(&self.title(), &self.cells(), &self.notes(), &charts)
    }
}

fn cells(row: &Row) -> [String; 9] {
    let Compared { difference, kernel, simulator } = row.median;
    let kilobytes = |bytes: f64| format!("{:.1}", bytes / 1e3);
    let seconds = |time: Option<f64>| time.map_or_else(none, |time| format!("{time:.2}"));
    [
        row.cell.clone(),
        kilobytes(kernel.mean_bytes),
        kilobytes(simulator.mean_bytes),
        seconds(kernel.period_s),
        seconds(simulator.period_s),
        share(difference.in_time),
        difference.since_reduction.map_or_else(none, share),
        share(difference.sorted),
        row.overruns.to_string(),
    ]
}

/// A row as it comes.
fn line(median: &Compared) -> String {
    let Compared { difference, kernel, simulator } = median;
    format!(
        "kernel {:.1} kB, simulator {:.1}; apart {} in time, {} since the reduction, {} sorted",
        kernel.mean_bytes / 1e3,
        simulator.mean_bytes / 1e3,
        share(difference.in_time),
        difference.since_reduction.map_or_else(none, share),
        share(difference.sorted)
    )
}

/// The windows of the first run.
fn chart(row: &Row) -> Option<WindowChart> {
    let Run { kernel_track, simulator_track, .. } = row.runs.first()?;
    let line = |name: &str, track: &Track| Line {
        name: name.to_owned(),
        points: track
            .window_bytes
            .iter()
            .enumerate()
            .map(|(index, &bytes)| (index as f64 * row.interval_s, bytes as f64 / 1e3))
            .collect(),
    };
    let lines = vec![line("kernel", kernel_track), line("simulator", simulator_track)];
    Some(WindowChart { name: row.cell.clone(), lines, from_s: row.warm_up_s })
}

fn share(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn none() -> String {
    "none".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Samples of a second: a reduction to 70 of 100 in every third of them, or none.
    fn windows() -> Windows {
        let track = |windows: [u64; 3]| Track {
            window_bytes: (0..12).map(|second| windows[second % 3] * 1_000).collect(),
            ssthresh_bytes: vec![None; 12],
            srtt_ms: vec![Some(40.0); 12],
        };
        let second = Duration::from_secs(1);
        let row = |cell: &str, kernel, simulator| {
            let run = Run::new(track(kernel), track(simulator), second, 3 * second).unwrap();
            Row::new(cell, second, 3 * second, vec![run], 4).unwrap()
        };
        let rows = vec![
            row("cubic", [70, 90, 100], [100, 70, 90]),
            row("bbr", [100, 100, 100], [120, 120, 120]),
        ];
        Windows { kernel: "Linux 6.18".to_owned(), runs: 1, bound: BOUND, rows }
    }

    #[test]
    fn the_table_has_a_row_for_each_cell_and_what_is_beyond_the_bound() {
        insta::assert_snapshot!(windows().text(), @r"
        Congestion windows of the simulator against Linux 6.18, medians of 1 runs
        cell   kernel, kB  simulator, kB  kernel, s  simulator, s  in time  since reduction  sorted  late
        cubic        86.7           86.7       3.00          3.00   23.1 %            0.0 %   0.0 %     4
        bbr         100.0          120.0       none          none   20.0 %             none  20.0 %     4
        bbr: beyond 15.0 %
        ");
        assert_eq!(
            line(&windows().rows[0].median),
            "kernel 86.7 kB, simulator 86.7; apart 23.1 % in time, 0.0 % since the reduction, \
             0.0 % sorted"
        );
    }

    #[test]
    fn json_has_the_differences_and_every_window() {
        let json = serde_json::to_value(windows()).unwrap();
        assert_eq!(json["bound"], 0.15);
        let row = &json["rows"][1];
        assert_eq!((&row["cell"], &row["warm_up_s"]), (&"bbr".into(), &3.0.into()));
        assert_eq!(row["median"]["difference"]["since_reduction"], serde_json::Value::Null);
        assert_eq!(row["runs"][0]["kernel"]["mean_bytes"], 100_000.0);
        assert_eq!(row["runs"][0]["simulator_track"]["window_bytes"][11], 120_000);
        assert_eq!(row["runs"][0]["kernel_track"]["srtt_ms"][0], 40.0);
    }

    #[test]
    fn the_page_draws_the_windows_of_each_cell() {
        let page = windows().page();
        assert_eq!(page.matches("<svg").count(), 2);
        assert!(page.contains("<h2>cubic</h2>") && page.contains("beyond 15.0 %"));
    }
}
