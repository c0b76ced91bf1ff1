//! How each side wants the paths to be used.

use super::Bond;
use crate::codec::{Control, Side};
use polypath_units::PathId;
use std::collections::BTreeMap;

/// What one side wants of a path.
#[derive(Clone, Copy, Debug, Default)]
struct Wish {
    /// Of the newest PATH_STATUS; joining again does not set it back.
    sequence: u64,
    backup: bool,
}

/// What both sides want of each path (docs/protocol.md, section 7).
#[derive(Debug, Default)]
pub(super) struct Wishes {
    own: BTreeMap<PathId, Wish>,
    peer: BTreeMap<PathId, Wish>,
}

impl Wishes {
    /// Whether either side wants the path as a backup.
    fn is_backup(&self, id: PathId) -> bool {
        [&self.own, &self.peer].iter().any(|wishes| wishes.get(&id).is_some_and(|w| w.backup))
    }
}

impl Bond {
    /// Makes a path a backup, which carries no data as long as another path works, or a regular
    /// one again, and tells the peer. It is a backup as long as either side wants it to be.
    pub fn set_path_backup(&mut self, id: PathId, backup: bool) {
        let wish = self.wishes.own.entry(id).or_default();
        if wish.backup == backup {
            return;
        }
        *wish = Wish { sequence: wish.sequence + 1, backup };
        let sequence = wish.sequence;
        self.tell(Control::PathStatus { path: id, sequence, backup });
        self.apply_wishes(id);
    }

    /// The peer's PATH_STATUS; an older one than is known changes nothing.
    pub(super) fn on_path_status(&mut self, id: PathId, sequence: u64, backup: bool) {
        let wish = self.wishes.peer.entry(id).or_default();
        if sequence > wish.sequence {
            *wish = Wish { sequence, backup };
            self.apply_wishes(id);
        }
    }

    /// A path has joined; the flag of its join is the edge's wish until a newer status.
    pub(super) fn on_join_flag(&mut self, id: PathId, backup: bool) {
        let edge = match self.side {
            Side::Edge => &mut self.wishes.own,
            Side::Hub => &mut self.wishes.peer,
        };
        edge.entry(id).or_default().backup = backup;
        self.apply_wishes(id);
    }

    fn apply_wishes(&mut self, id: PathId) {
        let backup = self.wishes.is_backup(id);
        self.paths.entry(id).and_modify(|path| path.backup = backup);
    }
}
