//! Checking a scenario and finding its routes.

use super::KeepError;
use super::network::routes_of;
use super::settings::{Streams, settings_of};
use crate::Direction;
use crate::fabric::SwitchError;
use crate::scenario::{ConnectionSpec, Flow, FlowKind, NoRate, Scenario, ScenarioError, Transport};
use crate::topology::{Route, RouteError, Topology};
use polypath_bond::NodeError;
use polypath_link::ConfigError;
use polypath_policy::Policy;
use polypath_units::Timestamp;
use std::sync::Arc;

/// Why a scenario cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The scenario itself is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A link's settings cannot be used.
    #[error(transparent)]
    Link(#[from] ConfigError),
    /// A node cannot be a switch.
    #[error(transparent)]
    Switch(#[from] SwitchError),
    /// A connection has no way to go.
    #[error("connection {connection:?}: {error}")]
    Route {
        /// The connection.
        connection: String,
        /// Why.
        error: RouteError,
    },
    /// A setting that the transport does not have.
    #[error("connection {connection:?}: {problem}")]
    Setting {
        /// The connection.
        connection: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// A connection that the scenario does not have.
    #[error("there is no connection {given:?}; there are {}", names.join(", "))]
    NoConnection {
        /// The name as given.
        given: String,
        /// The names of those that it has.
        names: Vec<String>,
    },
    /// Nothing is to be carried.
    #[error("the scenario has no [[flow]]: nothing would happen")]
    NoFlow,
    /// A rule of a bond's policy names a path that the bond does not have.
    #[error(
        "connection {connection:?}: the rule {rule:?} of its policy names the path {path:?}; its \
         paths are {}", paths.join(", ")
    )]
    UnknownPath {
        /// The connection.
        connection: String,
        /// The rule.
        rule: String,
        /// The path.
        path: String,
        /// The paths that there are.
        paths: Vec<String>,
    },
    /// Two flows want the same stream.
    #[error(
        "flow {flow} (from 0): connection {connection:?} carries another flow in that direction; \
         give it a connection of its own"
    )]
    Occupied {
        /// The flow's number, from 0.
        flow: usize,
        /// The connection.
        connection: String,
    },
    /// A flow that datagrams cannot carry.
    #[error("flow {flow} (from 0): {error}")]
    NoRate {
        /// The flow's number, from 0.
        flow: usize,
        /// Why not.
        error: NoRate,
    },
    /// A node of a bond cannot be set up.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// What the run records cannot be kept.
    #[error(transparent)]
    Keep(#[from] KeepError),
}

/// A scenario that can be run: names are known, routes found.
#[derive(Clone, Debug)]
pub struct Plan {
    scenario: Scenario,
    topology: Topology,
    connections: Vec<Planned>,
}

/// A connection to be made.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Its name.
    pub name: String,
    /// Which of the scenario's connections it is one of.
    pub spec: usize,
    /// When it begins.
    pub start: Timestamp,
    /// Its paths, from the host that opens it; at least one.
    pub routes: Vec<Route>,
    /// Which of them are backups.
    pub backup: Vec<bool>,
    pub(super) transporter: Transporter,
}

/// How a connection transports.
#[derive(Clone, Debug)]
pub(super) enum Transporter {
    /// Byte streams. Shared by all connections of a table.
    Streams(Arc<Streams>),
    /// The datagrams of this flow, by its number.
    Datagrams(usize),
}

impl RunError {
    /// Whether the scenario is wrong, and not the machine that it runs on.
    pub const fn is_of_scenario(&self) -> bool {
        !matches!(self, Self::Node(_) | Self::Keep(_))
    }
}

impl Plan {
    /// Checks a scenario and finds its routes.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn new(scenario: Scenario) -> Result<Self, RunError> {
        if scenario.flows.is_empty() {
            return Err(RunError::NoFlow);
        }
        check_flows(&scenario)?;
        let topology = scenario.topology();
        if let Some(feedback) = &scenario.feedback {
            feedback.on(&topology).check(&topology)?;
        }
        let mut connections = Vec::new();
        for (number, spec) in scenario.connections.iter().enumerate() {
            let transporter = transporter(&scenario, spec)?;
            for index in 0..spec.count {
                let (routes, backup) = routes_of(spec, index, &topology)
                    .map_err(|error| RunError::Route { connection: spec.name.clone(), error })?;
                check_policy(spec, &routes, &topology)?;
                connections.push(Planned {
                    name: name_of(&spec.name, spec.count, index),
                    spec: number,
                    start: Timestamp::ZERO + spec.stagger * index,
                    routes,
                    backup,
                    transporter: transporter.clone(),
                });
            }
        }
        Ok(Self { scenario, topology, connections })
    }

    /// The scenario.
    pub const fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Its network.
    pub const fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Its connections, one by one.
    pub fn connections(&self) -> &[Planned] {
        &self.connections
    }

    /// The flows of a connection, with their numbers.
    pub fn flows_of(&self, planned: &Planned) -> impl Iterator<Item = (usize, &Flow)> {
        let name = &self.scenario.connections[planned.spec].name;
        let flows = self.scenario.flows.iter().enumerate();
        flows.filter(move |(_, flow)| &flow.connection == name)
    }

    /// The connection that a connection goes through.
    pub(super) fn gateway_of(&self, planned: &Planned) -> Option<usize> {
        let through = self.scenario.connections[planned.spec].through.as_ref()?;
        // Bonds that others go through are single ones.
        self.connections.iter().position(|other| other.name == through.bond)
    }

    /// Whether others go through a connection, or might: it has a policy.
    pub(super) fn is_gateway(&self, planned: &Planned) -> bool {
        let spec = &self.scenario.connections[planned.spec];
        let through = self.scenario.connections.iter().filter_map(|spec| spec.through.as_ref());
        spec.policy.is_some() || through.into_iter().any(|through| through.bond == spec.name)
    }

    /// The connections of the scenario, and those to be made of them, to change.
    pub(super) fn parts_mut(&mut self) -> (&[ConnectionSpec], &mut [Planned]) {
        (&self.scenario.connections, &mut self.connections)
    }

    /// Whether the run is over once all flows have ended.
    pub(super) fn ends_by_itself(&self) -> bool {
        self.scenario.flows.iter().all(Flow::ends)
    }
}

fn transporter(scenario: &Scenario, spec: &ConnectionSpec) -> Result<Transporter, RunError> {
    if let Some(streams) = settings_of(spec)? {
        return Ok(Transporter::Streams(Arc::new(streams)));
    }
    let flow = scenario.flows.iter().position(|flow| flow.connection == spec.name);
    let problem = "a connection by UDP needs a flow";
    let missing = || RunError::Setting { connection: spec.name.clone(), problem };
    flow.map(Transporter::Datagrams).ok_or_else(missing)
}

/// The paths that rules name must be those of the bond.
fn check_policy(
    spec: &ConnectionSpec,
    routes: &[Route],
    topology: &Topology,
) -> Result<(), RunError> {
    let names: Vec<_> = routes.iter().map(|route| topology.name_of(route)).collect();
    for rule in spec.policy.iter().flat_map(Policy::rules) {
        let paths = rule.treatment().steering().map_or(&[][..], |steering| &steering.paths);
        if let Some(path) = paths.iter().find(|path| !names.contains(&path.name)) {
            return Err(RunError::UnknownPath {
                connection: spec.name.clone(),
                rule: rule.name().to_owned(),
                path: path.name.clone(),
                paths: names,
            });
        }
    }
    Ok(())
}

/// What a connection is called, of `count` of one table.
fn name_of(name: &str, count: u32, index: u32) -> String {
    if count == 1 { name.to_owned() } else { format!("{name}#{}", index + 1) }
}

/// Each direction of a connection serves one flow, and of a bond one of datagrams beside it.
fn check_flows(scenario: &Scenario) -> Result<(), RunError> {
    let mut taken = Vec::new();
    for (flow, spec) in scenario.flows.iter().enumerate() {
        for direction in directions(spec, is_datagrams(scenario, spec)) {
            let stream = (spec.connection.as_str(), direction, spec.datagrams.is_some());
            if taken.contains(&stream) {
                return Err(RunError::Occupied { flow, connection: spec.connection.clone() });
            }
            taken.push(stream);
        }
    }
    Ok(())
}

/// The directions of its connection's streams that a flow takes; over UDP it takes all.
fn directions(flow: &Flow, over_udp: bool) -> Vec<Direction> {
    match flow.kind {
        FlowKind::RequestResponse(_) | FlowKind::Video(_) => vec![Direction::Up, Direction::Down],
        _ if over_udp => vec![Direction::Up, Direction::Down],
        FlowKind::Bulk(_) | FlowKind::OnOff(_) | FlowKind::ConstantRate(_) => vec![flow.direction],
    }
}

fn is_datagrams(scenario: &Scenario, flow: &Flow) -> bool {
    let mut carriers = scenario.connections.iter().filter(|spec| spec.name == flow.connection);
    carriers.any(|spec| matches!(spec.transport, Transport::Udp(_)))
}
