//! Runs of a network over several seeds, and what is read off them.

use crate::common::parallel;
use polypath_sim::Direction;
use polypath_sim::record::series::{Line, LinkKey, Recording};
use polypath_sim::run::{Dropped, Keep, LinkReport, Outcome, Plan, Run, RunReport};
use polypath_sim::scenario::Scenario;
use polypath_units::Timestamp;
use std::fmt;
use std::path::Path;

/// Runs of each setting: an odd number, which has a middle.
const SEEDS: u64 = 5;

/// A network of `scenarios/equilibria`, and what is not as in its file.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    file: &'static str,
    set: Vec<String>,
}

/// A run from the end of the warm-up on.
#[derive(Debug)]
pub(crate) struct Sample {
    warm_up: Timestamp,
    /// As it stood at the end of the warm-up: some counts are of the whole run.
    before: RunReport,
    pub(crate) report: RunReport,
    recording: Recording,
}

/// The runs of one setting.
#[derive(Debug)]
pub(crate) struct Runs(Vec<Sample>);

/// The middle of some values, and from where to where they go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    least: f64,
    most: f64,
}

impl Setting {
    pub(crate) fn new(file: &'static str, set: &[&str]) -> Self {
        Self { file, set: set.iter().copied().map(str::to_owned).collect() }
    }

    fn plan(&self) -> Plan {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/equilibria");
        let file = folder.join(self.file).with_extension("toml");
        let scenario = Scenario::load_with(&file, &self.set).unwrap_or_else(|e| panic!("{e}"));
        Plan::new(scenario).unwrap_or_else(|e| panic!("{}, {:?}: {e}", self.file, self.set))
    }
}

/// The runs of each setting, side by side.
pub(crate) fn run_all(settings: &[Setting]) -> Vec<Runs> {
    let plans: Vec<_> = settings.iter().map(Setting::plan).collect();
    let of = |plan| (1..=SEEDS).map(move |seed| (plan, seed));
    let jobs: Vec<(&Plan, u64)> = plans.iter().flat_map(of).collect();
    let mut samples = parallel(&jobs, |&(plan, seed)| Sample::take(plan, seed)).into_iter();
    plans.iter().map(|_| Runs(samples.by_ref().take(SEEDS as usize).collect())).collect()
}

impl Sample {
    fn take(plan: &Plan, seed: u64) -> Self {
        let warm_up = Timestamp::ZERO + plan.scenario().warm_up;
        let mut run = Run::new(plan, seed, Keep::default()).expect("the network is sound");
        let go_on = |run: &mut Run<'_>| run.advance().expect("nothing is scripted");
        while run.now() < warm_up && go_on(&mut run) {}
        let before = run.report();
        while go_on(&mut run) {}
        let Outcome { report, recording, .. } = run.finish().expect("nothing is written");
        Self { warm_up, before, report, recording }
    }

    /// The goodput of a connection, in Mbit/s.
    pub(crate) fn goodput(&self, connection: &str) -> f64 {
        let mut all = self.report.connections.iter();
        all.find(|one| one.name == connection).expect("a connection").goodput_mbit_s
    }

    /// What a connection sent on a path, in Mbit/s.
    pub(crate) fn sent(&self, connection: &str, path: &str) -> f64 {
        let mut all = self.report.connections.iter();
        let connection = all.find(|one| one.name == connection).expect("a connection");
        connection.paths.iter().find(|one| one.name == path).expect("a path").mbit_s
    }

    /// The share of packets that the queue of a link dropped, on the way up.
    pub(crate) fn loss(&self, link: &str) -> f64 {
        let count = |report: &RunReport| {
            let LinkReport { delivered_packets, dropped_packets, .. } = link_of(report, link);
            let Dropped { queue_full, aqm, .. } = dropped_packets;
            [(queue_full + aqm) as f64, *delivered_packets as f64]
        };
        let ([lost, came], [lost_before, came_before]) = (count(&self.report), count(&self.before));
        let (lost, came) = (lost - lost_before, came - came_before);
        lost / (lost + came)
    }

    /// The mean time in queue and service of a link on the way up, in seconds.
    pub(crate) fn sojourn(&self, link: &str) -> f64 {
        link_of(&self.report, link).sojourn_ms.expect("packets came") * 1e-3
    }

    /// The queue of a link on the way up, with the packet in service, in packets.
    pub(crate) fn queue(&self, link: &str) -> Vec<f64> {
        let key = LinkKey { link: link.to_owned(), direction: Direction::Up };
        let is_it = |line: &&Line<LinkKey>| line.key == key;
        let line = self.recording.links.lines.iter().find(is_it).expect("a link");
        let column = line.column("queue_packets").expect("the queue is recorded");
        let timed = self.recording.times.iter().zip(column.iter());
        let late = timed.filter(|&(&time, _)| time > self.warm_up);
        late.filter_map(|(_, packets)| packets).collect()
    }
}

fn link_of<'a>(report: &'a RunReport, link: &str) -> &'a LinkReport {
    let mut up = report.queues.iter().filter(|queue| queue.direction == Direction::Up.name());
    up.find(|queue| queue.link == link).expect("a link")
}

impl Runs {
    pub(crate) fn spread(&self, value: impl Fn(&Sample) -> f64) -> Spread {
        let mut values: Vec<_> = self.0.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        let (least, most) = (values[0], values[values.len() - 1]);
        Spread { median: values[values.len() / 2], least, most }
    }

    pub(crate) fn median(&self, value: impl Fn(&Sample) -> f64) -> f64 {
        self.spread(value).median
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { median, least, most } = self;
        let decimals = f.precision().unwrap_or(2);
        write!(f, "{median:.decimals$} ({least:.decimals$} to {most:.decimals$})")
    }
}
