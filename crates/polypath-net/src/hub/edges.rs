//! What the operator of a hub says of its edges.

use std::collections::BTreeMap;

use ipnet::IpNet;
use polypath_bond::identity::PublicKey;

use crate::exit::ClientLimits;
use crate::tunnel::Networks;

/// What edges are called and may have, by their keys. No network is behind two of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edges(BTreeMap<PublicKey, Edge>);

/// What the operator says of one edge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    /// What it is called; may be empty.
    pub name: String,
    /// What it may have.
    pub limits: ClientLimits,
    /// Networks behind its gateway.
    pub networks: Networks,
}

/// Why an edge cannot stand beside others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EdgesError {
    /// It is one of them.
    #[error("the key {0} is there twice; allowed: once")]
    Key(PublicKey),
    /// Packets for a network behind two edges could go to either.
    #[error("the network {network} overlaps {other}, which is behind the edge {edge}")]
    Overlap {
        /// One that is behind it.
        network: IpNet,
        /// One that is behind another edge.
        other: IpNet,
        /// That edge.
        edge: PublicKey,
    },
}

impl Edges {
    /// Adds an edge.
    ///
    /// # Errors
    /// When it is there already, or a network behind it overlaps one behind another edge.
    pub fn insert(&mut self, key: PublicKey, edge: Edge) -> Result<(), EdgesError> {
        if self.0.contains_key(&key) {
            return Err(EdgesError::Key(key));
        }
        for network in edge.networks.as_slice() {
            let other = self.networks().find(|(_, other)| overlap(network, other));
            if let Some((edge, other)) = other {
                return Err(EdgesError::Overlap { network: *network, other, edge });
            }
        }
        self.0.insert(key, edge);
        Ok(())
    }

    /// What is said of an edge.
    pub fn get(&self, key: PublicKey) -> Option<&Edge> {
        self.0.get(&key)
    }

    /// The keys of all edges, in ascending order.
    pub fn keys(&self) -> impl Iterator<Item = PublicKey> {
        self.0.keys().copied()
    }

    /// The networks behind all edges, with whose each is.
    pub fn networks(&self) -> impl Iterator<Item = (PublicKey, IpNet)> {
        self.0
            .iter()
            .flat_map(|(key, edge)| edge.networks.as_slice().iter().map(|network| (*key, *network)))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Whether two networks have an address in common.
fn overlap(one: &IpNet, other: &IpNet) -> bool {
    one.contains(other) || other.contains(one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_bond::identity::SecretKey;

    #[test]
    fn a_network_is_behind_one_edge() {
        let key = |byte| SecretKey::from_seed([byte; 32]).public();
        let edge = |networks: &[&str]| {
            let networks = networks.iter().map(|net| net.parse().unwrap()).collect();
            Edge { networks: Networks::new(networks).unwrap(), ..Edge::default() }
        };
        let mut edges = Edges::default();
        edges.insert(key(1), edge(&["192.168.0.0/16", "192.168.5.0/24"])).unwrap();
        edges.insert(key(2), edge(&["10.0.0.0/8"])).unwrap();
        assert_eq!(edges.insert(key(2), Edge::default()), Err(EdgesError::Key(key(2))));
        for (network, other, of) in
            [("192.168.6.0/24", "192.168.0.0/16", 1), ("0.0.0.0/1", "10.0.0.0/8", 2)]
        {
            let error = edges.insert(key(3), edge(&["172.16.0.0/12", network])).unwrap_err();
            let [network, other] = [network, other].map(|net| net.parse().unwrap());
            assert_eq!(error, EdgesError::Overlap { network, other, edge: key(of) });
            assert_eq!(edges.get(key(3)), None);
        }
        edges.insert(key(3), edge(&["11.0.0.0/8", "fd05::/64"])).unwrap();
        assert_eq!(edges.networks().count(), 5);
    }
}
