//! Networks as graphs: hosts and routers, joined by links.

mod graph;
mod presets;
mod routing;

pub(crate) use graph::{CLIENT, SERVER};
pub use graph::{Ends, Graph, GraphLink};
pub use presets::{chain, dumbbell, parking_lot, shared_bottleneck};
pub use routing::{Route, RouteError};

use crate::network::{Direction, PathLinks};
use polypath_link::LinkConfig;
use std::collections::BTreeMap;

/// A host or router, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A link of one direction, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

impl NodeId {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

impl LinkId {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A link between two nodes, in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// What it is called in results: both directions alike.
    pub name: String,
    /// Which of the two it is: up is the one in which the link was connected.
    pub direction: Direction,
    /// Where packets enter.
    pub from: NodeId,
    /// Where they come out.
    pub to: NodeId,
    /// What it is like.
    pub config: LinkConfig,
    /// The link of the other direction.
    pub reverse: LinkId,
}

/// A graph of nodes and links. Links come in pairs, one for each direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology {
    nodes: Vec<String>,
    edges: Vec<Edge>,
    /// The links that leave each node, in order.
    leaving: Vec<Vec<LinkId>>,
    pairs: Vec<(NodeId, NodeId)>,
}

impl Topology {
    /// A topology without nodes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a host or router.
    pub(crate) fn add_node(&mut self, name: impl Into<String>) -> NodeId {
        self.nodes.push(name.into());
        self.leaving.push(Vec::new());
        NodeId((self.nodes.len() - 1) as u32)
    }

    /// Joins two nodes: `links.up` leads from `from` to `to`, `links.down` back. Returns the link
    /// up; [`Edge::reverse`] tells the other.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn connect(
        &mut self,
        name: impl Into<String>,
        from: NodeId,
        to: NodeId,
        links: PathLinks,
    ) -> LinkId {
        assert!(from.index().max(to.index()) < self.nodes.len(), "a link to a node that is not");
        let (up, down) = (LinkId(self.edges.len() as u32), LinkId(self.edges.len() as u32 + 1));
        self.leaving[from.index()].push(up);
        self.leaving[to.index()].push(down);
        let name = name.into();
        let PathLinks { up: there, down: back } = links;
        self.edges.push(Edge {
            name: name.clone(),
            direction: Direction::Up,
            from,
            to,
            config: there,
            reverse: down,
        });
        let (from, to, direction) = (to, from, Direction::Down);
        self.edges.push(Edge { name, direction, from, to, config: back, reverse: up });
        up
    }

    /// The names of the nodes, by number.
    pub fn nodes(&self) -> &[String] {
        &self.nodes
    }

    /// The pairs of hosts between which connections run.
    pub fn pairs(&self) -> &[(NodeId, NodeId)] {
        &self.pairs
    }

    /// The node of this name.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        self.nodes.iter().position(|n| n == name).map(|i| NodeId(i as u32))
    }

    /// The links that leave a node, in order.
    fn leaving(&self, node: NodeId) -> impl Iterator<Item = (LinkId, &Edge)> {
        self.leaving[node.index()].iter().map(|&link| (link, self.edge(link)))
    }

    /// The links, by number.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The link of this name, in the direction up.
    pub fn link(&self, name: &str) -> Option<LinkId> {
        self.edges.iter().position(|edge| edge.name == name).map(|i| LinkId(i as u32))
    }

    /// Both directions of the link of this name, up first.
    pub fn both_ways(&self, name: &str) -> Option<[LinkId; 2]> {
        self.link(name).map(|up| [up, self.edge(up).reverse])
    }

    /// A link.
    ///
    /// # Panics
    /// If there is no such link.
    pub fn edge(&self, link: LinkId) -> &Edge {
        &self.edges[link.index()]
    }
}

/// A graph with numbers for names. Nodes that a link or a pair names are added where they are
/// missing.
impl From<&Graph> for Topology {
    fn from(graph: &Graph) -> Self {
        let mut topology = Self::new();
        let mut known = BTreeMap::new();
        let mut node = |topology: &mut Self, name: &str| {
            *known.entry(name.to_owned()).or_insert_with(|| topology.add_node(name))
        };
        for name in &graph.nodes {
            node(&mut topology, name);
        }
        for link in &graph.links {
            let ends = [&link.from, &link.to].map(|name| node(&mut topology, name));
            topology.connect(&*link.name, ends[0], ends[1], link.links.clone());
        }
        for pair in &graph.pairs {
            let ends = [&pair.from, &pair.to].map(|name| node(&mut topology, name));
            topology.pairs.push((ends[0], ends[1]));
        }
        topology
    }
}
