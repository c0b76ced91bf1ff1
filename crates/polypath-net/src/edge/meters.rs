//! What paths carry, and which of them are to be spared.

use crate::socket::Meter;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::sync::watch;

/// Counts what some paths of an edge carry, and says which paths are to be spared: backups,
/// whatever they were meant to be. Clones are the same one; by default there are no such paths.
#[derive(Clone, Debug, Default)]
pub struct PathMeters(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    meters: BTreeMap<String, Meter>,
    spared: watch::Sender<BTreeSet<String>>,
}

impl PathMeters {
    /// Those of the paths with these names.
    pub fn of(paths: impl IntoIterator<Item = String>) -> Self {
        let meters = paths.into_iter().map(|path| (path, Meter::default())).collect();
        Self(Arc::new(Shared { meters, spared: watch::Sender::default() }))
    }

    /// Bytes that the path of this name has sent and received since this was asked last: UDP
    /// payload with the headers of UDP and IP. Zero if it has no meter.
    pub fn take(&self, path: &str) -> u64 {
        self.meter(path).map_or(0, Meter::take)
    }

    /// Makes these paths, and no others, backups that were not meant to be: at once where they
    /// are up, and whenever they are opened.
    pub fn spare(&self, paths: BTreeSet<String>) {
        self.0.spared.send_if_modified(|known| {
            let is_new = *known != paths;
            *known = paths;
            is_new
        });
    }

    pub(super) fn meter(&self, path: &str) -> Option<&Meter> {
        self.0.meters.get(path)
    }

    pub(super) fn is_spared(&self, path: &str) -> bool {
        self.0.spared.borrow().contains(path)
    }

    /// Tells when other paths are to be spared.
    pub(super) fn changes(&self) -> watch::Receiver<BTreeSet<String>> {
        self.0.spared.subscribe()
    }
}
