//! What drivers and nodes exchange.

use super::SameKey;
use crate::codec::JoinRefusal;
use crate::config::BondConfig;
use crate::identity::{PublicKey, SecretKey, TlsConfigError, WrongHubKey};
use bytes::BytesMut;
use core::fmt;
use noq_proto::EcnCodepoint;
use polypath_units::PathId;
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

/// A socket of the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SocketId(pub u32);

/// A bond of this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BondKey(pub u64);

impl fmt::Display for BondKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bond {}", self.0)
    }
}

/// What a node is.
#[derive(Clone, Debug)]
pub struct NodeConfig {
    /// Its key.
    pub identity: SecretKey,
    /// Edge or hub.
    pub role: Role,
    /// How its bonds work.
    pub bond: BondConfig,
    /// Seed of ids and keys. On the wire: 32 bytes that nobody can guess.
    pub seed: [u8; 32],
}

/// Edge or hub.
#[derive(Clone, Debug)]
pub enum Role {
    /// Opens bonds to the hub with this key.
    Edge {
        /// The hub's key.
        hub: PublicKey,
    },
    /// Accepts bonds.
    Hub(HubPolicy),
}

/// Whom a hub serves.
#[derive(Clone, Debug)]
pub struct HubPolicy {
    /// Edges that may join; `None` for everybody.
    pub allowed: Option<BTreeSet<PublicKey>>,
    /// Bonds at once.
    pub max_bonds: usize,
    /// Bonds at once of one edge.
    pub max_bonds_per_edge: usize,
    /// Connections at once that belong to no bond: those that have not joined yet, and those that
    /// were closed lately. A further one takes the place of the oldest one of the address that has
    /// the most.
    /// With half as many, new ones must show first that they receive what is sent to their address.
    pub max_pending: usize,
    /// How many of these one IPv4 address or IPv6 network of 64 bits may have. A further one takes
    /// the place of its oldest one.
    /// With half as many, new ones from there must show first that they receive what is sent to
    /// their address.
    pub max_pending_per_address: usize,
}

impl HubPolicy {
    /// Whether this edge may join.
    pub(crate) fn allows(&self, edge: &PublicKey) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed.contains(edge))
    }
}

impl Default for HubPolicy {
    fn default() -> Self {
        Self {
            allowed: None,
            max_bonds: 4_096,
            max_bonds_per_edge: 16,
            max_pending: 1_024,
            max_pending_per_address: 64,
        }
    }
}

/// A path as an edge wants it.
#[derive(Clone, Debug, PartialEq)]
pub struct PathSpec {
    /// Its number.
    pub id: PathId,
    /// What people call it.
    pub name: String,
    /// How it may reach the hub, at least one: tried in this order, each while the earlier ones are
    /// still being tried. The hub's address stands in it once.
    pub ways: Vec<Way>,
    /// Used only when no other path works.
    pub backup: bool,
    /// Share for weighted scheduling; 0 = from the estimated rate.
    pub weight: f64,
}

/// How a path may reach the hub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The socket that it uses.
    pub socket: SocketId,
    /// The hub's address.
    pub remote: SocketAddr,
}

/// A datagram that arrived.
#[derive(Debug)]
pub struct Incoming {
    /// On which socket.
    pub socket: SocketId,
    /// From where.
    pub remote: SocketAddr,
    /// To which local address, where the socket can tell.
    pub local_ip: Option<IpAddr>,
    /// Its congestion mark.
    pub ecn: Option<EcnCodepoint>,
    /// Its bytes.
    pub data: BytesMut,
}

/// One or more datagrams to send.
#[derive(Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// On which socket.
    pub socket: SocketId,
    /// Where to.
    pub destination: SocketAddr,
    /// From which local address, if that matters.
    pub src_ip: Option<IpAddr>,
    /// The congestion mark to set.
    pub ecn: Option<EcnCodepoint>,
    /// Length of each datagram but the last, if `contents` holds several.
    pub segment_size: Option<usize>,
    /// The bytes.
    pub contents: Vec<u8>,
}

impl Outgoing {
    /// Its datagrams one by one.
    pub fn datagrams(&self) -> impl Iterator<Item = &[u8]> {
        self.contents.chunks(self.segment_size.unwrap_or(self.contents.len()).max(1))
    }
}

/// Something that happened to bonds and paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeEvent {
    /// Hub: an edge opened a bond.
    BondOpened(BondKey),
    /// Hub: the key of a bond has others at the same time. It is told of a bond at most once a
    /// minute.
    SameKey {
        /// The bond.
        bond: BondKey,
        /// The others, at least one.
        others: Vec<SameKey>,
    },
    /// A path belongs to its bond.
    PathJoined {
        /// The bond.
        bond: BondKey,
        /// The path.
        path: PathId,
        /// The address of the other end with which its connection began.
        remote: SocketAddr,
    },
    /// Edge: the hub refused a path.
    PathRefused {
        /// The bond.
        bond: BondKey,
        /// The path.
        path: PathId,
        /// Why.
        code: JoinRefusal,
        /// Why, in words.
        reason: String,
    },
    /// The connection of a path ended, or every attempt to connect it failed; an edge tries again
    /// by itself.
    PathLost {
        /// The bond.
        bond: BondKey,
        /// The path.
        path: PathId,
        /// Why.
        reason: LossReason,
    },
}

impl NodeEvent {
    /// The bond that it is about.
    pub const fn bond(&self) -> BondKey {
        match *self {
            Self::BondOpened(bond)
            | Self::SameKey { bond, .. }
            | Self::PathJoined { bond, .. }
            | Self::PathRefused { bond, .. }
            | Self::PathLost { bond, .. } => bond,
        }
    }
}

/// Why the connection of a path ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LossReason {
    /// Who answers at the hub's address is not the hub.
    #[error(transparent)]
    WrongHubKey(#[from] WrongHubKey),
    /// Anything else, in words: trying again may help.
    #[error("{0}")]
    Connection(String),
}

/// Why a node or a path could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// The TLS library lacks something.
    #[error(transparent)]
    Tls(#[from] TlsConfigError),
    /// The hub's address cannot be used.
    #[error("cannot connect to {remote}: {error}")]
    Connect {
        /// The address.
        remote: SocketAddr,
        /// Why.
        error: noq_proto::ConnectError,
    },
    /// A path names no address of the hub.
    #[error("path {0} has no address of the hub; allowed: at least one")]
    NoWay(PathId),
    /// Only an edge opens bonds.
    #[error("a hub cannot open a bond")]
    NotAnEdge,
    /// No such bond.
    #[error("{0} does not exist")]
    UnknownBond(BondKey),
}
