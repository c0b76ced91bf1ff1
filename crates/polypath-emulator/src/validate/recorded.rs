//! A scenario by the kernel, recorded as the simulator records one.

use super::agent::{Agents, AgentsError};
use super::measure::{LoadedPlan, MeasureError, started};
use crate::kernel::{BufferSample, FlowOutcome, KernelOutcome, Looks};
use crate::live::NetworkReport;
use crate::netns::CleanError;
use crate::plan::Prefix;
use crate::wire::{DirectionReport, WireReport};
use polypath_sim::Direction;
use polypath_sim::record::End;
use polypath_sim::record::series::{
    Column, ConnectionKey, Line, PathKey, Quantity, Recording, Table, Unit, Values,
};
use polypath_sim::run::{Plan, Planned};
use polypath_sim::scenario::{Flow, FlowKind, Series};
use polypath_units::Timestamp;
use std::time::Duration;

static GOODPUT: Quantity = Quantity {
    name: "goodput",
    unit: Unit::BitsPerSecond,
    description: "what the application got",
};
static RECEIVE_BUFFER: Quantity = Quantity {
    name: "receive_buffer",
    unit: Unit::Bytes,
    description: "what the receiving socket holds, as bytes of its window",
};
static THROUGHPUT: Quantity = Quantity {
    name: "throughput",
    unit: Unit::BitsPerSecond,
    description: "what came out of the path's link in the direction of the data, with headers",
};

/// What the kernel did of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelRun {
    /// Payload of each connection that came in order, from the end of the warm-up on until the
    /// last of its flows was there, in Mbit/s.
    pub goodputs_mbit_s: Vec<f64>,
    /// How long the first flow of each connection took until all of it was there; `None` if it has
    /// no end, or was not there.
    pub completions: Vec<Option<Duration>>,
    /// Of the series that the scenario records those that the kernel has: `goodput`,
    /// `receive_buffer` and, of links, `throughput`.
    pub recording: Recording,
    /// Packets that the links dropped, whatever for.
    pub dropped_packets: u64,
    /// Packets with which the emulator failed: [`DirectionReport::overruns`].
    pub overruns: u64,
    /// All packets that the links were given.
    pub packets: u64,
}

impl KernelRun {
    /// Packets with which the emulator failed, of a hundred.
    pub fn late_percent(&self) -> f64 {
        100.0 * self.overruns as f64 / self.packets.max(1) as f64
    }
}

/// Why there is no run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordedError {
    /// There is no network, or a connection failed.
    #[error(transparent)]
    Live(#[from] MeasureError),
    /// A path manager failed.
    #[error(transparent)]
    Agents(#[from] AgentsError),
}

impl From<CleanError> for RecordedError {
    fn from(error: CleanError) -> Self {
        MeasureError::from(error).into()
    }
}

/// Runs a plan by the kernel, with its own path manager or, with `agents`, that of Polypath at both
/// ends of the first connection.
///
/// # Errors
/// See [`RecordedError`].
pub fn recorded(
    plan: &Plan,
    prefix: &Prefix,
    seed: u64,
    agents: bool,
) -> Result<KernelRun, RecordedError> {
    let loaded = LoadedPlan::new(plan, prefix)?;
    let (network, end) = started(plan, prefix, seed)?;
    let agents = agents.then(|| Agents::start(plan, &network)).transpose()?;
    let outcome = loaded.run(&network, end, looks(plan))?;
    agents.map_or(Ok(()), Agents::stop)?;
    network.stop()?;
    Ok(KernelRun::new(plan, &outcome, end))
}

/// What the scenario records, as often as it says.
fn looks(plan: &Plan) -> Looks {
    let record = &plan.scenario().record;
    let every = |series| record.series.contains(&series).then_some(record.interval);
    Looks { windows: None, buffers: every(Series::ReceiveBuffer), links: every(Series::Throughput) }
}

impl KernelRun {
    fn new(plan: &Plan, outcome: &KernelOutcome, end: Timestamp) -> Self {
        let planned = || plan.connections().iter().zip(&outcome.flows);
        let sum = |of: fn(&WireReport) -> u64| outcome.end.links.iter().map(of).sum();
        let both = |link: &WireReport| [link.up, link.down];
        Self {
            goodputs_mbit_s: planned().map(|(one, flows)| goodput(plan, one, flows, end)).collect(),
            completions: planned().map(|(one, flows)| completion(plan, one, flows)).collect(),
            recording: recording(plan, outcome, end),
            dropped_packets: sum(|link| {
                link.up.link.dropped.total().packets + link.down.link.dropped.total().packets
            }),
            overruns: sum(WireReport::overruns),
            packets: outcome
                .end
                .links
                .iter()
                .flat_map(both)
                .map(|one| one.link.entered.packets)
                .sum(),
        }
    }
}

/// When all of a flow was there; `None` if it has no end or was not.
fn finished(flow: &Flow, outcome: &FlowOutcome) -> Option<Timestamp> {
    let FlowKind::Bulk(bulk) = &flow.kind else { return None };
    let whole = outcome.received.total() >= bulk.bytes?.get();
    outcome.received.times().last().filter(|_| whole)
}

fn goodput(plan: &Plan, planned: &Planned, outcomes: &[FlowOutcome], end: Timestamp) -> f64 {
    let flows = plan.flows_of(planned).map(|(_, flow)| flow);
    let finished: Option<Vec<_>> = flows.zip(outcomes).map(|(f, o)| finished(f, o)).collect();
    let until = finished.and_then(|times| times.into_iter().max()).unwrap_or(end);
    let warm_up = Timestamp::ZERO + plan.scenario().warm_up;
    outcomes.iter().map(|outcome| outcome.received.mbit_s(warm_up, until)).sum()
}

fn completion(plan: &Plan, planned: &Planned, outcomes: &[FlowOutcome]) -> Option<Duration> {
    let ((_, flow), outcome) = plan.flows_of(planned).zip(outcomes).next()?;
    let (start, _) = planned.times(flow);
    Some(finished(flow, outcome)?.since(start))
}

/// The times of samples: all multiples of the interval until the end.
fn times(interval: Duration, end: Timestamp) -> Vec<Timestamp> {
    let at = |number: u32| Timestamp::ZERO + interval * number;
    (1..).map(at).take_while(|&at| at <= end).collect()
}

fn recording(plan: &Plan, outcome: &KernelOutcome, end: Timestamp) -> Recording {
    let record = &plan.scenario().record;
    let has = |series| record.series.contains(&series);
    let times = times(record.interval, end);
    let mut connections = Table { quantities: Vec::new(), lines: Vec::new() };
    connections.quantities.extend(has(Series::Goodput).then_some(&GOODPUT));
    connections.quantities.extend(has(Series::ReceiveBuffer).then_some(&RECEIVE_BUFFER));
    let mut paths = Table { quantities: Vec::new(), lines: Vec::new() };
    paths.quantities.extend(has(Series::Throughput).then_some(&THROUGHPUT));
    for (planned, flows) in plan.connections().iter().zip(&outcome.flows) {
        let Some((_, flow)) = plan.flows_of(planned).next() else { continue };
        let connection = || planned.name.clone();
        let key = ConnectionKey { connection: connection(), end: sender(flow.direction) };
        let columns = connections.quantities.iter().map(|&quantity| Column {
            quantity,
            values: match quantity.name {
                "goodput" => Values::Numbers(goodputs(flows, &times)),
                _ => Values::Counts(held(flows, &times)),
            },
        });
        connections.lines.push(Line { key, columns: columns.collect() });
        let names = outcome.end.links.iter().map(|link| &link.name).enumerate();
        for (number, name) in names.filter(|_| has(Series::Throughput)) {
            let key = PathKey {
                connection: connection(),
                end: sender(flow.direction),
                path: name.clone(),
                path_id: number as u8,
            };
            let values = Values::Numbers(carried(&outcome.links, number, flow.direction, &times));
            paths.lines.push(Line { key, columns: vec![Column { quantity: &THROUGHPUT, values }] });
        }
    }
    Recording { times, paths, connections, ..Recording::default() }
}

const fn sender(direction: Direction) -> End {
    match direction {
        Direction::Up => End::Client,
        Direction::Down => End::Server,
    }
}

/// The rates at which a count has grown, in 1/s, between samples: the first counts from zero. There
/// is none where no time has passed.
fn rates(counts: &[f64], times: &[Timestamp]) -> Vec<Option<f64>> {
    let mut before = (Timestamp::ZERO, 0.0);
    let rate = |(&count, &at): (&f64, &Timestamp)| {
        let (then, last) = std::mem::replace(&mut before, (at, count));
        (at > then).then(|| (count - last) / at.since(then).as_secs_f64())
    };
    counts.iter().zip(times).map(rate).collect()
}

/// What the applications got, in bit/s.
fn goodputs(flows: &[FlowOutcome], times: &[Timestamp]) -> Vec<Option<f64>> {
    let bits = |&at: &Timestamp| flows.iter().map(|f| f.received.bytes_at(at)).sum::<u64>() * 8;
    rates(&times.iter().map(|at| bits(at) as f64).collect::<Vec<_>>(), times)
}

/// What the receivers held, by the last look before each time; `None` before the first.
fn held(flows: &[FlowOutcome], times: &[Timestamp]) -> Vec<Option<u64>> {
    let at = |samples: &[BufferSample], at: Timestamp| {
        let later = samples.partition_point(|sample| sample.at <= at);
        Some(samples[later.checked_sub(1)?].taken_window())
    };
    let sum = |&time: &Timestamp| flows.iter().map(|flow| at(&flow.buffers, time)).sum();
    times.iter().map(sum).collect()
}

/// What came out of a link, in bit/s, by the last look before each time.
fn carried(
    looks: &[(Timestamp, NetworkReport)],
    link: usize,
    direction: Direction,
    times: &[Timestamp],
) -> Vec<Option<f64>> {
    let delivered = |report: &NetworkReport| {
        let link: Option<DirectionReport> = report.links.get(link).map(|link| match direction {
            Direction::Up => link.up,
            Direction::Down => link.down,
        });
        link.map_or(0, |link| link.link.delivered.bytes * 8) as f64
    };
    // A look is taken at the time of a sample or shortly after it.
    let at = |&time: &Timestamp| {
        let before = looks.partition_point(|(at, _)| *at < time);
        looks.get(before).or(looks.last()).map_or((time, 0.0), |(at, look)| (*at, delivered(look)))
    };
    let (taken, bits): (Vec<_>, Vec<_>) = times.iter().map(at).unzip();
    rates(&bits, &taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Timeline;

    const fn ms(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn outcome(received: &[(u64, u64)], buffers: &[(u64, u64)]) -> FlowOutcome {
        let mut timeline = Timeline::default();
        received.iter().for_each(|&(at, bytes)| timeline.add(ms(at), bytes));
        let sample = |&(at, taken): &(u64, u64)| BufferSample { at: ms(at), taken, limit: 9_000 };
        let buffers = buffers.iter().map(sample).collect();
        FlowOutcome { received: timeline, windows: Vec::new(), buffers }
    }

    /// Of 10 ms each: 1000 bytes are 0.8 Mbit/s, nothing, 3000 bytes are 2.4.
    #[test]
    fn goodput_is_what_came_between_the_samples() {
        let times = times(Duration::from_millis(10), ms(35));
        assert_eq!(times, [ms(10), ms(20), ms(30)]);
        let flows = [outcome(&[(10, 1_000), (21, 1_000), (30, 2_000)], &[])];
        assert_eq!(goodputs(&flows, &times), [Some(0.8e6), Some(0.0), Some(2.4e6)]);
    }

    /// In bytes of the window, which are 158 for 256 of memory.
    #[test]
    fn a_buffer_holds_what_was_seen_last() {
        let times = [ms(10), ms(20), ms(30)];
        let flows = [outcome(&[], &[(12, 256), (20, 512), (31, 768)])];
        assert_eq!(held(&flows, &times), [None, Some(316), Some(316)]);
        let two = [flows[0].clone(), outcome(&[], &[(1, 256)])];
        assert_eq!(held(&two, &times), [None, Some(316 + 158), Some(474)]);
    }

    fn look(at: u64, down_bytes: u64) -> (Timestamp, NetworkReport) {
        let mut down = DirectionReport::default();
        down.link.delivered.bytes = down_bytes;
        let up = DirectionReport::default();
        let name = "a".to_owned();
        let link = WireReport { name, no_realtime_priority: None, errors: 0, up, down };
        (ms(at), NetworkReport { seconds: 0.0, links: vec![link] })
    }

    /// The second look came 5 ms late: 3000 bytes in 15 ms are 1.6 Mbit/s; a third is not there.
    #[test]
    fn links_carry_what_came_out_between_the_looks() {
        let looks = [look(10, 1_000), look(25, 4_000)];
        let times = [ms(10), ms(20), ms(30)];
        let down = carried(&looks, 0, Direction::Down, &times);
        assert_eq!(down, [Some(0.8e6), Some(1.6e6), None]);
        assert_eq!(carried(&looks, 0, Direction::Up, &times), [Some(0.0), Some(0.0), None]);
    }
}
