//! Paths that are made backups while an edge runs, and what they have carried.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use crate::common::{edge_config, hub_config, within};
use polypath_bond::PathStatus;
use polypath_net::edge::{Edge, PathMeters, Surroundings};
use polypath_net::hub::Hub;

/// Waits until both paths have joined, and the first one is a backup or none.
async fn paths(edge: &Edge, first_is_backup: bool) -> Vec<PathStatus> {
    within(async {
        loop {
            let status = edge.driver().status(edge.bond());
            let paths = status.map_or_else(Vec::new, |status| status.paths);
            if paths.len() == 2 && paths[0].backup == first_is_backup {
                return paths;
            }
            tokio::task::yield_now().await;
        }
    })
    .await
}

#[tokio::test]
async fn a_path_is_a_backup_while_it_is_spared() {
    let hub = Hub::start(hub_config()).unwrap();
    let by: SocketAddr = hub.addresses()[0];
    let meters = PathMeters::of(["a".to_owned()]);
    let spared = || BTreeSet::from(["a".to_owned()]);
    meters.spare(spared());
    let surroundings = Surroundings { meters: meters.clone(), ..Surroundings::default() };
    let edge = Edge::start_waiting(edge_config(&hub, by, &["a", "b"]), surroundings).await.unwrap();
    let mut before = paths(&edge, true).await;
    for is_spared in [false, true] {
        meters.spare(if is_spared { spared() } else { BTreeSet::new() });
        let now = paths(&edge, is_spared).await;
        for (now, before) in now.iter().zip(&before) {
            assert_eq!((now.id, &now.name), (before.id, &before.name));
            assert!(now.counters.packets_sent >= before.counters.packets_sent, "{now:?}");
            assert_eq!(now.counters.failures, 0);
        }
        assert!(!now[1].backup, "nobody spares the other");
        before = now;
    }
    // A client's first datagram has 1,200 bytes at least (RFC 9000, section 14.1), the answer of a
    // server too.
    let carried = meters.take("a");
    assert!(carried >= 2 * (1_200 + 28), "{carried}");
    assert_eq!(meters.take("b"), 0, "it has no meter");
}
