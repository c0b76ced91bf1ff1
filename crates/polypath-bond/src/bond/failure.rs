//! Paths that fail and come back.

use super::{Bond, Urgent};
use crate::codec::Frame;
use crate::event::Event;
use crate::flight::Standing;
use crate::path::{Doubt, PathState};
use polypath_core::failure::{Action, FailureCause};
use polypath_units::{PathId, Timestamp};
use std::time::Duration;

impl Bond {
    /// Does what the failure detector wants done.
    pub(super) fn take_detector_actions(&mut self, now: Timestamp) {
        while let Some(action) = self.detector.poll_action() {
            match action {
                Action::Query { query, avoid } => {
                    self.paths.suspect(query.paths);
                    let frame = Frame::PathQuery(query);
                    self.urgent.push_back(Urgent { frame, avoid });
                }
                Action::Report(report) => {
                    let avoid = report.suspects.iter().map(|suspect| suspect.path).collect();
                    let frame = Frame::PathSuspect(report);
                    self.urgent.push_back(Urgent { frame, avoid });
                }
                Action::Probe(path) => {
                    if let Some(path) = self.paths.get_mut(path) {
                        path.probe.start(Doubt::Silent, now);
                    }
                }
                Action::Failed(path, cause) => self.fail_path(path, cause, now),
                Action::Recovered(path) => self.recover_path(path),
            }
        }
    }

    /// All that the path carries goes over the others; the path is probed.
    fn fail_path(&mut self, id: PathId, cause: FailureCause, now: Timestamp) {
        let Some(path) = self.paths.get_mut(id) else { return };
        path.state = PathState::Failed;
        path.is_suspected = false;
        path.counters.failures += 1;
        path.counters.last_failure = Some(cause);
        path.probe.start(Doubt::Failed, now);
        let mut carried = Vec::new();
        for packet in path.flight.iter_mut() {
            packet.standing = Standing::WrittenOff;
            carried.push(packet.payload.clone());
        }
        // An acknowledgement that has not left may be among what the carrier has.
        if path.committed > 0 {
            self.acks.demand(now);
        }
        for payload in carried {
            self.give_up(id, &payload, now);
        }
        self.chunks.on_path_gone(id);
        self.control.on_path_gone(id);
        self.congestion.set_usable(id, false);
        self.flows.forget_path(id);
        self.events.push_back(Event::PathFailed { path: id, cause });
    }

    fn recover_path(&mut self, id: PathId) {
        let Some(path) = self.paths.get_mut(id) else { return };
        path.state = PathState::Active;
        path.probe.stop();
        self.congestion.set_usable(id, true);
        self.events.push_back(Event::PathRecovered(id));
    }

    /// Paths that have failed and on which nothing has arrived for so long since.
    pub(crate) fn silent_paths(
        &self,
        now: Timestamp,
        silence: Duration,
    ) -> impl Iterator<Item = PathId> {
        let silent = self.paths.iter().filter(move |path| path.is_silent(now, silence));
        silent.map(|path| path.id)
    }

    /// Whether what is sent now can leave: the bond is open, and a path of it has not failed.
    pub fn has_working_path(&self) -> bool {
        self.is_open() && self.paths.working().next().is_some()
    }

    /// Whether the path exists and has not failed.
    pub(crate) fn is_path_active(&self, id: PathId) -> bool {
        self.paths.is_working(id)
    }

    pub(super) fn on_pong(&mut self, id: PathId, probe: u64, now: Timestamp) {
        let Some(path) = self.paths.get(id) else { return };
        if path.is_failed() && path.probe.is_current(probe) {
            self.detector.on_probe_acked(id, now);
        }
    }

    pub(super) fn run_detector(&mut self, now: Timestamp) {
        self.ask_detector(|detector, health, state| detector.on_timer(now, health, state));
        self.take_detector_actions(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bond::fixtures::{hub, settings};
    use crate::config::BondConfig;
    use crate::event::BreakReason;

    const NOW: Timestamp = Timestamp::from_millis(10);

    #[test]
    fn a_path_works_until_the_last_one_fails_or_leaves_or_the_bond_ends() {
        let mut bond = hub(BondConfig::default(), None);
        let (first, second) = (PathId::default(), PathId::new(1).unwrap());
        bond.add_path(second, settings("b", None), NOW);
        bond.on_path_down(first, NOW);
        assert!(bond.has_working_path());
        bond.remove_path(second);
        assert!(!bond.has_working_path(), "the other one has failed");
        bond.add_path(second, settings("b", None), NOW);
        assert!(bond.has_working_path(), "it has joined again");
        bond.break_off(BreakReason::Aborted);
        assert!(!bond.has_working_path());
    }
}
