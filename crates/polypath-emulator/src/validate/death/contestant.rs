//! Who carries the transfer.

use super::outage::Outage;
use super::row::Row;
use super::run::{self, DeathError};
use crate::plan::Prefix;
use crate::validate::{Cell, CellError};
use polypath_sim::run::Plan;
use serde::Serialize;

const SCENARIO: &str = "silent_death.toml";

/// Where a transfer runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum World {
    /// The kernel's transport, in network namespaces.
    Kernel,
    /// The simulator.
    Simulator,
    /// The bond on sockets, in network namespaces.
    Sockets,
}

impl World {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Simulator => "simulator",
            Self::Sockets => "sockets",
        }
    }
}

/// A way to carry the transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contestant {
    /// What it is called.
    pub name: &'static str,
    /// Where it runs.
    pub world: World,
    /// Whether the hosts have the path manager of Polypath.
    pub(super) agent: bool,
    /// What it changes in the scenario.
    set: &'static [&'static str],
}

/// All of them.
pub const CONTESTANTS: [Contestant; 6] = [
    Contestant {
        name: "Multipath TCP",
        world: World::Kernel,
        agent: false,
        set: &["connection.transport=mptcp", "connection.congestion=cubic"],
    },
    Contestant {
        name: "Multipath TCP, agent",
        world: World::Kernel,
        agent: true,
        set: &["connection.transport=mptcp", "connection.congestion=cubic"],
    },
    Contestant {
        name: "Multipath TCP, rto",
        world: World::Simulator,
        agent: false,
        set: &[
            "connection.transport=mptcp",
            "connection.congestion=cubic",
            "connection.failure=rto",
            "connection.subflow_buffers=true",
            "connection.tcp.gso=false",
        ],
    },
    Contestant {
        name: "Multipath TCP, fpf",
        world: World::Simulator,
        agent: false,
        set: &[
            "connection.transport=mptcp",
            "connection.congestion=cubic",
            "connection.failure=fpf",
            "connection.subflow_buffers=true",
            "connection.tcp.gso=false",
        ],
    },
    Contestant { name: "bond", world: World::Simulator, agent: false, set: &[] },
    Contestant { name: "bond", world: World::Sockets, agent: false, set: &[] },
];

impl Contestant {
    /// The scenario as it runs it, with what else is to be changed, as `polypath sim --set` has it.
    ///
    /// # Errors
    /// If the scenario is wrong then.
    pub fn plan(&self, more: &[String]) -> Result<Plan, CellError> {
        let own = self.set.iter().map(|&set| set.to_owned());
        let set = own.chain(more.iter().cloned()).collect();
        Cell { name: self.name.to_owned(), scenario: SCENARIO.to_owned(), set }.plan()
    }

    /// Runs it with the seeds from 1 to `runs`. What goes wrong stands in the row.
    pub fn row(&self, plan: &Plan, runs: u64, prefix: &Prefix) -> Row {
        let one = |seed| -> Result<_, DeathError> {
            let outage = Outage::of(plan)?;
            match self.world {
                World::Kernel => run::kernel(plan, &outage, prefix, seed, self.agent),
                World::Simulator => run::simulator(plan, &outage, seed),
                World::Sockets => run::sockets(plan, &outage, prefix, seed),
            }
        };
        let outcomes: Result<Vec<_>, _> = (1..=runs).map(one).collect();
        Row::new(self.name, self.world, outcomes.map_err(|error| error.to_string()))
    }
}
