//! Networks that experiments share.

use super::{Ends, Graph};
use crate::network::PathLinks;

/// A multihomed host whose paths meet in one link, and a single-homed one beside it: the network in
/// which a coupled controller must take no more than a single path (RFC 6356 section 2). The host
/// `multipath` has the links `access1`, `access2` and so on to `router`, the host `single` has the
/// link `single`; all share the link `bottleneck` to `server`.
pub fn shared_bottleneck(count: u32, access: &PathLinks, bottleneck: &PathLinks) -> Graph {
    let nodes = ["multipath", "single", "router", "server"].map(str::to_owned).to_vec();
    let pairs = ["multipath", "single"].map(|from| Ends::new(from, "server")).to_vec();
    let mut graph = Graph { nodes, pairs, links: Vec::new() };
    for n in 1..=count {
        graph.join(format!("access{n}"), "multipath", "router", access);
    }
    graph.join("single", "single", "router", access);
    graph.join("bottleneck", "router", "server", bottleneck);
    graph
}

/// Pairs of hosts, `left1` and `right1` and so on, with the links `near1` and `far1` and so on to
/// the routers `west` and `east`, which the link `bottleneck` joins: three hops from left to right.
pub fn dumbbell(count: u32, near: &PathLinks, far: &PathLinks, bottleneck: &PathLinks) -> Graph {
    let nodes = ["west", "east"].map(str::to_owned).to_vec();
    let mut graph = Graph { nodes, ..Graph::default() };
    graph.join("bottleneck", "west", "east", bottleneck);
    for n in 1..=count {
        let (left, right) = (format!("left{n}"), format!("right{n}"));
        graph.pair(&left, &right);
        graph.join(format!("near{n}"), left, "west", near);
        graph.join(format!("far{n}"), "east", right, far);
    }
    graph
}

/// The links `bottleneck1`, `bottleneck2` and so on in a row, between the routers `r0`, `r1` and so
/// on: connections from `client` to `server` cross all, those from `from1` to `to1` only the first,
/// and so on. `access` joins each host to its router.
pub fn parking_lot(count: u32, access: &PathLinks, bottleneck: &PathLinks) -> Graph {
    let mut graph = Graph::with_pair();
    graph.nodes.push("r0".to_owned());
    graph.join("client", "client", "r0", access);
    for n in 1..=count {
        let (before, router) = (format!("r{}", n - 1), format!("r{n}"));
        let (from, to) = (format!("from{n}"), format!("to{n}"));
        graph.nodes.push(router.clone());
        graph.pair(&from, &to);
        graph.join(format!("bottleneck{n}"), &before, &router, bottleneck);
        graph.join(&from, &from, before, access);
        graph.join(&to, router, &to, access);
    }
    graph.join("server", format!("r{count}"), "server", access);
    graph
}

/// The links `hop1`, `hop2` and so on in a row between `client` and `server`, with the routers
/// `r1`, `r2` and so on.
pub fn chain(count: u32, link: &PathLinks) -> Graph {
    let mut graph = Graph::with_pair();
    let mut at = "client".to_owned();
    for n in 1..=count {
        let next = if n == count { "server".to_owned() } else { format!("r{n}") };
        if n < count {
            graph.nodes.push(next.clone());
        }
        graph.join(format!("hop{n}"), at, &next, link);
        at = next;
    }
    graph
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{LinkId, Topology};
    use polypath_link::LinkConfig;
    use polypath_units::Bandwidth;
    use std::time::Duration;

    fn link() -> PathLinks {
        let rate = Bandwidth::from_mbit_per_sec(10.0);
        PathLinks::symmetric(LinkConfig::new(rate, Duration::from_millis(1)))
    }

    /// The links that the connection of each pair crosses.
    fn crossed(graph: &Graph) -> (Topology, Vec<Vec<LinkId>>) {
        let topology = Topology::from(graph);
        let route = |&(from, to): &(_, _)| topology.route(from, to).unwrap().0;
        let routes = topology.pairs().iter().map(route).collect();
        (topology, routes)
    }

    #[test]
    fn the_routes_are_those_of_the_pictures() {
        let two = Topology::from(&Graph::between_two_hosts([
            ("path1".to_owned(), link()),
            ("path2".to_owned(), link()),
        ]));
        let (client, server) = two.pairs()[0];
        assert_eq!(two.routes(client, server).len(), 2);
        let (row, routes) = crossed(&chain(4, &link()));
        let hops: Vec<_> = (1..=4).map(|n| row.link(&format!("hop{n}")).unwrap()).collect();
        assert_eq!(routes, [hops]);
        let shared = Topology::from(&shared_bottleneck(2, &link(), &link()));
        let bottleneck = shared.link("bottleneck").unwrap();
        let (multipath, server) = shared.pairs()[0];
        let routes = shared.routes(multipath, server);
        assert_eq!(routes.len(), 2);
        assert!(routes.iter().all(|route| route.0[1..] == [bottleneck]));
        let (bells, routes) = crossed(&dumbbell(3, &link(), &link(), &link()));
        let bottleneck = bells.link("bottleneck").unwrap();
        assert!(routes.iter().all(|route| route.len() == 3 && route[1] == bottleneck));
        let (lot, routes) = crossed(&parking_lot(3, &link(), &link()));
        let bottlenecks: Vec<_> =
            (1..=3).map(|n| lot.link(&format!("bottleneck{n}")).unwrap()).collect();
        assert_eq!(routes[0][1..4], bottlenecks);
        assert!(routes[1..].iter().zip(&bottlenecks).all(|(route, at)| route[1] == *at));
    }
}
