//! Whether each side prefers a path to be a backup: what PATH_STATUS and the flag of a join say
//! (docs/protocol.md, section 7).

use super::Bond;
use crate::codec::{Control, Side};
use polypath_units::PathId;
use std::collections::BTreeMap;

/// What one side prefers for a path.
#[derive(Clone, Copy, Debug, Default)]
struct Preference {
    /// Of the newest PATH_STATUS; joining again does not set it back.
    sequence: u64,
    backup: bool,
}

/// What both sides prefer for each path.
#[derive(Debug, Default)]
pub(super) struct PathPreferences {
    own: BTreeMap<PathId, Preference>,
    peer: BTreeMap<PathId, Preference>,
}

impl PathPreferences {
    /// Whether the path is a backup: either side wants that.
    pub(super) fn is_backup(&self, id: PathId) -> bool {
        let of = |side: &BTreeMap<PathId, Preference>| side.get(&id).is_some_and(|p| p.backup);
        of(&self.own) || of(&self.peer)
    }

    /// This side prefers something else. Returns the number of the PATH_STATUS to send, `None` if
    /// nothing changes.
    pub(super) fn set_own(&mut self, id: PathId, backup: bool) -> Option<u64> {
        let own = self.own.entry(id).or_default();
        if own.backup == backup {
            return None;
        }
        *own = Preference { sequence: own.sequence + 1, backup };
        Some(own.sequence)
    }

    /// The peer's PATH_STATUS; an older one than is known changes nothing.
    pub(super) fn on_path_status(&mut self, id: PathId, sequence: u64, backup: bool) {
        let peer = self.peer.entry(id).or_default();
        if sequence > peer.sequence {
            *peer = Preference { sequence, backup };
        }
    }

    /// A path has joined. The flag of its join is what the edge prefers until a newer PATH_STATUS;
    /// `side` is ours.
    pub(super) fn on_join(&mut self, id: PathId, side: Side, backup: bool) {
        let edge = match side {
            Side::Edge => &mut self.own,
            Side::Hub => &mut self.peer,
        };
        edge.entry(id).or_default().backup = backup;
    }
}

impl Bond {
    /// Makes a path a backup, which carries no data as long as another path works, or a regular
    /// one again, and tells the peer. It is a backup as long as either side wants it to be.
    pub fn set_path_backup(&mut self, id: PathId, backup: bool) {
        let sequence = self.paths.prefer(id, |preferences| preferences.set_own(id, backup));
        if let Some(sequence) = sequence {
            self.tell(Control::PathStatus { path: id, sequence, backup });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> PathId {
        PathId::default()
    }

    #[test]
    fn a_path_is_a_backup_while_either_side_wants_it() {
        let mut preferences = PathPreferences::default();
        preferences.on_join(path(), Side::Hub, true);
        assert_eq!(preferences.set_own(path(), true), Some(1));
        preferences.on_path_status(path(), 1, false);
        assert!(preferences.is_backup(path()));
        assert_eq!(preferences.set_own(path(), true), None);
        assert_eq!(preferences.set_own(path(), false), Some(2));
        assert!(!preferences.is_backup(path()));
    }

    #[test]
    fn an_older_status_changes_nothing() {
        let mut preferences = PathPreferences::default();
        preferences.on_path_status(path(), 2, true);
        preferences.on_path_status(path(), 1, false);
        assert!(preferences.is_backup(path()));
        preferences.on_join(path(), Side::Hub, false);
        preferences.on_path_status(path(), 2, true);
        assert!(!preferences.is_backup(path()), "the join is newer");
    }
}
