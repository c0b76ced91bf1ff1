//! An edge and a hub with three links between them, each behind a NAT of its own and with a rate
//! that token buckets of the kernel hold.

use std::fs;

use super::super::namespace::Namespace;
use super::super::process::are_there;

/// The hub's one address, to which all links lead.
pub(super) const HUB: &str = "10.9.9.9";
/// What the links have, in either direction. At twice these rates, edge and hub together take half
/// of a processor, built for tests or as released: these leave room for the tests that run beside.
pub(super) const LINKS_MBIT_S: [f64; 3] = [27.0, 30.0, 25.0];

pub(super) struct Network {
    pub(super) edge: Namespace,
    pub(super) hub: Namespace,
    _routers: Vec<Namespace>,
}

impl Network {
    /// `None` where it cannot be made; that is told.
    pub(super) fn new(test: &str) -> Option<Self> {
        if !are_there(test, &["nft"]) {
            return None;
        }
        let (edge, hub) = (Namespace::new(test)?, Namespace::new(test)?);
        for end in [&edge, &hub] {
            end.ip("link set lo up");
            end.set("net/ipv4/conf/all/rp_filter", "0");
        }
        hub.ip(&format!("addr add {HUB}/32 dev lo"));
        let mut routers = Vec::new();
        for (link, rate) in LINKS_MBIT_S.into_iter().enumerate() {
            let router = Namespace::new(test)?;
            join(&edge, &router, &hub, link);
            translate(&router);
            limit(&router, rate);
            routers.push(router);
        }
        Some(Self { edge, hub, _routers: routers })
    }

    /// Datagrams that found no room in the buffers of sockets so far.
    pub(super) fn overruns(&self) -> String {
        let of = |end: &Namespace| {
            let counters = fs::read_to_string(format!("/proc/{}/net/snmp", end.process())).unwrap();
            let mut udp = counters.lines().filter_map(|line| line.strip_prefix("Udp: "));
            let (names, counts) = (udp.next().unwrap(), udp.next().unwrap());
            let named = names.split(' ').zip(counts.split(' '));
            let errors = named.filter(|(name, _)| name.ends_with("bufErrors"));
            errors.map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
        };
        format!("edge: {}; hub: {}", of(&self.edge), of(&self.hub))
    }
}

/// The address of the edge on a link.
pub(super) fn address(link: usize) -> String {
    format!("10.1.{link}.2")
}

/// A link by way of a router: what the edge sends from its address there leaves by it.
fn join(edge: &Namespace, router: &Namespace, hub: &Namespace, link: usize) {
    let (from, near, far) = (address(link), format!("10.1.{link}.1"), format!("10.2.{link}.2"));
    edge.ip(&format!("link add e{link} type veth peer name in netns {}", router.process()));
    hub.ip(&format!("link add h{link} type veth peer name out netns {}", router.process()));
    edge.ip(&format!("addr add {from}/24 dev e{link}"));
    edge.ip(&format!("link set e{link} up"));
    router.ip(&format!("addr add {near}/24 dev in"));
    router.ip("link set in up");
    router.ip(&format!("addr add 10.2.{link}.1/24 dev out"));
    router.ip("link set out up");
    hub.ip(&format!("addr add {far}/24 dev h{link}"));
    hub.ip(&format!("link set h{link} up"));
    let table = 100 + link;
    edge.ip(&format!("route add default via {near} dev e{link} table {table}"));
    edge.ip(&format!("rule add from {from} table {table}"));
    // For what has no address yet.
    edge.ip(&format!("route add default via {near} dev e{link} metric {table}"));
    router.ip(&format!("route add {HUB}/32 via {far}"));
}

/// The hub sees the address of the router.
fn translate(router: &Namespace) {
    router.set("net/ipv4/ip_forward", "1");
    router.run("nft", "add table ip nat");
    router.run("nft", "add chain ip nat post { type nat hook postrouting priority 100 ; }");
    router.run("nft", "add rule ip nat post oifname out masquerade");
}

fn limit(router: &Namespace, mbit_s: f64) {
    for device in ["in", "out"] {
        let bucket = format!("tbf rate {mbit_s}mbit burst 32kb latency 50ms");
        router.run("tc", &format!("qdisc add dev {device} root {bucket}"));
    }
}
