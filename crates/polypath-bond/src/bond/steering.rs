//! Which path takes the next datagram of a flow, by the mode of the flow.

use super::Bond;
use crate::codec::{FlowConfig, FlowId, FlowMode, PathList};
use crate::flow::Source;
use polypath_core::scheduler::{PathView, QueueView};
use polypath_units::{PathId, PathSet, Timestamp};
use std::time::Duration;

/// A path is congested while what waits would take so long to leave on it: half of its RTT, but at
/// least this.
const LEAST_CONGESTION: Duration = Duration::from_millis(5);

/// What an RTT is taken for before it is known.
const UNKNOWN_RTT: Duration = Duration::from_millis(100);

/// Where a datagram goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Steered {
    pub(super) path: PathId,
    pub(super) source: Source,
}

/// The paths that a datagram may take.
#[derive(Clone, Copy, Debug)]
struct Choice {
    /// Those of its flow that carry data now.
    allowed: PathSet,
    /// Those of them that carry it in one packet.
    fitting: PathSet,
}

impl Choice {
    /// Where any path carries all of it, it takes one that does: of a datagram in `n` parts, the
    /// loss of any is the loss of all.
    fn usable(&self) -> PathSet {
        if self.fitting.is_empty() { self.allowed } else { self.fitting }
    }
}

impl Bond {
    /// Where the next datagram of a flow goes, if one may leave now. `waiting` bytes wait for the
    /// scheduler, over all flows.
    pub(super) fn steer(&mut self, id: FlowId, waiting: u64, now: Timestamp) -> Option<Steered> {
        let FlowConfig { mode, paths, .. } = self.flows.sender(id)?.config;
        let choice = self.choice(id);
        let copies =
            mode == FlowMode::Redundant || (mode == FlowMode::SmallestDelay && choice.is_none());
        let path = match mode {
            _ if copies => self.next_copy_path(id, now),
            FlowMode::Aggregate => return self.schedule(id, &choice?, waiting, now),
            FlowMode::Best if paths.is_all() => self.stick(id, choice?.usable()),
            // Who has put paths in an order wants it kept, and not what goes in one packet.
            FlowMode::Best => self.first_in_order(&paths, choice?.allowed),
            FlowMode::Redundant | FlowMode::SmallestDelay => {
                self.quickest(id, choice?.usable(), now)
            }
            FlowMode::PriorityBased => self.first_not_congested(id, choice?.allowed),
            FlowMode::LoadBalancing => self.furthest_behind(id, choice?.usable()),
        };
        if path.is_none() {
            self.selection.wake_when_paced(now);
        }
        let source = if copies { Source::Copies } else { Source::Shared { skip: 0 } };
        Some(Steered { path: path?, source })
    }

    /// For the next datagram that waits for any path; `None` if there is none.
    fn choice(&self, id: FlowId) -> Option<Choice> {
        let flow = self.flows.sender(id)?;
        let (next, allowed) = (flow.peek()?, self.paths.active_among(&flow.config.paths));
        let fits = |path: &PathId| {
            self.paths.get(*path).is_some_and(|path| next.fits(id, path.max_datagram))
        };
        Some(Choice { allowed, fitting: allowed.iter().filter(fits).collect() })
    }

    /// Where the scheduler wants the datagram.
    fn schedule(
        &mut self,
        id: FlowId,
        choice: &Choice,
        waiting: u64,
        now: Timestamp,
    ) -> Option<Steered> {
        let flow = self.flows.sender(id)?;
        let next = flow.peek()?;
        let (len, own) = (next.remaining(), flow.waiting());
        let of_all = flow.config.paths.is_all();
        // A flow with paths of its own shares its queue with none.
        let (waiting, asked) =
            if of_all { (waiting, choice.fitting) } else { (own, choice.usable()) };
        // Where it was lost, it may be lost again.
        let asked = asked.avoiding(next.lost_on);
        // The scheduler is asked about all paths where there are none to ask about.
        if !of_all && asked.is_empty() {
            return None;
        }
        let segment = len.min(self.selection.largest_packet());
        let queue = QueueView::of_datagrams(segment, waiting);
        let (path, skip) = self.selection.pick_for_datagram(&queue, asked, now)?;
        // The flows are served in turn: what is before it is theirs, too.
        let skip = (u128::from(skip) * u128::from(own) / u128::from(waiting.max(1))) as u64;
        Some(Steered { path, source: Source::Shared { skip } })
    }

    /// The path of a `best` flow, if it has room now: it stays while it is one of `usable`.
    fn stick(&mut self, id: FlowId, usable: PathSet) -> Option<PathId> {
        let current = self.flows.sender(id)?.current().filter(|path| usable.contains(*path));
        let path = current.or_else(|| self.paths.fastest_of(usable, &self.congestion))?;
        self.flows.with_sender(id, |flow| flow.stay_on(path));
        self.selection.open().any(|view| view.id == path).then_some(path)
    }

    /// The active path of a flow whose paths have an order, if it has room now.
    fn first_in_order(&self, paths: &PathList, allowed: PathSet) -> Option<PathId> {
        let path = paths.in_order(self.sound(allowed)).next()?;
        self.selection.open().any(|view| view.id == path).then_some(path)
    }

    /// The first path of a `priority_based` flow that is not congested, if it has room now.
    fn first_not_congested(&self, id: FlowId, allowed: PathSet) -> Option<PathId> {
        let flow = self.flows.sender(id)?;
        let waiting = flow.waiting();
        let order: Vec<_> = flow.config.paths.in_order(self.sound(allowed)).collect();
        let views = order.iter().filter_map(|path| self.selection.view(*path));
        let first = views
            .map(|view| (view.available, view))
            .find(|(available, view)| *available || !is_congested(view, waiting));
        first.filter(|(available, _)| *available).map(|(_, view)| view.id)
    }

    /// The path of a `load_balancing` flow with room now that has had the least of its share.
    fn furthest_behind(&self, id: FlowId, usable: PathSet) -> Option<PathId> {
        let sound = self.sound(usable);
        let flow = self.flows.sender(id)?;
        let open = self.selection.open().map(|view| view.id).filter(|path| sound.contains(*path));
        flow.shares.furthest_behind(open)
    }

    /// A payload of so many bytes of a flow leaves on a path.
    pub(super) fn on_steered(&mut self, id: FlowId, path: PathId, bytes: u64) {
        let Some(flow) = self.flows.sender(id) else { return };
        if flow.config.mode != FlowMode::LoadBalancing {
            return;
        }
        let carries = || self.selection.view(path).map_or(1.0, carried);
        let weight = flow.config.paths.weight(path).map_or_else(carries, f64::from);
        self.flows.with_sender(id, |flow| flow.shares.on_sent(path, bytes, weight));
    }

    /// Of these paths those of which the peer has not been asked; all of them if it has been of
    /// each.
    pub(super) fn sound(&self, paths: PathSet) -> PathSet {
        paths.avoiding(self.paths.suspected())
    }
}

/// Whether `waiting` bytes would have to wait on a path for longer than they should.
fn is_congested(view: &PathView, waiting: u64) -> bool {
    let patience = (view.srtt.unwrap_or(UNKNOWN_RTT) / 2).max(LEAST_CONGESTION);
    waiting as f64 > view.rate * patience.as_secs_f64()
}

/// What a path carries, in bytes per second: a window in each RTT before more is known.
fn carried(view: &PathView) -> f64 {
    if view.rate > 0.0 { view.rate } else { window_rate(view) }
}

/// What a window in each RTT carries, in bytes per second: the rate of a path that has had little
/// to carry says less of it.
pub(super) fn window_rate(view: &PathView) -> f64 {
    view.cwnd.max(1) as f64 / view.srtt.unwrap_or(UNKNOWN_RTT).as_secs_f64().max(1e-6)
}
