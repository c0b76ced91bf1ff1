//! Attaching the connections and flows of a plan to a simulator.

use super::plan::{Plan, Planned, RunError, Transporter};
use super::settings::Streams;
use super::{DatagramFlow, RunningFlow};
use crate::Direction;
use crate::application::{Placement, for_datagrams, for_flow};
use crate::endpoint::{
    LightBond, MptcpEnd, QuicBond, QuicConfig, QuicEnd, TcpEnd, TcpSettings, Tunnel, TunnelRoute,
};
use crate::fabric::EndpointId;
use crate::scenario::Flow;
use crate::simulator::Simulator;
use crate::topology::{Route, Topology};
use polypath_core::congestion::CongestionConfig;
use polypath_core::scheduler::Scheduler;
use polypath_link::RunSeed;
use polypath_steering::CountedRules;
use polypath_units::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// More bytes/s than any link has.
const MOST: f64 = 1e15;
/// Streams of the run's seed for what flows and congestion controls draw: one for each flow of a
/// connection, one for each connection. Links and nodes take lower ones.
const FLOWS: u64 = 1 << 48;
pub(super) const CONTROLS: u64 = 1 << 49;
/// Flows of one connection that have streams of their own.
const FLOWS_EACH: u64 = 1 << 16;

impl Plan {
    /// Attaches both ends of all connections and starts their flows.
    pub(super) fn attach_all(
        &self,
        simulator: &mut Simulator,
        seed: RunSeed,
    ) -> Result<Vec<Attached>, RunError> {
        // Bonds first: others go through them.
        let count = self.connections().len();
        let (outer, inner): (Vec<_>, Vec<_>) =
            (0..count).partition(|&number| self.gateway_of(&self.connections()[number]).is_none());
        let mut attached: BTreeMap<usize, Attached> = BTreeMap::new();
        for number in outer.into_iter().chain(inner) {
            let planned = &self.connections()[number];
            let class = self.scenario().connections[planned.spec].class;
            simulator.fabric_mut().set_class(class);
            let gateway = self.gateway_of(planned).and_then(|bond| attached.get(&bond));
            let new = self.attach(number, gateway, simulator, seed)?;
            attached.insert(number, new);
        }
        Ok(attached.into_values().collect())
    }

    fn attach(
        &self,
        number: usize,
        gateway: Option<&Attached>,
        simulator: &mut Simulator,
        seed: RunSeed,
    ) -> Result<Attached, RunError> {
        let planned = &self.connections()[number];
        let own = flow_seed(seed, number, 0);
        match (&planned.transporter, gateway) {
            (&Transporter::Datagrams(flow), None) => {
                self.attach_datagrams(simulator, planned, flow, own)
            }
            (&Transporter::Datagrams(flow), Some(gateway)) => {
                self.datagrams_inside(simulator, planned, gateway, flow, own)
            }
            (Transporter::Streams(streams), None) => {
                let ends = self.connect(number, planned, streams, simulator, seed)?;
                let attached = self.start_flows(number, planned, ends, simulator, seed)?;
                let rules = self.set_gateway(planned, attached.ends, simulator);
                Ok(Attached { rules, ..attached })
            }
            (Transporter::Streams(streams), Some(gateway)) => {
                let ends = self.connect_inside(number, gateway, streams, simulator, seed)?;
                self.start_flows(number, planned, ends, simulator, seed)
            }
        }
    }

    fn start_flows(
        &self,
        number: usize,
        planned: &Planned,
        (client, server): (EndpointId, EndpointId),
        simulator: &mut Simulator,
        seed: RunSeed,
    ) -> Result<Attached, RunError> {
        let start = |(nth, (flow_number, flow)): (usize, (usize, &Flow))| {
            let (from, to) = match flow.direction {
                Direction::Up => (client, server),
                Direction::Down => (server, client),
            };
            let (start, stop) = planned.times(flow);
            let placement = Placement { from, to, start, stop };
            let seed = flow_seed(seed, number, nth);
            let application = match flow.datagrams {
                None => for_flow(&flow.kind, placement, seed),
                Some(config) => for_datagrams(&flow.kind, config, placement, seed)
                    .map_err(|error| RunError::NoRate { flow: flow_number, error })?,
            };
            Ok(RunningFlow::Application(simulator.add_application(application)))
        };
        let flows: Result<_, RunError> = self.flows_of(planned).enumerate().map(start).collect();
        Ok(Attached { ends: [client, server], flows: flows?, rules: None })
    }

    fn attach_datagrams(
        &self,
        simulator: &mut Simulator,
        planned: &Planned,
        number: usize,
        seed: u64,
    ) -> Result<Attached, RunError> {
        let (topology, flow) = (self.topology(), &self.scenario().flows[number]);
        let route = match flow.direction {
            Direction::Up => planned.routes[0].clone(),
            Direction::Down => topology.back(&planned.routes[0]),
        };
        let times = planned.times(flow);
        let datagrams = DatagramFlow::attach(simulator, topology, &route, &flow.kind, times, seed)
            .map_err(|error| RunError::NoRate { flow: number, error })?;
        Ok(Attached::of_datagrams(datagrams, flow.direction))
    }

    fn connect(
        &self,
        number: usize,
        planned: &Planned,
        streams: &Streams,
        simulator: &mut Simulator,
        seed: RunSeed,
    ) -> Result<(EndpointId, EndpointId), RunError> {
        let control = seed.stream(CONTROLS + number as u64);
        let (topology, routes, start) = (self.topology(), &planned.routes, planned.start);
        let seeded = |congestion: &CongestionConfig| CongestionConfig {
            seed: control,
            ..congestion.clone()
        };
        let seeded_tcp =
            |tcp: &TcpSettings| TcpSettings { congestion: seeded(&tcp.congestion), tcp: tcp.tcp };
        Ok(match streams {
            Streams::QuicBond(config) => {
                let mut config = config.clone();
                config.composition.congestion = seeded(&config.composition.congestion);
                QuicBond::connect(simulator, topology, routes, &config, seed, start)?
            }
            Streams::LightBond(config) => {
                let mut config = config.clone();
                config.composition.congestion = seeded(&config.composition.congestion);
                LightBond::connect(simulator, topology, routes, &config, start)
            }
            Streams::Quic(quic) => {
                let quic = QuicConfig { congestion: seeded(&quic.congestion), ..quic.clone() };
                QuicEnd::connect(simulator, topology, &routes[0], &quic, start)
            }
            Streams::Tcp(tcp) => {
                let tcp = seeded_tcp(tcp);
                TcpEnd::connect(simulator, topology, &routes[0], &tcp, start)
            }
            Streams::Mptcp(config) => {
                let mut config = config.clone();
                config.composition.congestion = seeded(&config.composition.congestion);
                MptcpEnd::connect(simulator, topology, routes, &planned.backup, &config, start)
            }
            Streams::Tunnel { tcp, scheduler, own_scheduler, resequencing } => {
                let tunnels = [false, true].map(|back| {
                    let scheduler = scheduler.build_or(own_scheduler.as_ref(), false);
                    tunnel(simulator, topology, routes, back, (scheduler, *resequencing))
                });
                TcpEnd::connect_through(simulator, tunnels, &seeded_tcp(tcp), start)
            }
        })
    }
}

/// A connection with its flows.
#[derive(Debug)]
pub(super) struct Attached {
    pub(super) ends: [EndpointId; 2],
    pub(super) flows: Vec<RunningFlow>,
    /// Of a bond that is a gateway.
    pub(super) rules: Option<Arc<CountedRules>>,
}

impl Attached {
    /// A flow over UDP.
    pub(super) fn of_datagrams(datagrams: DatagramFlow, direction: Direction) -> Self {
        let mut ends = [datagrams.source, datagrams.sink];
        if direction == Direction::Down {
            ends.reverse();
        }
        Self { ends, flows: vec![RunningFlow::Datagrams(datagrams)], rules: None }
    }
}

impl Planned {
    /// When a flow begins, and when it ends at the latest: the end of time if nothing is said.
    pub fn times(&self, flow: &Flow) -> (Timestamp, Timestamp) {
        let after = |at: Timestamp| at + self.start.since(Timestamp::ZERO);
        (after(flow.start), flow.stop.map_or(Timestamp::MAX, after))
    }
}

/// The seed of the `nth` flow of a connection.
fn flow_seed(seed: RunSeed, connection: usize, nth: usize) -> u64 {
    seed.stream(FLOWS + connection as u64 * FLOWS_EACH + nth as u64)
}

/// One end of a tunnel over these routes, or back over them.
fn tunnel(
    simulator: &mut Simulator,
    topology: &Topology,
    routes: &[Route],
    back: bool,
    (scheduler, resequencing): (Box<dyn Scheduler>, Duration),
) -> Tunnel {
    let route = |there: &Route| {
        let own = if back { topology.back(there) } else { there.clone() };
        let links = || own.0.iter().map(|&link| &topology.edge(link).config);
        let delay: Duration = links().map(|link| link.delay).sum();
        let delay_back: Duration =
            topology.back(&own).0.iter().map(|&link| topology.edge(link).config.delay).sum();
        TunnelRoute {
            route: simulator.fabric_mut().add_route(&own),
            rtt: delay + delay_back,
            rate: links().map(|link| link.rate.reference().bytes_per_sec()).fold(MOST, f64::min),
        }
    };
    let routes: Vec<_> = routes.iter().map(route).collect();
    Tunnel::new(&routes, scheduler, resequencing)
}
