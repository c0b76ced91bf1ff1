//! The routes of a connection.

use crate::scenario::{ConnectionSpec, PathChoice, Transport};
use crate::topology::{NodeId, Route, RouteError, Topology};

/// The routes of one of the connections of a table, and which of them are backups.
pub(super) fn routes_of(
    spec: &ConnectionSpec,
    index: u32,
    topology: &Topology,
) -> Result<(Vec<Route>, Vec<bool>), RouteError> {
    let ends = spec.ends_of(index);
    let [from, to] = [&ends.from, &ends.to].map(|name| known(topology, name));
    let choose = |choices: &mut dyn Iterator<Item = &PathChoice>| {
        choices.map(|choice| choose(choice, from, to, topology)).collect::<Result<Vec<_>, _>>()
    };
    // One that goes through a bond takes the paths of that.
    let one = matches!(spec.transport, Transport::Tcp(_) | Transport::Quic(_) | Transport::Udp(_));
    let several = !one || spec.through.is_some();
    let routes = match &spec.paths[..] {
        [] if several => topology.routes(from, to),
        [] => vec![topology.route(from, to)?],
        paths => choose(&mut paths.iter())?,
    };
    let backup = match &spec.transport {
        Transport::Mptcp(mptcp) => choose(&mut mptcp.backup.iter().map(|path| &path.value))?,
        _ => Vec::new(),
    };
    let is_backup = routes.iter().map(|route| backup.contains(route)).collect();
    Ok((routes, is_backup))
}

/// A node that the scenario's reader has found.
fn known(topology: &Topology, name: &str) -> NodeId {
    topology.node(name).expect("the reader of scenarios checks the names of nodes")
}

fn choose(
    choice: &PathChoice,
    from: NodeId,
    to: NodeId,
    topology: &Topology,
) -> Result<Route, RouteError> {
    match choice {
        PathChoice::Link(name) => {
            let over = |route: &Route| topology.name_of(route) == *name;
            let mut routes = topology.routes(from, to).into_iter();
            routes.find(over).ok_or_else(|| topology.no_route(from, to))
        }
        PathChoice::Nodes(names) => {
            let nodes: Vec<_> = names.iter().map(|name| known(topology, name)).collect();
            topology.route_via(&nodes)
        }
    }
}
