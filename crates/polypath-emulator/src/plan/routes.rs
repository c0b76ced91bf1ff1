//! Routes as the simulator takes them.

use super::{InterfacePlan, LinkPlan, NodePlan, Role, RoutePlan};
use polypath_sim::topology::{LinkId, NodeId, Route, Topology};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// The table of a host's first link, less one; the second link's is the next, and so on.
const FIRST_TABLE: u32 = 100;
/// Tables that Linux uses itself: default, main and local.
const LINUX_TABLES: std::ops::RangeInclusive<u32> = 253..=255;
/// The most endpoints that the kernel's path manager takes (MPTCP_PM_ADDR_MAX).
const MOST_ENDPOINTS: usize = 8;

/// The table for what the host sends from the address of its link of this place.
pub(super) fn table(place: usize) -> u32 {
    let number = FIRST_TABLE + 1 + place as u32;
    // Linux's own are passed over.
    number + if number < *LINUX_TABLES.start() { 0 } else { LINUX_TABLES.count() as u32 }
}

/// Gives nodes their routes, and those that open connections the addresses of their subflows.
pub(super) fn add_routes(topology: &Topology, links: &[LinkPlan], nodes: &mut [NodePlan]) {
    let mut ways = RouteTables { topology, links, found: BTreeMap::new() };
    let found: Vec<_> = nodes
        .iter()
        .map(|at| {
            let mut routes = ways.main_table(at, nodes);
            if at.role == Role::Opener && at.interfaces.len() > 1 {
                routes.extend(ways.tables_of_addresses(at, nodes));
            }
            (routes, subflow_addresses(topology, links, at))
        })
        .collect();
    let between = on_the_way(topology);
    for (node, (routes, subflow_addresses)) in nodes.iter_mut().zip(found) {
        (node.routes, node.subflow_addresses) = (routes, subflow_addresses);
        node.forwards |= between.contains(&node.node);
    }
}

/// The nodes between the hosts of pairs.
fn on_the_way(topology: &Topology) -> BTreeSet<NodeId> {
    let routes = topology.pairs().iter().flat_map(|&(from, to)| topology.routes(from, to));
    let entered = |route: Route| -> Vec<_> {
        route.0.iter().skip(1).map(|&link| topology.edge(link).from).collect()
    };
    routes.flat_map(entered).collect()
}

/// The routes of a topology, each looked for once.
struct RouteTables<'a> {
    topology: &'a Topology,
    links: &'a [LinkPlan],
    found: BTreeMap<(NodeId, NodeId), Option<Route>>,
}

impl RouteTables<'_> {
    /// The routes to all addresses of other nodes but those that the node's own subnets have.
    fn main_table(&mut self, at: &NodePlan, nodes: &[NodePlan]) -> Vec<RoutePlan> {
        let mut routes = Vec::new();
        for to in nodes.iter().filter(|to| to.node != at.node) {
            for (place, end) in to.interfaces.iter().enumerate() {
                let Some(hop) = self.next_hop(at, to, end) else { continue };
                let own = at.interfaces.iter().any(|own| own.link == end.link);
                // What is on an own subnet has no other route, unless the simulator takes a shorter
                // way. Hosts take that to their neighbour's first address, where connections go;
                // its others stay a way to choose the link.
                let direct = hop.link == end.link || (at.role != Role::Router && place != 0);
                if !(own && direct) {
                    routes.extend(end.addresses.both().map(|to| route(None, Some(to), hop)));
                }
            }
        }
        routes
    }

    /// For each address of a host what it sends from there: by the address's link, except to hosts
    /// whose own address names the path.
    fn tables_of_addresses(&mut self, at: &NodePlan, nodes: &[NodePlan]) -> Vec<RoutePlan> {
        let mut routes = Vec::new();
        let openers: Vec<_> = nodes.iter().filter(|from| self.opens(from, at)).collect();
        for (own, interface) in at.interfaces.iter().enumerate() {
            let number = Some(table(own));
            for &from in &openers {
                for (theirs, end) in from.interfaces.iter().enumerate() {
                    // Where each opens connections to the other, subflows end at a first address.
                    if self.opens(at, from) && !(own == 0 && theirs != 0) {
                        continue;
                    }
                    let Some(hop) = self.next_hop(at, from, end) else { continue };
                    routes.extend(end.addresses.both().map(|to| route(number, Some(to), hop)));
                }
            }
            for family in interface.neighbour.both() {
                routes.push(route_via(number, None, family, interface));
            }
        }
        routes
    }

    fn opens(&self, from: &NodePlan, to: &NodePlan) -> bool {
        self.topology.pairs().contains(&(from.node, to.node))
    }

    /// The interface by which a node sends to an end of a link.
    fn next_hop<'n>(
        &mut self,
        at: &'n NodePlan,
        to: &NodePlan,
        end: &InterfacePlan,
    ) -> Option<&'n InterfacePlan> {
        let edge = if to.role == Role::Opener {
            self.back_to(at.node, to.node, end.link)?
        } else {
            self.way(at.node, to.node)?.0.first().copied()?
        };
        let link = |link: &InterfacePlan| {
            let LinkPlan { up, down, .. } = self.links[link.link];
            up == edge || down == edge
        };
        at.interfaces.iter().find(|interface| link(interface))
    }

    /// The first link back to a host that opens connections, over one of its links: the simulator's
    /// packets take the route of the other direction, reversed.
    fn back_to(&mut self, at: NodeId, host: NodeId, link: usize) -> Option<LinkId> {
        let up = self.topology.edge(self.links[link].up);
        let beyond = if up.from == host { up.to } else { up.from };
        if beyond == at {
            return Some(self.links[link].up);
        }
        let last = *self.way(beyond, at)?.0.last()?;
        Some(self.topology.edge(last).reverse)
    }

    fn way(&mut self, from: NodeId, to: NodeId) -> Option<&Route> {
        let search = || self.topology.route(from, to).ok();
        self.found.entry((from, to)).or_insert_with(search).as_ref()
    }
}

/// A route over the neighbour at an interface.
fn route(table: Option<u32>, to: Option<IpAddr>, hop: &InterfacePlan) -> RoutePlan {
    let [v4, v6] = hop.neighbour.both();
    let via = if to.is_some_and(|to| to.is_ipv6()) { v6 } else { v4 };
    route_via(table, to, via, hop)
}

fn route_via(
    table: Option<u32>,
    to: Option<IpAddr>,
    via: IpAddr,
    hop: &InterfacePlan,
) -> RoutePlan {
    RoutePlan { table, to, via, device: hop.name.clone() }
}

/// The addresses of those links of a host by which it opens connections, if they are several. The
/// kernel knows which of them the first subflow has. It takes 8: of five links and more those of
/// IPv4 come first.
fn subflow_addresses(topology: &Topology, links: &[LinkPlan], node: &NodePlan) -> Vec<IpAddr> {
    let opened = topology.pairs().iter().filter(|pair| pair.0 == node.node);
    let first: Vec<_> = opened
        .flat_map(|&(from, to)| topology.routes(from, to))
        .filter_map(|route| route.0.first().copied())
        .collect();
    let leads = |interface: &&InterfacePlan| {
        let LinkPlan { up, down, .. } = links[interface.link];
        first.contains(&up) || first.contains(&down)
    };
    let usable: Vec<_> = node.interfaces.iter().filter(leads).collect();
    if usable.len() < 2 {
        return Vec::new();
    }
    let v4 = usable.iter().map(|interface| interface.addresses.v4.into());
    let v6 = usable.iter().map(|interface| interface.addresses.v6.into());
    v4.chain(v6).take(MOST_ENDPOINTS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::NetworkPlan;
    use polypath_link::LinkConfig;
    use polypath_sim::PathLinks;
    use polypath_sim::topology::{Ends, Graph, GraphLink};
    use polypath_units::Bandwidth;
    use std::time::Duration;

    /// A network of links NAME FROM TO with delays in milliseconds.
    fn plan(links: &[(&str, &str, &str, u64)], pairs: &[(&str, &str)]) -> NetworkPlan {
        let link = |&(name, from, to, ms): &(&str, &str, &str, u64)| {
            let rate = Bandwidth::from_mbit_per_sec(10.0);
            let links = PathLinks::symmetric(LinkConfig::new(rate, Duration::from_millis(ms)));
            GraphLink { name: name.into(), from: from.into(), to: to.into(), links }
        };
        let links = links.iter().map(link).collect();
        let pairs = pairs.iter().map(|&(from, to)| Ends::new(from, to)).collect();
        let graph = Graph { nodes: Vec::new(), links, pairs };
        NetworkPlan::new(&"p".parse().unwrap(), &Topology::from(&graph)).unwrap()
    }

    /// The interface by which a node sends to an address, by its route in a table.
    fn by<'a>(plan: &'a NetworkPlan, node: &str, table: Option<u32>, to: &str) -> Option<&'a str> {
        let to = (to != "default").then(|| to.parse().unwrap());
        let mut routes = plan.node(node).unwrap().routes.iter();
        let of = |route: &&RoutePlan| route.table == table && route.to == to && route.via.is_ipv4();
        routes.find(of).map(|route| &*route.device)
    }

    /// Two ways over routers, r2's the shorter, to a server with two links.
    fn two_ways(pairs: &[(&str, &str)]) -> NetworkPlan {
        let links = [
            ("a", "client", "r1", 10),
            ("b", "r1", "server", 10),
            ("c", "client", "r2", 5),
            ("d", "r2", "server", 5),
        ];
        plan(&links, pairs)
    }

    #[test]
    fn the_address_of_who_opens_names_the_path_both_ways() {
        let plan = two_ways(&[("client", "server")]);
        // To the server's first address, 10.0.2.2, by each link of the client, and straight on.
        assert_eq!(by(&plan, "client", Some(101), "default"), Some("a"));
        assert_eq!(by(&plan, "client", Some(102), "default"), Some("c"));
        assert_eq!(by(&plan, "r2", None, "10.0.2.2"), Some("d"));
        assert_eq!(by(&plan, "r1", None, "10.0.2.2"), None, "on r1's own subnet");
        // And back.
        assert_eq!(by(&plan, "server", None, "10.0.1.1"), Some("b"));
        assert_eq!(by(&plan, "server", None, "10.0.3.1"), Some("d"));
        // Without an address, the least delay.
        assert_eq!(by(&plan, "client", None, "10.0.2.2"), Some("c"));
        let subflows = plan.node("client").unwrap().subflow_addresses.iter();
        let written: Vec<_> = subflows.map(ToString::to_string).collect();
        let ula = ["fd70:6f6c:7970:1::1", "fd70:6f6c:7970:3::1"];
        assert_eq!(written, ["10.0.1.1", "10.0.3.1", ula[0], ula[1]]);
        assert_eq!(plan.node("server").unwrap().subflow_addresses, [] as [IpAddr; 0]);
    }

    #[test]
    fn hosts_that_open_connections_to_each_other_answer_on_the_path_of_the_question() {
        let plan = two_ways(&[("client", "server"), ("server", "client")]);
        for (node, table) in [("client", 101), ("server", 101)] {
            assert!(by(&plan, node, Some(table), "default").is_some());
        }
        // The server's subflow from its second address goes to the client's first, and back.
        assert_eq!(by(&plan, "server", Some(102), "default"), Some("d"));
        assert_eq!(by(&plan, "client", Some(101), "10.0.4.2"), Some("c"));
        // So does the client's.
        assert_eq!(by(&plan, "client", Some(102), "default"), Some("c"));
        assert_eq!(by(&plan, "server", Some(101), "10.0.3.1"), Some("d"));
    }

    #[test]
    fn a_host_on_the_way_passes_packets_on() {
        let links = [("a", "x", "y", 1), ("b", "x", "y", 1), ("c", "y", "z", 1)];
        let chain = plan(&links, &[("x", "y"), ("y", "z"), ("x", "z")]);
        let forwards = |node| chain.node(node).unwrap().forwards;
        assert_eq!(["x", "y", "z"].map(forwards), [false, true, false]);
        // y answers each address of x by its link, from whichever address it was asked at.
        for (table, to, link) in [(101, "10.0.2.1", "b"), (103, "10.0.1.1", "a")] {
            assert_eq!(by(&chain, "y", Some(table), to), Some(link));
        }
        let pair = plan(&links, &[("x", "y")]);
        assert!(!pair.node("y").unwrap().forwards && pair.node("z").unwrap().forwards);
    }

    #[test]
    fn between_neighbours_the_shorter_link_is_taken() {
        let links = [("a", "x", "y", 10), ("b", "x", "y", 5)];
        let plan = plan(&links, &[("x", "y")]);
        // As the simulator does. Other addresses are on the subnets of their links.
        assert_eq!(by(&plan, "x", None, "10.0.1.2"), Some("b"));
        assert_eq!(by(&plan, "x", None, "10.0.2.2"), None);
        assert_eq!(plan.node("y").unwrap().routes, []);
    }

    #[test]
    fn links_that_lead_nowhere_have_no_subflows() {
        let links = [("a", "x", "y", 1), ("b", "x", "y", 1), ("c", "x", "leaf", 1)];
        let plan = plan(&links, &[("x", "y")]);
        let subflows = &plan.node("x").unwrap().subflow_addresses;
        assert_eq!(subflows.len(), 4);
        assert!(!subflows.contains(&"10.0.3.1".parse().unwrap()));
    }

    #[test]
    fn of_many_links_the_kernel_is_given_as_many_subflows_as_it_takes() {
        let names: Vec<_> = (0..6).map(|n| format!("l{n}")).collect();
        let links: Vec<_> = names.iter().map(|name| (&**name, "x", "y", 1)).collect();
        let plan = plan(&links, &[("x", "y")]);
        let subflows = &plan.node("x").unwrap().subflow_addresses;
        assert_eq!(subflows.iter().filter(|address| address.is_ipv4()).count(), 6);
        assert_eq!(subflows.len(), MOST_ENDPOINTS);
    }

    #[test]
    fn no_table_is_one_of_linux() {
        let tables: Vec<_> = (0..200).map(table).collect();
        assert_eq!((tables[0], tables[151], tables[152]), (101, 252, 256));
        assert!(tables.is_sorted_by(|a, b| a < b));
    }
}
