//! From the state of a simulation to a report.

use super::report::{ConnectionReport, Dropped, LinkReport, PathTotals, RunReport};
use super::{Run, flows};
use crate::endpoint::{EndReport, PathReport};
use crate::fabric::Fabric;
use crate::record::Subject;
use crate::simulator::Simulator;
use crate::topology::{Edge, LinkId, Route};
use polypath_link::{Counters, Rate};
use polypath_model::metrics::{aggregation_benefit, jain_index};
use polypath_units::{Timestamp, millis};
use std::collections::BTreeSet;

/// What had been counted when averages began.
#[derive(Debug)]
pub(super) struct Baseline {
    at: Timestamp,
    /// Both ends of each connection.
    ends: Vec<[EndReport; 2]>,
    /// What each link had done.
    links: Vec<Counters>,
}

impl Baseline {
    pub(super) fn take(simulator: &Simulator, subjects: &[Subject]) -> Self {
        let fabric = simulator.fabric();
        Self {
            at: simulator.now(),
            ends: subjects.iter().map(|subject| ends(simulator, subject)).collect(),
            links: links(fabric)
                .map(|link| fabric.link(link).counters_at(simulator.now()))
                .collect(),
        }
    }
}

fn ends(simulator: &Simulator, subject: &Subject) -> [EndReport; 2] {
    subject.ends.map(|end| simulator.report(end))
}

fn links(fabric: &Fabric) -> impl Iterator<Item = LinkId> {
    (0..fabric.links() as u32).map(LinkId)
}

/// A mean rate in Mbit/s; zero over no time.
fn mbit_s(bytes: u64, from: Timestamp, to: Timestamp) -> f64 {
    let seconds = to.since(from).as_secs_f64();
    if seconds > 0.0 { bytes as f64 * 8e-6 / seconds } else { 0.0 }
}

/// The report of a run as it stands.
pub(super) fn report(run: &Run<'_>) -> RunReport {
    let connections: Vec<_> = (0..run.subjects.len()).map(|n| connection(run, n)).collect();
    let begun = connections.iter().enumerate().filter(|(n, _)| start(run, *n) < run.now());
    let goodputs: Vec<f64> = begun.map(|(_, c)| c.0.goodput_mbit_s).collect();
    RunReport {
        seed: run.seed,
        sim_s: run.now().as_secs_f64(),
        segments_delivered: connections.iter().map(|c| c.1).sum(),
        jain_index: jain_index(&goodputs),
        connections: connections.into_iter().map(|c| c.0).collect(),
        queues: links(run.simulator.fabric()).map(|link| queue(run, link)).collect(),
    }
}

/// A connection, and how many segments were delivered on it.
fn connection(run: &Run<'_>, number: usize) -> (ConnectionReport, u64) {
    let subject = &run.subjects[number];
    let now = ends(&run.simulator, subject);
    let zero = Default::default();
    let before = run.baseline.as_ref().map_or(&zero, |baseline| &baseline.ends[number]);
    let (from, to) = span(run, number);
    let came = |end: usize| mbit_s(now[end].delivered - before[end].delivered, from, to);
    let (up, down) = (came(1), came(0));
    let planned = &run.plan.connections()[number];
    let report = ConnectionReport {
        name: subject.name.clone(),
        transport: run.plan.scenario().connections[planned.spec].transport.name(),
        goodput_mbit_s: up + down,
        aggregation_benefit: benefit(run, number, up.max(down), down > up),
        up_mbit_s: up,
        down_mbit_s: down,
        delivered_bytes: now[0].delivered + now[1].delivered,
        reinjected_bytes: now[0].reinjected_bytes + now[1].reinjected_bytes,
        timeouts: now[0].timeouts + now[1].timeouts,
        paths: paths(&now, before, (from, to)),
        flows: flows::totals(run, number),
        rules: run.rules[number].as_ref().map_or_else(Vec::new, |rules| rules.uses()),
    };
    (report, now[0].segments_delivered + now[1].segments_delivered)
}

/// When the first flow of a connection is to begin.
fn start(run: &Run<'_>, number: usize) -> Timestamp {
    let planned = &run.plan.connections()[number];
    let starts = run.plan.flows_of(planned).map(|(_, flow)| flow.start).min();
    planned.start + starts.unwrap_or_default().since(Timestamp::ZERO)
}

/// The time that means of a connection are over: from its first flow, or the end of the warm-up,
/// to the end of its last flow, or of the run.
fn span(run: &Run<'_>, number: usize) -> (Timestamp, Timestamp) {
    let warm = run.baseline.as_ref().map_or(run.now(), |baseline| baseline.at);
    let ended = run.flows[number].iter().map(|flow| run.finished(flow));
    let last = ended.collect::<Option<Vec<_>>>().and_then(|ends| ends.into_iter().max());
    (start(run, number).max(warm), last.unwrap_or(run.now()))
}

/// The aggregation benefit of a connection's paths, up or back.
fn benefit(run: &Run<'_>, number: usize, goodput: f64, back: bool) -> Option<f64> {
    let topology = run.plan.topology();
    let routes = run.plan.connections()[number].routes.iter();
    let routes: Vec<_> =
        routes.map(|route| if back { topology.back(route) } else { route.clone() }).collect();
    let links = || routes.iter().flat_map(|route| &route.0);
    if routes.len() < 2 || links().collect::<BTreeSet<_>>().len() < links().count() {
        return None;
    }
    let rate = |&link: &LinkId| match topology.edge(link).config.rate {
        Rate::Constant(rate) => Some(rate.mbit_per_sec()),
        Rate::Schedule { .. } | Rate::Trace { .. } => None,
    };
    let capacity = |route: &Route| {
        let rates = route.0.iter().map(rate).collect::<Option<Vec<_>>>()?;
        rates.into_iter().reduce(f64::min)
    };
    let capacities = routes.iter().map(capacity).collect::<Option<Vec<_>>>()?;
    aggregation_benefit(goodput, &capacities)
}

/// What both ends sent on each path.
fn paths(
    now: &[EndReport; 2],
    before: &[EndReport; 2],
    (from, to): (Timestamp, Timestamp),
) -> Vec<PathTotals> {
    let named = |report: &EndReport, name: &str| {
        report.paths.iter().find(|path| path.name == name).cloned().unwrap_or_default()
    };
    let mut names: Vec<&str> = Vec::new();
    for path in now.iter().flat_map(|end| &end.paths) {
        if !names.contains(&path.name.as_str()) {
            names.push(&path.name);
        }
    }
    let total = |name: &str| {
        let [here, there]: [PathReport; 2] = [0, 1].map(|end| named(&now[end], name));
        let old = named(&before[0], name).sent_bytes + named(&before[1], name).sent_bytes;
        let sent = here.sent_bytes + there.sent_bytes;
        let busier = if here.sent_bytes >= there.sent_bytes { &here } else { &there };
        PathTotals {
            name: name.to_owned(),
            mbit_s: mbit_s(sent - old, from, to),
            sent_bytes: sent,
            lost: here.lost + there.lost,
            retransmitted: here.retransmitted + there.retransmitted,
            srtt_ms: busier.srtt.map(millis),
        }
    };
    names.into_iter().map(total).collect()
}

fn queue(run: &Run<'_>, link: LinkId) -> LinkReport {
    let Edge { name, direction, config, .. } = run.plan.topology().edge(link);
    let now @ Counters { delivered, dropped, marked, .. } =
        run.simulator.fabric().link(link).counters_at(run.now());
    let (before, from) = match &run.baseline {
        Some(baseline) => (baseline.links[link.index()], baseline.at),
        None => (now, run.now()),
    };
    let rate = mbit_s(delivered.bytes - before.delivered.bytes, from, run.now());
    let share = |capacity: f64| (capacity > 0.0).then(|| rate / capacity);
    LinkReport {
        link: name.clone(),
        direction: direction.name(),
        mbit_s: rate,
        utilisation: match config.rate {
            Rate::Constant(capacity) => share(capacity.mbit_per_sec()),
            Rate::Schedule { .. } | Rate::Trace { .. } => None,
        },
        sojourn_ms: now.served.mean_since(before.served).map(millis),
        delivered_packets: delivered.packets,
        dropped_packets: Dropped {
            queue_full: dropped.queue_full.packets,
            aqm: dropped.aqm.packets,
            loss: dropped.loss.packets,
            blackout: dropped.blackout.packets,
            mtu: dropped.mtu.packets,
        },
        marked_packets: marked.packets,
    }
}
