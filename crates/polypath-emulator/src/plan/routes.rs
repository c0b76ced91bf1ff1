//! Routes as the simulator takes them.

use super::{InterfacePlan, LinkPlan, NodePlan, Role, RoutePlan};
use polypath_sim::topology::{LinkId, NodeId, Route, Topology};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The table of a host's first link, less one; the second link's is the next, and so on. Below are
/// no tables that Linux uses, and 155 links fit before those that it does.
const FIRST_TABLE: u32 = 100;
/// The most endpoints that the kernel's path manager takes (MPTCP_PM_ADDR_MAX).
const MOST_ENDPOINTS: usize = 8;

/// The table for what the host sends from the address of its link of this place.
pub(super) fn table(place: usize) -> u32 {
    // Beyond 155 links the numbers of Linux's own tables, 253 to 255, are passed over.
    let number = FIRST_TABLE + 1 + place as u32;
    if number < 253 { number } else { number + 3 }
}

/// Gives nodes their routes, and those that open connections the addresses of their subflows.
pub(super) fn add_routes(topology: &Topology, links: &[LinkPlan], nodes: &mut [NodePlan]) {
    let mut ways = Ways { topology, links, found: BTreeMap::new() };
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
    for (node, (routes, subflow_addresses)) in nodes.iter_mut().zip(found) {
        (node.routes, node.subflow_addresses) = (routes, subflow_addresses);
    }
}

/// The routes of a topology, each looked for once.
struct Ways<'a> {
    topology: &'a Topology,
    links: &'a [LinkPlan],
    found: BTreeMap<(NodeId, NodeId), Option<Route>>,
}

impl Ways<'_> {
    /// The routes to all addresses of other nodes but those that the node's own subnets have.
    fn main_table(&mut self, at: &NodePlan, nodes: &[NodePlan]) -> Vec<RoutePlan> {
        let mut routes = Vec::new();
        for to in nodes.iter().filter(|to| to.node != at.node) {
            for (place, end) in to.interfaces.iter().enumerate() {
                let Some(hop) = self.next_hop(at, to, end) else { continue };
                let own = at.interfaces.iter().any(|own| own.link == end.link);
                // A host's neighbour is on its subnet, except where the simulator's route is shorter.
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
