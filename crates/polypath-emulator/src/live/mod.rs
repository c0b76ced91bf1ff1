//! A whole network, live: namespaces, a wire for each link, and the script of the scenario.

mod report;
mod script;

pub use report::{NetworkReport, Shortfall, TOLERATED_OVERRUNS};

use crate::netns::{CleanError, Namespaces, NetnsError, enter};
use crate::plan::{LinkPlan, NetworkPlan, PlanError, Prefix};
use crate::realtime::Clock;
use crate::wire::{Wire, WireError, WireSpec};
use polypath_link::RunSeed;
use polypath_sim::run::Timetable;
use polypath_sim::scenario::Event;
use polypath_sim::topology::Topology;
use polypath_units::Timestamp;
use script::Script;
use std::sync::Arc;

/// What a live network is made with.
#[derive(Clone, Debug)]
pub struct NetworkOptions {
    /// What the names of the namespaces begin with.
    pub prefix: Prefix,
    /// The seed of the links' random numbers: run 0 of it, as in the simulator.
    pub seed: u64,
    /// Kernel parameters of all hosts, with their values, in the words of sysctl(8).
    pub host_sysctls: Vec<(String, String)>,
}

/// Why there is no live network.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// The network is one that namespaces cannot be.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The namespaces could not be made.
    #[error(transparent)]
    Netns(#[from] NetnsError),
    /// A link could not be started.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// The script could not be started.
    #[error("cannot start the thread of scripted events: {0}")]
    Script(std::io::Error),
}

/// A running network. Dropping it removes it.
#[derive(Debug)]
pub struct Network {
    script: Script,
    wires: Arc<[Wire]>,
    clock: Clock,
    // Last: the wires have left it when it goes.
    namespaces: Namespaces,
}

impl Network {
    /// Makes the namespaces of a topology and joins them. The times of links and events count from
    /// the return of this.
    ///
    /// # Errors
    /// See [`NetworkError`]; nothing is left then.
    pub fn start(
        topology: &Topology,
        events: &[Event],
        options: &NetworkOptions,
    ) -> Result<Self, NetworkError> {
        let mut plan = NetworkPlan::new(&options.prefix, topology)?;
        plan.host_sysctls.extend(options.host_sysctls.iter().cloned());
        let namespaces = Namespaces::build(plan)?;
        let clock = Clock::start();
        let plan = namespaces.plan();
        let wire = |link: &LinkPlan| {
            let namespace = plan.wire.clone();
            Wire::start(spec(link, topology, options.seed), clock, move || enter(&namespace))
        };
        let wires: Arc<[Wire]> = plan.links.iter().map(wire).collect::<Result<_, _>>()?;
        let timetable = Timetable::new(events, topology);
        let script =
            Script::start(timetable, wires.clone(), clock).map_err(NetworkError::Script)?;
        Ok(Self { script, wires, clock, namespaces })
    }

    /// The namespaces.
    pub fn namespaces(&self) -> &Namespaces {
        &self.namespaces
    }

    /// The same, to start programs in.
    pub fn namespaces_mut(&mut self) -> &mut Namespaces {
        &mut self.namespaces
    }

    /// The links, in the order of the plan.
    pub fn wires(&self) -> &[Wire] {
        &self.wires
    }

    /// The clock of links and events.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// What the network has done so far.
    pub fn report(&self) -> NetworkReport {
        let links = self.wires.iter().map(Wire::report).collect();
        NetworkReport { seconds: self.clock.now().since(Timestamp::ZERO).as_secs_f64(), links }
    }

    /// Removes the network and says what it has done.
    ///
    /// # Errors
    /// If the namespaces cannot be removed.
    pub fn stop(self) -> Result<NetworkReport, CleanError> {
        let report = self.report();
        let Self { script, wires, namespaces, .. } = self;
        script.stop();
        drop(wires);
        namespaces.remove()?;
        Ok(report)
    }
}

fn spec(link: &LinkPlan, topology: &Topology, seed: u64) -> WireSpec {
    let seed = RunSeed::new(seed, 0);
    let directions = [link.up, link.down];
    let [up, down] = directions.map(|direction| topology.edge(direction).config.clone());
    WireSpec {
        name: link.name.clone(),
        up_from: link.from_device.clone(),
        down_from: link.to_device.clone(),
        up,
        down,
        seeds: directions.map(|direction| seed.stream(direction.0.into())),
    }
}
