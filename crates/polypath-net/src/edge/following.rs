//! What the paths of an edge follow: interfaces, the hub's names, and how attempts to join go.

use super::names::Found;
use super::paths::PathManager;
use polypath_host::interfaces::{Snapshot, Watcher};
use polypath_units::Timestamp;
use std::future::pending;
use std::pin::Pin;

/// Names that are being looked up.
type Lookup = Pin<Box<dyn Future<Output = Found> + Send>>;

/// Keeps the paths up until the edge stops.
pub(super) async fn follow(mut paths: PathManager) {
    let mut watcher = match Watcher::start().await {
        Ok(watcher) => Some(watcher),
        Err(error) => {
            tracing::warn!(%error, "changes of interfaces will not be noticed");
            None
        }
    };
    let mut snapshot = Snapshot::new();
    let mut fates = paths.fates.subscribe();
    let mut spared = paths.meters.changes();
    paths.learn_fates();
    let mut lookup: Option<Lookup> = None;
    loop {
        if let Some(watcher) = &watcher {
            snapshot.clone_from(watcher.current());
        }
        paths.follow(&snapshot);
        let look_up_at = paths.pace.due().filter(|_| lookup.is_none() && !paths.names.is_empty());
        tokio::select! {
            error = changes(watcher.as_mut()) => if let Some(error) = error {
                tracing::warn!(%error, "changes of interfaces are no longer noticed");
                watcher = None;
            },
            // The sender is the manager's own.
            _ = fates.changed() => paths.learn_fates(),
            // So is this one: it is looked at when all is planned anew.
            _ = spared.changed() => {}
            () = until(&paths, look_up_at) => lookup = Some(Box::pin(paths.names.look_up())),
            found = found(lookup.as_mut()) => {
                lookup = None;
                paths.learn(found);
            }
        }
    }
}

/// Waits for changes; returns why there will be no more.
async fn changes(
    watcher: Option<&mut Watcher>,
) -> Option<polypath_host::interfaces::InterfaceError> {
    match watcher {
        Some(watcher) => watcher.changes().await.err(),
        None => pending().await,
    }
}

async fn found(lookup: Option<&mut Lookup>) -> Found {
    match lookup {
        Some(lookup) => lookup.await,
        None => pending().await,
    }
}

async fn until(paths: &PathManager, at: Option<Timestamp>) {
    match at {
        Some(at) => tokio::time::sleep(at.checked_since(paths.now()).unwrap_or_default()).await,
        None => pending().await,
    }
}
