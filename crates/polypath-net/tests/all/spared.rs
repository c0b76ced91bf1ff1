//! Paths that are made backups while an edge runs, and what they have carried.

use std::net::SocketAddr;

use crate::common::{echo_after_eof, edge_config, hub_config, within};
use polypath_bond::PathStatus;
use polypath_net::edge::{Edge, PathMeters, Surroundings};
use polypath_net::hub::Hub;
use polypath_net::proxy::Opener;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// What passes through the bond in each direction.
const BYTES: usize = 1_000_000;
/// No datagram has more than so many bytes of a connection.
const MOST_IN_A_PACKET: u64 = 1_452;

/// Waits until both paths have joined, and these of them are backups.
async fn paths(edge: &Edge, backups: [bool; 2]) -> Vec<PathStatus> {
    within(async {
        loop {
            let status = edge.driver().status(edge.bond());
            let paths = status.map_or_else(Vec::new, |status| status.paths);
            if paths.iter().map(|path| path.backup).eq(backups) {
                return paths;
            }
            tokio::task::yield_now().await;
        }
    })
    .await
}

async fn exchange(edge: &Edge) {
    let mut stream = edge.opener().connect(echo_after_eof().await.into()).await.unwrap();
    stream.write_all(&vec![1; BYTES]).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut back = Vec::new();
    stream.read_to_end(&mut back).await.unwrap();
    assert_eq!(back.len(), BYTES);
}

/// What has been sent over the first path makes a second connection of it seen: that begins with
/// a few packets.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_path_is_a_backup_while_it_is_spared_and_keeps_its_connection() {
    let hub = Hub::start(hub_config()).unwrap();
    let by: SocketAddr = hub.addresses()[0];
    let meters = PathMeters::of(["a".to_owned()]);
    let spare = |path: &[&str]| meters.spare(path.iter().map(|&path| path.to_owned()).collect());
    spare(&["b"]);
    let surroundings = Surroundings { meters: meters.clone(), ..Surroundings::default() };
    let edge = Edge::start_waiting(edge_config(&hub, by, &["a", "b"]), surroundings).await.unwrap();
    paths(&edge, [false, true]).await;
    exchange(&edge).await;
    let mut before = paths(&edge, [false, true]).await;
    assert!(before[0].counters.packets_sent >= BYTES as u64 / MOST_IN_A_PACKET, "{before:?}");
    for spared in [&["a"][..], &[], &["a", "b"], &["b"]] {
        spare(spared);
        let now = paths(&edge, ["a", "b"].map(|path| spared.contains(&path))).await;
        for (now, before) in now.iter().zip(&before) {
            assert_eq!((now.id, &now.name), (before.id, &before.name));
            assert!(now.counters.packets_sent >= before.counters.packets_sent, "{now:?}");
            assert_eq!(now.counters.failures, 0);
        }
        before = now;
    }
    let carried = meters.take("a");
    assert!(carried >= 2 * BYTES as u64, "{carried}");
    assert_eq!(meters.take("b"), 0, "it has no meter");
}
