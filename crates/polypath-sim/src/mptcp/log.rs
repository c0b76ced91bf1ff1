//! What a connection writes down of its paths when asked to.

use polypath_units::{PathId, Timestamp};

/// Something that happened to a path of a connection of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathEvent {
    /// The path was declared failed: it carries nothing, and what it carried travels again.
    Failed,
    /// A failed path carries data again.
    Recovered,
    /// Data that another path carries, or carried, is sent on this one as well.
    Reinjected {
        /// Data sequence number of its first byte.
        dsn: u64,
        /// Bytes.
        len: u32,
    },
    /// The window of the path was halved for blocking others.
    Penalised,
}

/// The log of a connection; keeps nothing unless switched on.
#[derive(Clone, Debug, Default)]
pub(super) struct PathLog(Option<Vec<(Timestamp, (PathId, PathEvent))>>);

impl PathLog {
    /// Keeps events from now on.
    pub(super) fn keep(&mut self) {
        self.0.get_or_insert_default();
    }

    pub(super) fn record(&mut self, now: Timestamp, path: PathId, event: PathEvent) {
        if let Some(events) = &mut self.0 {
            events.push((now, (path, event)));
        }
    }

    pub(super) fn events(&self) -> &[(Timestamp, (PathId, PathEvent))] {
        self.0.as_deref().unwrap_or_default()
    }
}
