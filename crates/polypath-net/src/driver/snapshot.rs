//! A bond at one time: what it says of itself, and what only its node knows.

use super::Driver;
use polypath_bond::identity::PublicKey;
use polypath_bond::{BondKey, BondStatus, FlowCounters, FlowId, FlowStatus, PathRates, SameKey};
use polypath_units::PathId;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// A bond at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct BondSnapshot {
    /// Which bond.
    pub key: BondKey,
    /// The key of its other end.
    pub peer: PublicKey,
    /// What it says of itself.
    pub status: BondStatus,
    /// The other end's address on each path.
    pub remotes: BTreeMap<PathId, SocketAddr>,
    /// What each path carries now.
    pub rates: BTreeMap<PathId, PathRates>,
    /// Hub: other bonds that its key has at the same time.
    pub same_key: Vec<SameKey>,
}

impl Driver {
    /// A bond as it is now.
    pub fn snapshot(&self, bond: BondKey) -> Option<BondSnapshot> {
        let now = self.now();
        let node = &self.shared.lock().node;
        let of_bond = node.bond(bond)?;
        Some(BondSnapshot {
            key: bond,
            peer: node.peer(bond)?,
            status: of_bond.status(),
            remotes: node.remotes(bond).collect(),
            rates: of_bond.rates(now).collect(),
            same_key: node.bonds_of_same_key(bond),
        })
    }

    /// A datagram flow of a bond as it is now.
    pub(crate) fn flow_status(&self, bond: BondKey, flow: FlowId) -> Option<FlowStatus> {
        self.shared.lock().node.bond(bond)?.flow_status(flow)
    }

    /// What became of the datagrams of a flow until now.
    pub(crate) fn flow_counters(&self, bond: BondKey, flow: FlowId) -> Option<FlowCounters> {
        self.shared.lock().node.bond(bond)?.flow_counters(flow)
    }

    /// The other end's addresses on the paths of a bond, as text for people.
    pub(crate) fn remotes(&self, bond: BondKey) -> String {
        let remotes: Vec<_> = self.shared.lock().node.remotes(bond).collect();
        let remotes = remotes.into_iter().map(|(_, remote)| remote.to_string());
        remotes.collect::<Vec<_>>().join(" ")
    }
}
