//! One of two emulated paths dies without a word while applications use the proxies: what they
//! fetch arrives whole, and they see no error.
//!
//! The fast path (200 Mbit/s) dies half-way and leaves the slow one (100 Mbit/s), so that 200 MB
//! take at least 100 MB / 300 Mbit/s + 100 MB / 100 Mbit/s = 10.7 s.

use std::time::Duration;

use polypath_bond::identity::{HubAddress, JoinString};
use polypath_link::LinkConfig;
use polypath_net::relay::{Relay, RelayPath};
use polypath_units::Bandwidth;

use super::http::{Server, content, sha256};
use super::world::{Node, World, curl, stderr, stdout};

/// The fast path's index.
const FAST: usize = 0;

fn link(mbit_s: f64, delay_ms: u64) -> LinkConfig {
    LinkConfig::new(Bandwidth::from_mbit_per_sec(mbit_s), Duration::from_millis(delay_ms))
}

/// A fast and a slow path to the hub.
fn relay_to(hub: &Node) -> Relay {
    let join: JoinString = hub.join_string().parse().unwrap();
    let HubAddress::Socket(address) = join.addresses()[0] else { panic!("an address") };
    let path = |name: &str, link: LinkConfig| RelayPath {
        name: name.to_owned(),
        link_up: link.clone(),
        link_down: link,
        listen: "127.0.0.1:0".parse().unwrap(),
    };
    let paths = vec![path("fast", link(200.0, 5)), path("slow", link(100.0, 15))];
    Relay::start(paths, address, 1).unwrap()
}

/// Plays `use_it` with the addresses of a SOCKS5 and an HTTP proxy of an edge behind the relay.
fn with_edge(use_it: impl FnOnce(&World, &Server, &Relay, &str, &str)) {
    let server = Server::start();
    let world = World::new();
    let hub = world.hub(&[]);
    let relay = relay_to(&hub);
    let paths: Vec<_> = ["fast", "slow"]
        .iter()
        .zip(relay.addresses())
        .map(|(name, address)| format!("{name}=127.0.0.1,{address}"))
        .collect();
    let paths: Vec<_> = paths.iter().map(String::as_str).collect();
    let edge = world.edge_over(&hub, &paths, &["--socks", "127.0.0.1:0", "--http", "127.0.0.1:0"]);
    use_it(&world, &server, &relay, &edge.address_of("socks5"), &edge.address_of("http"));
}

#[test]
fn a_long_download_outlives_the_fast_path() {
    with_edge(|_, server, relay, socks, _| {
        let url = server.url("half/200000000");
        std::thread::scope(|scope| {
            let fetch = scope.spawn(|| curl(&[&["--socks5-hostname", socks, &url]]));
            server.wait_until_flowing();
            relay.set_down(FAST, true);
            let got = fetch.join().unwrap();
            assert!(got.status.success(), "{}", stderr(&got));
            assert_eq!(sha256(&got.stdout), sha256(&content(200_000_000)));
        });
    });
}

#[test]
fn fifty_downloads_at_once_outlive_the_fast_path() {
    with_edge(|_, server, relay, _, http| {
        let url = server.url("half/5000000");
        let expected = sha256(&content(5_000_000));
        std::thread::scope(|scope| {
            let fetch = || curl(&[&["-x", http, &url]]);
            let all: Vec<_> = (0..50).map(|_| scope.spawn(fetch)).collect();
            // Half of them are half-way.
            (0..25).for_each(|_| server.wait_until_flowing());
            relay.set_down(FAST, true);
            for got in all {
                let got = got.join().unwrap();
                assert!(got.status.success(), "{}", stderr(&got));
                assert_eq!(sha256(&got.stdout), expected);
            }
        });
    });
}

#[test]
fn an_upload_outlives_the_fast_path() {
    with_edge(|world, server, relay, socks, _| {
        let body = content(100_000_000);
        let (file, url) = (world.file("up.bin", &body), server.url("half"));
        std::thread::scope(|scope| {
            let put = scope.spawn(|| curl(&[&["--socks5-hostname", socks, "-T", &file, &url]]));
            server.wait_until_flowing();
            relay.set_down(FAST, true);
            let put = put.join().unwrap();
            assert!(put.status.success(), "{}", stderr(&put));
            assert_eq!(stdout(&put), sha256(&body));
        });
    });
}
