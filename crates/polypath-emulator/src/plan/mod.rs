//! From a network of the simulator to network namespaces: what is to be made, as data.
//!
//! Each host and router is a namespace, and one more, the *wire*, sees the other end of every
//! interface: whoever moves frames between the two devices of a link there is the link.
//!
//! * **Addresses.** Link number N, counted from 1, has 10.0.0.0/24 + N and
//!   fd70:6f6c:7970:N::/64; the end at `from` is host 1, the end at `to` host 2. Neighbours are
//!   known beforehand: there is no ARP, no neighbour discovery, no router discovery.
//! * **Routes** are those of the simulator ([`Topology::route`], [`Topology::routes`]). A host that
//!   opens connections has several paths: its address names the path, in both directions. What it
//!   sends from an address leaves by the link of that address, and what is sent to the address
//!   comes back the same way. Without an address to send from, the route of least delay is taken.
//! * **Multipath TCP** opens a subflow from every address of the host that opened the connection to
//!   the address that it was opened to: one for each link, in the family of that address.
//! * **Segmentation offload** is off, so that every frame is a packet, of at most the link's MTU.
//!   Where its directions differ in this, both have the smaller: an interface receives no larger
//!   packets than it sends.
//!
//! Connections between hosts that are no pair of the network need one, as
//! [`Scenario::topology`](polypath_sim::scenario::Scenario::topology) adds it.

mod address;
mod names;
mod prefix;
mod routes;
mod script;
mod veth;

pub use address::{Addresses, End, HardwareAddress};
pub use prefix::{Prefix, PrefixError};
pub use script::Step;
pub(crate) use veth::veth_pair;

use polypath_sim::Direction;
use polypath_sim::topology::{Edge, LinkId, NodeId, Topology};
use std::net::IpAddr;

/// The packets of a link whose MTU is not set: as on Ethernet.
const DEFAULT_MTU_BYTES: u32 = 1500;
/// What IPv6 needs (RFC 8200 section 5), and what IP's length field holds.
const MTU_BYTES: std::ops::RangeInclusive<u32> = 1280..=65535;

/// A network in namespaces.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NetworkPlan {
    /// What the names of the namespaces begin with.
    pub prefix: Prefix,
    /// The namespace of the wire.
    pub wire: String,
    /// Hosts and routers, in the order of [`Topology::nodes`].
    pub nodes: Vec<NodePlan>,
    /// The links, in the order of [`Topology::edges`].
    pub links: Vec<LinkPlan>,
    /// Kernel parameters of all hosts, with their values, in the words of sysctl(8): set in this
    /// order, when the interfaces are there, after those of the plan. At first there is
    /// `tcp_no_metrics_save`, so that measurements do not depend on those before.
    pub host_sysctls: Vec<(String, String)>,
}

/// A host or router.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NodePlan {
    /// Its number in the topology.
    pub node: NodeId,
    /// Its name there.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// What it does.
    pub role: Role,
    /// Whether it passes packets on: as a router, or as a host on the way between two others.
    pub forwards: bool,
    /// Its ends of links, in the order of the links.
    pub interfaces: Vec<InterfacePlan>,
    /// Its routes, but for those to its own subnets.
    pub routes: Vec<RoutePlan>,
    /// The addresses from which Multipath TCP opens subflows.
    pub subflow_addresses: Vec<IpAddr>,
}

impl NodePlan {
    /// Its addresses, link by link, IPv4 first.
    pub fn addresses(&self) -> impl Iterator<Item = IpAddr> {
        self.interfaces.iter().flat_map(|interface| interface.addresses.both())
    }

    /// Lines of `ip -batch` in it.
    pub(crate) fn step(&self, commands: impl IntoIterator<Item = String>) -> Step {
        let commands = commands.into_iter().collect();
        Step { namespace: self.namespace.clone(), commands, ..Step::default() }
    }
}

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Opens connections, to the second host of a pair.
    Opener,
    /// Has connections opened to it.
    Host,
    /// Neither.
    Router,
}

/// A node's end of a link.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct InterfacePlan {
    /// The name of the interface: the link's, where Linux takes it.
    pub name: String,
    /// The link, by its place in [`NetworkPlan::links`].
    pub link: usize,
    /// The device in the namespace of the wire.
    pub wire_device: String,
    /// Of packets, both ways.
    pub mtu_bytes: u32,
    /// Of this end.
    pub addresses: Addresses,
    /// Of the other end.
    pub neighbour: Addresses,
}

/// Where a node sends packets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RoutePlan {
    /// A table for the packets from one address; without it the main table.
    pub table: Option<u32>,
    /// The address that leads there; without it all.
    pub to: Option<IpAddr>,
    /// The neighbour's address.
    pub via: IpAddr,
    /// The interface.
    pub device: String,
}

/// A link in the namespace of the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkPlan {
    /// Its name in the topology.
    pub name: String,
    /// Its number there, upwards: from [`LinkPlan::from_device`] to [`LinkPlan::to_device`].
    pub up: LinkId,
    /// The number of the direction back.
    pub down: LinkId,
    /// The device that leads to the node where the link up begins.
    pub from_device: String,
    /// The device that leads to the other node.
    pub to_device: String,
}

/// Why a network cannot be made of namespaces.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// More links than subnets.
    #[error("{count} links: namespaces are made for at most {most}")]
    Links {
        /// How many there are.
        count: usize,
        /// How many are possible.
        most: usize,
    },
    /// A link from a node to itself.
    #[error("link {link:?} joins {node:?} to itself")]
    Loop {
        /// The link.
        link: String,
        /// The node.
        node: String,
    },
    /// An MTU that an interface with IPv6 cannot have.
    #[error("link {link:?}: an MTU of {mtu} bytes; interfaces with IPv6 have {} to {}", MTU_BYTES.start(), MTU_BYTES.end())]
    Mtu {
        /// The link.
        link: String,
        /// The MTU, in bytes.
        mtu: u32,
    },
}

impl NetworkPlan {
    /// The namespaces of a network.
    ///
    /// # Errors
    /// If the network is one that namespaces cannot be.
    pub fn new(prefix: &Prefix, topology: &Topology) -> Result<Self, PlanError> {
        let links = links(topology)?;
        let interfaces = names::interfaces(links.iter().map(|link| &*link.name));
        let mut nodes: Vec<NodePlan> = names::namespaces(prefix, topology.nodes())
            .into_iter()
            .zip(0..)
            .map(|(namespace, number)| {
                let node = NodeId(number);
                let interfaces = interfaces_of(node, topology, &links, &interfaces);
                bare_node(node, topology, namespace, interfaces)
            })
            .collect();
        routes::add_routes(topology, &links, &mut nodes);
        let host_sysctls = vec![("net.ipv4.tcp_no_metrics_save".to_owned(), "1".to_owned())];
        let wire = names::wire_namespace(prefix);
        Ok(Self { prefix: prefix.clone(), wire, nodes, links, host_sysctls })
    }

    /// The node of this name.
    pub fn node(&self, name: &str) -> Option<&NodePlan> {
        self.nodes.iter().find(|node| node.name == name)
    }

    /// All namespaces, the wire first.
    pub fn namespaces(&self) -> impl Iterator<Item = &str> {
        let nodes = self.nodes.iter().map(|node| &*node.namespace);
        [&*self.wire].into_iter().chain(nodes)
    }
}

/// The links, checked.
fn links(topology: &Topology) -> Result<Vec<LinkPlan>, PlanError> {
    let ups = topology.edges().iter().zip(0..).filter(|(edge, _)| edge.direction == Direction::Up);
    let links: Vec<_> = ups
        .zip(1..)
        .map(|((up, number), n)| {
            check(up, topology)?;
            check(topology.edge(up.reverse), topology)?;
            let name = up.name.clone();
            let (from_device, to_device) = (format!("w{n}a"), format!("w{n}b"));
            Ok(LinkPlan { name, up: LinkId(number), down: up.reverse, from_device, to_device })
        })
        .collect::<Result<_, _>>()?;
    if links.len() > address::MOST_LINKS {
        return Err(PlanError::Links { count: links.len(), most: address::MOST_LINKS });
    }
    Ok(links)
}

fn check(edge: &Edge, topology: &Topology) -> Result<(), PlanError> {
    let link = edge.name.clone();
    if edge.from == edge.to {
        let node = topology.nodes()[edge.from.0 as usize].clone();
        return Err(PlanError::Loop { link, node });
    }
    match mtu_bytes(edge) {
        mtu if !MTU_BYTES.contains(&mtu) => Err(PlanError::Mtu { link, mtu }),
        _ => Ok(()),
    }
}

fn mtu_bytes(edge: &Edge) -> u32 {
    edge.config.mtu.unwrap_or(DEFAULT_MTU_BYTES)
}

/// A node's ends of links.
fn interfaces_of(
    node: NodeId,
    topology: &Topology,
    links: &[LinkPlan],
    names: &[String],
) -> Vec<InterfacePlan> {
    let ends = links.iter().zip(names).zip(1..).enumerate().filter_map(
        |(link, ((plan, name), number))| {
            let up = topology.edge(plan.up);
            let (end, wire_device) = match node {
                node if node == up.from => (End::From, &plan.from_device),
                node if node == up.to => (End::To, &plan.to_device),
                _ => return None,
            };
            Some(InterfacePlan {
                name: name.clone(),
                link,
                wire_device: wire_device.clone(),
                mtu_bytes: mtu_bytes(up).min(mtu_bytes(topology.edge(plan.down))),
                addresses: Addresses::new(number, end),
                neighbour: Addresses::new(number, end.other()),
            })
        },
    );
    ends.collect()
}

/// A node that has no routes yet.
fn bare_node(
    node: NodeId,
    topology: &Topology,
    namespace: String,
    interfaces: Vec<InterfacePlan>,
) -> NodePlan {
    let role = match topology.pairs() {
        pairs if pairs.iter().any(|pair| pair.0 == node) => Role::Opener,
        pairs if pairs.iter().any(|pair| pair.1 == node) => Role::Host,
        _ => Role::Router,
    };
    let name = topology.nodes()[node.0 as usize].clone();
    let (routes, subflow_addresses) = (Vec::new(), Vec::new());
    let forwards = role == Role::Router;
    NodePlan { node, name, namespace, role, forwards, interfaces, routes, subflow_addresses }
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_link::LinkConfig;
    use polypath_sim::PathLinks;
    use polypath_sim::topology::{Graph, chain, shared_bottleneck};
    use polypath_units::Bandwidth;
    use std::time::Duration;

    fn links() -> PathLinks {
        let rate = Bandwidth::from_mbit_per_sec(10.0);
        PathLinks::symmetric(LinkConfig::new(rate, Duration::from_millis(10)))
    }

    fn plan(graph: &Graph) -> Result<NetworkPlan, PlanError> {
        NetworkPlan::new(&"lab".parse().unwrap(), &Topology::from(graph))
    }

    fn two_hosts(up: impl FnOnce(&mut LinkConfig)) -> Graph {
        let mut first = links();
        up(&mut first.up);
        let second = ("the second link".to_owned(), links());
        Graph::between_two_hosts([("first".to_owned(), first), second])
    }

    #[test]
    fn two_paths_in_commands() {
        let plan = plan(&two_hosts(|up| up.mtu = Some(1400))).unwrap();
        insta::assert_snapshot!(plan);
    }

    #[test]
    fn a_shared_bottleneck_in_commands() {
        insta::assert_snapshot!(plan(&shared_bottleneck(2, &links(), &links())).unwrap());
    }

    #[test]
    fn a_chain_of_routers_in_commands() {
        insta::assert_snapshot!(plan(&chain(3, &links())).unwrap());
    }

    #[test]
    fn devices_of_the_wire_belong_to_the_directions_of_links() {
        let plan = plan(&shared_bottleneck(1, &links(), &links())).unwrap();
        for link in &plan.links {
            let at = |device: &str| {
                let has =
                    |node: &&NodePlan| node.interfaces.iter().any(|i| i.wire_device == device);
                plan.nodes.iter().find(has).unwrap().name.clone()
            };
            let ends = [&link.from_device, &link.to_device].map(|device| at(device));
            let expected = match &*link.name {
                "access1" => ["multipath", "router"],
                "single" => ["single", "router"],
                _ => ["router", "server"],
            };
            assert_eq!(ends, expected);
            assert_eq!(link.down.0, link.up.0 + 1);
        }
    }

    #[test]
    fn what_namespaces_cannot_be_is_told() {
        let error = plan(&two_hosts(|up| up.mtu = Some(576))).unwrap_err().to_string();
        let allowed = "an MTU of 576 bytes; interfaces with IPv6 have 1280 to 65535";
        assert_eq!(error, format!("link \"first\": {allowed}"));
        let mut looped = two_hosts(|_| {});
        looped.links[1].to = "client".to_owned();
        let error = plan(&looped).unwrap_err().to_string();
        assert_eq!(error, "link \"the second link\" joins \"client\" to itself");
        let many = (0..=address::MOST_LINKS).map(|n| (n.to_string(), links()));
        let error = plan(&Graph::between_two_hosts(many)).unwrap_err();
        assert_eq!(error, PlanError::Links { count: 16_385, most: 16_384 });
    }
}
