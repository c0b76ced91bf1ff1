//! A host on which everything waits for the processor: paths that work are not declared failed.

use std::net::Ipv4Addr;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use polypath_bond::BondConfig;
use polypath_bond::identity::{JoinString, SecretKey};
use polypath_net::edge::{Edge, EdgeConfig, EdgePaths, Local, WantedPath};
use tokio::runtime::Runtime;
use tokio::time::sleep;

use super::hog::Hog;
use super::world::World;

fn key(edge: u32) -> SecretKey {
    let mut seed = [9; 32];
    seed[..4].copy_from_slice(&edge.to_be_bytes());
    SecretKey::from_seed(seed)
}

/// An edge with two paths, each from an address of its own.
fn config(edge: u32, join: &JoinString) -> EdgeConfig {
    let [high, low] = (edge as u16).to_be_bytes();
    let path = |(name, net): (&str, u8)| WantedPath {
        name: name.to_owned(),
        local: Local::Address(Ipv4Addr::new(127, net, high, low).into()),
        remote: None,
        backup: false,
    };
    EdgeConfig {
        identity: key(edge),
        hub: join.hub(),
        hub_addresses: join.addresses().to_vec(),
        bond: BondConfig::default(),
        paths: EdgePaths::Listed([("a", 20), ("b", 21)].map(path).into()),
    }
}

/// Edges join all at once beside a load that takes all processors, and are idle for a while then.
/// Returns the paths that edges and hub have declared failed, and why.
fn failures(edges: u32, idle: Duration) -> Vec<String> {
    let world = World::new();
    let keys = (0..edges).map(|edge| format!("{} e{edge}\n", key(edge).public()));
    world.file("allow", keys.collect::<String>().as_bytes());
    let hub = world.hub(&[]);
    let join: JoinString = hub.join_string().parse().unwrap();
    let stop = AtomicBool::new(false);
    let mut failed = thread::scope(|scope| {
        let _hog = Hog::start(scope, &stop);
        Runtime::new().unwrap().block_on(async {
            let mut all = Vec::new();
            for edge in 0..edges {
                all.push(Edge::start(config(edge, &join)).await.unwrap());
            }
            for edge in &all {
                edge.joined_in_the_end().await.unwrap();
            }
            sleep(idle).await;
            all.iter().flat_map(failures_of).collect::<Vec<_>>()
        })
    });
    let log = hub.log();
    failed.extend(log.lines().filter(|line| line.contains(": failed path=")).map(str::to_owned));
    failed
}

/// The paths of an edge that it has declared failed, how often, and why.
fn failures_of(edge: &Edge) -> Vec<String> {
    let status = edge.driver().status(edge.bond()).expect("its bond is open");
    let failed = status.paths.iter().filter(|path| path.counters.failures > 0);
    failed.map(|path| format!("{} at an edge: {:?}", path.name, path.counters)).collect()
}

#[test]
fn edges_that_join_at_once_keep_their_paths() {
    assert_eq!(failures(60, Duration::from_secs(2)), [""; 0]);
}

mod experiments {
    use super::*;

    /// So many seconds for which edges are idle beside the load.
    const SECONDS: &str = "POLYPATH_BUSY_SECONDS";

    #[test]
    fn a_thousand_edges_keep_their_paths() {
        let _alone = crate::alone::alone();
        let seconds = std::env::var(SECONDS).map_or(10, |text| text.parse().unwrap());
        assert_eq!(failures(1_000, Duration::from_secs(seconds)), [""; 0]);
    }
}
