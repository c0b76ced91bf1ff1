//! Connections: between which hosts, over which paths, with which algorithms.

mod options;
mod read;

pub use options::{
    BondOptions, Carrier, Mptcp, PathChoice, ReceiveOptions, Tcp, TcpOptions, Transport, Tunnel,
    Udp, WindowControl,
};
pub(super) use read::{ConnectionKeys, OneOrMany, known, read_connections, unknown};

use super::names::{AlgorithmName, NameKind};
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

    /// The congestion control, of those that have one.
    pub fn control(&self) -> Option<&WindowControl> {
        match &self.transport {
            Transport::Bond(BondOptions { control, .. })
            | Transport::Tcp(Tcp { control, .. })
            | Transport::Mptcp(Mptcp { control, .. })
            | Transport::Tunnel(Tunnel { control, .. }) => Some(control),
            Transport::Udp(Udp {}) => None,
        }
    }

    /// The scheduler and the path-failure detector, of those that have several paths.
    fn path_control(&self) -> [Option<&AlgorithmName>; 2] {
        match &self.transport {
            Transport::Bond(BondOptions { scheduler, failure, .. })
            | Transport::Mptcp(Mptcp { scheduler, failure, .. })
            | Transport::Tunnel(Tunnel { scheduler, failure, .. }) => {
                [scheduler.as_ref(), failure.as_ref()]
            }
            Transport::Tcp(_) | Transport::Udp(_) => [None, None],
        }
    }

    /// The names of algorithms that are given.
    pub fn names(&self) -> impl Iterator<Item = (NameKind, &AlgorithmName)> {
        let control = self.control();
        let [scheduler, failure] = self.path_control();
        let names = [
            (NameKind::Congestion, control.and_then(|control| control.congestion.as_ref())),
            (NameKind::SlowStart, control.and_then(|control| control.slow_start.as_ref())),
            (NameKind::Scheduler, scheduler),
            (NameKind::Failure, failure),
        ];
        names.into_iter().filter_map(|(kind, name)| Some((kind, name?)))
    }
}
