//! Which paths a segment may go on: the rules that every scheduler shares
//! (`docs/algorithms/common.md`).

use super::{PathView, Pick, QueueView};
use polypath_units::{PathId, PathSet, Timestamp};

/// The paths among which a scheduler chooses, those without room included: a waiting scheduler
/// needs to see what it waits for.
///
/// - Failed paths never; backups only while every other path has failed.
/// - A reinjection avoids the paths that already carry the segment, unless all do.
/// - If these rules leave no path that has room and no event that could give one room, every path
///   with room is a candidate: a segment must not wait for ever.
#[derive(Clone, Copy, Debug)]
pub struct Candidates<'a> {
    paths: &'a [PathView],
    allowed: PathSet,
}

impl<'a> Candidates<'a> {
    /// The candidates for the segment that `queue` shows.
    pub fn new(paths: &'a [PathView], queue: &QueueView, now: Timestamp) -> Self {
        let candidates = Self { paths, allowed: allowed(paths, queue) };
        if candidates.can_progress(now) {
            return candidates;
        }
        let mut open: Vec<_> = paths.iter().filter(|p| p.available && !p.failed).collect();
        if open.iter().any(|p| !p.backup) {
            open.retain(|p| !p.backup);
        }
        Self { paths, allowed: open.iter().map(|p| p.id).collect() }
    }

    /// All candidates, by path number.
    pub fn iter(self) -> impl Iterator<Item = &'a PathView> {
        self.paths.iter().filter(move |p| self.allowed.contains(p.id))
    }

    /// The candidates that can take the segment now.
    pub fn available(self) -> impl Iterator<Item = &'a PathView> {
        self.iter().filter(|p| p.available)
    }

    /// The candidates without these, unless nothing would be left that can go on.
    pub(crate) fn without(self, unused: PathSet, now: Timestamp) -> Self {
        let rest = Self { allowed: self.allowed.minus(unused), ..self };
        if rest.allowed.is_empty() || !rest.can_progress(now) { self } else { rest }
    }

    /// The candidate with room and the smallest srtt, ties to the lowest number.
    pub(crate) fn lowest_rtt(self) -> Option<&'a PathView> {
        fastest(self.available())
    }

    /// The answer when no candidate has room: wait for an event or for the first paced path.
    pub fn wait(self, now: Timestamp) -> Pick {
        Pick::Wait(self.iter().filter_map(|p| paced(p, now)).min().unwrap_or(Timestamp::MAX))
    }

    /// Whether a candidate has room, or will get it by an event that is sure to come.
    fn can_progress(self, now: Timestamp) -> bool {
        self.available().next().is_some()
            || self.iter().any(|p| paced(p, now).is_some())
            || self.paths.iter().any(|p| !p.failed && p.in_flight > 0)
    }
}

/// Sends the segment on a path that leaves `skip` bytes to others; `None` if there is not so much
/// to send, or no room for it in the receiver's window.
pub(crate) fn place(path: &PathView, skip: u64, queue: &QueueView) -> Option<Pick> {
    match skip {
        0 => Some(Pick::Send(path.id)),
        _ => queue.reaches(skip).then_some(Pick::Ahead { path: path.id, skip }),
    }
}

/// The path of smallest srtt, ties to the first.
pub(crate) fn fastest<'a>(paths: impl Iterator<Item = &'a PathView>) -> Option<&'a PathView> {
    paths.min_by(|a, b| a.srtt_secs().total_cmp(&b.srtt_secs()))
}

/// When a path without room may have it again, so far as that is known: at the pacing time if
/// only pacing holds it, [`Timestamp::MAX`] if an ACK must come, `None` if nothing is under way
/// that would open it.
pub(crate) fn reopens(path: &PathView, now: Timestamp) -> Option<Timestamp> {
    paced(path, now).or((path.in_flight > 0).then_some(Timestamp::MAX))
}

/// When pacing releases a path that pacing alone holds back.
fn paced(path: &PathView, now: Timestamp) -> Option<Timestamp> {
    let only_paced = path.paced_until > now && path.room() >= path.mss.max(1);
    (only_paced && path.paced_until < Timestamp::MAX).then_some(path.paced_until)
}

/// The measured rate, else `cwnd / srtt`, in bytes/s; `None` if neither is known.
pub(crate) fn estimated_rate(path: &PathView) -> Option<f64> {
    let from_window = path.srtt.map(|srtt| path.cwnd as f64 / srtt.as_secs_f64());
    let rate = if path.rate > 0.0 { Some(path.rate) } else { from_window };
    rate.filter(|rate| rate.is_finite() && *rate > 0.0)
}

fn allowed(paths: &[PathView], queue: &QueueView) -> PathSet {
    let alive = |backup| -> PathSet {
        paths.iter().filter(|p| !p.failed && p.backup == backup).map(|p| p.id).collect()
    };
    let regular = alive(false);
    let usable = if regular.is_empty() { alive(true) } else { regular };
    let fresh: PathSet = usable.iter().filter(|&id| !carries(queue, id)).collect();
    if fresh.is_empty() { usable } else { fresh }
}

fn carries(queue: &QueueView, id: PathId) -> bool {
    queue.reinjection && queue.sent_on.contains(id)
}
