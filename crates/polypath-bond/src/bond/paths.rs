//! The paths of a bond.

use super::preferences::PathPreferences;
use crate::codec::PathList;
use crate::path::Path;
use polypath_core::congestion::Congestion;
use polypath_units::{PathId, PathSet, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;

/// The paths by their numbers, and how both sides want them to be used.
#[derive(Debug)]
pub(super) struct Paths {
    paths: BTreeMap<PathId, Path>,
    /// They are kept for paths that leave, which may join again.
    preferences: PathPreferences,
    /// Paths that the peer has removed, for the node to close their connections.
    removed: Vec<PathId>,
    /// When something arrived on any path last, or one was added.
    last_heard: Timestamp,
    /// Whether there has been any: before that the peer knows nothing of the bond.
    has_begun: bool,
}

impl Paths {
    pub(super) fn new(now: Timestamp) -> Self {
        Self {
            paths: BTreeMap::new(),
            preferences: PathPreferences::default(),
            removed: Vec::new(),
            last_heard: now,
            has_begun: false,
        }
    }

    pub(super) fn add(&mut self, path: Path, now: Timestamp) {
        self.paths.insert(path.id, path);
        self.last_heard = now;
        self.has_begun = true;
    }

    /// Whether a path has ever joined.
    pub(super) fn have_begun(&self) -> bool {
        self.has_begun
    }

    pub(super) fn remove(&mut self, id: PathId) -> Option<Path> {
        self.paths.remove(&id)
    }

    pub(super) fn get(&self, id: PathId) -> Option<&Path> {
        self.paths.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: PathId) -> Option<&mut Path> {
        self.paths.get_mut(&id)
    }

    /// By how much later than others a packet may arrive on a path, as far as is known.
    pub(super) fn reordering(&self, id: PathId, congestion: &Congestion) -> Duration {
        let known = self.get(id).zip(congestion.rtt(id));
        known.map_or(Duration::ZERO, |(path, rtt)| path.flight.reordering(rtt))
    }

    pub(super) fn contains(&self, id: PathId) -> bool {
        self.paths.contains_key(&id)
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = PathId> {
        self.paths.keys().copied()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Path> {
        self.paths.values()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Path> {
        self.paths.values_mut()
    }

    /// The paths that have not failed.
    pub(super) fn working(&self) -> impl Iterator<Item = &Path> {
        self.paths.values().filter(|path| !path.is_failed())
    }

    /// Whether the path exists and has not failed.
    pub(super) fn is_working(&self, id: PathId) -> bool {
        self.get(id).is_some_and(|path| !path.is_failed())
    }

    /// The paths that carry data now: backups only while nothing else works.
    pub(super) fn active(&self) -> PathSet {
        self.active_among(&PathList::ALL)
    }

    /// The same for what may take these paths alone: backups only while none of the others works.
    pub(super) fn active_among(&self, allowed: &PathList) -> PathSet {
        let working = |backup| -> PathSet {
            let paths = self.working().filter(|path| path.backup == backup);
            allowed.among(paths.map(|path| path.id).collect())
        };
        let regular = working(false);
        if regular.is_empty() { working(true) } else { regular }
    }

    /// The peer is asked whether anything arrives on these paths.
    pub(super) fn suspect(&mut self, suspects: PathSet) {
        for path in self.paths.values_mut() {
            path.is_suspected |= suspects.contains(path.id);
        }
    }

    /// The working paths of which the peer has been asked, and that have brought nothing since.
    pub(super) fn suspected(&self) -> PathSet {
        self.working().filter(|path| path.is_suspected).map(|path| path.id).collect()
    }

    /// The working path of smallest RTT outside `avoid`, a backup only if there is no other; any
    /// working one if all are in `avoid`.
    pub(super) fn fastest(&self, avoid: PathSet, congestion: &Congestion) -> Option<PathId> {
        let key = |path: &&Path| {
            let srtt = congestion.rtt(path.id).and_then(|rtt| rtt.srtt());
            (avoid.contains(path.id), path.backup, srtt.is_none(), srtt)
        };
        self.working().min_by_key(key).map(|path| path.id)
    }

    /// The working path of smallest RTT among these, a backup only if there is no other.
    pub(super) fn fastest_of(&self, paths: PathSet, congestion: &Congestion) -> Option<PathId> {
        let others = self.ids().filter(|path| !paths.contains(*path)).collect();
        self.fastest(others, congestion).filter(|path| paths.contains(*path))
    }

    /// `bytes` arrived on a path, which need not be kept alive for `keep_alive` then. Returns
    /// whether there is such a path.
    pub(super) fn on_arrival(
        &mut self,
        id: PathId,
        bytes: u64,
        keep_alive: Duration,
        now: Timestamp,
    ) -> bool {
        let Some(path) = self.paths.get_mut(&id) else { return false };
        path.counters.bytes_received += bytes;
        path.last_arrival = now;
        path.keep_alive_at = path.keep_alive_at.map(|_| now + keep_alive);
        self.last_heard = now;
        true
    }

    /// The peer has acknowledged packets: it is there, though a peer that only takes datagrams has
    /// nothing to say.
    pub(super) const fn on_acks(&mut self, now: Timestamp) {
        self.last_heard = now;
    }

    /// When something was heard of the peer last, on any path, or a path was added.
    pub(super) const fn last_heard(&self) -> Timestamp {
        self.last_heard
    }

    /// Changes what a side prefers for the path, whether it exists or not.
    pub(super) fn prefer<T>(
        &mut self,
        id: PathId,
        change: impl FnOnce(&mut PathPreferences) -> T,
    ) -> T {
        let result = change(&mut self.preferences);
        if let Some(path) = self.paths.get_mut(&id) {
            path.backup = self.preferences.is_backup(id);
        }
        result
    }

    /// The peer has removed this path.
    pub(super) fn on_removed_by_peer(&mut self, id: PathId) {
        self.removed.push(id);
    }

    /// Paths that the peer has removed since the last call.
    pub(super) fn take_removed(&mut self) -> Vec<PathId> {
        std::mem::take(&mut self.removed)
    }
}
