//! What the operator of a hub says of its edges.

use std::collections::BTreeMap;

use ipnet::IpNet;
use polypath_bond::identity::PublicKey;

use crate::exit::ClientLimits;
use crate::limit::Client;
use crate::tunnel::Networks;

/// What edges are called and may have, by their keys.
#[derive(Clone, Debug, Default)]
pub struct Edges(BTreeMap<PublicKey, Edge>);

/// What the operator says of one edge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    /// What it is called; may be empty.
    pub name: String,
    /// What it may have.
    pub limits: ClientLimits,
    /// Networks behind its gateway. Those of different edges do not overlap.
    pub networks: Networks,
}

impl Edges {
    /// What an edge is called; may be empty.
    pub(super) fn name(&self, key: PublicKey) -> &str {
        self.0.get(&key).map_or("", |edge| &edge.name)
    }

    /// Whom the log names, and what it may have.
    pub(super) fn client(&self, key: PublicKey) -> (Client, ClientLimits) {
        let edge = self.0.get(&key).cloned().unwrap_or_default();
        (Client::edge(key, &edge.name), edge.limits)
    }

    /// The networks behind the gateway of an edge.
    pub(super) fn networks(&self, key: PublicKey) -> Networks {
        self.0.get(&key).map(|edge| edge.networks.clone()).unwrap_or_default()
    }

    /// The networks behind all of them.
    pub(super) fn all_networks(&self) -> Vec<IpNet> {
        self.0.values().flat_map(|edge| edge.networks.as_slice()).copied().collect()
    }
}

impl FromIterator<(PublicKey, Edge)> for Edges {
    fn from_iter<T: IntoIterator<Item = (PublicKey, Edge)>>(edges: T) -> Self {
        Self(edges.into_iter().collect())
    }
}
