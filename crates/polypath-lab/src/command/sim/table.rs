//! Results for people.

use core::fmt::Write;

use polypath_model::metrics::quantile;
use polypath_sim::run::{ConnectionReport, LinkReport, PathTotals};

use super::{TimedRun, flows, rules};
use crate::report::{MOST_ROWS, more};
use polypath::output::columns;

/// The results of runs of one scenario: medians, and from where to where they go.
///
/// Writing to a `String` cannot fail.
pub(super) fn render(scenario: &str, runs: &[TimedRun]) -> String {
    let simulated: f64 = runs.iter().map(|run| run.report.sim_s).sum();
    let cpu: f64 = runs.iter().map(|run| run.cpu_s).sum();
    let segments: u64 = runs.iter().map(|run| run.report.segments_delivered).sum();
    let several = if runs.len() == 1 { "run" } else { "runs" };
    let mut text = format!(
        "{scenario}: {} {several}, {simulated:.1} s simulated in {cpu:.2} CPU s, {segments} \
         segments\n",
        runs.len()
    );
    let Some(first) = runs.first() else { return text };
    if first.report.connections.len() > 1 {
        let fairness = spread(runs, 3, |run| run.report.jain_index);
        let _ = writeln!(text, "Jain's index {fairness}");
    }
    connections(&mut text, runs);
    flows::write(&mut text, runs);
    rules::write(&mut text, runs);
    links(&mut text, runs);
    text
}

/// Rows of a connection or path: name, and its columns.
const HEADINGS: [&str; 5] = ["connection", "Mbit/s", "lost", "sent again", "srtt ms"];

fn connections(text: &mut String, runs: &[TimedRun]) {
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    let all = &runs[0].report.connections;
    for (number, connection) in all.iter().enumerate().take(MOST_ROWS) {
        let row = Row { runs, number };
        rows.push(row.connection(connection));
        if connection.paths.len() > 1 {
            rows.extend(connection.paths.iter().map(|path| row.path(&path.name)));
        }
    }
    text.push_str(&columns(&rows, 1));
    text.extend(more(all.len(), "connections").map(|note| note + "\n"));
}

/// A connection in all runs.
#[derive(Clone, Copy)]
struct Row<'a> {
    runs: &'a [TimedRun],
    number: usize,
}

impl Row<'_> {
    fn of(self, run: &TimedRun) -> &ConnectionReport {
        &run.report.connections[self.number]
    }

    fn connection(self, connection: &ConnectionReport) -> [String; 5] {
        let sum = |of: fn(&PathTotals) -> u64| {
            spread(self.runs, 0, |run| Some(self.of(run).paths.iter().map(of).sum::<u64>() as f64))
        };
        let only = |run: &TimedRun| match &self.of(run).paths[..] {
            [path] => path.srtt_ms,
            _ => None,
        };
        [
            format!("{} ({})", connection.name, connection.transport),
            spread(self.runs, 2, |run| Some(self.of(run).goodput_mbit_s)),
            sum(|path| path.lost),
            sum(|path| path.retransmitted),
            spread(self.runs, 1, only),
        ]
    }

    fn path(self, name: &str) -> [String; 5] {
        let values = |decimals: usize, value: fn(&PathTotals) -> Option<f64>| {
            spread(self.runs, decimals, |run| {
                self.of(run).paths.iter().find(|path| path.name == name).and_then(value)
            })
        };
        [
            format!("  {name}"),
            values(2, |path| Some(path.mbit_s)),
            values(0, |path| Some(path.lost as f64)),
            values(0, |path| Some(path.retransmitted as f64)),
            values(1, |path| path.srtt_ms),
        ]
    }
}

/// What the links carried and dropped.
fn links(text: &mut String, runs: &[TimedRun]) {
    let headings = ["link", "Mbit/s", "utilisation", "sojourn ms", "dropped", "marked"];
    let mut rows = vec![headings.map(str::to_owned)];
    let all = &runs[0].report.queues;
    for (number, link) in all.iter().enumerate().take(MOST_ROWS) {
        let values = |decimals: usize, value: fn(&LinkReport) -> Option<f64>| {
            spread(runs, decimals, |run| value(&run.report.queues[number]))
        };
        rows.push([
            format!("{} {}", link.link, link.direction),
            values(2, |link| Some(link.mbit_s)),
            values(3, |link| link.utilisation),
            values(1, |link| link.sojourn_ms),
            values(0, |link| Some(dropped(link) as f64)),
            values(0, |link| Some(link.marked_packets as f64)),
        ]);
    }
    text.push('\n');
    text.push_str(&columns(&rows, 1));
    text.extend(more(all.len(), "links").map(|note| note + "\n"));
}

fn dropped(link: &LinkReport) -> u64 {
    let drops = link.dropped_packets;
    drops.queue_full + drops.aqm + drops.loss + drops.blackout + drops.mtu
}

/// The median of the runs, and from where to where they go if they are not alike.
pub(super) fn spread(
    runs: &[TimedRun],
    decimals: usize,
    value: impl Fn(&TimedRun) -> Option<f64>,
) -> String {
    let mut values: Vec<f64> = runs.iter().filter_map(value).collect();
    let mut at = |share| quantile(&mut values, share);
    let (Some(least), Some(median), Some(most)) = (at(0.0), at(0.5), at(1.0)) else {
        return "-".to_owned();
    };
    let show = |value: f64| format!("{value:.decimals$}");
    match show(least) == show(most) {
        true => show(median),
        false => format!("{} ({} to {})", show(median), show(least), show(most)),
    }
}
