//! The page of a simulated run.

mod applications;
mod diagram;
mod input;
mod layout;

pub use applications::Application;
pub use diagram::{Diagram, DiagramLink, Half};
pub use input::{PageInput, SERIES};

use core::fmt::Write;
use core::iter;

use super::chart::{self, Axis, Chart, Line};
use super::html::{self, escape};

/// The last thousandth of the packets would stretch the chart of delays beyond use.
const SHOWN_DELAYS: f64 = 0.999;

/// A page that needs nothing but a browser.
pub fn page(input: &PageInput) -> String {
    html::page(&input.title, |page| {
        html::write_results(page, &input.results);
        applications::write(page, &input.applications);
        page.push_str("<h2>Network</h2>\n");
        diagram::write(page, &input.network);
        write_charts(page, input);
    })
}

fn write_charts(page: &mut String, input: &PageInput) {
    let time = Axis::new("time (s)");
    let chart = |title: &str, y, lines| Chart {
        title: title.to_owned(),
        x: time,
        y: Axis::new(y),
        lines,
        marks: &input.marks,
    };
    let throughput = chart("Throughput of each path", "throughput (Mbit/s)", &input.throughput);
    write_over_time(page, &throughput, "Mbit/s");
    write_over_time(page, &chart("Congestion windows", "window (kB)", &input.windows), "kB");
    write_over_time(page, &chart("Queues", "queue (kB)", &input.queues), "kB");
    write_delays(page, &input.delays);
}

/// A section with a chart over time, and mean and maximum of its lines.
fn write_over_time(page: &mut String, chart: &Chart<'_>, unit: &str) {
    if !write_chart(page, chart) {
        return;
    }
    let summary = chart.lines.iter().map(|line| [mean(line), highest(line)]);
    write_summary(page, chart.lines, ["mean", "highest"], summary, unit);
}

/// The cumulative distributions of delays, and some of their quantiles.
fn write_delays(page: &mut String, delays: &[Line]) {
    let shown: Vec<_> = delays.iter().map(without_tail).collect();
    let written = write_chart(
        page,
        &Chart {
            title: "One-way delay of packets".to_owned(),
            x: Axis::new("delay (ms)"),
            y: Axis { label: "share of packets", at_least: 1.0 },
            lines: &shown,
            marks: &[],
        },
    );
    if !written {
        return;
    }
    page.push_str("<p>The slowest thousandth of the packets is left out of the chart.</p>\n");
    let summary = delays.iter().map(|line| [0.5, 0.95, 0.99, 1.0].map(|q| quantile(line, q)));
    write_summary(page, delays, ["median", "95 %", "99 %", "longest"], summary, "ms");
}

/// Whether there was something to draw.
fn write_chart(page: &mut String, chart: &Chart<'_>) -> bool {
    let _ = writeln!(page, "<h2>{}</h2>", escape(&chart.title));
    if chart.lines.is_empty() {
        page.push_str("<p>Nothing was recorded.</p>\n");
        return false;
    }
    page.push_str(&chart::render(chart));
    true
}

/// The same as numbers, for those who cannot see the chart.
fn write_summary<const N: usize>(
    page: &mut String,
    lines: &[Line],
    columns: [&str; N],
    rows: impl Iterator<Item = [f64; N]>,
    unit: &str,
) {
    let headings = columns.map(|column| format!("{column} ({unit})"));
    let named = lines.iter().zip(rows).map(|(line, values)| {
        let values = values.map(|value| format!("{value:.2}"));
        [vec![line.name.clone()], values.to_vec()].concat()
    });
    let table: Vec<_> =
        iter::once([vec![String::new()], headings.to_vec()].concat()).chain(named).collect();
    html::write_table(page, &table, 1);
}

/// The mean of a line whose points each stand for the time since the point before.
fn mean(line: &Line) -> f64 {
    let (mut before, mut area) = (0.0, 0.0);
    for &(x, y) in &line.points {
        area += (x - before) * y;
        before = x;
    }
    if before > 0.0 { area / before } else { 0.0 }
}

fn highest(line: &Line) -> f64 {
    line.points.iter().map(|point| point.1).fold(0.0, f64::max)
}

/// The first delay that a share `q` of the packets did not exceed.
fn quantile(line: &Line, q: f64) -> f64 {
    let reached = line.points.iter().find(|point| point.1 >= q).or(line.points.last());
    reached.map_or(0.0, |point| point.0)
}

/// A distribution up to [`SHOWN_DELAYS`].
fn without_tail(line: &Line) -> Line {
    let shown = line.points.iter().position(|point| point.1 >= SHOWN_DELAYS);
    let shown = shown.map_or(line.points.len(), |at| at + 1);
    Line { name: line.name.clone(), points: line.points[..shown].to_vec() }
}

#[cfg(test)]
mod tests;
