//! What each path has carried, whether or not it is there now.

use std::collections::BTreeMap;

use polypath_bond::{PathState as BondPathState, PathStatus};
use polypath_net::edge::Edge;
use polypath_units::{Bandwidth, ByteCount, Timestamp};

use crate::progress::{PathProgress, PathState};

/// The paths of an edge, in the order in which they are shown: those named first, then others as
/// they were seen at the first look.
#[derive(Debug)]
pub(super) struct Watch {
    names: Vec<String>,
    seen: BTreeMap<String, Seen>,
    last: Timestamp,
}

/// A path that has joined at least once.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Of its present connection.
    sent: u64,
    /// Of all its connections.
    carried: u64,
    rate: Bandwidth,
    up: bool,
}

impl Watch {
    pub(super) fn new(names: Vec<String>, now: Timestamp) -> Self {
        Self { names, seen: BTreeMap::new(), last: now }
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Every path and the bytes that it has carried.
    pub(super) fn carried(&self) -> impl Iterator<Item = (String, u64)> {
        let carried = |name: &String| self.seen.get(name).map_or(0, |seen| seen.carried);
        self.names.iter().map(move |name| (name.clone(), carried(name)))
    }

    /// The paths now, in the order of the names.
    pub(super) fn look(&mut self, edge: &Edge) -> Vec<PathProgress> {
        let paths = edge.driver().status(edge.bond()).map_or_else(Vec::new, |bond| bond.paths);
        self.update(&paths, edge.driver().now())
    }

    fn update(&mut self, paths: &[PathStatus], now: Timestamp) -> Vec<PathProgress> {
        let elapsed = now.since(self.last);
        self.last = now;
        for seen in self.seen.values_mut() {
            (seen.up, seen.rate) = (false, Bandwidth::ZERO);
        }
        for path in paths {
            if !self.names.contains(&path.name) {
                self.names.push(path.name.clone());
            }
            let seen = self.seen.entry(path.name.clone()).or_default();
            let sent = path.counters.bytes_sent;
            // The counters of a path begin anew when it joins again.
            let new = if sent < seen.sent { sent } else { sent - seen.sent };
            seen.sent = sent;
            seen.carried += new;
            seen.rate = Bandwidth::from_transfer(new, elapsed).unwrap_or_default();
            seen.up = path.state == BondPathState::Active;
        }
        self.names.iter().map(|name| progress(self.seen.get(name))).collect()
    }
}

fn progress(seen: Option<&Seen>) -> PathProgress {
    let Some(seen) = seen else {
        let (rate, carried) = (Bandwidth::ZERO, ByteCount::new(0));
        return PathProgress { state: PathState::Joining, rate, carried };
    };
    let state = if seen.up { PathState::Up } else { PathState::Failed };
    PathProgress { state, rate: seen.rate, carried: ByteCount::new(seen.carried) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_bond::PathCounters;
    use polypath_units::PathId;

    fn status(name: &str, bytes_sent: u64) -> PathStatus {
        PathStatus {
            id: PathId::default(),
            name: name.to_owned(),
            state: BondPathState::Active,
            backup: false,
            srtt: None,
            min_rtt: None,
            cwnd: 0,
            in_flight: 0,
            delivery_rate: 0.0,
            loss: 0.0,
            counters: PathCounters { bytes_sent, ..PathCounters::default() },
        }
    }

    #[test]
    fn a_path_that_goes_and_comes_keeps_its_line_and_its_sum() {
        let mut watch = Watch::new(vec!["a".to_owned(), "b".to_owned()], Timestamp::ZERO);
        let shown = watch.update(&[status("b", 1_000_000)], Timestamp::from_millis(1_000));
        assert_eq!(shown[0].state, PathState::Joining);
        assert_eq!(shown[1].state, PathState::Up);
        assert_eq!(shown[1].rate, Bandwidth::from_mbit_per_sec(8.0));

        let shown = watch.update(&[], Timestamp::from_millis(2_000));
        assert_eq!((shown[1].state, shown[1].rate), (PathState::Failed, Bandwidth::ZERO));

        let shown = watch.update(&[status("b", 500_000)], Timestamp::from_millis(3_000));
        assert_eq!(shown[1].rate, Bandwidth::from_mbit_per_sec(4.0));
        assert_eq!(shown[1].carried, ByteCount::new(1_500_000));
        assert_eq!(watch.carried().last(), Some(("b".to_owned(), 1_500_000)));
    }
}
