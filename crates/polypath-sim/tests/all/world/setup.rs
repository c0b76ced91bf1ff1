//! Building a world.

use super::{Absence, Network, World};
use polypath_bond::{BondConfig, NodeError};
use polypath_link::{ConfigError, RunSeed};
use polypath_sim::PathLinks;
use polypath_sim::endpoint::nodes::Nodes;
use polypath_units::Timestamp;

/// What a world consists of.
#[derive(Clone, Debug)]
pub(crate) struct WorldConfig {
    /// The paths.
    pub(crate) paths: Vec<PathLinks>,
    /// The bond at the edge.
    pub(crate) edge: BondConfig,
    /// The bond at the hub.
    pub(crate) hub: BondConfig,
    /// The seed of all randomness.
    pub(crate) seed: RunSeed,
}

impl WorldConfig {
    /// A world with the same bond settings at both ends.
    pub(crate) fn new(paths: Vec<PathLinks>, bond: BondConfig, seed: RunSeed) -> Self {
        Self { paths, edge: bond.clone(), hub: bond, seed }
    }
}

/// Why a world could not be built.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorldError {
    /// A link's settings cannot be used.
    #[error(transparent)]
    Link(#[from] ConfigError),
    /// A node could not be set up.
    #[error(transparent)]
    Node(#[from] NodeError),
}

impl World {
    /// Builds the nodes, opens a bond and starts to join all its paths.
    ///
    /// # Errors
    /// When a link or node cannot be set up.
    pub(crate) fn new(config: WorldConfig) -> Result<Self, WorldError> {
        let WorldConfig { paths, edge, hub, seed } = config;
        let now = Timestamp::ZERO;
        let Nodes { mut edge, hub, hub_config, origin } = Nodes::new(edge, hub, seed, 0)?;
        let edge_bond = edge.open_bond(now)?;
        for path in 0..paths.len() {
            edge.add_path(edge_bond, Self::path_spec(path), now)?;
        }
        Ok(Self {
            now,
            edge,
            hub,
            hub_config,
            origin,
            captured: Default::default(),
            edge_bond,
            hub_bond: None,
            changes: vec![0; paths.len()],
            network: Network::new(paths, seed)?,
            edge_absence: Absence::default(),
            hub_absence: Absence::default(),
            events: Vec::new(),
            trace: 0xcbf2_9ce4_8422_2325,
            datagrams: 0,
        })
    }
}
