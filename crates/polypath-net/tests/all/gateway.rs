//! IP packets through edge and hub, without a device on either side.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

#[cfg(target_os = "linux")]
use crate::common::namespace::{in_namespace, ip};
use crate::common::{edge_config, hub_config, within};
use bytes::Bytes;
use polypath_bond::FlowMode;
use polypath_bond::identity::SecretKey;
use polypath_ip::{IpHeader, Packet, Ports};
use polypath_net::edge::Edge;
use polypath_net::gateway::{
    EdgeGateway, GatewayCounts, GatewayError, Grant, HubGateway, HubGatewayOptions, PacketFate,
};
use polypath_net::hub::{Edges, Hub, HubConfig, HubError};
use polypath_net::proxy::{Steering, SteeringRules};
use polypath_net::tunnel::{Lease, Networks};
use polypath_policy::Policy;
use tokio::net::UdpSocket;
use tokio::sync::mpsc;

/// The one that the hub's policy lets edges reach.
const ALLOWED: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const FORBIDDEN: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 9));

fn udp(source: IpAddr, destination: IpAddr, ports: (u16, u16), payload: &[u8]) -> Bytes {
    let mut packet = Vec::new();
    let ports = Ports { source: ports.0, destination: ports.1 };
    IpHeader::new(source, destination).unwrap().write_udp(ports, payload, &mut packet).unwrap();
    packet.into()
}

struct World {
    hub: HubGateway,
    at_hub: mpsc::Receiver<Bytes>,
    edge: EdgeGateway,
    at_edge: mpsc::Receiver<Bytes>,
    address: SocketAddr,
    running: (Hub, Edge),
}

type StartedHub = (Hub, HubGateway, mpsc::Receiver<Bytes>);

fn gateway_options() -> HubGatewayOptions {
    HubGatewayOptions {
        networks: vec!["10.77.0.0/16".parse().unwrap(), "fd77::/48".parse().unwrap()],
        leases: None,
        edge_to_edge: false,
    }
}

fn start_hub(leases: &Path, listen: SocketAddr) -> Result<StartedHub, HubError> {
    let (device, at_hub) = mpsc::channel(64);
    let options = HubGatewayOptions { leases: Some(leases.to_owned()), ..gateway_options() };
    let gateway = HubGateway::new(options, Some(device)).unwrap();
    let config = HubConfig { gateway: Some(gateway.clone()), listen: vec![listen], ..hub_config() };
    Ok((Hub::start(config)?, gateway, at_hub))
}

async fn start_edge(hub: &Hub, paths: &[&str]) -> Edge {
    let edge = Edge::start(edge_config(hub, hub.addresses()[0], paths)).await.unwrap();
    within(edge.joined()).await.unwrap();
    edge
}

fn start_gateway(edge: &Edge, rules: SteeringRules) -> (EdgeGateway, mpsc::Receiver<Bytes>) {
    let (device, at_edge) = mpsc::channel(64);
    let gateway = EdgeGateway::new(edge.opener(), Steering::new(rules), device);
    let running = gateway.clone();
    tokio::spawn(async move { running.run().await });
    (gateway, at_edge)
}

async fn grant(gateway: &EdgeGateway) -> Grant {
    let mut grant = gateway.grant();
    within(grant.wait_for(Option::is_some)).await.unwrap().clone().unwrap()
}

async fn v4(gateway: &EdgeGateway) -> IpAddr {
    grant(gateway).await.lease.v4().unwrap().addr().into()
}

impl World {
    async fn new(leases: &Path, policy: &str) -> Self {
        let (hub, hub_gateway, at_hub) =
            start_hub(leases, (Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let edge = start_edge(&hub, &["a", "b"]).await;
        let policy = Policy::parse(Path::new("policy"), policy).unwrap();
        let rules = SteeringRules::new(policy, FlowMode::Aggregate);
        let (gateway, at_edge) = start_gateway(&edge, rules);
        let address = hub.addresses()[0];
        let running = (hub, edge);
        Self { hub: hub_gateway, at_hub, edge: gateway, at_edge, address, running }
    }

    /// Bytes that the edge has received on each path.
    fn received(&self) -> [u64; 2] {
        let edge = &self.running.1;
        let paths = edge.driver().status(edge.bond()).unwrap().paths;
        ["a", "b"].map(|name| {
            let path = paths.iter().find(|path| path.name == name);
            path.unwrap().counters.bytes_received
        })
    }

    async fn lease(&self) -> Lease {
        grant(&self.edge).await.lease
    }

    async fn v4(&self) -> IpAddr {
        v4(&self.edge).await
    }
}

/// Small ones, and one that no path carries whole.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn packets_of_an_edge_come_out_at_the_hub_and_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(&folder.path().join("leases"), "").await;
    let own = world.v4().await;
    for (n, size) in [0, 160, 1_400, 60_000].into_iter().enumerate() {
        let port = 5_000 + n as u16;
        let asked = udp(own, ALLOWED, (port, 53), &vec![7; size]);
        world.edge.send(vec![asked.clone()]);
        assert_eq!(within(world.at_hub.recv()).await.unwrap(), asked);
        let answer = udp(ALLOWED, own, (53, port), &vec![8; size]);
        world.hub.send(vec![answer.clone()]);
        assert_eq!(within(world.at_edge.recv()).await.unwrap(), answer);
    }
    let v6: IpAddr = world.lease().await.v6().unwrap().addr().into();
    let unasked = udp(FORBIDDEN, own, (9, 9), b"what the hub begins");
    world.hub.send(vec![unasked.clone()]);
    assert_eq!(within(world.at_edge.recv()).await.unwrap(), unasked);
    world.hub.send(vec![udp("2001:db8::1".parse().unwrap(), v6, (9, 9), b"v6")]);
    let packet = within(world.at_edge.recv()).await.unwrap();
    assert_eq!(Packet::parse(&packet[..]).unwrap().destination(), v6);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_may_not_pass_is_dropped_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let rules = r#"
        [[rule]]
        name = "no mail"
        port = 25
        mode = "drop"
    "#;
    let mut world = World::new(&folder.path().join("leases"), rules).await;
    let own = world.v4().await;
    let hub = gateway_options().hub_addresses().unwrap().v4().unwrap().addr().into();
    world.edge.send(vec![udp(own, ALLOWED, (5, 25), b"mail")]);
    world.edge.send(vec![Bytes::from_static(b"E no packet")]);
    world.edge.send(vec![udp(FORBIDDEN, ALLOWED, (5, 53), b"spoofed")]);
    world.edge.send(vec![udp(own, FORBIDDEN, (5, 53), b"to where it may not")]);
    world.edge.send(vec![udp(own, hub, (5, 53), b"to the hub's own address")]);
    world.hub.send(vec![udp(ALLOWED, FORBIDDEN, (5, 53), b"to nobody")]);
    let last = udp(own, ALLOWED, (5, 53), b"last");
    // Conversations do not wait for each other, so that it may come before them.
    world.edge.send(vec![last.clone()]);
    assert_eq!(within(world.at_hub.recv()).await.unwrap(), last);
    let of = |counts: &GatewayCounts, fates: [PacketFate; 3]| fates.map(|fate| counts.of(fate));
    let fates = [PacketFate::DroppedByRule, PacketFate::Malformed, PacketFate::Sent];
    assert_eq!(of(&world.edge.counts(), fates), [1, 1, 4]);
    let fates = [PacketFate::Spoofed, PacketFate::Forbidden, PacketFate::NoEdge];
    within(async {
        while of(&world.hub.counts(), fates) != [1, 2, 1] {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(world.hub.counts().of(PacketFate::Received), 1);
}

/// Of the one edge whose networks they are.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn networks_behind_an_edge_are_its_own() {
    let networks = vec!["192.168.5.0/24".parse().unwrap(), "192.168.8.0/24".parse().unwrap()];
    let networks = Networks::new(networks).unwrap();
    let operated = polypath_net::hub::Edge { networks: networks.clone(), ..Default::default() };
    let (device, mut at_hub) = mpsc::channel(64);
    let options = HubGatewayOptions { edge_to_edge: true, ..gateway_options() };
    let hub_gateway = HubGateway::new(options, Some(device)).unwrap();
    let mut edges = Edges::default();
    edges.insert(SecretKey::from_seed([2; 32]).public(), operated).unwrap();
    let config = HubConfig { gateway: Some(hub_gateway.clone()), edges, ..hub_config() };
    let hub = Hub::start(config).unwrap();
    let edge = start_edge(&hub, &["a"]).await;
    let (gateway, mut at_edge) = start_gateway(&edge, SteeringRules::default());
    assert_eq!(grant(&gateway).await.networks, networks);
    let [inside, beside]: [IpAddr; 2] =
        ["192.168.8.255", "192.168.9.0"].map(|address| address.parse().unwrap());
    // First, so that the hub knows a flow to the edge.
    let from_inside = udp(inside, ALLOWED, (5, 53), b"up");
    gateway.send(vec![udp(beside, ALLOWED, (5, 53), b"spoofed"), from_inside.clone()]);
    assert_eq!(within(at_hub.recv()).await.unwrap(), from_inside);
    let to_inside = udp(ALLOWED, inside, (53, 5), b"down");
    hub_gateway.send(vec![udp(ALLOWED, beside, (53, 5), b"to nobody"), to_inside.clone()]);
    assert_eq!(within(at_edge.recv()).await.unwrap(), to_inside);
    assert_eq!(hub_gateway.counts().of(PacketFate::NoEdge), 1);
    within(edge.close()).await;
    within(async {
        while hub_gateway.counts().of(PacketFate::NoEdge) < 2 {
            hub_gateway.send(vec![to_inside.clone()]);
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// Nothing but a small packet has gone up, so that no packet can tell the hub.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_hub_sends_by_the_rule_for_what_it_sends() {
    let folder = tempfile::tempdir().unwrap();
    let rules = r#"
        [[rule]]
        name = "small"
        protocol = "udp"
        packet_size = { at_most = 300 }
        mode = "active_standby"
        paths = ["a"]
        [[rule]]
        name = "large"
        protocol = "udp"
        mode = "active_standby"
        paths = ["b"]
    "#;
    let mut world = World::new(&folder.path().join("leases"), rules).await;
    let own = world.v4().await;
    world.edge.send(vec![udp(own, ALLOWED, (5, 53), b"small")]);
    within(world.at_hub.recv()).await.unwrap();
    let large = udp(ALLOWED, own, (53, 5), &[7; 1_000]);
    world.hub.send(vec![large.clone()]);
    assert_eq!(within(world.at_edge.recv()).await.unwrap(), large);
    let [_, before] = world.received();
    // More than what is said on an idle path, and than what the first of them took.
    within(async {
        while world.received()[1] < before + 50 * 1_000 {
            world.hub.send(vec![large.clone()]);
            assert_eq!(world.at_edge.recv().await.unwrap(), large);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_restart_of_the_hub_an_edge_has_its_addresses_again() {
    let folder = tempfile::tempdir().unwrap();
    let leases = folder.path().join("leases");
    let World { edge, mut at_edge, address, hub, at_hub, running: (first, _edge) } =
        World::new(&leases, "").await;
    let before = grant(&edge).await;
    drop((first, hub, at_hub));
    let (_again, hub, _at_hub) = loop {
        // The old sockets close with their tasks.
        match start_hub(&leases, address) {
            Ok(started) => break started,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    let own = before.lease.v4().unwrap().addr().into();
    let packet = udp(ALLOWED, own, (53, 9), b"to the addresses of before");
    let came = async {
        loop {
            hub.send(vec![packet.clone()]);
            tokio::select! {
                packet = at_edge.recv() => break packet,
                () = tokio::task::yield_now() => {}
            }
        }
    };
    assert_eq!(within(came).await.unwrap(), packet);
    assert_eq!(*edge.grant().borrow(), Some(before));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hub_that_is_no_gateway_says_so() {
    let hub = Hub::start(hub_config()).unwrap();
    let edge = start_edge(&hub, &["a"]).await;
    let (device, _at_edge) = mpsc::channel(1);
    let gateway = EdgeGateway::new(edge.opener(), Steering::default(), device);
    let error = within(gateway.run()).await.unwrap_err();
    assert!(matches!(error, GatewayError::Refused(_)), "{error}");
    assert!(error.to_string().contains("this hub is no gateway"), "{error}");
}

/// Endpoints have sockets of their own there: a server sees different ports.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hub_without_a_device_carries_datagrams_by_sockets() {
    let gateway = HubGateway::new(gateway_options(), None).unwrap();
    let hub = Hub::start(HubConfig { gateway: Some(gateway.clone()), ..hub_config() }).unwrap();
    let edge = start_edge(&hub, &["a"]).await;
    let (edge_gateway, mut at_edge) = start_gateway(&edge, SteeringRules::default());
    let own = v4(&edge_gateway).await;
    let server = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = server.local_addr().unwrap().port();
    let mut seen = Vec::new();
    for inner in [5_000, 5_001, 5_000] {
        for size in [0, 160, 20_000] {
            let payload = vec![7; size];
            edge_gateway.send(vec![udp(own, ALLOWED, (inner, port), &payload)]);
            let mut buffer = vec![0; 65_535];
            let (length, from) = within(server.recv_from(&mut buffer)).await.unwrap();
            assert!(buffer[..length] == payload);
            server.send_to(&payload, from).await.unwrap();
            let answer = within(at_edge.recv()).await.unwrap();
            let packet = Packet::parse(&answer[..]).unwrap();
            assert_eq!((packet.source(), packet.destination()), (ALLOWED, own));
            let ports = packet.transport().ports().unwrap();
            assert_eq!((ports.source, ports.destination), (port, inner));
            assert!(packet.payload()[8..] == payload);
            assert_eq!(packet.must_not_be_fragmented(), size < 1_500);
            seen.push(from);
        }
    }
    assert_eq!(seen[0], seen[8], "an endpoint keeps its port");
    assert_ne!(seen[0], seen[3]);
    let mut tcp = udp(own, ALLOWED, (1, 2), &[0x50; 40]).to_vec();
    // Its protocol, and what that changes in the checksum of the header.
    tcp[9] = 6;
    let checksum = u16::from_be_bytes([tcp[10], tcp[11]]) + (17 - 6);
    tcp[10..12].copy_from_slice(&checksum.to_be_bytes());
    edge_gateway.send(vec![tcp.into()]);
    within(async {
        while gateway.counts().of(PacketFate::NotCarried) == 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[cfg(target_os = "linux")]
#[test]
fn a_hub_without_a_device_carries_echo_requests_by_sockets() {
    in_namespace(
        "gateway::a_hub_without_a_device_carries_echo_requests_by_sockets",
        echo_through_sockets(),
    );
}

/// Where any group may have such sockets.
#[cfg(target_os = "linux")]
async fn echo_through_sockets() {
    ip("link set lo up");
    std::fs::write("/proc/sys/net/ipv4/ping_group_range", "0 2147483647").unwrap();
    let gateway = HubGateway::new(gateway_options(), None).unwrap();
    let hub = Hub::start(HubConfig { gateway: Some(gateway), ..hub_config() }).unwrap();
    let edge = start_edge(&hub, &["a"]).await;
    let (edge_gateway, mut at_edge) = start_gateway(&edge, SteeringRules::default());
    let own = v4(&edge_gateway).await;
    let reply = |source, destination| {
        let mut packet = Vec::new();
        let header = IpHeader::new(source, destination).unwrap();
        header.write_echo_reply(77, 3, b"payload", &mut packet).unwrap();
        packet
    };
    // A request is a reply of another type, which stands in the checksum as well.
    let mut request = reply(own, ALLOWED);
    request[20] = 8;
    let checksum = u16::from_be_bytes([request[22], request[23]]);
    request[22..24].copy_from_slice(&(checksum - 0x800).to_be_bytes());
    edge_gateway.send(vec![request.into()]);
    assert_eq!(within(at_edge.recv()).await.unwrap(), reply(ALLOWED, own));
}
