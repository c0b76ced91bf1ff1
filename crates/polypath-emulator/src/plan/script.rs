//! What a plan is made with: kernel parameters and lines for `ip -batch`, namespace by namespace.

use super::{InterfacePlan, NetworkPlan, NodePlan, Role, RoutePlan, address, routes};
use std::fmt;
use std::net::IpAddr;

/// The header of Ethernet, which the limit of segmentation offload counts.
const ETHERNET_HEADER_BYTES: u32 = 14;
/// The most subflows and announced addresses that the kernel's path manager takes.
const MPTCP_LIMIT: u32 = 8;

/// Nothing but what is sent on purpose: no addresses of the kernel's own choice, no discovery.
const NODE_SYSCTLS: [(&str, &str); 11] = [
    ("net.ipv4.conf.all.rp_filter", "0"),
    ("net.ipv4.conf.default.rp_filter", "0"),
    ("net.ipv4.conf.all.send_redirects", "0"),
    ("net.ipv4.conf.default.send_redirects", "0"),
    ("net.ipv6.conf.all.disable_ipv6", "0"),
    ("net.ipv6.conf.default.disable_ipv6", "0"),
    ("net.ipv6.conf.default.accept_dad", "0"),
    ("net.ipv6.conf.default.accept_ra", "0"),
    ("net.ipv6.conf.default.router_solicitations", "0"),
    // IN6_ADDR_GEN_MODE_NONE: no link-local address.
    ("net.ipv6.conf.default.addr_gen_mode", "1"),
    ("net.mptcp.enabled", "1"),
];
/// Frames cross the wire, and the kernel takes no part in it.
const WIRE_SYSCTLS: [(&str, &str); 2] =
    [("net.ipv6.conf.all.disable_ipv6", "1"), ("net.ipv6.conf.default.disable_ipv6", "1")];

/// What is done in one namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The namespace.
    pub namespace: String,
    /// Kernel parameters with their values, which come first.
    pub sysctls: Vec<(String, String)>,
    /// Lines for `ip -batch`.
    pub commands: Vec<String>,
    /// Lines for `ip -6 -batch`, which come last: rules do not tell their family otherwise.
    pub ipv6_commands: Vec<String>,
}

impl NetworkPlan {
    /// What makes the network of namespaces that are there and empty, in order.
    pub fn steps(&self) -> Vec<Step> {
        let wire = Step {
            namespace: self.wire.clone(),
            sysctls: owned(&WIRE_SYSCTLS).collect(),
            ..Step::default()
        };
        let devices = self.nodes.iter().map(|node| self.devices(node));
        let routes = self.nodes.iter().map(|node| self.addresses_and_routes(node));
        [wire].into_iter().chain(devices).chain([self.wire_up()]).chain(routes).collect()
    }

    fn devices(&self, node: &NodePlan) -> Step {
        let commands = node.interfaces.iter().flat_map(|i| device(i, &self.wire)).collect();
        let sysctls = owned(&NODE_SYSCTLS).collect();
        Step { namespace: node.namespace.clone(), sysctls, commands, ..Step::default() }
    }

    fn addresses_and_routes(&self, node: &NodePlan) -> Step {
        let mut commands = vec!["link set dev lo up".to_owned()];
        commands.extend(node.interfaces.iter().flat_map(interface_commands));
        commands.extend(node.routes.iter().map(route));
        let several = node.role == Role::Opener && node.interfaces.len() > 1;
        let ruled = if several { &node.interfaces[..] } else { &[] };
        let (rules, ipv6_commands): (Vec<_>, _) = ruled.iter().enumerate().map(rules).unzip();
        commands.extend(rules);
        commands.extend(mptcp(node));
        let namespace = node.namespace.clone();
        Step { namespace, sysctls: self.late_sysctls(node), commands, ipv6_commands }
    }

    /// Forwarding comes when multicast is off: an interface that had it would tell its neighbours
    /// of a router.
    fn late_sysctls(&self, node: &NodePlan) -> Vec<(String, String)> {
        let value = if node.forwards { "1" } else { "0" };
        let forwarding = [("net.ipv4.ip_forward", value), ("net.ipv6.conf.all.forwarding", value)];
        let of_hosts = if node.role == Role::Router { &[] } else { &self.host_sysctls[..] };
        owned(&forwarding).chain(of_hosts.iter().cloned()).collect()
    }

    fn wire_up(&self) -> Step {
        let devices = self.links.iter().flat_map(|link| [&link.from_device, &link.to_device]);
        let commands = devices.map(|device| format!("link set dev {device} up")).collect();
        Step { namespace: self.wire.clone(), commands, ..Step::default() }
    }
}

/// The commands as a shell script has them, for people to read.
impl fmt::Display for NetworkPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for namespace in self.namespaces() {
            writeln!(f, "ip netns add {namespace}")?;
        }
        for step in self.steps() {
            writeln!(f, "\n# {}", step.namespace)?;
            for (key, value) in &step.sysctls {
                writeln!(f, "sysctl {key}={value:?}")?;
            }
            for command in &step.commands {
                writeln!(f, "ip {command}")?;
            }
            for command in &step.ipv6_commands {
                writeln!(f, "ip -6 {command}")?;
            }
        }
        Ok(())
    }
}

fn owned<'a>(pairs: &'a [(&str, &str)]) -> impl Iterator<Item = (String, String)> + 'a {
    pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned()))
}

/// An interface and its other end. GRO is off, as it is for every new veth. Without ARP and
/// multicast, which includes neighbour discovery, Linux sends nothing on its own.
fn device(interface: &InterfacePlan, wire: &str) -> [String; 2] {
    let InterfacePlan { name, wire_device, mtu_bytes, addresses, .. } = interface;
    let largest = mtu_bytes + ETHERNET_HEADER_BYTES;
    let limits = format!("mtu {mtu_bytes} gso_max_size {largest} gso_max_segs 1");
    let hardware = addresses.hardware;
    let peer = format!("name {wire_device} {limits} netns {wire}");
    [
        format!("link add name {name} address {hardware} {limits} type veth peer {peer}"),
        format!("link set dev {name} arp off multicast off"),
    ]
}

/// The subflows that a host opens, and as many that it takes.
fn mptcp(node: &NodePlan) -> Vec<String> {
    if node.role == Role::Router {
        return Vec::new();
    }
    let limits = format!("mptcp limits set subflow {MPTCP_LIMIT} add_addr_accepted {MPTCP_LIMIT}");
    let endpoint = |address: &IpAddr| format!("mptcp endpoint add {address} subflow");
    [limits].into_iter().chain(node.subflow_addresses.iter().map(endpoint)).collect()
}

fn interface_commands(interface: &InterfacePlan) -> Vec<String> {
    let InterfacePlan { name, addresses, neighbour, .. } = interface;
    let [v4, v6] = address::PREFIX_BITS;
    let mut commands = vec![
        format!("link set dev {name} up"),
        format!("address add {}/{v4} dev {name}", addresses.v4),
        format!("address add {}/{v6} dev {name} nodad", addresses.v6),
    ];
    let hardware = neighbour.hardware;
    commands.extend(neighbour.both().map(|address| {
        format!("neighbour add {address} lladdr {hardware} nud permanent dev {name}")
    }));
    commands
}

fn route(route: &RoutePlan) -> String {
    let to = match route.to {
        Some(address) => address_bits(address),
        None if route.via.is_ipv4() => "0.0.0.0/0".to_owned(),
        None => "::/0".to_owned(),
    };
    let table = route.table.map(|number| format!(" table {number}")).unwrap_or_default();
    format!("route add {to} via {} dev {}{table}", route.via, route.device)
}

/// What is sent from an address has a table of its own.
fn rules((place, interface): (usize, &InterfacePlan)) -> (String, String) {
    let table = routes::table(place);
    let rule = |address| {
        format!("rule add from {} lookup {table} priority {table}", address_bits(address))
    };
    let [v4, v6] = interface.addresses.both();
    (rule(v4), rule(v6))
}

/// The address as a subnet of its own.
fn address_bits(address: IpAddr) -> String {
    format!("{address}/{}", if address.is_ipv4() { 32 } else { 128 })
}
