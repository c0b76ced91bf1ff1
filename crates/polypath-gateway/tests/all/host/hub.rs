//! A hub, and an edge whose device is joined to that of the hub.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::mpsc;
use std::thread;

use polypath_gateway::device::{DeviceSettings, Tun, TunReader, TunWriter};
use polypath_gateway::host::Gateway;
use polypath_gateway::plan::{HubPlan, Plan, Published, Translation, Transport};
use tokio::sync::oneshot;

use super::network::{has_nft, hearing, join, receive, socket_address};
use crate::namespace::Namespace;
use crate::runtime::{PATIENCE, enter, run};

/// The hub, as the internet knows it.
const HUB: &str = "192.0.2.2";
/// The edge, as the hub knows it.
const EDGE: &str = "10.77.0.5";
/// A host behind the edge.
const BEHIND: &str = "192.168.5.2";
/// A host in the internet.
const FAR: &str = "192.0.2.1";
/// The port that the hub publishes.
const PUBLISHED: u16 = 5000;

struct Hosts {
    hub: Namespace,
    edge: Namespace,
    internet: Namespace,
}

fn hosts(test: &str) -> Option<Hosts> {
    if !has_nft(test) {
        return None;
    }
    let (hub, edge, internet) =
        (Namespace::new(test)?, Namespace::new(test)?, Namespace::new(test)?);
    for namespace in [&hub, &edge, &internet] {
        namespace.ip("link set lo up");
    }
    join((&hub, "up0"), (&internet, "net0"));
    hub.ip(&format!("addr add {HUB}/24 dev up0"));
    internet.ip(&format!("addr add {FAR}/24 dev net0"));
    edge.ip(&format!("addr add {BEHIND}/32 dev lo"));
    Some(Hosts { hub, edge, internet })
}

fn plan(translation: Translation) -> HubPlan {
    HubPlan {
        device: "pp0".parse().unwrap(),
        mtu: 1400.try_into().unwrap(),
        prefixes: vec!["10.77.0.0/16".parse().unwrap()],
        behind_edges: vec!["192.168.5.0/24".parse().unwrap()],
        translation,
        published: vec![Published {
            transport: Transport::Udp,
            port: PUBLISHED.try_into().unwrap(),
            to: socket_address(BEHIND, 53),
        }],
    }
}

async fn device(process: u32, address: &str) -> (TunReader, TunWriter) {
    enter(process);
    let settings = DeviceSettings {
        name: "pp0".parse().unwrap(),
        addresses: vec![format!("{address}/32").parse().unwrap()],
        mtu: 1400.try_into().unwrap(),
        offload: true,
    };
    Tun::create(&settings).await.unwrap().split()
}

async fn carry(mut reader: TunReader, mut writer: TunWriter) {
    loop {
        writer.send(reader.recv().await.unwrap().iter()).await.unwrap();
    }
}

/// Joins the devices of hub and edge, with a plan set on the hub, while something is done.
fn joined(hosts: &Hosts, plan: HubPlan, act: impl FnOnce()) {
    let (edge, hub) = (hosts.edge.process(), hosts.hub.process());
    let (ready, is_ready) = mpsc::channel();
    let (stop, stopped) = oneshot::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            let directory = tempfile::tempdir().unwrap();
            run(async || {
                let (from_edge, to_edge) = device(edge, EDGE).await;
                let (from_hub, to_hub) = device(hub, "10.77.0.1").await;
                let set = Gateway::set(Plan::Hub(plan), directory.path()).await.unwrap();
                ready.send(()).unwrap();
                tokio::select! {
                    () = carry(from_edge, to_hub) => {}
                    () = carry(from_hub, to_edge) => {}
                    _ = stopped => {}
                }
                set.remove().await.unwrap();
            });
        });
        is_ready.recv_timeout(PATIENCE).unwrap();
        hosts.edge.ip("route add default dev pp0");
        act();
        stop.send(()).unwrap();
    });
}

/// Has a datagram answered. Returns from where it came.
fn exchange(one: &UdpSocket, other: &UdpSocket, to: SocketAddr) -> IpAddr {
    one.send_to(b"there", to).unwrap();
    let (said, from) = receive(other);
    assert_eq!(said, b"there");
    other.send_to(b"back", from).unwrap();
    assert_eq!(receive(one), (b"back".to_vec(), to));
    from.ip()
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn edges_reach_the_internet_with_the_address_of_the_hub() {
    let test = "edges_reach_the_internet_with_the_address_of_the_hub";
    let Some(hosts) = hosts(test) else { return };
    joined(&hosts, plan(Translation::Masquerade), || {
        let far = hearing(&hosts.internet, socket_address(FAR, 9));
        for own in [EDGE, BEHIND] {
            let edge = hearing(&hosts.edge, socket_address(own, 0));
            assert_eq!(exchange(&edge, &far, socket_address(FAR, 9)), ip(HUB));
        }
    });
}

#[test]
fn edges_whose_prefix_is_routed_keep_their_addresses() {
    let test = "edges_whose_prefix_is_routed_keep_their_addresses";
    let Some(hosts) = hosts(test) else { return };
    for network in ["10.77.0.0/16", "192.168.5.0/24"] {
        hosts.internet.ip(&format!("route add {network} via {HUB}"));
    }
    joined(&hosts, plan(Translation::Routed), || {
        let far = hearing(&hosts.internet, socket_address(FAR, 9));
        for own in [EDGE, BEHIND] {
            let edge = hearing(&hosts.edge, socket_address(own, 0));
            assert_eq!(exchange(&edge, &far, socket_address(FAR, 9)), ip(own));
        }
    });
}

#[test]
fn a_published_port_leads_to_a_host_behind_an_edge() {
    let test = "a_published_port_leads_to_a_host_behind_an_edge";
    let Some(hosts) = hosts(test) else { return };
    joined(&hosts, plan(Translation::Masquerade), || {
        let host = hearing(&hosts.edge, socket_address(BEHIND, 53));
        let far = hearing(&hosts.internet, socket_address(FAR, 0));
        assert_eq!(exchange(&far, &host, socket_address(HUB, PUBLISHED)), ip(FAR));
    });
}

#[test]
fn what_an_edge_sends_from_another_address_is_dropped() {
    let test = "what_an_edge_sends_from_another_address_is_dropped";
    let Some(hosts) = hosts(test) else { return };
    hosts.edge.ip("addr add 203.0.113.5/32 dev lo");
    joined(&hosts, plan(Translation::Routed), || {
        let far = hearing(&hosts.internet, socket_address(FAR, 9));
        let spoofed = hearing(&hosts.edge, socket_address("203.0.113.5", 0));
        let honest = hearing(&hosts.edge, socket_address(EDGE, 0));
        spoofed.send_to(b"spoofed", (FAR, 9)).unwrap();
        honest.send_to(b"honest", (FAR, 9)).unwrap();
        // What comes first would have been first.
        assert_eq!(receive(&far).0, b"honest");
    });
}
