//! How datagrams of clients are carried through a bond.

use std::fmt;
use std::num::NonZeroU8;
use std::sync::Arc;

use polypath_bond::{FlowMode, Redundancy};
use polypath_policy::{Steering, SteeringMode, SteeringPath};

/// How datagrams are carried, with paths by the names that the edge has for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Carriage {
    /// How they use the paths.
    pub mode: FlowMode,
    /// The paths that they may take, in the order of their priority; every path if there are none.
    pub paths: Arc<[SteeringPath]>,
    /// In mode `redundant`: which have how many copies.
    pub redundancy: Redundancy,
}

impl From<FlowMode> for Carriage {
    /// Over all paths.
    fn from(mode: FlowMode) -> Self {
        Self { mode, ..Self::default() }
    }
}

impl From<&Steering> for Carriage {
    fn from(steering: &Steering) -> Self {
        let polypath_policy::Redundancy { copies, rtt_above, loss_above } = steering.redundancy;
        let copies = copies.and_then(NonZeroU8::new);
        Self {
            mode: flow_mode(steering.mode),
            paths: steering.paths.clone().into(),
            redundancy: Redundancy { copies, rtt_above, loss_above },
        }
    }
}

/// The mode, and the paths where they are named.
impl fmt::Display for Carriage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.mode)?;
        let names: Vec<_> = self.paths.iter().map(|path| path.name.as_str()).collect();
        if names.is_empty() { Ok(()) } else { write!(f, " over {}", names.join(", ")) }
    }
}

/// The mode of a bond's flow that does what a rule says.
const fn flow_mode(mode: SteeringMode) -> FlowMode {
    match mode {
        SteeringMode::Aggregate => FlowMode::Aggregate,
        SteeringMode::Redundant => FlowMode::Redundant,
        SteeringMode::ActiveStandby => FlowMode::Best,
        SteeringMode::SmallestDelay => FlowMode::SmallestDelay,
        SteeringMode::PriorityBased => FlowMode::PriorityBased,
        SteeringMode::LoadBalancing => FlowMode::LoadBalancing,
    }
}
