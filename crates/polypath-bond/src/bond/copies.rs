//! Which paths get copies of a flow's datagrams.

use super::Bond;
use super::steering::window_rate;
use crate::codec::{FlowId, Redundancy};
use crate::flow::Piece;
use polypath_units::{PathId, PathSet, Timestamp};

impl Bond {
    /// The paths that are to carry the next datagram of a redundant flow: several, or one while a
    /// path is good enough.
    pub(super) fn copy_paths(&mut self, id: FlowId) -> PathSet {
        let Some(flow) = self.flows.sender(id) else { return PathSet::EMPTY };
        let redundancy = flow.config.redundancy;
        let allowed = self.paths.active_among(&flow.config.paths);
        if redundancy == Redundancy::default() {
            return allowed;
        }
        let current = flow.current();
        let fastest = self.by_rtt(allowed);
        if redundancy.is_conditional() {
            let good = |path: &PathId| self.is_good_enough(*path, &redundancy);
            // Nobody is taken from a path that is good enough to one that is only better.
            let stays = current.filter(|path| allowed.contains(*path)).filter(good);
            let single = stays.or_else(|| fastest.iter().copied().find(good));
            if let Some(path) = single {
                self.flows.with_sender(id, |flow| flow.stay_on(path));
                return PathSet::only(path);
            }
        }
        let copies = redundancy.copies.map_or(usize::MAX, |copies| copies.get().into());
        fastest.into_iter().take(copies).collect()
    }

    /// These paths, those of smallest RTT first.
    fn by_rtt(&self, paths: PathSet) -> Vec<PathId> {
        let mut paths: Vec<_> = paths.iter().collect();
        paths.sort_by_key(|path| {
            let srtt = self.congestion.rtt(*path).and_then(|rtt| rtt.srtt());
            (srtt.is_none(), srtt)
        });
        paths
    }

    /// Whether a path is known to need no copies: it answers, and neither its RTT nor its loss is
    /// above what is asked for.
    fn is_good_enough(&self, path: PathId, redundancy: &Redundancy) -> bool {
        let srtt = self.congestion.rtt(path).and_then(|rtt| rtt.srtt());
        let in_time = |most| srtt.is_some_and(|srtt| srtt <= most);
        let keeps = |most| self.congestion.loss_rate(path) * 1e6 <= f64::from(most);
        !self.paths.suspected().contains(path)
            && redundancy.rtt_above.is_none_or(in_time)
            && redundancy.loss_above.is_none_or(keeps)
    }

    /// What `path` carries of a `smallest_delay` flow has copies on the fastest other path, if that
    /// has room, and within the share of what the paths carry that the flow may spend on them.
    pub(super) fn copy_on_another(
        &mut self,
        id: FlowId,
        path: PathId,
        pieces: &[Piece],
        now: Timestamp,
    ) {
        let Some(flow) = self.flows.sender(id).filter(|flow| flow.may_copy(pieces)) else { return };
        let active = self.paths.active_among(&flow.config.paths);
        let others = self.sound(active).without(path);
        let other = self.paths.fastest_of(others, &self.congestion);
        let has_room =
            |path: &PathId| self.selection.view(*path).is_some_and(|view| view.available);
        let Some(path) = other.filter(has_room).and_then(|id| self.paths.get(id)) else { return };
        let (other, room, overhead) = (path.id, path.max_datagram, path.packet_overhead);
        let views = active.iter().filter_map(|path| self.selection.view(path));
        let rate = views.map(|view| view.rate.max(window_rate(view))).sum();
        self.flows.with_sender(id, |flow| {
            let fitting = pieces.iter().filter(|piece| piece.queued.fits(id, room));
            fitting.for_each(|piece| flow.copy(&piece.queued, other, overhead, rate, now));
        });
    }

    /// The path with room that has a copy to send. While copies depend on what paths are like, all
    /// paths are measured.
    pub(super) fn next_copy_path(&mut self, id: FlowId, now: Timestamp) -> Option<PathId> {
        let flow = self.flows.sender(id)?;
        if flow.config.redundancy.is_conditional() && flow.has_waiting() {
            self.delays.on_compared(now);
        }
        self.selection.open().map(|view| view.id).find(|path| flow.has_copy(*path))
    }
}
