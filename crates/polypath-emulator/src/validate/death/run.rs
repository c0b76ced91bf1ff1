//! One transfer in each of the worlds.

use super::bond::{self, BondError};
use super::outage::{NoOutage, Outage, Outcome, Reuse};
use crate::kernel::{Looks, Timeline};
use crate::live::{Network, NetworkReport};
use crate::plan::Prefix;
use crate::realtime::rest;
use crate::validate::agent::{Agents, AgentsError};
use crate::validate::measure::{LoadedPlan, MeasureError, started};
use polypath_sim::Direction;
use polypath_sim::run::{Keep, Plan, Run, RunError, RunReport};
use polypath_units::Timestamp;
use std::io;
use std::thread;
use std::time::Duration;

/// How often the links of a live network are looked at.
const LOOK: Duration = Duration::from_millis(2);

/// Why a transfer was not measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeathError {
    /// The scenario has no outage.
    #[error(transparent)]
    NoOutage(#[from] NoOutage),
    /// There is no network, or the kernel's connection failed.
    #[error(transparent)]
    Live(#[from] MeasureError),
    /// A path manager failed.
    #[error(transparent)]
    Agents(#[from] AgentsError),
    /// The bond failed.
    #[error(transparent)]
    Bond(#[from] BondError),
    /// The simulation failed.
    #[error(transparent)]
    Simulator(#[from] RunError),
    /// The links could not be looked at.
    #[error("cannot watch the links: {0}")]
    Watch(io::Error),
}

/// By the kernel's own transport, with its own path manager or that of Polypath.
pub(super) fn kernel(
    plan: &Plan,
    outage: &Outage,
    prefix: &Prefix,
    seed: u64,
    agent: bool,
) -> Result<Outcome, DeathError> {
    let loaded = LoadedPlan::new(plan, prefix)?;
    live(plan, outage, prefix, seed, |network, end| {
        let agents = agent.then(|| Agents::start(plan, network)).transpose()?;
        let outcome = loaded.run(network, end, Looks::default())?;
        agents.map_or(Ok(()), Agents::stop)?;
        Ok(outcome.flows.into_iter().flatten().next().unwrap_or_default().received)
    })
}

/// By the bond on sockets.
pub(super) fn sockets(
    plan: &Plan,
    outage: &Outage,
    prefix: &Prefix,
    seed: u64,
) -> Result<Outcome, DeathError> {
    live(plan, outage, prefix, seed, |network, end| Ok(bond::download(plan, network, end)?))
}

/// In namespaces of its own.
fn live(
    plan: &Plan,
    outage: &Outage,
    prefix: &Prefix,
    seed: u64,
    transfer: impl FnOnce(&Network, Timestamp) -> Result<Timeline, DeathError>,
) -> Result<Outcome, DeathError> {
    let (network, end) = started(plan, prefix, seed)?;
    let (received, reused) = thread::scope(|scope| {
        let watch = || reuse(&network, outage, end);
        let watching = thread::Builder::new().name("reuse".into()).spawn_scoped(scope, watch);
        let watching = watching.map_err(DeathError::Watch)?;
        let received = transfer(&network, end)?;
        let panicked = |_| DeathError::Watch(io::Error::other("its thread panicked"));
        Ok::<_, DeathError>((received, watching.join().map_err(panicked)?))
    })?;
    network.stop().map_err(MeasureError::from)?;
    Ok(outage.outcome(&received, reused))
}

/// When the path carries data again, at the latest at the end.
fn reuse(network: &Network, outage: &Outage, end: Timestamp) -> Option<Timestamp> {
    let clock = network.clock();
    let mut reuse = Reuse::of(outage);
    // Nothing comes out of a dead path.
    rest(outage.returns.since(clock.now()).saturating_sub(LOOK));
    while reuse.at().is_none() && clock.now() < end {
        let packets = packets_live(&network.report(), outage);
        reuse.look(clock.now(), packets);
        rest(LOOK);
    }
    reuse.at()
}

fn packets_live(report: &NetworkReport, outage: &Outage) -> u64 {
    let link = report.links.iter().find(|link| link.name == outage.path);
    let direction = link.map(|link| match outage.direction {
        Direction::Up => link.up,
        Direction::Down => link.down,
    });
    direction.map_or(0, |direction| direction.link.delivered.packets)
}

/// In the simulator.
pub(super) fn simulator(plan: &Plan, outage: &Outage, seed: u64) -> Result<Outcome, DeathError> {
    let mut run = Run::new(plan, seed, Keep::default())?;
    let mut received = Timeline::default();
    let mut reuse = Reuse::of(outage);
    while run.advance()? {
        let report = run.report();
        let delivered: u64 = report.connections.iter().map(|c| c.delivered_bytes).sum();
        if delivered > received.total() {
            received.add(run.now(), delivered - received.total());
        }
        reuse.look(run.now(), packets_simulated(&report, outage));
    }
    Ok(outage.outcome(&received, reuse.at()))
}

fn packets_simulated(report: &RunReport, outage: &Outage) -> u64 {
    let mut links = report.queues.iter();
    let link = links.find(|q| q.link == outage.path && q.direction == outage.direction.name());
    link.map_or(0, |link| link.delivered_packets)
}
