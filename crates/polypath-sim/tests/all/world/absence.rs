//! A host that gives its node no time for a while, as a busy one does.

use super::{Arrival, Packet};
use polypath_units::Timestamp;

/// Until when a node does not run, and what has come meanwhile, in order.
#[derive(Debug, Default)]
pub(super) struct Absence {
    until: Timestamp,
    waiting: Vec<Arrival<Packet>>,
}

impl Absence {
    pub(super) fn begin(&mut self, until: Timestamp) {
        self.until = self.until.max(until);
    }

    pub(super) fn lasts(&self, now: Timestamp) -> bool {
        now < self.until
    }

    /// When a node runs that would run at `due`.
    pub(super) fn delay(&self, due: Option<Timestamp>, now: Timestamp) -> Option<Timestamp> {
        if self.lasts(now) { Some(self.until) } else { due }
    }

    /// Gives an arrival back unless it has to wait.
    pub(super) fn take_in(
        &mut self,
        arrival: Arrival<Packet>,
        now: Timestamp,
    ) -> Option<Arrival<Packet>> {
        if self.lasts(now) {
            self.waiting.push(arrival);
            return None;
        }
        Some(arrival)
    }

    /// What has waited, if the node runs again: by sockets, as it reads them.
    pub(super) fn end(&mut self, now: Timestamp) -> Vec<Arrival<Packet>> {
        if self.lasts(now) {
            return Vec::new();
        }
        let mut waited = std::mem::take(&mut self.waiting);
        waited.sort_by_key(|arrival| arrival.path);
        waited
    }
}
