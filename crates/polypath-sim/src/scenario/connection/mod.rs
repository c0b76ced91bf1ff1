//! Connections: between which hosts, over which paths, with which algorithms.

mod options;
mod read;

pub use options::{
    BondOptions, Carrier, CompositionOptions, Mptcp, PathChoice, ReceiveOptions, Tcp, TcpOptions,
    Transport, Tunnel, Udp, WindowControl,
};
pub(super) use read::{ConnectionKeys, OneOrMany, known, read_connections, unknown};

use crate::topology::Ends;
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
}

impl ConnectionSpec {
    /// The hosts of one of the [`count`](Self::count) connections: they take the pairs in turn.
    pub fn ends_of(&self, index: u32) -> &Ends {
        &self.ends[index as usize % self.ends.len()]
    }
}
