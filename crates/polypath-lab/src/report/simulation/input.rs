//! What a page shows.

use std::collections::BTreeSet;

use polypath_sim::record::delay::PathDelay;
use polypath_sim::record::series::{LinkKey, PathKey, Recording};
use polypath_sim::scenario::Series;
use polypath_sim::topology::Topology;
use polypath_units::millis;

use super::{Application, Diagram};
use crate::report::chart::DISTINCT;
use crate::report::{Line, Mark, Row};

/// What must be recorded for a page, beside the delays.
pub const SERIES: [Series; 3] = [Series::Throughput, Series::Cwnd, Series::Queue];

/// What a page shows. Times are in seconds from the start of the run; charts without lines say
/// that nothing was recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageInput {
    /// The title.
    pub title: String,
    /// The key results.
    pub results: Vec<Row>,
    /// What the flows did.
    pub applications: Vec<Application>,
    /// The network.
    pub network: Diagram,
    /// What happened, for the charts over time.
    pub marks: Vec<Mark>,
    /// Throughput of each path in Mbit/s.
    pub throughput: Vec<Line>,
    /// Congestion windows in kB.
    pub windows: Vec<Line>,
    /// Queues in kB.
    pub queues: Vec<Line>,
    /// Cumulative distributions of one-way delays: ms, and the share of packets that took no
    /// longer.
    pub delays: Vec<Line>,
}

impl PageInput {
    /// What was recorded of a run, without marks. Where there is more than lines can be told apart,
    /// the twelve paths that sent most and the twelve queues that were longest.
    pub fn new(
        title: String,
        results: Vec<Row>,
        applications: Vec<Application>,
        topology: &Topology,
        recording: &Recording,
        delays: &[PathDelay],
    ) -> Self {
        let names = Names::of(recording.paths.lines.iter().map(|line| &line.key));
        let busy = busiest(recording);
        let paths = |column: &str, factor: f64| {
            let lines = busy.iter().map(|&index| &recording.paths.lines[index]);
            let lines = lines.filter_map(|line| {
                let values = line.column(column)?.iter();
                Some(Line {
                    name: names.path(&line.key),
                    points: points(recording, values, factor),
                })
            });
            lines.collect()
        };
        Self {
            title,
            results,
            applications,
            network: Diagram::from(topology),
            marks: Vec::new(),
            throughput: paths("throughput", 1e-6),
            windows: paths("cwnd", 1e-3),
            queues: queues(recording),
            delays: distributions(delays),
        }
    }
}

/// The paths that sent most, in their order.
fn busiest(recording: &Recording) -> Vec<usize> {
    let sent =
        recording.paths.lines.iter().map(|line| {
            line.column("throughput").map_or(0.0, |column| column.iter().flatten().sum())
        });
    largest(sent)
}

/// The numbers of the [`DISTINCT`] largest values, ascending.
fn largest(values: impl Iterator<Item = f64>) -> Vec<usize> {
    let mut ranked: Vec<_> = values.enumerate().collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut chosen: Vec<_> = ranked.into_iter().take(DISTINCT).map(|(index, _)| index).collect();
    chosen.sort_unstable();
    chosen
}

/// The samples that have a value.
fn points(
    recording: &Recording,
    values: impl Iterator<Item = Option<f64>>,
    factor: f64,
) -> Vec<(f64, f64)> {
    let samples = recording.times.iter().zip(values);
    samples.filter_map(|(at, value)| Some((at.as_secs_f64(), value? * factor))).collect()
}

/// Queues in which anything ever waited.
fn queues(recording: &Recording) -> Vec<Line> {
    let lines = recording.links.lines.iter().filter_map(|line| {
        let values = line.column("queue")?.iter();
        Some(Line { name: link_name(&line.key), points: points(recording, values, 1e-3) })
    });
    let highest = |line: &Line| line.points.iter().map(|point| point.1).fold(0.0, f64::max);
    let used: Vec<_> = lines.filter(|line| highest(line) > 0.0).collect();
    largest(used.iter().map(highest)).into_iter().map(|index| used[index].clone()).collect()
}

fn link_name(key: &LinkKey) -> String {
    format!("{} {}", key.link, key.direction.name())
}

fn distributions(delays: &[PathDelay]) -> Vec<Line> {
    let names = Names::of(delays.iter().map(|delay| &delay.key));
    let busy = largest(delays.iter().map(|delay| delay.delays.count() as f64));
    let line = |PathDelay { key, delays }: &PathDelay| {
        let start = delays.minimum().map(|least| (millis(least), 0.0));
        let points = delays.distribution().map(|(at, share)| (millis(at), share));
        Line { name: names.path(key), points: start.into_iter().chain(points).collect() }
    };
    busy.into_iter().map(|index| line(&delays[index])).collect()
}

/// What paths are called: with the connection if there are several, with the end that sends if both
/// do.
struct Names {
    connections: bool,
    ends: bool,
}

impl Names {
    fn of<'a>(keys: impl Iterator<Item = &'a PathKey> + Clone) -> Self {
        let connections: BTreeSet<_> = keys.clone().map(|key| &key.connection).collect();
        let ends: BTreeSet<_> = keys.map(|key| key.end).collect();
        Self { connections: connections.len() > 1, ends: ends.len() > 1 }
    }

    fn path(&self, key: &PathKey) -> String {
        let mut name = match (self.connections, key.path.is_empty()) {
            (_, true) => key.connection.clone(),
            (false, false) => key.path.clone(),
            (true, false) => format!("{}: {}", key.connection, key.path),
        };
        if self.ends {
            name.push_str(&format!(" ({})", key.end.name()));
        }
        name
    }
}
