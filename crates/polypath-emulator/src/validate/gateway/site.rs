//! The network of a gateway, live.

use super::error::GatewayError;
use super::profile::{EDGE, GatewayProfile, HUB, LAN, SERVER};
use super::settings::GatewaySettings;
use crate::kernel::in_namespace;
use crate::live::{Network, NetworkOptions};
use crate::plan::{InterfacePlan, NodePlan, Step, veth_pair};
use crate::realtime::Clock;
use polypath_sim::scenario::ScenarioPath;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};

/// The host in the LAN, and the edge there.
pub(super) const LAN_HOST: Ipv4Addr = Ipv4Addr::new(192, 168, 5, 2);
pub(super) const LAN_EDGE: Ipv4Addr = Ipv4Addr::new(192, 168, 5, 1);
/// The server, and the hub there: in the network for measurements of RFC 2544.
pub(super) const SERVER_HOST: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 2);
const SERVER_HUB: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
/// The networks that these are in.
const LAN_NET: &str = "192.168.5.0/24";
pub(super) const SERVER_NET: &str = "198.18.0.0/24";
/// The interface of the LAN, at both ends, and of the server's link.
pub(super) const LAN_DEVICE: &str = "lan0";
pub(super) const SERVER_DEVICE: &str = "server0";

/// The first of the routing tables for what begins at a path.
const FIRST_TABLE: usize = 101;

/// A path's ends.
#[derive(Clone, Debug)]
pub(super) struct PathEnds {
    pub(super) name: String,
    /// The interface of the edge.
    pub(super) device: String,
    /// That of the hub.
    hub_device: String,
    edge: Ipv4Addr,
    pub(super) hub: Ipv4Addr,
}

/// A LAN, an edge, a hub and a server that run. Dropping it removes them.
#[derive(Debug)]
pub(super) struct Site {
    network: Network,
    paths: Vec<PathEnds>,
}

impl Site {
    /// Makes the network of a profile.
    pub(super) fn new(
        profile: &GatewayProfile,
        settings: &GatewaySettings,
        seed: u64,
    ) -> Result<Self, GatewayError> {
        let prefix = settings.prefix.clone();
        let options = NetworkOptions { prefix, seed, host_sysctls: Vec::new() };
        let network = Network::start(&profile.topology(), &[], &options)?;
        let paths = match profile.unshaped() {
            0 => path_ends(&network, profile),
            count => unshaped_ends(count),
        };
        let site = Self { network, paths };
        site.take(&site.outside())?;
        if profile.unshaped() > 0 {
            let pairs = site
                .paths
                .iter()
                .flat_map(|path| site.pair(&path.device, [EDGE, HUB], [path.edge, path.hub]));
            site.take(&pairs.collect::<Vec<_>>())?;
            if settings.carrier.is_mptcp() {
                site.take(&site.subflows())?;
            }
        }
        Ok(site)
    }

    /// A link that packets pass without delay.
    fn pair(&self, device: &str, [near, far]: [&str; 2], [at, to]: [Ipv4Addr; 2]) -> [Step; 2] {
        veth_pair(device, [(self.node(near), at), (self.node(far), to)])
    }

    /// Lets connections of Multipath TCP have a subflow from each path of the edge, as plans do for
    /// emulated links.
    fn subflows(&self) -> Vec<Step> {
        let of_path = |(table, path): (usize, &PathEnds)| {
            let PathEnds { device, edge, hub, .. } = path;
            let commands = vec![
                format!("route add default via {hub} dev {device} table {table}"),
                format!("rule add from {edge} lookup {table} priority 100"),
                format!("mptcp endpoint add {edge} dev {device} subflow"),
            ];
            self.step(EDGE, commands)
        };
        (FIRST_TABLE..).zip(&self.paths).map(of_path).collect()
    }

    /// The links of the LAN and of the server.
    fn outside(&self) -> Vec<Step> {
        let lan = self.pair(LAN_DEVICE, [LAN, EDGE], [LAN_HOST, LAN_EDGE]);
        let server = self.pair(SERVER_DEVICE, [SERVER, HUB], [SERVER_HOST, SERVER_HUB]);
        let default = self.step(LAN, vec![format!("route add default via {LAN_EDGE}")]);
        lan.into_iter().chain(server).chain([default]).collect()
    }

    /// Leads the LAN over one path by the kernel alone, without bond and programs.
    pub(super) fn route_over(&self, path: usize) -> Result<(), GatewayError> {
        let PathEnds { device, hub_device, edge, hub, .. } = &self.paths[path];
        let forwarding = [("net.ipv4.ip_forward".to_owned(), "1".to_owned())];
        let forwarded =
            |node, command| Step { sysctls: forwarding.to_vec(), ..self.step(node, vec![command]) };
        self.take(&[
            forwarded(EDGE, format!("route replace {SERVER_NET} via {hub} dev {device}")),
            forwarded(HUB, format!("route replace {LAN_NET} via {edge} dev {hub_device}")),
            self.step(SERVER, vec![format!("route replace {LAN_NET} via {SERVER_HUB}")]),
        ])
    }

    /// Takes back what [`route_over`](Self::route_over) has led.
    pub(super) fn forget_routes(&self) -> Result<(), GatewayError> {
        let delete = |node, net| self.step(node, vec![format!("route delete {net}")]);
        self.take(&[delete(EDGE, SERVER_NET), delete(HUB, LAN_NET), delete(SERVER, LAN_NET)])
    }

    /// Lines of `ip -batch` in a node.
    pub(super) fn step(&self, node: &str, commands: Vec<String>) -> Step {
        self.node(node).step(commands)
    }

    /// Takes steps, in order.
    pub(super) fn take(&self, steps: &[Step]) -> Result<(), GatewayError> {
        Ok(self.network.namespaces().take(steps)?)
    }

    fn node(&self, name: &str) -> &NodePlan {
        let node = self.network.namespaces().plan().node(name);
        node.expect("the network was made with the four nodes")
    }

    /// Does something in a thread inside a node.
    pub(super) fn within<T: Send>(
        &self,
        node: &str,
        act: impl FnOnce() -> io::Result<T> + Send,
    ) -> io::Result<T> {
        in_namespace(&self.node(node).namespace, act)
    }

    /// Where servers listen, at a port that is free.
    pub(super) const fn server_address() -> SocketAddr {
        SocketAddr::new(std::net::IpAddr::V4(SERVER_HOST), 0)
    }

    /// The paths.
    pub(super) fn paths(&self) -> &[PathEnds] {
        &self.paths
    }

    /// The network.
    pub(super) fn network(&self) -> &Network {
        &self.network
    }

    /// The same, to start programs in.
    pub(super) fn network_mut(&mut self) -> &mut Network {
        &mut self.network
    }

    /// The clock of links and traffic.
    pub(super) fn clock(&self) -> Clock {
        self.network.clock()
    }

    /// Removes it, and says how many of a hundred packets the emulator handed over late or lost.
    pub(super) fn stop(self) -> Result<f64, GatewayError> {
        let report = self.network.stop()?;
        let overruns: u64 = report.links.iter().map(|link| link.overruns()).sum();
        let entered = report.links.iter().flat_map(|link| [&link.up, &link.down]);
        let packets: u64 = entered.map(|direction| direction.link.entered.packets).sum();
        Ok(overruns as f64 / packets.max(1) as f64 * 100.0)
    }
}

/// Those of paths that are not emulated: 10.60.0.0/24 and so on.
fn unshaped_ends(count: u8) -> Vec<PathEnds> {
    let ends = |(name, number): (char, u8)| {
        let device = format!("path{number}");
        let [hub, edge] = [1, 2].map(|host| Ipv4Addr::new(10, 60, number, host));
        PathEnds { name: name.to_string(), hub_device: device.clone(), device, edge, hub }
    };
    ('a'..='z').zip(0..count).map(ends).collect()
}

fn path_ends(network: &Network, profile: &GatewayProfile) -> Vec<PathEnds> {
    let plan = network.namespaces().plan();
    let interfaces = |node| plan.node(node).map(|node| &*node.interfaces).unwrap_or_default();
    let ends = interfaces(EDGE).iter().zip(interfaces(HUB));
    let path = |(path, (edge, hub)): (&ScenarioPath, (&InterfacePlan, &InterfacePlan))| PathEnds {
        name: path.name.clone(),
        device: edge.name.clone(),
        hub_device: hub.name.clone(),
        edge: edge.addresses.v4,
        hub: hub.addresses.v4,
    };
    profile.links().iter().zip(ends).map(path).collect()
}
