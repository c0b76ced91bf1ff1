//! IP packets through edge and hub, without a device on either side.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use crate::common::{hub_config, within};
use bytes::Bytes;
use polypath_bond::identity::SecretKey;
use polypath_bond::{BondConfig, FlowMode};
use polypath_ip::{IpHeader, Packet, Ports};
use polypath_net::edge::{Edge, EdgeConfig, EdgePaths, Local, WantedPath};
use polypath_net::gateway::{EdgeGateway, GatewayError, HubGateway, HubGatewayOptions};
use polypath_net::hub::{Hub, HubConfig, HubError};
use polypath_net::proxy::{Steering, SteeringRules};
use polypath_net::tunnel::Lease;
use polypath_policy::Policy;
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
    _running: (Hub, Edge),
}

type StartedHub = (Hub, HubGateway, mpsc::Receiver<Bytes>);

fn start_hub(leases: &Path, listen: SocketAddr) -> Result<StartedHub, HubError> {
    let (device, at_hub) = mpsc::channel(64);
    let options = HubGatewayOptions {
        networks: vec!["10.77.0.0/16".parse().unwrap(), "fd77::/48".parse().unwrap()],
        leases: Some(leases.to_owned()),
        edge_to_edge: false,
    };
    let gateway = HubGateway::new(options, device).unwrap();
    let config = HubConfig { gateway: Some(gateway.clone()), listen: vec![listen], ..hub_config() };
    Ok((Hub::start(config)?, gateway, at_hub))
}

async fn start_edge(hub: &Hub) -> Edge {
    let path = WantedPath {
        name: "a".to_owned(),
        local: Local::Address(Ipv4Addr::LOCALHOST.into()),
        remote: None,
        backup: false,
    };
    let edge = Edge::start(EdgeConfig {
        identity: SecretKey::from_seed([2; 32]),
        hub: hub.public(),
        hub_addresses: vec![hub.addresses()[0].into()],
        bond: BondConfig::default(),
        paths: EdgePaths::Listed(vec![path]),
    });
    let edge = edge.await.unwrap();
    within(edge.joined()).await.unwrap();
    edge
}

impl World {
    async fn new(leases: &Path, policy: &str) -> Self {
        let (hub, hub_gateway, at_hub) =
            start_hub(leases, (Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let edge = start_edge(&hub).await;
        let (device, at_edge) = mpsc::channel(64);
        let policy = Policy::parse(Path::new("policy"), policy).unwrap();
        let steering = Steering::new(SteeringRules::new(policy, FlowMode::Aggregate));
        let gateway = EdgeGateway::new(edge.opener(), steering, device);
        let running = gateway.clone();
        tokio::spawn(async move { running.run().await });
        let address = hub.addresses()[0];
        let running = (hub, edge);
        Self { hub: hub_gateway, at_hub, edge: gateway, at_edge, address, _running: running }
    }

    async fn lease(&self) -> Lease {
        let mut lease = self.edge.lease();
        within(lease.wait_for(Option::is_some)).await.unwrap().unwrap()
    }

    async fn v4(&self) -> IpAddr {
        self.lease().await.v4().unwrap().addr().into()
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
        world.edge.send(&asked);
        assert_eq!(within(world.at_hub.recv()).await.unwrap(), asked);
        let answer = udp(ALLOWED, own, (53, port), &vec![8; size]);
        world.hub.send(&answer);
        assert_eq!(within(world.at_edge.recv()).await.unwrap(), answer);
    }
    let v6: IpAddr = world.lease().await.v6().unwrap().addr().into();
    let unasked = udp(FORBIDDEN, own, (9, 9), b"what the hub begins");
    world.hub.send(&unasked);
    assert_eq!(within(world.at_edge.recv()).await.unwrap(), unasked);
    world.hub.send(&udp("2001:db8::1".parse().unwrap(), v6, (9, 9), b"v6"));
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
    let hub = world.hub.addresses().v4().unwrap().addr().into();
    world.edge.send(&udp(own, ALLOWED, (5, 25), b"mail"));
    world.edge.send(&Bytes::from_static(b"E no packet"));
    world.edge.send(&udp(FORBIDDEN, ALLOWED, (5, 53), b"spoofed"));
    world.edge.send(&udp(own, FORBIDDEN, (5, 53), b"to where it may not"));
    world.edge.send(&udp(own, hub, (5, 53), b"to the hub's own address"));
    world.hub.send(&udp(ALLOWED, FORBIDDEN, (5, 53), b"to nobody"));
    let last = udp(own, ALLOWED, (5, 53), b"last");
    // Conversations do not wait for each other, so that it may come before them.
    world.edge.send(&last);
    assert_eq!(within(world.at_hub.recv()).await.unwrap(), last);
    let edge = world.edge.counts();
    assert_eq!((edge.dropped_by_rule, edge.malformed, edge.sent), (1, 1, 4));
    within(async {
        while world.hub.counts().spoofed + world.hub.counts().forbidden < 3 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let counts = world.hub.counts();
    assert_eq!((counts.spoofed, counts.forbidden, counts.no_edge), (1, 2, 1));
    assert_eq!(counts.received, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_restart_of_the_hub_an_edge_has_its_addresses_again() {
    let folder = tempfile::tempdir().unwrap();
    let leases = folder.path().join("leases");
    let World { edge, mut at_edge, address, hub, at_hub, _running: (first, _edge) } =
        World::new(&leases, "").await;
    let mut lease = edge.lease();
    let before = within(lease.wait_for(Option::is_some)).await.unwrap().unwrap();
    drop((first, hub, at_hub));
    let (_again, hub, _at_hub) = loop {
        // The old sockets close with their tasks.
        match start_hub(&leases, address) {
            Ok(started) => break started,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    let own = before.v4().unwrap().addr().into();
    let packet = udp(ALLOWED, own, (53, 9), b"to the addresses of before");
    let came = async {
        loop {
            hub.send(&packet);
            tokio::select! {
                packet = at_edge.recv() => break packet,
                () = tokio::task::yield_now() => {}
            }
        }
    };
    assert_eq!(within(came).await.unwrap(), packet);
    assert_eq!(*lease.borrow_and_update(), Some(before));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hub_that_is_no_gateway_says_so() {
    let hub = Hub::start(hub_config()).unwrap();
    let edge = start_edge(&hub).await;
    let (device, _at_edge) = mpsc::channel(1);
    let gateway = EdgeGateway::new(edge.opener(), Steering::default(), device);
    let error = within(gateway.run()).await.unwrap_err();
    assert!(matches!(error, GatewayError::Refused(_)), "{error}");
    assert!(error.to_string().contains("this hub is no gateway"), "{error}");
}
