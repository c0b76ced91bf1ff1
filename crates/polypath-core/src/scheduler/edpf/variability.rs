//! What the load of a path may cost where rates vary.
//!
//! When the rate of a path falls, a queue builds up before an acknowledgement shows it, the longer
//! the more of the rate was in use. A sender that offers less than the paths carry need not take
//! that risk on a single path: a segment is predicted to arrive later by
//!
//! ```text
//! variability_cost * F / cwnd * longest (srtt - min_rtt) of the last 10 s,
//! ```
//!
//! which shares a load out over paths that have had queues, and leaves it on the fastest path while
//! there were none. The rule is Polypath's own. Where more waits than the paths have room for,
//! nothing changes.

use crate::estimator::WindowedMax;
use crate::scheduler::{PathView, QueueView};
use polypath_units::{PathId, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;

/// How long a queue is remembered.
const MEMORY: Duration = Duration::from_secs(10);
/// How long everything must have found room at once: queues before that may be the sender's own.
const LEAST_TIME: Duration = Duration::from_secs(1);

/// The queues of paths at times when there was room for all that was to be sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Variability {
    /// Since when everything has found room at once.
    room_since: Option<Timestamp>,
    /// The longest queue of each path in seconds; the window counts milliseconds.
    queues: BTreeMap<PathId, WindowedMax<f64>>,
}

impl Variability {
    /// Takes note of the paths and the queue of a pick.
    pub(super) fn observe(&mut self, paths: &[PathView], queue: &QueueView, now: Timestamp) {
        let room: u64 = paths.iter().filter(|path| path.available).map(PathView::room).sum();
        if queue.unsent > room {
            self.room_since = None;
            return;
        }
        self.room_since.get_or_insert(now);
        if self.is_application_limited(now) {
            paths.iter().for_each(|path| self.remember(path, now));
        }
    }

    /// Whether everything has found room for a while, so that the application limits sending.
    pub(super) fn is_application_limited(&self, now: Timestamp) -> bool {
        self.room_since.is_some_and(|since| now - since >= LEAST_TIME)
    }

    fn remember(&mut self, path: &PathView, now: Timestamp) {
        let Some((srtt, least)) = path.srtt.zip(path.min_rtt) else { return };
        let longest = || WindowedMax::new(MEMORY.as_millis() as u64);
        let queues = self.queues.entry(path.id).or_insert_with(longest);
        queues.update(now.as_nanos() / 1_000_000, srtt.saturating_sub(least).as_secs_f64());
    }

    /// By how much later than predicted a segment may arrive because of what the path carries, in
    /// seconds.
    pub(super) fn risk(&self, path: &PathView, now: Timestamp) -> f64 {
        if !self.is_application_limited(now) {
            return 0.0;
        }
        let queue = self.queues.get(&path.id).and_then(WindowedMax::get).unwrap_or(0.0);
        queue * (path.in_flight as f64 / path.cwnd.max(1) as f64).min(1.0)
    }

    /// The path was removed.
    pub(super) fn forget(&mut self, path: PathId) {
        self.queues.remove(&path);
    }
}
