//! Model, simulator and live run side by side, for people.

use core::fmt::Write;

use polypath::output::columns;

use super::tunnel::{ExperimentReport, Results};
use crate::experiment::LiveRow;

/// What stands above the columns.
const HEADINGS: [&str; 9] = [
    "",
    "paper",
    "unit",
    "model",
    "simulator",
    "live",
    "model by simulator",
    "model by live",
    "simulator by live",
];
const MEANING: &str = "paper: what it says; of throughput, how accurate the model is there. A by \
     B: how accurate A is, held against B, as the paper counts it (1 is exact; below 0 it is more \
     than twice as much), the mean over all points. live: one run of each point.";

/// A table for each experiment. Writing to a `String` cannot fail.
pub(super) fn render(results: &Results, kernel: &str) -> String {
    let Results { program, experiments, missing, .. } = results;
    let mut text = format!("Live runs of {program}, {kernel}\n");
    for experiment in experiments {
        let ExperimentReport { id, title, rows, points } = experiment;
        let headings = std::iter::once(HEADINGS.map(str::to_owned));
        let table: Vec<_> = headings.chain(rows.iter().map(row)).collect();
        let of = points.len();
        let _ = write!(text, "\n{id}: {title}, {of} points\n{}", columns(&table, 3));
        let _ = writeln!(text, "{}", seen(experiment));
    }
    let _ = writeln!(text, "\n{MEANING}");
    for problem in missing {
        let _ = writeln!(text, "{problem}");
    }
    text
}

fn row(row: &LiveRow) -> [String; 9] {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.2}"));
    let share = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.3}"));
    [
        row.of.clone(),
        row.paper.clone(),
        row.unit.to_owned(),
        number(row.model),
        number(row.simulator),
        number(row.live),
        share(row.model_by_simulator),
        share(row.model_by_live),
        share(row.simulator_by_live),
    ]
}

/// The mean of what was seen in the live runs.
fn seen(experiment: &ExperimentReport) -> String {
    let mean = |name: &str| {
        let values: Vec<_> =
            experiment.points.iter().filter_map(|point| point.seen.get(name)).copied().collect();
        polypath_model::metrics::mean(&values).unwrap_or(0.0)
    };
    format!(
        "live, in the mean over the points: of all segments {:.1} % were sent again and {:.1} % \
         came out of order; {:.2} packets on the links for each; {:.2} % of the packets were late \
         at the links",
        mean("sent_again") * 100.0,
        mean("out_of_order") * 100.0,
        mean("packets_per_segment"),
        mean("late_percent"),
    )
}
