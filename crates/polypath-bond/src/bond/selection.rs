//! Which path the next datagram takes.

use super::paths::Paths;
use crate::path::Path;
use polypath_core::congestion::Congestion;
use polypath_core::scheduler::{Delivery, PathView, Pick, QueueView, Scheduler};
use polypath_units::{PathId, PathSet, Timestamp};
use std::collections::VecDeque;
use std::time::Duration;

/// What a frame header and small frames beside it take of a datagram at most; a path whose
/// datagrams are not larger cannot carry data.
const MIN_DATAGRAM: u64 = 64;

/// The scheduler, what it is shown of the paths, and what it has asked for.
#[derive(Debug)]
pub(super) struct PathSelection {
    scheduler: Box<dyn Scheduler>,
    views: Vec<PathView>,
    /// Those of `views` that a datagram may take.
    fitting: Vec<PathView>,
    /// The receiver's window made us send something again since the last pick.
    window_blocked: bool,
    /// When the scheduler, pacing or a limit wants to be asked again.
    wake: Option<Timestamp>,
    /// Further paths that the scheduler wants copies of a segment on, and the segments' DSNs.
    copies: VecDeque<(PathId, u64)>,
}

impl PathSelection {
    pub(super) fn new(scheduler: Box<dyn Scheduler>) -> Self {
        Self {
            scheduler,
            views: Vec::new(),
            fitting: Vec::new(),
            window_blocked: false,
            wake: None,
            copies: VecDeque::new(),
        }
    }

    /// Looks at the paths anew; who wants to be asked again says so anew too.
    pub(super) fn renew(&mut self, paths: &mut Paths, congestion: &Congestion, now: Timestamp) {
        let late = self.wake.take().map_or(Duration::ZERO, |wake| now.since(wake));
        self.views.clear();
        self.views.extend(paths.iter_mut().map(|path| {
            path.pacer.woken(now, late);
            view(path, congestion, now)
        }));
    }

    /// The paths as they were when they were looked at last.
    pub(super) fn views(&self) -> &[PathView] {
        &self.views
    }

    /// A path as it was when they were looked at last.
    pub(super) fn view(&self, id: PathId) -> Option<&PathView> {
        self.views.iter().find(|view| view.id == id)
    }

    /// The paths that take a datagram now. One that pacing holds back is waited for.
    pub(super) fn open(&self) -> impl Iterator<Item = &PathView> {
        self.views.iter().filter(|view| view.available)
    }

    /// Bytes that a full packet of any path takes of its congestion window at most.
    pub(super) fn largest_packet(&self) -> u64 {
        self.views.iter().map(|view| view.mss).max().unwrap_or(MIN_DATAGRAM)
    }

    /// Where the scheduler wants a datagram of a flow, if one is to be sent now, and how many bytes
    /// of those that wait are before it. It is asked about the paths of `fitting` alone, about all
    /// if there are none.
    pub(super) fn pick_for_datagram(
        &mut self,
        queue: &QueueView,
        fitting: PathSet,
        now: Timestamp,
    ) -> Option<(PathId, u64)> {
        let fits = |view: &PathView| fitting.is_empty() || fitting.contains(view.id);
        self.fitting.clear();
        self.fitting.extend(self.views.iter().filter(|view| fits(view)).copied());
        match self.scheduler.pick(&self.fitting, queue, now) {
            Pick::Send(path) => Some((path, 0)),
            Pick::Ahead { path, skip } => Some((path, skip)),
            Pick::Duplicate(paths) => paths.iter().next().map(|path| (path, 0)),
            Pick::Wait(until) => {
                self.wake_at(until);
                None
            }
        }
    }

    /// Where the scheduler wants the next segment.
    pub(super) fn pick_for_segment(&mut self, queue: &QueueView, now: Timestamp) -> Pick {
        self.window_blocked = false;
        let pick = self.scheduler.pick(&self.views, queue, now);
        if let Pick::Wait(until) = pick {
            self.wake_at(until);
            self.wake_when_paced(now);
        }
        pick
    }

    /// Asks again at this time, if nothing happens before.
    pub(super) fn wake_at(&mut self, at: Timestamp) {
        if at < Timestamp::MAX {
            self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
        }
    }

    /// Asks again when pacing lets the first path send.
    pub(super) fn wake_when_paced(&mut self, now: Timestamp) {
        let paced = self.views.iter().filter(|v| v.paced_until > now && v.room() >= v.mss);
        let at = paced.map(|view| view.paced_until).min().unwrap_or(Timestamp::MAX);
        self.wake_at(at);
    }

    /// When to ask again.
    pub(super) fn wake(&self) -> Option<Timestamp> {
        self.wake
    }

    /// Something was sent again because the receiver's window is full.
    pub(super) fn on_window_blocked(&mut self) {
        self.window_blocked = true;
    }

    /// Whether the receiver's window made us send something again since the last segment was
    /// picked.
    pub(super) fn is_window_blocked(&self) -> bool {
        self.window_blocked
    }

    /// The scheduler wants copies of the segment at `dsn` on these paths too.
    pub(super) fn order_copies(&mut self, paths: impl Iterator<Item = PathId>, dsn: u64) {
        self.copies.extend(paths.map(|path| (path, dsn)));
    }

    /// The next copy that was asked for: its path and DSN.
    pub(super) fn next_copy(&mut self) -> Option<(PathId, u64)> {
        self.copies.pop_front()
    }

    pub(super) fn wants_copies(&self) -> bool {
        !self.copies.is_empty()
    }

    pub(super) fn on_delivered(&mut self, delivery: &Delivery, now: Timestamp) {
        self.scheduler.on_delivered(delivery, now);
    }

    pub(super) fn on_remove(&mut self, id: PathId) {
        self.copies.retain(|(path, _)| *path != id);
        self.scheduler.on_remove(id);
    }
}

fn view(path: &mut Path, congestion: &Congestion, now: Timestamp) -> PathView {
    let known = congestion.view(path.id, now);
    let recent = path.recent_rtt.srtt().filter(|_| known.in_flight > 0);
    let in_flight = known.in_flight + path.committed;
    let rate = congestion.pacing_rate(path.id);
    let ready = path.pacer.ready_at(now, rate, path.packet_size(), path.committed);
    let has_room = in_flight + path.packet_size() <= known.cwnd;
    let usable = !path.is_failed() && path.max_datagram > MIN_DATAGRAM;
    PathView {
        // Of a path that was idle and has no new sample the queue has drained.
        srtt: recent.or(known.min_rtt).or(path.first_rtt),
        min_rtt: known.min_rtt.or(path.first_rtt),
        in_flight,
        mss: path.packet_size(),
        available: usable && has_room && ready <= now,
        paced_until: ready,
        failed: !usable,
        backup: path.backup,
        weight: path.weight,
        ..known
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bond::fixtures::hub;
    use crate::config::BondConfig;

    /// What a scheduler sees of a path that has just joined.
    fn joined(rtt: Option<Duration>) -> PathView {
        let mut bond = hub(BondConfig::default(), rtt);
        bond.selection.renew(&mut bond.paths, &bond.congestion, Timestamp::ZERO);
        bond.selection.views()[0]
    }

    #[test]
    fn a_path_that_joins_shows_the_rtt_of_its_set_up() {
        let rtt = Some(Duration::from_millis(100));
        let view = joined(rtt);
        assert_eq!((view.srtt, view.min_rtt), (rtt, rtt));
        let view = joined(None);
        assert_eq!((view.srtt, view.min_rtt), (None, None));
    }
}
