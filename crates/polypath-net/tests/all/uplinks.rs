//! A host with two uplinks and one default route, and a hub in another network namespace.

use std::net::SocketAddr;

use crate::common::namespace::{Other, in_namespace, ip};
use crate::common::{hub_config, within};
use polypath_bond::identity::SecretKey;
use polypath_bond::{BondConfig, PathState};
use polypath_net::edge::{Edge, EdgeConfig, EdgePaths, Local, WantedPath};
use polypath_net::hub::{Hub, HubConfig};

/// A QUIC client's first datagram has at least so many bytes (RFC 9000, section 14.1).
const LEAST_FIRST_DATAGRAM: u64 = 1_200;

const HUB: [u8; 32] = [1; 32];

/// Two uplinks with the addresses 10.1.0.2 and 10.2.0.2; the hub has 10.1.0.1 and 10.2.0.1.
struct Uplinks {
    _other: Other,
    hub: SocketAddr,
}

impl Uplinks {
    fn new() -> Self {
        let other = Other::new();
        ip("link set lo up");
        // Answers come by another interface than the route to the hub: no strict filter may be set.
        for device in ["all", "default"] {
            let _ = std::fs::write(format!("/proc/sys/net/ipv4/conf/{device}/rp_filter"), "2");
        }
        for n in [1, 2] {
            let process = other.process();
            ip(&format!("link add up{n} type veth peer name hub{n} netns {process}"));
            ip(&format!("addr add 10.{n}.0.2/24 dev up{n}"));
            ip(&format!("link set up{n} up"));
        }
        let hub = other.start(async |started| {
            for n in [1, 2] {
                ip(&format!("addr add 10.{n}.0.1/24 dev hub{n}"));
                ip(&format!("link set hub{n} up"));
            }
            let hub = hub();
            started.send(hub.addresses()[0]).unwrap();
            std::future::pending::<()>().await;
        });
        ip("route add default via 10.1.0.1");
        Self { _other: other, hub }
    }
}

fn hub() -> Hub {
    let listen = vec!["10.1.0.1:0".parse().unwrap()];
    Hub::start(HubConfig { identity: SecretKey::from_seed(HUB), listen, ..hub_config() }).unwrap()
}

async fn edge(hub: SocketAddr, addresses: &[&str]) -> Edge {
    let path = |address: &&str| WantedPath {
        name: (*address).to_owned(),
        local: Local::Address(address.parse().unwrap()),
        remote: None,
        backup: false,
    };
    Edge::start(EdgeConfig {
        identity: SecretKey::from_seed([2; 32]),
        hub: SecretKey::from_seed(HUB).public(),
        hub_addresses: vec![hub.into()],
        bond: BondConfig::default(),
        paths: EdgePaths::Listed(addresses.iter().map(path).collect()),
    })
    .await
    .unwrap()
}

/// Bytes that have left by an interface of this namespace.
fn sent(interface: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap();
    let line = text.lines().find_map(|line| line.trim().strip_prefix(&format!("{interface}:")));
    // Eight columns of what was received come first.
    line.unwrap().split_whitespace().nth(8).unwrap().parse().unwrap()
}

async fn until_active(edge: &Edge, wanted: usize) {
    let active = || {
        let paths = edge.driver().status(edge.bond()).map_or_else(Vec::new, |bond| bond.paths);
        paths.iter().filter(|path| path.state == PathState::Active).count()
    };
    let reached = async {
        while active() != wanted {
            tokio::task::yield_now().await;
        }
    };
    within(reached).await;
}

#[test]
fn each_address_leaves_by_its_own_interface() {
    in_namespace("uplinks::each_address_leaves_by_its_own_interface", by_their_own());
}

async fn by_their_own() {
    let uplinks = Uplinks::new();
    let edge = edge(uplinks.hub, &["10.1.0.2", "10.2.0.2"]).await;
    until_active(&edge, 2).await;
    for uplink in ["up1", "up2"] {
        assert!(sent(uplink) >= LEAST_FIRST_DATAGRAM, "{uplink}: {} B", sent(uplink));
    }

    ip("addr del 10.2.0.2/24 dev up2");
    until_active(&edge, 1).await;
    let before = sent("up2");
    ip("addr add 10.2.0.2/24 dev up2");
    until_active(&edge, 2).await;
    let joined_again = sent("up2") - before;
    assert!(joined_again >= LEAST_FIRST_DATAGRAM, "{joined_again} B");
}
