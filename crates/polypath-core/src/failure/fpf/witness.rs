//! Whether a peer that is silent on a path could have answered there: a host that stands still for
//! a while is silent on all paths, and none of them is dead for it.

use polypath_units::Timestamp;

/// The latest two times at which anything happened here.
///
/// What arrives now may have waited since the earlier one, because this host may have stood still,
/// too.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Activity {
    before: Timestamp,
    now: Timestamp,
}

impl Activity {
    pub(super) fn note(&mut self, now: Timestamp) {
        if now > self.now {
            *self = Self { before: self.now, now };
        }
    }

    /// The earliest time at which what arrives now may have come.
    pub(super) fn arrived_after(&self) -> Timestamp {
        self.before
    }
}

/// What other paths say of a silent one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Witness {
    /// When the answer was due that has not come.
    due: Option<Timestamp>,
    /// When something came over another path that the peer sent after that: it could have answered.
    heard: Option<Timestamp>,
}

impl Witness {
    pub(super) fn is_watching(&self) -> bool {
        self.due.is_some()
    }

    pub(super) fn watch(&mut self, due: Timestamp) {
        self.due.get_or_insert(due);
    }

    /// Something came over another path now, and left the peer after `sent` at the earliest.
    pub(super) fn hear(&mut self, sent: Timestamp, now: Timestamp) {
        if self.due.is_some_and(|due| sent >= due) {
            self.heard.get_or_insert(now);
        }
    }

    pub(super) fn heard(&self) -> Option<Timestamp> {
        self.heard
    }
}
