//! What is compared, measured on the kernel and in the simulator.

use crate::kernel::{
    self, FlowOutcome, KernelConnection, KernelError, KernelOutcome, Loading, Looks, Schedule,
    Unsuited, connections,
};
use crate::live::{Network, NetworkError, NetworkOptions, NetworkReport};
use crate::netns::CleanError;
use crate::plan::{NetworkPlan, Prefix};
use crate::wire::{DirectionReport, WireReport};
use polypath_sim::run::{Keep, LinkReport, Plan, RunError, RunReport};
use polypath_units::{Timestamp, millis};
use serde::Serialize;

/// What is compared of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    /// Payload of all connections that came in order, from the end of the warm-up on.
    pub goodput_mbit_s: f64,
    /// The mean time that a packet spent in the queue and in service of a link, over the links in
    /// the direction that carried more, weighted by their rates.
    pub sojourn_ms: f64,
    /// The payload of each connection, counted as that of all.
    pub connections_mbit_s: Vec<f64>,
    /// What each link carried in the direction that carried more, with headers.
    pub links_mbit_s: Vec<f64>,
}

impl Measurement {
    fn new(connections_mbit_s: Vec<f64>, links: &[Busier]) -> Self {
        Self {
            goodput_mbit_s: connections_mbit_s.iter().sum(),
            sojourn_ms: sojourn(links),
            connections_mbit_s,
            links_mbit_s: links.iter().map(|(rate, _)| *rate).collect(),
        }
    }
}

/// Why there is no measurement of the kernel.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// The scenario has no end.
    #[error("the scenario needs a `duration`")]
    Endless,
    /// The scenario is not for the kernel.
    #[error(transparent)]
    Unsuited(#[from] Unsuited),
    /// There is no network.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A connection failed.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The network could not be removed.
    #[error(transparent)]
    Clean(#[from] CleanError),
}

/// A run on the kernel, and how well the network was emulated.
///
/// # Errors
/// See [`MeasureError`].
pub fn with_kernel(
    plan: &Plan,
    prefix: &Prefix,
    seed: u64,
) -> Result<(Measurement, KernelOutcome), MeasureError> {
    let loaded = LoadedPlan::new(plan, prefix)?;
    let (network, end) = started(plan, prefix, seed)?;
    let outcome = loaded.run(&network, end, Looks::default())?;
    network.stop()?;
    let warm_up = Timestamp::ZERO + plan.scenario().warm_up;
    let connection = |flows: &Vec<FlowOutcome>| {
        flows.iter().map(|flow| flow.received.mbit_s(warm_up, end)).sum()
    };
    let connections = outcome.flows.iter().map(connection).collect();
    let links = busier_live(&outcome.warm, &outcome.end);
    Ok((Measurement::new(connections, &links), outcome))
}

/// The network of a plan, live, and when the run is over.
pub(super) fn started(
    plan: &Plan,
    prefix: &Prefix,
    seed: u64,
) -> Result<(Network, Timestamp), MeasureError> {
    let scenario = plan.scenario();
    let end = Timestamp::ZERO + scenario.duration.ok_or(MeasureError::Endless)?;
    let host_sysctls = kernel::host_sysctls(plan)?;
    let options = NetworkOptions { prefix: prefix.clone(), seed, host_sysctls };
    Ok((Network::start(plan.topology(), &scenario.events, &options)?, end))
}

/// A plan that the kernel can run: what its connections take is loaded as long as this lives.
pub(super) struct LoadedPlan<'a> {
    plan: &'a Plan,
    connections: Vec<KernelConnection>,
    _loading: Loading,
}

impl<'a> LoadedPlan<'a> {
    /// To be made before the network runs.
    pub(super) fn new(plan: &'a Plan, prefix: &Prefix) -> Result<Self, MeasureError> {
        let network = NetworkPlan::new(prefix, plan.topology()).map_err(NetworkError::from)?;
        let connections = connections(plan, &network)?;
        let loading = Loading::of(&connections)?;
        Ok(Self { plan, connections, _loading: loading })
    }

    /// Its connections, until the end.
    pub(super) fn run(
        &self,
        network: &Network,
        end: Timestamp,
        looks: Looks,
    ) -> Result<KernelOutcome, MeasureError> {
        let warm_up = Timestamp::ZERO + self.plan.scenario().warm_up;
        Ok(kernel::run(network, &self.connections, Schedule { warm_up, end, looks })?)
    }
}

/// A run in the simulator.
///
/// # Errors
/// See [`Plan::run`].
pub fn with_simulator(plan: &Plan, seed: u64) -> Result<(Measurement, RunReport), RunError> {
    let report = plan.run(seed, Keep::default(), &mut |_| {})?.report;
    let connections = report.connections.iter().map(|c| c.goodput_mbit_s).collect();
    Ok((Measurement::new(connections, &busier_simulated(&report)), report))
}

/// A link in its busier direction: its rate in Mbit/s, and its mean sojourn time in ms.
type Busier = (f64, f64);

fn busier_simulated(report: &RunReport) -> Vec<Busier> {
    let pair = |pair: &[LinkReport]| {
        let used = pair.iter().map(|link| (link.mbit_s, link.sojourn_ms.unwrap_or(0.0)));
        used.max_by(|a, b| a.0.total_cmp(&b.0))
    };
    // Links come in pairs.
    report.queues.chunks(2).filter_map(pair).collect()
}

fn busier_live(before: &NetworkReport, after: &NetworkReport) -> Vec<Busier> {
    let seconds = after.seconds - before.seconds;
    let link = |(before, after): (&WireReport, &WireReport)| {
        let up = used(&before.up, &after.up, seconds);
        let down = used(&before.down, &after.down, seconds);
        if up.0 >= down.0 { up } else { down }
    };
    before.links.iter().zip(&after.links).map(link).collect()
}

fn used(before: &DirectionReport, after: &DirectionReport, seconds: f64) -> Busier {
    let bytes = after.link.delivered.bytes - before.link.delivered.bytes;
    let mean = after.link.served.mean_since(before.link.served);
    (bytes as f64 * 8e-6 / seconds, mean.map_or(0.0, millis))
}

/// The mean of the sojourn times, weighted by the rates; zero of links that carried nothing.
fn sojourn(links: &[Busier]) -> f64 {
    let (mut sum, mut weight) = (0.0, 0.0);
    for &(rate, sojourn) in links {
        sum += rate * sojourn;
        weight += rate;
    }
    if weight > 0.0 { sum / weight } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sojourn_time_is_that_of_a_packet() {
        assert_eq!(sojourn(&[(30.0, 10.0), (10.0, 50.0)]), 20.0);
        assert_eq!(sojourn(&[]), 0.0);
    }
}
