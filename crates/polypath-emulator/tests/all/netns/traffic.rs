//! What reaches whom, over which link.

use super::network::{Bridged, ip, is_permitted, link, two_path, two_ways};
use polypath_sim::topology::{Graph, chain, dumbbell, shared_bottleneck};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// A bound against hanging only.
const PATIENCE: Duration = Duration::from_secs(20);

fn socket(local: SocketAddr, protocol: Protocol) -> Socket {
    let socket = Socket::new(Domain::for_address(local), Type::STREAM, Some(protocol)).unwrap();
    socket.set_reuse_address(true).unwrap();
    socket.bind(&SockAddr::from(local)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.set_write_timeout(Some(PATIENCE)).unwrap();
    socket
}

fn port(socket: &Socket) -> u16 {
    socket.local_addr().unwrap().as_socket().unwrap().port()
}

/// Any address of the family.
fn any(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(std::net::Ipv6Addr::UNSPECIFIED),
    }
}

/// A connection between two nodes. The listener stays: joins of Multipath TCP come to it.
struct Connection {
    near: Socket,
    far: Socket,
    listener: Socket,
}

/// A connection from one node's address to another's.
fn connect(
    network: &Bridged,
    [(client, local), (server, remote)]: [(&str, IpAddr); 2],
    protocol: Protocol,
) -> Connection {
    let listener = network.within(server, || {
        let listener = socket((any(remote), 0).into(), protocol);
        listener.listen(1).unwrap();
        listener
    });
    let port = port(&listener);
    let near = network.within(client, || {
        let near = socket((local, 0).into(), protocol);
        let remote = SockAddr::from(SocketAddr::from((remote, port)));
        near.connect_timeout(&remote, PATIENCE).unwrap_or_else(|e| panic!("{local}: {e}"));
        near
    });
    // It is open, so there is one to accept.
    let far = listener.accept().unwrap().0;
    Connection { near, far, listener }
}

/// How much an exchange moves each way.
const EXCHANGED_BYTES: usize = 10_000;

/// Bytes there and back.
fn exchange(Connection { near, far, .. }: &mut Connection) {
    let sent = vec![7; EXCHANGED_BYTES];
    let mut received = vec![0; sent.len()];
    near.write_all(&sent).unwrap();
    far.read_exact(&mut received).unwrap();
    assert_eq!(received, sent);
    far.write_all(&sent).unwrap();
    near.read_exact(&mut received).unwrap();
}

/// The bytes of frames that a node has sent into each of its links, and received from it.
fn frame_bytes(network: &Bridged, node: &str) -> Vec<[u64; 2]> {
    let node = network.namespaces.plan().node(node).unwrap();
    let count = |device: &str, which: &str| {
        let path = format!("/sys/class/net/{device}/statistics/{which}_bytes");
        let text = network.output(&node.name, "cat", &[&path]);
        text.trim().parse().unwrap()
    };
    let devices = node.interfaces.iter().map(|interface| &*interface.name);
    devices.map(|device| ["tx", "rx"].map(|which| count(device, which))).collect()
}

/// Each address of a node with the first of another in the same family.
fn pairs(network: &Bridged, from: &str, to: &str) -> Vec<(IpAddr, IpAddr)> {
    let first = |family: fn(&IpAddr) -> bool| {
        network.namespaces.addresses(to).unwrap().into_iter().find(family).unwrap()
    };
    let from = network.namespaces.addresses(from).unwrap();
    let to = |from: &IpAddr| {
        if from.is_ipv4() { first(IpAddr::is_ipv4) } else { first(IpAddr::is_ipv6) }
    };
    from.iter().map(|from| (*from, to(from))).collect()
}

/// TCP from each address of a host to the first of another takes that address's link, both ways.
fn each_address_has_its_link(network: &Bridged, from: &str, to: &str) {
    let mut connections = Vec::new();
    for (place, (local, remote)) in pairs(network, from, to).into_iter().enumerate() {
        let before = frame_bytes(network, from);
        let mut connection = connect(network, [(from, local), (to, remote)], Protocol::TCP);
        exchange(&mut connection);
        let after = frame_bytes(network, from);
        for (n, (before, after)) in before.iter().zip(&after).enumerate() {
            // The exchange and its headers, or the late acknowledgements of earlier exchanges: one
            // frame of less than 100 bytes for each, as their connections stay open.
            let moved = [0, 1].map(|way| after[way] - before[way] > EXCHANGED_BYTES as u64);
            // Two addresses for each link.
            assert_eq!(moved, [n == place / 2; 2], "{local} to {remote}: link {n}");
        }
        connections.push(connection);
    }
}

#[test]
fn two_hosts_reach_each_other_over_the_link_of_each_address() {
    if !is_permitted("two_hosts_reach_each_other_over_the_link_of_each_address") {
        return;
    }
    let network = Bridged::new("two", &two_path());
    each_address_has_its_link(&network, "client", "server");
}

#[test]
fn nothing_is_sent_that_nobody_asked_for() {
    if !is_permitted("nothing_is_sent_that_nobody_asked_for") {
        return;
    }
    let network = Bridged::apart("quiet", &chain(2, &link(1)));
    // The router has two links, the hosts have one.
    for (node, links) in [("client", 1), ("r1", 2), ("server", 1)] {
        assert_eq!(frame_bytes(&network, node), vec![[0, 0]; links], "{node}");
    }
}

#[test]
fn packets_pass_routers() {
    if !is_permitted("packets_pass_routers") {
        return;
    }
    let network = Bridged::new("bell", &dumbbell(2, &link(1), &link(1), &link(10)));
    each_address_has_its_link(&network, "left1", "right1");
    each_address_has_its_link(&network, "left2", "right2");
    // Everything crosses the bottleneck: whoever asks for it, router or host, finds the way.
    each_address_has_its_link(&network, "right1", "left2");
    let network = Bridged::new("shared", &shared_bottleneck(2, &link(1), &link(10)));
    each_address_has_its_link(&network, "multipath", "server");
    each_address_has_its_link(&network, "single", "server");
    let network = Bridged::new("ways", &two_ways());
    each_address_has_its_link(&network, "client", "server");
}

/// The subflows of a connection at the server, by the other side's address.
fn subflows(network: &Bridged, connection: &Connection) -> Vec<String> {
    let port = format!(":{}", port(&connection.listener));
    let chosen = ["-tnH", "state", "established", "sport", "=", &port];
    let sockets = network.output("server", "ss", &chosen);
    let peer = |line: &str| line.split_whitespace().nth(3).unwrap().to_owned();
    let mut peers: Vec<_> = sockets.lines().map(peer).collect();
    peers.sort();
    peers
}

/// Multipath TCP has one subflow for each link, from whichever address it is opened.
fn one_subflow_for_each_link(graph: &Graph, test: &str, client: &str) {
    let network = Bridged::new(test, graph);
    for (local, remote) in pairs(&network, client, "server") {
        let mut connection =
            connect(&network, [(client, local), ("server", remote)], Protocol::MPTCP);
        let expected = network.namespaces.addresses(client).unwrap();
        let expected = expected.iter().filter(|a| a.is_ipv4() == local.is_ipv4()).count();
        // Each turn moves data and runs a program: two round trips take far fewer.
        let mut found = Vec::new();
        for _ in 0..200 {
            exchange(&mut connection);
            found = subflows(&network, &connection);
            if found.len() >= expected {
                break;
            }
        }
        for _ in 0..10 {
            exchange(&mut connection);
        }
        assert_eq!(subflows(&network, &connection), found, "no more come");
        let from = network.namespaces.addresses(client).unwrap();
        let from = from.into_iter().filter(|a| a.is_ipv4() == local.is_ipv4());
        for address in from {
            let written =
                if address.is_ipv4() { address.to_string() } else { format!("[{address}]") };
            let of = found.iter().filter(|peer| peer.starts_with(&format!("{written}:")));
            assert_eq!(of.count(), 1, "{address} in {found:?}");
        }
        assert_eq!(found.len(), expected);
    }
}

#[test]
fn multipath_tcp_has_one_subflow_for_each_link() {
    if !is_permitted("multipath_tcp_has_one_subflow_for_each_link") {
        return;
    }
    one_subflow_for_each_link(&two_path(), "mptcp", "client");
    let shared = shared_bottleneck(3, &link(1), &link(10));
    one_subflow_for_each_link(&shared, "mptcp3", "multipath");
    // The server's first address is on the first way only, and is reached by both.
    one_subflow_for_each_link(&two_ways(), "mptcpways", "client");
}

#[test]
fn who_names_no_address_takes_the_way_of_least_delay() {
    if !is_permitted("who_names_no_address_takes_the_way_of_least_delay") {
        return;
    }
    let network = Bridged::new("least", &two_ways());
    for (_, remote) in pairs(&network, "client", "server").into_iter().take(2) {
        let ends = [("client", any(remote)), ("server", remote)];
        let mut connection = connect(&network, ends, Protocol::TCP);
        exchange(&mut connection);
        let local = connection.near.local_addr().unwrap().as_socket().unwrap().ip();
        let client = network.namespaces.plan().node("client").unwrap();
        let second = client.interfaces.iter().find(|interface| interface.name == "c").unwrap();
        assert!(second.addresses.both().contains(&local), "{local}");
    }
}

#[test]
fn frames_are_packets() {
    if !is_permitted("frames_are_packets") {
        return;
    }
    let mut links = link(1);
    links.up.mtu = Some(1400);
    let network = Bridged::new("mtu", &Graph::between_two_hosts([("path".to_owned(), links)]));
    let plan = network.namespaces.plan();
    let details = |namespace: &str| ip(&["-n", namespace, "-d", "link", "show", "type", "veth"]);
    // A veth takes no larger frames than it sends, so the smaller MTU is that of both directions.
    for node in ["client", "server"] {
        let device = details(&plan.node(node).unwrap().namespace);
        assert!(device.contains("mtu 1400") && device.contains("gso_max_size 1414"), "{device}");
        assert!(device.contains("gso_max_segs 1 "), "{device}");
    }
    let device = details(&plan.wire);
    assert_eq!(device.matches("mtu 1400").count(), 2, "{device}");
    assert_eq!(device.matches("gso_max_segs 1 ").count(), 2, "{device}");
}
