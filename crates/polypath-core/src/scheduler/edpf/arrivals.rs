//! When what was given to each path is predicted to arrive.

use polypath_units::{PathId, Timestamp};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// A segment, or several that arrive together.
#[derive(Clone, Copy, Debug)]
struct Given {
    arrival: Timestamp,
    /// Bytes that the path was given before.
    before: u64,
}

/// The segments that a path was given, in the order of their predicted arrival.
#[derive(Clone, Debug, Default)]
struct Line {
    given: VecDeque<Given>,
    /// All bytes that it was ever given.
    bytes: u64,
}

impl Line {
    /// A path keeps the order: what was predicted to arrive later than this segment arrives with
    /// it.
    fn add(&mut self, arrival: Timestamp, bytes: u64) {
        let earlier = self.given.partition_point(|given| given.arrival < arrival);
        let before = self.given.get(earlier).map_or(self.bytes, |given| given.before);
        self.given.truncate(earlier);
        self.given.push_back(Given { arrival, before });
        self.bytes += bytes;
    }

    /// How many of `given` arrived long enough ago for their acknowledgements to be back, if those
    /// take `back`.
    fn told(&self, back: Duration, now: Timestamp) -> usize {
        self.given.partition_point(|given| given.arrival + back <= now)
    }
}

/// What all paths were given.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals(BTreeMap<PathId, Line>);

impl Arrivals {
    /// The path is given `bytes`.
    pub(super) fn add(&mut self, path: PathId, bytes: u64, arrival: Timestamp) {
        self.0.entry(path).or_default().add(arrival, bytes);
    }

    /// `A_l`: when the last segment that the path was given is predicted to arrive.
    pub(super) fn last(&self, path: PathId) -> Option<Timestamp> {
        Some(self.0.get(&path)?.given.back()?.arrival)
    }

    /// Bytes whose acknowledgement cannot be back yet, if it takes this long.
    pub(super) fn untold(&self, path: PathId, back: Duration, now: Timestamp) -> u64 {
        let Some(line) = self.0.get(&path) else { return 0 };
        let first = line.given.get(line.told(back, now));
        first.map_or(0, |first| line.bytes - first.before)
    }

    /// Forgets what has been acknowledged by now.
    pub(super) fn forget_told(&mut self, path: PathId, back: Duration, now: Timestamp) {
        if let Some(line) = self.0.get_mut(&path) {
            line.given.drain(..line.told(back, now));
        }
    }

    /// The path was removed.
    pub(super) fn forget(&mut self, path: PathId) {
        self.0.remove(&path);
    }
}
