//! Connections: between which hosts, over which paths, with which algorithms.

mod options;
mod read;
mod through;

pub use options::{
    BondOptions, Carrier, CompositionOptions, InnerTcp, Mptcp, PathChoice, Quic, ReceiveOptions,
    Tcp, TcpOptions, Transport, Tunnel, Udp, WindowControl,
};
pub(super) use read::{ConnectionKeys, OneOrMany, known, read_connections, unknown};

use crate::endpoint::InnerTraffic;
use crate::topology::Ends;
use polypath_policy::Policy;
use std::time::Duration;

/// Connections of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectionSpec {
    /// The name, unique in the scenario.
    pub name: String,
    /// How many there are.
    pub count: u32,
    /// The time between the starts of two of them.
    pub stagger: Duration,
    /// The class of service of their packets.
    pub class: u8,
    /// Their hosts, at least one pair; see [`ConnectionSpec::ends_of`].
    pub ends: Vec<Ends>,
    /// Their paths. If there is none: all that lead there, one over each link of the host; of
    /// TCP and UDP the one of least delay.
    pub paths: Vec<PathChoice>,
    /// How they transport.
    pub transport: Transport,
    /// What decides about connections that go through it, where it is a bond that has another
    /// policy than the standard one.
    pub policy: Option<Policy>,
    /// The bond that it goes through, whose hosts and paths it has, and what rules know of it.
    pub through: Option<Through>,
}

/// How connections go through a bond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Through {
    /// The name of the bond.
    pub bond: String,
    /// What rules look at.
    pub traffic: InnerTraffic,
}

impl ConnectionSpec {
    /// The hosts of one of the [`count`](Self::count) connections: they take the pairs in turn.
    pub fn ends_of(&self, index: u32) -> &Ends {
        &self.ends[index as usize % self.ends.len()]
    }
}
