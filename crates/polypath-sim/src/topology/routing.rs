//! Routes through a topology.

use super::{LinkId, NodeId, Topology};
use core::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

/// The links that a packet crosses, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route(pub Vec<LinkId>);

/// Why there is no route.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RouteError {
    /// Nothing leads there.
    #[error("no route from {from} to {to}")]
    None {
        /// Where the route should begin.
        from: String,
        /// Where it should end.
        to: String,
    },
    /// Two nodes of an explicit route are not neighbours.
    #[error("no link from {from} to {to}, which follow each other on a route")]
    Gap {
        /// The node.
        from: String,
        /// What should be its neighbour.
        to: String,
    },
    /// A route from a node to itself.
    #[error("a route from {node} to itself")]
    Loop {
        /// The node.
        node: String,
    },
}

/// What a route costs: delay first, then links.
type Cost = (Duration, u32);

impl Topology {
    /// The route of least delay (propagation alone), of these the one with the fewest links, of
    /// these that of the earliest links.
    ///
    /// # Errors
    /// If nothing leads there, or the nodes are the same.
    pub fn route(&self, from: NodeId, to: NodeId) -> Result<Route, RouteError> {
        if from == to {
            return Err(RouteError::Loop { node: self.name(from) });
        }
        self.search(from, to).ok_or_else(|| self.no_route(from, to))
    }

    /// The error of a route that there is not.
    pub(crate) fn no_route(&self, from: NodeId, to: NodeId) -> RouteError {
        RouteError::None { from: self.name(from), to: self.name(to) }
    }

    /// One route for each link that leaves `from` and leads to `to`: the paths of a multihomed
    /// host, in order of the links.
    pub fn routes(&self, from: NodeId, to: NodeId) -> Vec<Route> {
        let through =
            |(link, edge): (LinkId, &super::Edge)| self.route_through(from, link, edge.to, to);
        self.leaving(from).filter_map(through).collect()
    }

    /// The route through these nodes, each a neighbour of the one before. Between two that are
    /// joined more than once it takes the first link.
    ///
    /// # Errors
    /// If two are not neighbours.
    pub fn route_via(&self, nodes: &[NodeId]) -> Result<Route, RouteError> {
        let hops = nodes.windows(2).map(|pair| {
            let gap = || RouteError::Gap { from: self.name(pair[0]), to: self.name(pair[1]) };
            let mut leaving = self.leaving(pair[0]);
            leaving.find(|(_, edge)| edge.to == pair[1]).map(|(link, _)| link).ok_or_else(gap)
        });
        hops.collect::<Result<_, _>>().map(Route)
    }

    /// The same links in the other direction.
    pub fn back(&self, route: &Route) -> Route {
        Route(route.0.iter().rev().map(|&link| self.edge(link).reverse).collect())
    }

    /// What a path is called: as its first link.
    pub fn name_of(&self, route: &Route) -> String {
        route.0.first().map(|&link| self.edge(link).name.clone()).unwrap_or_default()
    }

    fn route_through(
        &self,
        from: NodeId,
        first: LinkId,
        next: NodeId,
        to: NodeId,
    ) -> Option<Route> {
        let mut links = vec![first];
        if next != to {
            let rest = self.search(next, to)?;
            // A way that leads back through the host is none.
            if rest.0.iter().any(|&link| self.edge(link).from == from) {
                return None;
            }
            links.extend(rest.0);
        }
        Some(Route(links))
    }

    /// Dijkstra's search. Hosts with one link, of which a large network has many, are on no way to
    /// another node.
    fn search(&self, from: NodeId, to: NodeId) -> Option<Route> {
        let mut best: Vec<Option<(Cost, Option<LinkId>)>> = vec![None; self.nodes.len()];
        let mut open = BinaryHeap::from([Reverse((Cost::default(), from))]);
        best[from.index()] = Some((Cost::default(), None));
        while let Some(Reverse((cost, node))) = open.pop() {
            if node == to {
                break;
            }
            if best[node.index()].is_some_and(|(least, _)| least < cost) {
                continue;
            }
            for (link, edge) in self.leaving(node) {
                if edge.to != to && self.leaving[edge.to.index()].len() == 1 {
                    continue;
                }
                let reached = (cost.0 + edge.config.delay, cost.1 + 1);
                if best[edge.to.index()].is_none_or(|(least, _)| reached < least) {
                    best[edge.to.index()] = Some((reached, Some(link)));
                    open.push(Reverse((reached, edge.to)));
                }
            }
        }
        self.trace(&best, to)
    }

    fn trace(&self, best: &[Option<(Cost, Option<LinkId>)>], to: NodeId) -> Option<Route> {
        let (mut links, mut node) = (Vec::new(), to);
        while let (_, Some(link)) = best[node.index()]? {
            links.push(link);
            node = self.edge(link).from;
        }
        links.reverse();
        Some(Route(links))
    }

    fn name(&self, node: NodeId) -> String {
        self.nodes[node.index()].clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::PathLinks;
    use polypath_link::LinkConfig;
    use polypath_units::Bandwidth;

    /// Two ways from a to d: over b (1 + 1 ms) and over c (1 + 5 ms), and one between b and c.
    fn square() -> (Topology, [NodeId; 4]) {
        let mut topology = Topology::new();
        let nodes = ["a", "b", "c", "d"].map(|name| topology.add_node(name));
        let [a, b, c, d] = nodes;
        for (from, to, ms) in [(a, b, 1), (a, c, 1), (b, d, 1), (c, d, 5), (b, c, 1)] {
            let delay = Duration::from_millis(ms);
            let link = LinkConfig::new(Bandwidth::from_mbit_per_sec(10.0), delay);
            topology.connect(format!("{from:?}{to:?}"), from, to, PathLinks::symmetric(link));
        }
        (topology, nodes)
    }

    fn nodes(topology: &Topology, route: &Route) -> Vec<NodeId> {
        let first = topology.edge(route.0[0]).from;
        [first].into_iter().chain(route.0.iter().map(|&link| topology.edge(link).to)).collect()
    }

    #[test]
    fn the_route_has_the_least_delay() {
        let (topology, [a, b, c, d]) = square();
        assert_eq!(nodes(&topology, &topology.route(a, d).unwrap()), [a, b, d]);
        assert_eq!(nodes(&topology, &topology.route(d, a).unwrap()), [d, b, a]);
        // c to d: 5 ms at once, 2 ms over b.
        assert_eq!(nodes(&topology, &topology.route(c, d).unwrap()), [c, b, d]);
    }

    #[test]
    fn a_multihomed_host_has_a_route_through_each_link() {
        let (topology, [a, b, c, d]) = square();
        let routes: Vec<_> = topology.routes(a, d).iter().map(|r| nodes(&topology, r)).collect();
        assert_eq!(routes, [vec![a, b, d], vec![a, c, b, d]]);
        // A neighbour's way that leads back through the host is none.
        let routes: Vec<_> = topology.routes(b, a).iter().map(|r| nodes(&topology, r)).collect();
        assert_eq!(routes, [vec![b, a], vec![b, c, a]]);
    }

    #[test]
    fn an_explicit_route_and_its_way_back() {
        let (topology, [a, _, c, d]) = square();
        let route = topology.route_via(&[a, c, d]).unwrap();
        assert_eq!(nodes(&topology, &topology.back(&route)), [d, c, a]);
        let gap = topology.route_via(&[a, d]).unwrap_err();
        assert_eq!(gap.to_string(), "no link from a to d, which follow each other on a route");
    }

    #[test]
    fn what_cannot_be_reached_has_no_route() {
        let (mut topology, [a, ..]) = square();
        let island = topology.add_node("island");
        assert_eq!(topology.route(a, island).unwrap_err().to_string(), "no route from a to island");
        assert!(topology.routes(a, island).is_empty());
        assert_eq!(topology.route(a, a).unwrap_err().to_string(), "a route from a to itself");
    }
}
