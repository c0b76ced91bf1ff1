//! The report of the demo as a page.

use super::chart::{self, Axis, Chart, Line, Mark, number};
use super::html;
use super::{DemoReport, PathChange, PathEvent, PathSeries, RunSeries, table};

pub(super) fn render(report: &DemoReport) -> String {
    html::page("Polypath demo", |page| {
        html::write_results(page, &table::rows(report));
        for run in &report.series {
            page.push_str(&format!("<h2>{}</h2>\n", html::escape(&run.run)));
            page.push_str(&throughput(run));
        }
    })
}

fn throughput(run: &RunSeries) -> String {
    let lines: Vec<_> = run.paths.iter().map(line).collect();
    let marks: Vec<_> = run.events.iter().map(mark).collect();
    chart::render(&Chart {
        title: format!("Throughput of each path over time: {}", run.run),
        x: Axis::new("time (s)"),
        y: Axis::new("throughput (Mbit/s)"),
        lines: &lines,
        marks: &marks,
    })
}

fn line(path: &PathSeries) -> Line {
    let points = path.samples.iter().map(|sample| (sample.t, sample.mbit_s)).collect();
    Line { name: path.name.clone(), points }
}

/// Failures and returns are written in rows of their own.
fn mark(event: &PathEvent) -> Mark {
    let (verb, row) = match event.what {
        PathChange::Failed => ("fails", 0),
        PathChange::Returned => ("returns", 1),
    };
    Mark { x: event.t, text: format!("{} {verb} at {} s", event.path, number(event.t)), row }
}
