//! The host's own addresses: hubs keep edges from them, paths wait for them.

use crate::common::namespace::{in_namespace, ip, ip_says};
use crate::common::{hub_config, within};
use polypath_bond::BondConfig;
use polypath_bond::identity::{HubAddress, SecretKey};
use polypath_net::edge::{Edge, EdgeConfig, EdgeError, EdgePaths, Local, Surroundings, WantedPath};
use polypath_net::exit::{Exit, ExitOptions};
use polypath_net::hub::Hub;
use polypath_net::tunnel::RefusalKind;

#[test]
fn an_exit_does_not_reach_its_own_host() {
    in_namespace("own_addresses::an_exit_does_not_reach_its_own_host", refused());
}

async fn refused() {
    ip("link set lo up");
    // The second address of a network is never chosen as a source.
    for address in ["10.9.0.2/24", "10.9.0.3/24", "fd00:9::2/64", "fd00:9::3/64"] {
        ip(&format!("addr add {address} dev lo"));
    }
    // The kernel makes an IPv6 address of an interface its own a moment after it was added.
    while !ip_says("-6 route show table local").contains("local fd00:9::3 ") {
        std::thread::yield_now();
    }
    // Whole networks that are delivered here (AnyIP).
    ip("route add local 198.51.100.0/24 dev lo");
    ip("-6 route add local 2001:db8:1::/64 dev lo");
    let exit = Exit::new(ExitOptions::default());
    for host in [
        "10.9.0.2",
        "10.9.0.3",
        "[::ffff:10.9.0.3]",
        "[64:ff9b::10.9.0.3]",
        "[fd00:9::2]",
        "[fd00:9::3]",
        "198.51.100.77",
        "[2001:db8:1::77]",
    ] {
        let refusal = exit.open_tcp(&format!("{host}:80").parse().unwrap()).await.unwrap_err();
        assert_eq!(refusal.kind, RefusalKind::Policy, "{host}: {refusal}");
    }
    ip("-6 route add unreachable 2001:db8:2::/64");
    ip("-6 route add blackhole 2001:db8:3::/64");
    ip("-6 route add prohibit 2001:db8:4::/64");
    for other in [
        "10.9.1.2:80",
        "[fd00:8::2]:80",
        "[2001:db8:2::1]:80",
        "[2001:db8:3::1]:80",
        "[2001:db8:4::1]:80",
    ] {
        let refusal = exit.open_tcp(&other.parse().unwrap()).await.unwrap_err();
        assert!(matches!(refusal.kind, RefusalKind::ConnectFailed(_)), "{other}: {refusal}");
    }
}

fn hub() -> Hub {
    Hub::start(hub_config()).unwrap()
}

fn config(hub: &Hub, addresses: &[&str]) -> EdgeConfig {
    let path = |address: &&str| WantedPath {
        name: (*address).to_owned(),
        local: Local::Address(address.parse().unwrap()),
        remote: None,
        backup: false,
    };
    EdgeConfig {
        identity: SecretKey::from_seed([2; 32]),
        hub: hub.public(),
        hub_addresses: hub.addresses().iter().copied().map(HubAddress::from).collect(),
        bond: BondConfig::default(),
        paths: EdgePaths::Listed(addresses.iter().map(path).collect()),
    }
}

#[test]
fn a_path_whose_address_is_missing_opens_when_it_comes() {
    in_namespace("own_addresses::a_path_whose_address_is_missing_opens_when_it_comes", opened());
}

async fn opened() {
    ip("link set lo up");
    let hub = hub();
    let error = Edge::start(config(&hub, &["10.9.9.9"])).await.unwrap_err();
    assert!(matches!(error, EdgeError::Bind { .. }), "nothing opened: {error}");

    // One that waits has no path yet.
    let waiting =
        Edge::start_waiting(config(&hub, &["10.9.9.9"]), Surroundings::default()).await.unwrap();
    let edge = Edge::start(config(&hub, &["127.0.0.1", "10.9.9.9"])).await.unwrap();
    within(edge.joined()).await.unwrap();
    let paths = || edge.driver().status(edge.bond()).unwrap().paths.len();
    assert_eq!(paths(), 1);
    ip("addr add 10.9.9.9/32 dev lo");
    let joined = async {
        while paths() < 2 {
            tokio::task::yield_now().await;
        }
    };
    within(joined).await;
    within(waiting.joined_in_the_end()).await.unwrap();
}
