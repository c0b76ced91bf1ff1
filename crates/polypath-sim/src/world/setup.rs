//! Building a world.

use super::World;
use crate::network::{Network, PathLinks};
use polypath_bond::identity::SecretKey;
use polypath_bond::{BondConfig, HubPolicy, Node, NodeConfig, NodeError, Role};
use polypath_link::{ConfigError, RunSeed};
use polypath_units::Timestamp;
use std::time::Instant;

/// What a world consists of.
#[derive(Clone, Debug)]
pub struct WorldConfig {
    /// The paths.
    pub paths: Vec<PathLinks>,
    /// The bond at the edge.
    pub edge: BondConfig,
    /// The bond at the hub.
    pub hub: BondConfig,
    /// The seed of all randomness.
    pub seed: RunSeed,
}

impl WorldConfig {
    /// A world with the same bond settings at both ends.
    pub fn new(paths: Vec<PathLinks>, bond: BondConfig, seed: RunSeed) -> Self {
        Self { paths, edge: bond.clone(), hub: bond, seed }
    }
}

/// Why a world could not be built.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// A link's settings cannot be used.
    #[error(transparent)]
    Link(#[from] ConfigError),
    /// A node could not be set up.
    #[error(transparent)]
    Node(#[from] NodeError),
}

/// Streams of the run's seed that links do not use.
const EDGE_STREAM: u64 = 1 << 32;
const HUB_STREAM: u64 = EDGE_STREAM + 1;
/// Between the streams of two pairs of nodes; each node takes four.
const PAIR_SHIFT: u32 = 12;

fn seed_bytes(seed: RunSeed, stream: u64) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (i, word) in (0..).zip(bytes.chunks_exact_mut(8)) {
        word.copy_from_slice(&seed.stream(stream + (i << 8)).to_le_bytes());
    }
    bytes
}

/// The QUIC library's clock at time zero. Its values cannot be made from numbers; any origin will
/// do, because only differences count.
#[expect(
    clippy::disallowed_methods,
    reason = "an opaque origin: only differences from it are used"
)]
fn origin() -> Instant {
    Instant::now()
}

impl World {
    /// Builds the nodes, opens a bond and starts to join all its paths.
    ///
    /// # Errors
    /// When a link or node cannot be set up.
    pub fn new(config: WorldConfig) -> Result<Self, WorldError> {
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
            events: Vec::new(),
            trace: 0xcbf2_9ce4_8422_2325,
            datagrams: 0,
        })
    }
}

/// The nodes of an edge and its hub.
#[derive(Debug)]
pub(crate) struct Nodes {
    pub(crate) edge: Node,
    pub(crate) hub: Node,
    /// The hub's settings, to start it anew.
    pub(crate) hub_config: NodeConfig,
    /// The QUIC library's clock at time zero.
    pub(crate) origin: Instant,
}

impl Nodes {
    /// The nodes of pair `pair` of a run.
    pub(crate) fn new(
        edge: BondConfig,
        hub: BondConfig,
        seed: RunSeed,
        pair: u32,
    ) -> Result<Self, NodeError> {
        let origin = origin();
        let streams = u64::from(pair) << PAIR_SHIFT;
        let hub_seed = seed_bytes(seed, HUB_STREAM + streams);
        let edge_seed = seed_bytes(seed, EDGE_STREAM + streams);
        let hub_key = SecretKey::from_seed(hub_seed);
        let role = Role::Edge { hub: hub_key.public() };
        let identity = SecretKey::from_seed(edge_seed);
        let edge = NodeConfig { identity, role, bond: edge, seed: edge_seed };
        let role = Role::Hub(HubPolicy::default());
        let hub_config = NodeConfig { identity: hub_key, role, bond: hub, seed: hub_seed };
        Ok(Self {
            edge: Node::new(edge, origin)?,
            hub: Node::new(hub_config.clone(), origin)?,
            hub_config,
            origin,
        })
    }
}
