//! Who takes the samples.

use super::probe::{self, CONNECTION, LINK, Look, PATH, Probe};
use super::recording::{ConnectionKey, Line, LinkKey, PathKey, Recording, Table};
use crate::endpoint::{EndReport, PathReport};
use crate::record::{End, Subject};
use crate::scenario::Record;
use crate::simulator::Simulator;
use crate::topology::{Edge, LinkId, Topology};
use polypath_link::Tally;
use polypath_units::Timestamp;
use std::time::Duration;

/// Takes samples of a run: only of what was asked for, and without touching the run.
///
/// Whoever runs the simulator stops it at [`next_due`](Self::next_due) and calls
/// [`sample`](Self::sample), and once more at the end of the run.
#[derive(Debug)]
pub struct Recorder {
    interval: Duration,
    next: Timestamp,
    times: Vec<Timestamp>,
    probes: Probes,
    connections: Vec<Watched>,
    links: Vec<Line<LinkKey>>,
}

/// What is asked for.
#[derive(Debug)]
struct Probes {
    path: Vec<&'static Probe<PathReport>>,
    connection: Vec<&'static Probe<EndReport>>,
    link: Vec<&'static Probe<Tally>>,
}

/// A connection, and what its ends reported at the sample before.
#[derive(Debug)]
struct Watched {
    subject: Subject,
    reports: [EndReport; 2],
    /// By the end that sends.
    senders: [Sender; 2],
}

#[derive(Debug)]
struct Sender {
    connection: Line<ConnectionKey>,
    paths: Vec<Line<PathKey>>,
}

/// The time of a sample.
#[derive(Clone, Copy, Debug)]
struct Moment {
    /// Since the sample before.
    elapsed: Duration,
    /// How many samples there are already.
    before: usize,
}

impl Recorder {
    /// A recorder of these connections and the links of this network, at time zero.
    pub fn new(record: &Record, subjects: Vec<Subject>, topology: &Topology) -> Self {
        let probes = Probes {
            path: probe::asked_for(&PATH, &record.series),
            connection: probe::asked_for(&CONNECTION, &record.series),
            link: probe::asked_for(&LINK, &record.series),
        };
        let idle = record.series.is_empty();
        let links = (0..topology.edges().len() as u32).map(LinkId);
        Self {
            interval: record.interval,
            next: if idle { Timestamp::MAX } else { Timestamp::ZERO + record.interval },
            times: Vec::new(),
            connections: subjects.into_iter().map(|subject| probes.watch(subject)).collect(),
            links: links.map(|link| probes.link_line(topology, link)).collect(),
            probes,
        }
    }

    /// When to take the next sample; [`Timestamp::MAX`] if nothing is asked for.
    pub fn next_due(&self) -> Timestamp {
        self.next
    }

    /// Takes a sample now. A second one at the same time is not taken.
    pub fn sample(&mut self, simulator: &Simulator) {
        let now = simulator.now();
        let elapsed = now.since(self.times.last().copied().unwrap_or(Timestamp::ZERO));
        if self.next == Timestamp::MAX || elapsed.is_zero() {
            return;
        }
        let moment = Moment { elapsed, before: self.times.len() };
        self.times.push(now);
        self.next = following(now, self.interval);
        for watched in &mut self.connections {
            watched.sample(simulator, &self.probes, moment);
        }
        self.sample_links(simulator, moment);
    }

    /// What was recorded. Ends that never sent anything are left out.
    pub fn finish(self) -> Recording {
        let Self { times, probes, connections, links, .. } = self;
        let mut paths = table(&probes.path);
        let mut ends = table(&probes.connection);
        for Watched { reports, senders, .. } in connections {
            let sent = senders.into_iter().zip(reports).filter(|(_, report)| report.has_sent());
            for (sender, _) in sent {
                paths.lines.extend(sender.paths);
                ends.lines.push(sender.connection);
            }
        }
        let links = Table { lines: links, ..table(&probes.link) };
        Recording { times, paths: asked(paths), connections: asked(ends), links: asked(links) }
    }

    fn sample_links(&mut self, simulator: &Simulator, moment: Moment) {
        if self.probes.link.is_empty() {
            return;
        }
        for (line, id) in self.links.iter_mut().zip(0..) {
            let link = simulator.fabric().link(LinkId(id));
            let waiting = link.counters_at(simulator.now()).waiting;
            take(&self.probes.link, line, Some((&waiting, &waiting)), moment);
        }
    }
}

impl Probes {
    fn watch(&self, subject: Subject) -> Watched {
        let sender = |end| Sender {
            connection: line(
                ConnectionKey { connection: subject.name.clone(), end },
                &self.connection,
                0,
            ),
            paths: Vec::new(),
        };
        let senders = End::BOTH.map(sender);
        Watched { subject, reports: Default::default(), senders }
    }

    fn link_line(&self, topology: &Topology, link: LinkId) -> Line<LinkKey> {
        let Edge { name, direction, .. } = topology.edge(link);
        line(LinkKey { link: name.clone(), direction: *direction }, &self.link, 0)
    }
}

impl Watched {
    fn sample(&mut self, simulator: &Simulator, probes: &Probes, moment: Moment) {
        if probes.path.is_empty() && probes.connection.is_empty() {
            return;
        }
        let reports = self.subject.ends.map(|end| simulator.report(end));
        for end in End::BOTH {
            let (own, other) = (end.index(), end.other().index());
            let sender = &mut self.senders[own];
            let receiver = Some((&reports[other], &self.reports[other]));
            take(&probes.connection, &mut sender.connection, receiver, moment);
            sender.sample_paths(&reports[own], &self.reports[own], probes, moment);
        }
        self.reports = reports;
    }
}

impl Sender {
    /// Paths are known by their names, for a bond may give one up and join it anew; those of the
    /// same name by their order.
    fn sample_paths(
        &mut self,
        now: &EndReport,
        before: &EndReport,
        probes: &Probes,
        moment: Moment,
    ) {
        for (index, report) in now.paths.iter().enumerate() {
            let earlier = now.paths[..index].iter().filter(|path| path.name == report.name);
            if earlier.count() == self.namesakes(self.paths.len(), &report.name) {
                self.add_path(&report.name, probes, moment);
            }
        }
        let fresh = PathReport::default();
        for index in 0..self.paths.len() {
            let name = &self.paths[index].key.path;
            let nth = self.namesakes(index, name);
            let find = |report| find(report, name, nth);
            let look = find(now).map(|now| (now, find(before).unwrap_or(&fresh)));
            take(&probes.path, &mut self.paths[index], look, moment);
        }
    }

    fn add_path(&mut self, name: &str, probes: &Probes, moment: Moment) {
        let ConnectionKey { connection, end } = self.connection.key.clone();
        let (path, path_id) = (name.to_owned(), self.paths.len() as u8);
        let key = PathKey { connection, end, path, path_id };
        self.paths.push(line(key, &probes.path, moment.before));
    }

    /// How many of the first `count` paths have this name.
    fn namesakes(&self, count: usize, name: &str) -> usize {
        self.paths[..count].iter().filter(|line| line.key.path == name).count()
    }
}

/// The path that is number `nth` of those of this name.
fn find<'a>(report: &'a EndReport, name: &str, nth: usize) -> Option<&'a PathReport> {
    report.paths.iter().filter(|path| path.name == name).nth(nth)
}

/// A line without values for `missed` samples.
fn line<K, T>(key: K, probes: &[&'static Probe<T>], missed: usize) -> Line<K> {
    Line { key, columns: probes.iter().map(|probe| probe.column(missed)).collect() }
}

/// Puts values into all columns of a line: null if there is nothing to look at.
fn take<K, T>(
    probes: &[&'static Probe<T>],
    line: &mut Line<K>,
    now_and_before: Option<(&T, &T)>,
    moment: Moment,
) {
    let look = now_and_before.map(|(now, before)| Look { now, before, elapsed: moment.elapsed });
    for (probe, column) in probes.iter().zip(&mut line.columns) {
        probe.take(look.as_ref(), column);
    }
}

/// A table of these quantities.
fn table<K, T>(probes: &[&'static Probe<T>]) -> Table<K> {
    let quantities = probes.iter().map(|probe| &probe.quantity).collect();
    Table { quantities, lines: Vec::new() }
}

/// Nothing if nothing was asked for.
fn asked<K>(table: Table<K>) -> Table<K> {
    if table.quantities.is_empty() { Table::default() } else { table }
}

/// The first multiple of the interval after `now`.
fn following(now: Timestamp, interval: Duration) -> Timestamp {
    let interval = interval.as_nanos() as u64;
    let next = (now.as_nanos() / interval).saturating_add(1).saturating_mul(interval);
    Timestamp::from_nanos(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(paths: &[(&str, u64)]) -> EndReport {
        let path = |&(name, sent_bytes): &(&str, u64)| PathReport {
            name: name.to_owned(),
            sent_bytes,
            ..PathReport::default()
        };
        EndReport { paths: paths.iter().map(path).collect(), ..EndReport::default() }
    }

    /// A path that goes leaves nulls, and counts from zero when it comes back.
    #[test]
    fn paths_may_come_and_go() {
        let path = probe::asked_for(&PATH, &[crate::scenario::Series::Throughput]);
        let probes = Probes { path, connection: Vec::new(), link: Vec::new() };
        let ends = [crate::fabric::EndpointId(0), crate::fabric::EndpointId(1)];
        let watched = probes.watch(Subject { name: "bond".to_owned(), ends });
        let [mut sender, _] = watched.senders;
        let reports = [
            report(&[("a", 10)]),
            report(&[("a", 30), ("b", 5), ("b", 7)]),
            report(&[("b", 6), ("b", 9)]),
            report(&[("b", 6), ("b", 9), ("a", 4)]),
            report(&[("b", 6), ("a", 14)]),
            report(&[("b", 6), ("a", 3)]),
        ];
        let mut before = EndReport::default();
        for (n, report) in reports.into_iter().enumerate() {
            let moment = Moment { elapsed: Duration::from_secs(8), before: n };
            sender.sample_paths(&report, &before, &probes, moment);
            before = report;
        }
        let lines = sender.paths.iter().map(|line| {
            let values = line.columns[0].iter().collect::<Vec<_>>();
            (&*line.key.path, line.key.path_id, values)
        });
        let lines: Vec<_> = lines.collect();
        let some = |values: [i32; 6]| {
            values.map(|value| (value >= 0).then_some(f64::from(value))).to_vec()
        };
        assert_eq!(lines[0], ("a", 0, some([10, 20, -1, 4, 10, 3])));
        assert_eq!(lines[1], ("b", 1, some([-1, 5, 1, 0, 0, 0])));
        assert_eq!(lines[2], ("b", 2, some([-1, 7, 2, 0, -1, -1])));
        assert_eq!(lines.len(), 3);
    }

    #[test]
    fn samples_lie_on_multiples_of_the_interval() {
        let ms = Timestamp::from_millis;
        let interval = Duration::from_millis(100);
        assert_eq!(following(ms(100), interval), ms(200));
        assert_eq!(following(ms(250), interval), ms(300));
    }
}
