//! The network of a scenario: paths, a graph, or one of the networks that experiments share.

mod presets;
mod read;

pub use presets::Preset;
pub(super) use presets::PresetKeys;
pub(super) use read::{LinkItem, NodeKeys, PathKeys, read_network, unique};

use crate::network::PathLinks;
use crate::topology::{CLIENT, Graph, GraphLink, SERVER};

/// Between what a scenario runs.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a scenario has one")]
pub enum NetworkSpec {
    /// `[[path]]`: the hosts `client` and `server`, joined by each path's pair of links.
    Paths(Vec<ScenarioPath>),
    /// `[[node]]` and `[[link]]`.
    Graph(Graph),
    /// `[network]`.
    Preset(Preset),
}

/// A path by name.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioPath {
    /// The name, unique in the scenario.
    pub name: String,
    /// Its links.
    pub links: PathLinks,
}

impl NetworkSpec {
    /// The network as nodes and links by name.
    pub fn graph(&self) -> Graph {
        match self {
            Self::Paths(paths) => {
                let links = paths.iter().map(|path| (path.name.clone(), path.links.clone()));
                Graph::between_two_hosts(links)
            }
            Self::Graph(graph) => graph.clone(),
            Self::Preset(preset) => preset.graph(),
        }
    }

    /// The network as paths of one pair of links each, where it is one: all links join
    /// `client` and `server`.
    pub fn paths(&self) -> Option<Vec<ScenarioPath>> {
        let graph = self.graph();
        let direct = |link: &GraphLink| (&*link.from, &*link.to) == (CLIENT, SERVER);
        graph.links.iter().all(direct).then(|| {
            let paths = graph.links.into_iter();
            paths.map(|link| ScenarioPath { name: link.name, links: link.links }).collect()
        })
    }
}
