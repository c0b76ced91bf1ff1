//! Events by time.

use polypath_units::Timestamp;
use std::collections::BTreeMap;

/// Gives out the earliest event first, and those of one time in the order in which they came.
#[derive(Debug)]
pub(crate) struct Timeline<E> {
    events: BTreeMap<(Timestamp, u64), E>,
    inserted: u64,
}

impl<E> Timeline<E> {
    pub(crate) fn new() -> Self {
        Self { events: BTreeMap::new(), inserted: 0 }
    }

    pub(crate) fn push(&mut self, at: Timestamp, event: E) {
        self.events.insert((at, self.inserted), event);
        self.inserted += 1;
    }

    pub(crate) fn pop(&mut self) -> Option<(Timestamp, E)> {
        self.events.pop_first().map(|((at, _), event)| (at, event))
    }

    pub(crate) fn next_time(&self) -> Option<Timestamp> {
        self.events.keys().next().map(|&(at, _)| at)
    }
}
