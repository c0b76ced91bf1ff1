//! The report for a terminal.

use core::fmt::Write;

use super::{DemoReport, RunTiming};

/// Writing to a `String` cannot fail.
pub(super) fn render(report: &DemoReport) -> String {
    let rows = rows(report);
    let name_width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let value_width = rows.iter().map(|row| row.value.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for Row { name, value, remark } in rows {
        let line = format!("{name:name_width$}  {value:>value_width$}  {remark}");
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// Rows of a table of connections, links or flows, at most.
pub(crate) const MOST_ROWS: usize = 40;

/// Says how many of them are not shown.
pub(crate) fn more(all: usize, what: &str) -> Option<String> {
    let others = all.checked_sub(MOST_ROWS).filter(|&others| others > 0)?;
    Some(format!("... and {others} more {what}: see --json"))
}

/// A line of a table of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What.
    pub name: String,
    /// How much, with its unit.
    pub value: String,
    /// What that means, or nothing.
    pub remark: String,
}

impl Row {
    /// A line.
    pub fn new(name: impl Into<String>, value: String, remark: impl Into<String>) -> Self {
        Self { name: name.into(), value, remark: remark.into() }
    }
}

/// The lines of the report, in the order in which they are shown.
pub(super) fn rows(report: &DemoReport) -> Vec<Row> {
    let alone = |name: &str| format!("{name} alone");
    let mut rows: Vec<_> =
        report.paths.iter().map(|p| Row::new(alone(&p.name), rate(p.mbit_s), "")).collect();
    rows.push(Row::new("best path", rate(report.best_path_mbit_s), ""));
    rows.push(Row::new("sum of paths", rate(report.sum_mbit_s), ""));
    rows.push(Row::new("bond", rate(report.bond_mbit_s), share(report)));
    let times_count = report.timing.last().is_none_or(|failure| failure.counts);
    let gap = "longest pause of delivery when a path died silently";
    rows.push(Row::new("failure gap", millis(report.failure_gap_ms, times_count), gap));
    let reuse = "from the return of the path until it carried data";
    rows.push(Row::new("path reused", millis(report.reuse_ms, times_count), reuse));
    let (value, remark) = match report.sha256_ok {
        true => ("intact", "SHA-256 of what arrived is that of what was sent"),
        false => ("DAMAGED", "SHA-256 of what arrived differs from that of what was sent"),
    };
    rows.push(Row::new("data", value.to_owned(), remark));
    rows.extend(report.timing.iter().filter(|timing| !timing.counts).map(spoilt));
    rows
}

/// Why figures are missing.
fn spoilt(timing: &RunTiming) -> Row {
    let RunTiming { run, tries, late_p99_ms, late_max_ms, .. } = timing;
    let remark = format!(
        "{run}: packets left the links up to {late_max_ms:.1} ms late, one in a hundred by \
         {late_p99_ms:.1} ms or more (run {tries} times)"
    );
    Row::new("machine too busy", String::new(), remark)
}

/// Of the sum and of the best path.
fn share(report: &DemoReport) -> String {
    let Some(efficiency) = report.efficiency else { return String::new() };
    let share = format!("{:.1} % of the sum", efficiency * 100.0);
    let best = report.best_path_mbit_s.filter(|&best| best > 0.0);
    match report.bond_mbit_s.zip(best) {
        Some((bond, best)) => format!("{share}, {:.2} times the best path", bond / best),
        None => share,
    }
}

fn rate(mbit_s: Option<f64>) -> String {
    mbit_s.map_or_else(not_measured, |mbit_s| format!("{mbit_s:.1} Mbit/s"))
}

fn millis(ms: Option<f64>, counts: bool) -> String {
    match ms {
        Some(ms) => format!("{ms:.0} ms"),
        None if counts => "not seen".to_owned(),
        None => not_measured(),
    }
}

fn not_measured() -> String {
    "not measured".to_owned()
}
