//! A run.

use super::method::Method;
use super::network::{BULK_SHARE, Network};
use super::path::Path;
use super::traffic::{Source, Traffic, TrafficKind};
use super::world::{Observed, Way, World};
use crate::store::{Label, digest};
use polypath_bond::BondConfig;
use polypath_link::ConfigError;
use polypath_model::metrics::quantile;
use polypath_sim::Simulator;
use polypath_sim::application::Bulk;
use polypath_sim::endpoint::LightBond;
use polypath_sim::fabric::EndpointId;
use polypath_sim::topology::{Graph, Route, Topology};
use polypath_units::{Timestamp, millis};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Changes with what a line of results means.
const FORMAT: &str = "fec 3";
/// The transfer beside the datagrams has its rate by then.
const START: Timestamp = Timestamp::from_millis(2_000);
/// Calls and games last so long, video a third of it, bulk and what runs beside a transfer a sixth:
/// what a run costs is bounded.
const LASTS: Duration = Duration::from_secs(60);
/// What has not come so long after the last datagram is lost.
const SETTLE: Duration = Duration::from_secs(2);

/// A run: it depends on nothing else.
#[derive(Clone, Debug)]
pub struct FecRun<'a> {
    pub(super) network: &'a Network,
    pub(super) traffic: TrafficKind,
    pub(super) method: Method,
}

/// What a run measured, in whole numbers: what is written is what is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FecMeasured {
    /// Datagrams that were produced.
    pub produced: u64,
    /// Of them so many were there by their deadline.
    pub in_time: u64,
    /// And so many came at all.
    pub came: u64,
    /// So many were given back by repair symbols.
    pub solved: u64,
    /// Bytes on the wire over those of each datagram sent once, in millionths.
    pub bytes_ppm: u64,
    /// Packets of datagrams that the sender took for lost, in millionths.
    pub lost_ppm: u64,
    /// Delays of those that came, in us: median, 99th percentile, 99.9th.
    pub delay_us: [u64; 3],
    /// Goodput of the transfer beside the datagrams, if there is one, in bit/s.
    pub beside_bit_s: Option<u64>,
}

impl FecRun<'_> {
    /// What its results are kept under.
    pub fn label(&self) -> Label {
        let key = digest(&[
            FORMAT.to_owned(),
            env!("CARGO_PKG_VERSION").to_owned(),
            format!("{:?}", self.network),
            self.traffic.name().to_owned(),
            self.method.to_string(),
        ]);
        Label {
            key,
            scenario: format!("{} {}", self.network.name, self.traffic.name()),
            sender: self.method.to_string(),
            seed: 1,
        }
    }

    /// What is sent.
    pub(super) fn sent(&self) -> Traffic {
        let share = match (self.traffic, self.network.beside_transfer) {
            (_, true) | (TrafficKind::Bulk, false) => 6,
            (TrafficKind::Video, false) => 3,
            (TrafficKind::Call | TrafficKind::Game, false) => 1,
        };
        let mbit_s = match self.traffic {
            TrafficKind::Bulk => self.network.mbit_s() * BULK_SHARE,
            _ => self.network.video_mbit_s,
        };
        Traffic { kind: self.traffic, mbit_s, stop: START + LASTS / share }
    }

    /// Runs it.
    ///
    /// # Errors
    /// When a link of the network has settings that it cannot have.
    pub fn run(&self) -> Result<FecMeasured, ConfigError> {
        let links = self.network.paths.iter().enumerate();
        let links = links.map(|(n, path)| (format!("path{}", n + 1), path.clone()));
        let topology = Topology::from(&Graph::between_two_hosts(links));
        let (client, server) = topology.pairs()[0];
        let routes = topology.routes(client, server);
        let mut simulator = Simulator::new(&topology, self.network.seed)?;
        let traffic = self.sent();
        let world = self.attach(&mut simulator, &topology, &routes, &traffic);
        let transfer =
            self.network.beside_transfer.then(|| transfer(&mut simulator, &topology, &routes));
        let delivered =
            |simulator: &Simulator| transfer.map(|edge| simulator.report(edge).delivered);
        simulator.run_until(START);
        let before = delivered(&simulator);
        simulator.run_until(traffic.stop);
        let after = delivered(&simulator);
        simulator.run_until(traffic.stop + SETTLE);
        let observed = simulator.endpoint::<World>(world).map(World::observed);
        let lasted = traffic.stop.since(START).as_secs_f64();
        let beside = before.zip(after).map(|(from, to)| (to - from) as f64 * 8.0 / lasted);
        let measured = observed.map(|observed| self.measured(&observed)).unwrap_or_default();
        Ok(FecMeasured { beside_bit_s: beside.map(|rate| rate.round() as u64), ..measured })
    }

    /// The datagrams go down, to the client.
    fn attach(
        &self,
        simulator: &mut Simulator,
        topology: &Topology,
        routes: &[Route],
        traffic: &Traffic,
    ) -> EndpointId {
        let way = |(up, links): (&Route, &polypath_sim::PathLinks)| {
            let link = &links.down;
            let fabric = simulator.fabric_mut();
            let rate = link.rate.reference().bytes_per_sec();
            Way {
                there: fabric.add_route(&topology.back(up)),
                back: fabric.add_route(up),
                path: Path::new(link.delay, link.jitter, rate),
            }
        };
        let ways = routes.iter().zip(&self.network.paths).map(way).collect();
        let source = Source::new(traffic, START);
        // The first endpoint of a simulator has the number 0.
        let own = EndpointId(0);
        let world = World::new(own, self.method, self.network.deadline, source, ways);
        simulator.attach(Box::new(world))
    }

    fn measured(&self, observed: &Observed) -> FecMeasured {
        let came = || observed.delays.iter().flatten();
        let mut delays_ms: Vec<f64> = came().map(|&delay| millis(delay)).collect();
        let mut delay_us = |q| (quantile(&mut delays_ms, q).unwrap_or(0.0) * 1e3).round() as u64;
        FecMeasured {
            produced: observed.delays.len() as u64,
            in_time: came().filter(|&&delay| delay <= self.network.deadline).count() as u64,
            came: came().count() as u64,
            solved: observed.solved,
            bytes_ppm: observed.bytes * 1_000_000 / observed.bytes_once.max(1),
            lost_ppm: (observed.lost_share * 1e6).round() as u64,
            delay_us: [delay_us(0.5), delay_us(0.99), delay_us(0.999)],
            beside_bit_s: None,
        }
    }
}

/// A transfer down over a bond as it ships; returns the end that receives it.
fn transfer(simulator: &mut Simulator, topology: &Topology, routes: &[Route]) -> EndpointId {
    let config = BondConfig::default();
    let (edge, hub) = LightBond::connect(simulator, topology, routes, &config, Timestamp::ZERO);
    simulator.add_application(Box::new(Bulk::new(hub, edge, None, Timestamp::ZERO)));
    edge
}
