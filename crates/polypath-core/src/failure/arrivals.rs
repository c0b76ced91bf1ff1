//! When something last arrived on each path: the receiver half's memory, and the answer to a query.

use super::{Action, Query, ReceiveState, Suspect, SuspicionReport};
use polypath_units::{PathId, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;

/// The longest silence that a report can express.
pub(super) const LONGEST_SILENCE: Duration = Duration::from_millis(u16::MAX as u64);

/// The last arrival on each path.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals(BTreeMap<PathId, Timestamp>);

impl Arrivals {
    pub(super) fn record(&mut self, path: PathId, now: Timestamp) {
        let last = self.0.entry(path).or_insert(now);
        *last = now.max(*last);
    }

    pub(super) fn remove(&mut self, path: PathId) {
        self.0.remove(&path);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (PathId, Timestamp)> + '_ {
        self.0.iter().map(|(&path, &at)| (path, at))
    }

    /// How long `path` has been silent; if nothing ever arrived there, the longest time that a
    /// report can express.
    pub(super) fn suspect(&self, path: PathId, now: Timestamp) -> Suspect {
        let silent = self.0.get(&path).map_or(LONGEST_SILENCE, |&at| now - at);
        Suspect { path, silent_for: silent.min(LONGEST_SILENCE) }
    }
}

/// The report that answers a query: one entry for each path asked about.
pub(super) fn answer_query(
    query: Query,
    arrivals: &Arrivals,
    now: Timestamp,
    state: &ReceiveState,
) -> Action {
    let suspects = query.paths.iter().map(|path| arrivals.suspect(path, now)).collect();
    Action::Report(suspicion_report(query.id, suspects, state))
}

/// A report on `suspects` with the data level as it stands.
pub(super) fn suspicion_report(
    query: u16,
    suspects: Vec<Suspect>,
    state: &ReceiveState,
) -> SuspicionReport {
    let ReceiveState { rcv_nxt, max_end, window, .. } = *state;
    SuspicionReport { query, rcv_nxt, max_end, window, suspects }
}
