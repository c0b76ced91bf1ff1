//! The nodes of a bond on QUIC carriers, and where they are on the network.

use core::num::NonZeroUsize;
use polypath_bond::identity::SecretKey;
use polypath_bond::{
    BondConfig, HubPolicy, Node, NodeConfig, NodeError, PathSpec, Role, SocketId, Way,
};
use polypath_link::RunSeed;
use polypath_units::PathId;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Instant;

/// Datagrams in one batch of a node: as a driver with segmentation offload would ask for.
pub const BATCH: NonZeroUsize = NonZeroUsize::new(16).expect("16 is not zero");

/// The hub's address.
pub const HUB: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 4433);

/// The edge's address on a path.
pub fn edge_address(path: usize) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(198, 51, 100, path as u8 + 1)), 40_000)
}

/// A path as the edge uses it.
pub fn edge_path(id: PathId, name: String) -> PathSpec {
    let socket = SocketId(id.get().into());
    let ways = vec![Way { socket, remote: HUB }];
    PathSpec { id, name, ways, backup: false, weight: 0.0 }
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

/// An edge and its hub, which know each other.
#[derive(Debug)]
pub struct Nodes {
    /// The edge's node.
    pub edge: Node,
    /// The hub's node.
    pub hub: Node,
    /// The hub's settings, to start it anew.
    pub hub_config: NodeConfig,
    /// The QUIC library's clock at time zero.
    pub origin: Instant,
}

impl Nodes {
    /// The nodes of pair `pair` of a run. Their keys are drawn from the run's seed.
    ///
    /// # Errors
    /// When a node cannot be set up.
    pub fn new(
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
