//! A LAN, its edge, a hub with two ways to it, and a server behind the hub.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::super::namespace::Namespace;
use super::super::process::are_there;
use super::super::world::{Node, World};

/// A host of the LAN.
pub(crate) const LAN: (IpAddr, IpAddr) = (
    IpAddr::V4(Ipv4Addr::new(192, 168, 5, 2)),
    IpAddr::V6(Ipv6Addr::new(0xfd05, 0, 0, 0, 0, 0, 0, 2)),
);
/// The server.
pub(crate) const SERVER: (IpAddr, IpAddr) = (
    IpAddr::V4(Ipv4Addr::new(198, 18, 0, 2)),
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 9, 0, 0, 0, 0, 2)),
);
/// The hub, as the server sees it.
pub(super) const HUB: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 18, 0, 1));
/// Where the hub listens, on each way.
const WAYS: [&str; 2] = ["10.1.1.1:4433", "10.1.2.1:4433"];

/// Counts what leaves the edge by its uplinks and is not the bond's.
const BESIDE: &str = "table inet beside {
    chain out {
        type filter hook postrouting priority 300;
        oifname { \"p1\", \"p2\" } udp dport 4433 accept
        oifname { \"p1\", \"p2\" } icmpv6 type { 133, 135, 136, 143 } accept
        oifname { \"p1\", \"p2\" } counter log
    }
}";

pub(crate) struct Sites {
    pub(crate) lan: Namespace,
    pub(crate) edge: Namespace,
    pub(crate) hub: Namespace,
    pub(crate) server: Namespace,
    pub(super) world: World,
}

/// A hub and an edge that run.
pub(super) struct Running<'a> {
    sites: &'a Sites,
    hub: Node,
    edge: Node,
    hub_more: Vec<String>,
}

fn connect(one: (&Namespace, &str, &str), other: (&Namespace, &str, &str)) {
    let (near, far) = (one.0, other.0);
    let peer = format!("peer name {} netns {}", other.1, far.process());
    near.ip(&format!("link add {} type veth {peer}", one.1));
    for (namespace, name, addresses) in [one, other] {
        for address in addresses.split(' ') {
            // Nobody else can have it.
            let flag = if address.contains(':') { " nodad" } else { "" };
            namespace.ip(&format!("addr add {address} dev {name}{flag}"));
        }
        namespace.ip(&format!("link set {name} up"));
    }
}

impl Sites {
    /// `None` where they cannot be made; that is told.
    pub(crate) fn new(test: &str) -> Option<Self> {
        if !are_there(test, &["nft"]) {
            return None;
        }
        let [lan, edge, hub, server] = [(); 4].map(|()| Namespace::new(test));
        let (lan, edge, hub, server) = (lan?, edge?, hub?, server?);
        for host in [&lan, &edge, &hub, &server] {
            host.ip("link set lo up");
            // No address is tentative: a browser drops what it loads when one becomes valid.
            host.set("net/ipv6/conf/default/accept_dad", "0");
        }
        connect(
            (&lan, "l0", "192.168.5.2/24 fd05::2/64"),
            (&edge, "l0", "192.168.5.1/24 fd05::1/64"),
        );
        connect((&edge, "p1", "10.1.1.2/24"), (&hub, "p1", "10.1.1.1/24"));
        connect((&edge, "p2", "10.1.2.2/24"), (&hub, "p2", "10.1.2.1/24"));
        connect(
            (&hub, "s0", "198.18.0.1/24 2001:db8:9::1/64"),
            (&server, "s0", "198.18.0.2/24 2001:db8:9::2/64"),
        );
        for gateway in ["192.168.5.1", "fd05::1"] {
            lan.ip(&format!("route add default via {gateway}"));
        }
        edge.ip("route add default via 10.1.1.1");
        edge.run("nft", BESIDE);
        Some(Self { lan, edge, hub, server, world: World::new() })
    }

    /// Starts hub and edge, with these options besides; the edge has its addresses then.
    pub(super) fn start(&self, hub: &[&str], edge: &[&str]) -> Running<'_> {
        let hub_more = hub.iter().map(|&word| word.to_owned()).collect();
        self.start_edge(self.start_hub(hub), hub_more, edge)
    }

    /// The same with a hub that may not make devices.
    pub(super) fn start_without_device(&self) -> Running<'_> {
        let [enter, namespace] = self.hub.runner();
        let less = ["setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin"];
        let runner = [&[enter, namespace], &less[..]].concat();
        let hub = self.start_hub_by(&runner, &[], "the gateway does without");
        self.start_edge(hub, Vec::new(), &[])
    }

    fn start_edge(&self, hub: Node, hub_more: Vec<String>, edge: &[&str]) -> Running<'_> {
        let paths = [("a", "p1", WAYS[0]), ("b", "p2", WAYS[1])];
        let paths = paths.map(|(name, device, hub)| format!("{name}={device},{hub}"));
        let more = [&["--gateway", "--lan", "l0"], edge].concat();
        let runner = self.edge.runner();
        let edge = self.world.edge_run_by(&runner, &hub, &paths.each_ref().map(|p| &**p), &more);
        edge.log_line("gateway device=");
        Running { sites: self, hub, edge, hub_more }
    }

    fn start_hub(&self, more: &[&str]) -> Node {
        self.start_hub_by(&self.hub.runner(), more, "gateway device=")
    }

    /// A hub that this command starts, and that has logged this.
    fn start_hub_by(&self, runner: &[&str], more: &[&str], told: &str) -> Node {
        let leases = self.world.path("leases");
        let known = [
            "--gateway",
            "10.77.0.0/16,fd77::/48",
            "--gateway-leases",
            &leases,
            "--target",
            "198.18.0.0/15:*",
            "--target",
            "[2001:db8::/32]:*",
        ];
        let more = [&known[..], more].concat();
        let hub = self.world.hub_run_by(runner, "0.0.0.0:4433", &more);
        hub.log_line(told);
        hub
    }

    /// Rules, routes, firewall, devices and forwarding of edge and hub.
    pub(crate) fn settings(&self) -> String {
        let asked = [
            ("ip", "rule"),
            ("ip", "-6 rule"),
            ("ip", "route show table all"),
            ("ip", "-6 route show table all"),
            ("ip", "-br link"),
            ("nft", "list tables"),
            ("sysctl", "net.ipv4.ip_forward net.ipv4.conf.all.src_valid_mark"),
            ("sysctl", "net.ipv6.conf.all.forwarding net.ipv4.conf.all.forwarding"),
        ];
        let mut told = String::new();
        for host in [&self.edge, &self.hub] {
            for (program, arguments) in asked {
                told += &host.output(program, arguments);
            }
        }
        // What comes by itself once a link is up.
        let late = |line: &&str| line.contains("fe80::") || line.contains("ff00::/8");
        let lines = told.lines().filter(|line| !late(line));
        lines.flat_map(|line| [line, "\n"]).collect()
    }

    /// Whether nothing has left the edge by an uplink but the bond.
    pub(super) fn only_the_bond_left(&self) -> bool {
        self.left_beside().contains("counter packets 0 ")
    }

    pub(super) fn left_beside(&self) -> String {
        self.edge.output("nft", "list table inet beside")
    }
}

impl Running<'_> {
    pub(super) fn status(&self) -> serde_json::Value {
        self.sites.world.status(self.edge.control())
    }

    pub(super) fn hub_status(&self) -> serde_json::Value {
        self.sites.world.status(self.hub.control())
    }

    /// Waits until the edge has logged this so many times.
    pub(super) fn edge_says(&self, what: &str, times: usize) {
        self.edge.nth_log_line(times, what);
    }

    /// What the edge has logged until now.
    pub(super) fn edge_log(&self) -> String {
        self.edge.log()
    }

    /// The conversations that the edge tells of. Each option follows `--conversations`.
    pub(super) fn conversations(&self, more: &[&str]) -> serde_json::Value {
        self.sites.world.conversations(self.edge.control(), more)
    }

    /// The same as a table.
    pub(super) fn conversation_table(&self, more: &[&str]) -> String {
        self.sites.world.conversation_table(self.edge.control(), more)
    }

    /// Those that the hub tells of.
    pub(super) fn hub_conversations(&self) -> serde_json::Value {
        self.sites.world.conversations(self.hub.control(), &[])
    }

    /// The edge's address in the hub's network.
    pub(super) fn own_address(&self) -> IpAddr {
        let shown = self.sites.edge.output("ip", "-4 -br addr show dev polypath0");
        let address = shown.split_whitespace().find_map(|word| word.strip_suffix("/32"));
        address.expect(&shown).parse().unwrap()
    }

    /// Waits until the edge has said this, and has its gateway for so many times.
    pub(super) fn set_up_anew(&self, why: &str, times: usize) {
        self.edge.log_line(why);
        self.edge.nth_log_line(times, "gateway device=");
    }

    pub(super) fn stop(self) {
        assert_eq!(self.edge.stop().code(), Some(0));
        assert_eq!(self.hub.stop().code(), Some(0));
    }

    /// Without letting them do anything about it.
    pub(super) fn kill(self) {
        for node in [&self.edge, &self.hub] {
            node.signal("KILL");
            node.wait();
        }
    }

    pub(super) fn restart_hub(&mut self, sites: &Sites) {
        assert_eq!(self.hub.stop().code(), Some(0));
        let more: Vec<_> = self.hub_more.iter().map(String::as_str).collect();
        self.hub = sites.start_hub(&more);
    }

    /// The hub comes back as one that is no gateway, which ends the edge. Returns what that said.
    pub(super) fn lose_gateway(&mut self) -> String {
        assert_eq!(self.hub.stop().code(), Some(0));
        let runner = self.sites.hub.runner();
        self.hub = self.sites.world.hub_run_by(&runner, "0.0.0.0:4433", &[]);
        assert_eq!(self.edge.wait().code(), Some(1));
        self.edge.log()
    }

    /// The arguments of another edge with the same key, with a gateway.
    pub(super) fn edge_line(&self, more: &[&str]) -> Vec<String> {
        let known = ["edge", "--key", self.sites.world.edge_key(), "--join"];
        let joined = [self.hub.join_string(), "--path", "a=p1,10.1.1.1:4433", "--gateway"];
        known.iter().chain(&joined).chain(more).map(|&word| word.to_owned()).collect()
    }
}
