//! Nodes and links by name.

use crate::network::PathLinks;
use std::collections::BTreeMap;

/// The host that opens connections, where a network has one.
pub(crate) const CLIENT: &str = "client";
/// The host that they are opened to.
pub(crate) const SERVER: &str = "server";

/// Hosts and routers, and the pairs of links that join them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// The names of the nodes, unique.
    pub nodes: Vec<String>,
    /// The links.
    pub links: Vec<GraphLink>,
    /// The pairs of hosts between which connections run if they do not say where.
    pub pairs: Vec<Ends>,
}

/// A pair of links between two nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphLink {
    /// The name, unique in the graph.
    pub name: String,
    /// Where the link up begins.
    pub from: String,
    /// Where it ends.
    pub to: String,
    /// Up leads from `from` to `to`, down back.
    pub links: PathLinks,
}

/// The two hosts of a connection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ends {
    /// The host that opens it.
    pub from: String,
    /// The other one.
    pub to: String,
}

impl Ends {
    /// These hosts.
    pub fn new(from: impl Into<String>, to: impl Into<String>) -> Self {
        Self { from: from.into(), to: to.into() }
    }
}

impl Graph {
    /// A network in which each link joins `client` and `server`.
    pub fn between_two_hosts(links: impl IntoIterator<Item = (String, PathLinks)>) -> Self {
        let mut graph = Self::with_pair();
        for (name, links) in links {
            graph.join(name, CLIENT, SERVER, &links);
        }
        graph
    }

    /// `client` and `server` and no link.
    pub(crate) fn with_pair() -> Self {
        let mut graph = Self::default();
        graph.pair(CLIENT, SERVER);
        graph
    }

    /// Two hosts between which connections run.
    pub(crate) fn pair(&mut self, from: impl Into<String>, to: impl Into<String>) {
        let ends = Ends::new(from, to);
        self.nodes.extend([ends.from.clone(), ends.to.clone()]);
        self.pairs.push(ends);
    }

    /// Joins two nodes.
    pub(crate) fn join(
        &mut self,
        name: impl Into<String>,
        from: impl Into<String>,
        to: impl Into<String>,
        links: &PathLinks,
    ) {
        let (name, from, to) = (name.into(), from.into(), to.into());
        self.links.push(GraphLink { name, from, to, links: links.clone() });
    }

    /// The link of this name.
    pub fn link(&self, name: &str) -> Option<&GraphLink> {
        self.links.iter().find(|link| link.name == name)
    }

    /// The names of the links.
    pub fn link_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.links.iter().map(|link| link.name.as_str())
    }

    /// Whether a link joins these nodes.
    pub fn joins(&self, a: &str, b: &str) -> bool {
        let mut ends = self.links.iter().map(|link| (&*link.from, &*link.to));
        ends.any(|ends| ends == (a, b) || ends == (b, a))
    }

    /// Whether links lead from one node to another.
    pub(crate) fn reaches(&self, ends: &Ends) -> bool {
        let mut neighbours: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for GraphLink { from, to, .. } in &self.links {
            neighbours.entry(from).or_default().push(to);
            neighbours.entry(to).or_default().push(from);
        }
        let mut open = vec![ends.from.as_str()];
        while let Some(node) = open.pop() {
            // What was taken out has been visited.
            open.extend(neighbours.remove(node).unwrap_or_default());
            if node == ends.to {
                return true;
            }
        }
        false
    }
}
