//! Reads the network.

use super::{CLIENT, Graph, GraphLink, NetworkSpec, SERVER, ScenarioPath};
use crate::scenario::ScenarioError;
use crate::scenario::declare::{Located, keys};
use crate::scenario::feedback::SwitchKeys;
use crate::scenario::link_keys::PairKeys;
use crate::scenario::read::{File, Reader, quoted};
use crate::topology::Ends;
use polypath_config::DocumentError;
use polypath_units::PathId;
use std::collections::BTreeSet;

keys! {
    /// A path: a pair of links between the hosts `client` and `server`.
    pub(in crate::scenario) struct PathKeys {
        /// The name, unique.
        name: Located<String>;
        ..pair: PairKeys;
    }
}

keys! {
    /// A host or router. Nodes that only links name need no table.
    pub(in crate::scenario) struct NodeKeys {
        /// The name, unique.
        name: Located<String>;
        /// Makes it a switch that tells `brf` senders their rate; `{}` for the defaults.
        brf: Option<SwitchKeys>;
    }
}

keys! {
    /// A pair of links between two nodes, one for each direction.
    pub(in crate::scenario) struct LinkItem {
        /// The name, unique.
        name: Located<String>;
        /// The names of the two nodes; up leads from the first to the second.
        between: Located<Vec<String>>;
        ..pair: PairKeys;
    }
}

/// The network that a file describes, in one of three ways.
pub(in crate::scenario) fn read_network(
    file: &Located<File>,
    reader: &mut Reader<'_>,
) -> Result<NetworkSpec, ScenarioError> {
    let File { path, link, network, node, .. } = &file.value;
    if let (Some(node), None) = (node, link) {
        return Err(node.wrong("goes with [[link]] only").into());
    }
    match (path, link, network) {
        (Some(paths), None, None) => read_paths(paths, reader).map(NetworkSpec::Paths),
        (None, Some(links), None) => read_graph(node.as_ref(), links, reader),
        (None, None, Some(preset)) => preset.value.preset(reader).map(NetworkSpec::Preset),
        (None, None, None) => {
            let needed = "a network: at least one [[path]], or [[link]]s, or a [network]";
            Err(file.missing(needed).into())
        }
        (_, Some(second), _) => Err(second.wrong(ONE_NETWORK).into()),
        (_, _, Some(second)) => Err(second.wrong(ONE_NETWORK).into()),
    }
}

const ONE_NETWORK: &str = "a scenario has [[path]]s or [[link]]s or a [network], only one of these";

fn read_paths(
    paths: &Located<Vec<Located<PathKeys>>>,
    reader: &mut Reader<'_>,
) -> Result<Vec<ScenarioPath>, ScenarioError> {
    let count = paths.value.len();
    if !(1..=PathId::COUNT).contains(&count) {
        let problem = format_args!("{count} paths; 1 to {} are allowed", PathId::COUNT);
        return Err(paths.wrong(problem).into());
    }
    unique(paths.value.iter().map(|path| &path.value.name), "path")?;
    let paths = paths.value.iter().map(|path| {
        let links = path.value.pair.links(&path.value.name.value, path, reader)?;
        Ok(ScenarioPath { name: path.value.name.value.clone(), links })
    });
    paths.collect()
}

fn read_graph(
    nodes: Option<&Located<Vec<NodeKeys>>>,
    links: &Located<Vec<Located<LinkItem>>>,
    reader: &mut Reader<'_>,
) -> Result<NetworkSpec, ScenarioError> {
    if links.value.is_empty() {
        return Err(links.wrong("there is none; a network has at least one").into());
    }
    let declared = nodes.map(|nodes| &nodes.value[..]).unwrap_or_default();
    unique(declared.iter().map(|node| &node.name), "node")?;
    unique(links.value.iter().map(|link| &link.value.name), "link")?;
    let mut graph = Graph::default();
    graph.nodes.extend(declared.iter().map(|node| node.name.value.clone()));
    let mut known: BTreeSet<_> = graph.nodes.iter().cloned().collect();
    for link in &links.value {
        let link = read_link(link, reader)?;
        for node in [&link.from, &link.to] {
            if known.insert(node.clone()) {
                graph.nodes.push(node.clone());
            }
        }
        graph.links.push(link);
    }
    if [CLIENT, SERVER].iter().all(|host| known.contains(*host)) {
        graph.pairs.push(Ends::new(CLIENT, SERVER));
    }
    Ok(NetworkSpec::Graph(graph))
}

fn read_link(
    link: &Located<LinkItem>,
    reader: &mut Reader<'_>,
) -> Result<GraphLink, ScenarioError> {
    let LinkItem { name, between, pair } = &link.value;
    let [from, to] = &between.value[..] else {
        let count = between.value.len();
        return Err(between.wrong(format_args!("{count} nodes; a link is between two")).into());
    };
    if from == to {
        return Err(between.wrong(format_args!("a link from {from:?} to itself")).into());
    }
    let links = pair.links(&name.value, link, reader)?;
    let (name, from, to) = (name.value.clone(), from.clone(), to.clone());
    Ok(GraphLink { name, from, to, links })
}

/// Refuses a name that is there twice.
pub(in crate::scenario) fn unique<'a>(
    names: impl Iterator<Item = &'a Located<String>>,
    what: &str,
) -> Result<(), DocumentError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name.value.as_str()) {
            let problem = format_args!("{} is taken; each {what} needs its own name", quoted(name));
            return Err(name.wrong(problem));
        }
    }
    Ok(())
}
