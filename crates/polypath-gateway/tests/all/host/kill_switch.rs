//! What leaves by the uplink with the kill switch, counted behind the uplink.

use std::net::UdpSocket;

use polypath_gateway::host::Gateway;
use polypath_gateway::plan::{DualStack, EdgePlan, Marks, Plan};
use socket2::{Domain, SockRef, Socket, Type};

use super::network::{
    EDGE_AT_LAN, EDGE_AT_UPLINK, EXCLUDED, FAR, HUB, Network, ROUTER, ROUTER_V6, device, hearing,
    plan, receive, sending, socket_address,
};
use crate::namespace::Namespace;
use crate::process::stdout;
use crate::runtime::{beside, within};

/// Counts what arrives from the edge: all but what is needed for links to come up.
fn count(internet: &Namespace) {
    let chain = "add chain inet count arriving { type filter hook prerouting priority -300 ; }";
    internet.run("nft", "add table inet count");
    internet.run("nft", chain);
    let needed = "nd-neighbor-solicit, nd-neighbor-advert, nd-router-solicit, mld2-listener-report";
    let rule = "add rule inet count arriving iifname net0";
    internet.run("nft", &format!("{rule} icmpv6 type {{ {needed} }} accept"));
    internet.run("nft", &format!("{rule} counter"));
}

fn counted(internet: &Namespace) -> u32 {
    let output = internet.command("nft", &["list", "table", "inet", "count"]).output().unwrap();
    let (_, after) = stdout(&output).split_once("counter packets ").unwrap();
    after.split(' ').next().unwrap().parse().unwrap()
}

/// What programs of a host try: datagrams and a connection to where an uplink leads. They may be
/// refused.
fn try_everything() {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    for ip in [ROUTER, EXCLUDED, HUB, FAR] {
        let _ = socket.send_to(b"leak", (ip, 9));
        let stream = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        stream.set_nonblocking(true).unwrap();
        let _ = stream.connect(&socket_address(ip, 80).into());
    }
    let socket = UdpSocket::bind("[::]:0").unwrap();
    let _ = socket.send_to(b"leak", (ROUTER_V6, 9));
}

/// What is sent last, and heard.
struct Sockets {
    hub: UdpSocket,
    bond: UdpSocket,
    /// The edge, where it hears its client.
    end: UdpSocket,
    client: UdpSocket,
}

impl Sockets {
    fn new(network: &Network) -> Self {
        let bond = sending(&network.edge);
        SockRef::from(&bond).set_mark(Marks::default().of_bond()).unwrap();
        Self {
            hub: hearing(&network.internet, socket_address(HUB, 443)),
            bond,
            end: hearing(&network.edge, socket_address(EDGE_AT_LAN, 4000)),
            client: sending(&network.client),
        }
    }
}

/// Packets that leave by the uplink while a plan is set and hosts try everything, the one of the
/// bond among them.
fn leaving(network: &Network, sockets: &Sockets, plan: EdgePlan, has_device: bool) -> u32 {
    let directory = tempfile::tempdir().unwrap();
    let Sockets { hub, bond, end, client } = sockets;
    let (lan, own) = (network.client.process(), network.edge.process());
    let before = counted(&network.internet);
    within(&network.edge, async || {
        let _device = if has_device { Some(device().await) } else { None };
        let gateway = Gateway::set(Plan::Edge(plan), directory.path()).await.unwrap();
        beside(lan, try_everything).join().unwrap();
        beside(own, try_everything).join().unwrap();
        // One link after the other carries what comes after that.
        client.send_to(b"end", (EDGE_AT_LAN, 4000)).unwrap();
        receive(end);
        bond.send_to(b"bond", (HUB, 443)).unwrap();
        assert_eq!(receive(hub).1.ip().to_string(), EDGE_AT_UPLINK);
        gateway.remove().await.unwrap();
    });
    counted(&network.internet) - before
}

#[test]
fn nothing_but_the_bond_leaves_by_the_uplink() {
    let Some(network) = Network::new("nothing_but_the_bond_leaves_by_the_uplink") else { return };
    count(&network.internet);
    let sockets = Sockets::new(&network);
    let armed = EdgePlan { kill_switch: true, ..plan() };
    let away = EdgePlan { addresses: DualStack::default(), ..armed.clone() };
    assert_eq!(leaving(&network, &sockets, armed, true), 1);
    // Before the hub has given addresses.
    assert_eq!(leaving(&network, &sockets, away, false), 1);
    // Datagrams and connections to what is left alone, from the host and from the LAN, and the one
    // datagram of IPv6 of either.
    let without = leaving(&network, &sockets, plan(), true);
    assert!(without > 2 * (3 + 3 + 1), "{without}");
}
