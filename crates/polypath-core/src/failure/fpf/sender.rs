//! The sender half of FPF: suspicion, query, verdict.

use super::evidence::{Activity, Evidence, Report};
use super::path_state::{Asked, PathState};
use super::{FpfParameters, round_trip};
use crate::failure::{Action, FailureCause, PathHealth, Query, SendState, SuspicionReport};
use crate::path_map::PathMap;
use polypath_units::{PathId, PathSet, Timestamp};
use std::time::Duration;

/// When a path is declared failed if nothing changes before.
#[derive(Clone, Copy, Debug)]
struct Verdict {
    at: Timestamp,
    cause: FailureCause,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Sender {
    parameters: FpfParameters,
    paths: PathMap<PathState>,
    activity: Activity,
    /// The latest time seen by `on_timer`: what was due before it has been handled.
    clock: Timestamp,
    last_query: u16,
}

impl Sender {
    pub(super) fn new(parameters: FpfParameters) -> Self {
        Self { parameters, ..Self::default() }
    }

    pub(super) fn on_sent(&mut self, path: PathId, now: Timestamp) {
        self.activity.note(now);
        self.state(path, now).on_sent(now);
    }

    pub(super) fn on_ack(&mut self, path: PathId, now: Timestamp) {
        self.on_arrival(path, now);
        self.state(path, now).on_ack(now);
    }

    /// Anything arrived on the path: the peer is not silent.
    pub(super) fn on_arrival(&mut self, path: PathId, now: Timestamp) {
        self.activity.note(now);
        for (other, state) in self.paths.iter_mut() {
            if other != path {
                state.hear(now);
            }
        }
    }

    pub(super) fn fail(
        &mut self,
        path: PathId,
        cause: FailureCause,
        now: Timestamp,
    ) -> Option<Action> {
        let state = self.state(path, now);
        (!std::mem::replace(&mut state.failed, true)).then_some(Action::Failed(path, cause))
    }

    /// Starts the path anew; an action if it had failed.
    pub(super) fn recover(&mut self, path: PathId, now: Timestamp) -> Option<Action> {
        let before = self.paths.insert(path, PathState::new(now));
        before.is_some_and(|state| state.failed).then_some(Action::Recovered(path))
    }

    pub(super) fn on_idle(&mut self, path: PathId) {
        if let Some(state) = self.paths.get_mut(path) {
            state.on_idle();
        }
    }

    pub(super) fn on_remove(&mut self, path: PathId) {
        self.paths.remove(path);
    }

    /// Weighs a report of the receiver; `on_timer` then acts on it.
    pub(super) fn on_report(
        &mut self,
        report: &SuspicionReport,
        now: Timestamp,
        paths: &[PathHealth],
    ) {
        self.activity.note(now);
        let arrived_after = self.activity.arrived_after();
        for suspect in &report.suspects {
            let Some(health) = paths.iter().find(|h| h.id == suspect.path) else { continue };
            let Some(state) = self.watched(health) else { continue };
            // It travelled over a path that it is not about.
            let others = paths.iter().filter(|h| h.id != suspect.path).map(round_trip);
            let one_way = others.max().unwrap_or_default() / 2;
            let asked = state.inquiry.asked.filter(|asked| asked.query == report.query);
            let asked = asked.map(|asked| asked.at);
            let report = Report { suspect, asked, now, arrived_after, one_way };
            let verdict = report.weigh(state, health);
            let state = self.state(suspect.path, now);
            match verdict {
                Some(evidence) => state.inquiry.evidence = state.inquiry.evidence.max(evidence),
                None => state.clear(now),
            }
        }
    }

    /// Acts on what is due: fails paths, asks about others.
    pub(super) fn on_timer(
        &mut self,
        now: Timestamp,
        paths: &[PathHealth],
        send: &SendState,
    ) -> Vec<Action> {
        self.activity.note(now);
        self.clock = self.clock.max(now);
        self.note_patience(paths);
        self.postpone(paths, now);
        let due = |at: Option<Timestamp>| at.is_some_and(|at| at <= now);
        let dead = paths.iter().filter_map(|h| Some((h.id, self.verdict(h, send)?)));
        let dead: Vec<_> = dead.filter(|(_, verdict)| verdict.at <= now).collect();
        let failed = dead.into_iter().filter_map(|(id, verdict)| self.fail(id, verdict.cause, now));
        let mut actions: Vec<_> = failed.collect();
        let doubtful = paths.iter().filter(|h| due(self.probes_at(h))).map(|h| h.id);
        for path in doubtful.collect::<PathSet>().iter() {
            self.state(path, now).inquiry.probed = true;
            actions.push(Action::Probe(path));
        }
        let asked = paths.iter().filter(|h| due(self.asks_at(h, paths, send))).map(|h| h.id);
        let asked: PathSet = asked.collect();
        if !asked.is_empty() {
            actions.push(self.ask(asked, now, paths, send));
        }
        actions
    }

    fn note_patience(&mut self, paths: &[PathHealth]) {
        for health in paths {
            let patience = self.patience(health);
            if let Some(state) = self.paths.get_mut(health.id) {
                state.patience = patience;
            }
        }
    }

    /// A host that stood still itself when no answer came does not know what has come since.
    fn postpone(&mut self, paths: &[PathHealth], now: Timestamp) {
        for health in paths {
            let Some(state) = self.watched(health) else { continue };
            let due = self.silence_verdict(state, health).at + self.parameters.timer_margin;
            if state.inquiry.postponed.is_none() && due < now {
                let until = now + self.patience(health);
                self.state(health.id, now).inquiry.postponed = Some(until);
            }
        }
    }

    /// The first time at which `on_timer` would act.
    pub(super) fn next_timer(&self, paths: &[PathHealth], send: &SendState) -> Option<Timestamp> {
        paths
            .iter()
            .flat_map(|h| {
                let fails = self.verdict(h, send).map(|verdict| verdict.at);
                let asks = self.asks_at(h, paths, send);
                [fails, asks, self.probes_at(h)]
            })
            .flatten()
            .min()
    }

    fn ask(
        &mut self,
        asked: PathSet,
        now: Timestamp,
        paths: &[PathHealth],
        send: &SendState,
    ) -> Action {
        self.last_query = self.last_query.checked_add(1).unwrap_or(1);
        let id = self.last_query;
        for path in asked.iter() {
            self.state(path, now).inquiry.asked = Some(Asked { query: id, at: now });
        }
        let avoid = paths.iter().filter(|h| !self.is_stable(h, now, send)).map(|h| h.id).collect();
        Action::Query { query: Query { id, paths: asked }, avoid }
    }

    fn state(&mut self, path: PathId, now: Timestamp) -> &mut PathState {
        self.paths.get_or_insert_with(path, || PathState::new(now))
    }

    /// The state of a path on which silence means something: not failed, and data is outstanding.
    fn watched(&self, health: &PathHealth) -> Option<&PathState> {
        self.paths.get(health.id).filter(|s| !s.failed && health.in_flight > 0)
    }

    /// How long a path may be silent before that alone makes it suspect.
    fn patience(&self, health: &PathHealth) -> Duration {
        answer_time(health) + self.parameters.timer_margin
    }

    /// When the path becomes suspect: as soon as an answer is due if the receive window is stuck on
    /// it.
    fn suspect_at(&self, health: &PathHealth, send: &SendState) -> Option<Timestamp> {
        let state = self.watched(health)?;
        let stuck = send.window_exhausted && send.oldest.is_some_and(|(on, _)| on == health.id);
        let patience =
            if stuck { round_trip(health) + health.max_ack_delay } else { self.patience(health) };
        Some(state.began() + patience)
    }

    /// When the path is declared failed if no sign of life arrives.
    fn verdict(&self, health: &PathHealth, send: &SendState) -> Option<Verdict> {
        let state = self.watched(health)?;
        let patience = self.patience(health);
        let silent = state.began() + patience;
        let overdue_hole =
            send.oldest.is_some_and(|(on, at)| on == health.id && at + patience <= silent);
        let convicted = match state.inquiry.evidence {
            Evidence::Confirmed => true,
            Evidence::Hint => overdue_hole,
            Evidence::None => false,
        };
        if !convicted {
            return Some(self.silence_verdict(state, health));
        }
        // An ACK that left the peer with what was heard first may be on its way.
        let absent_until = state.inquiry.absent_until;
        let at = absent_until.map_or(silent, |until| silent.max(until + patience));
        Some(Verdict { at, cause: FailureCause::Reported })
    }

    /// When silence alone is failure. A peer that can speak answers before; one that does not may
    /// only stand still, or be busy with what came on other paths.
    fn silence_verdict(&self, state: &PathState, health: &PathHealth) -> Verdict {
        let inquiry = &state.inquiry;
        let judged = self.times_out_at(state, health) + self.parameters.peer_absence;
        let at = inquiry.postponed.map_or(judged, |until| until.max(judged));
        let due = state.began() + self.patience(health);
        let cause = match inquiry.heard {
            Some(heard) if heard > due => FailureCause::TimedOut,
            _ => FailureCause::PeerSilent,
        };
        Verdict { at, cause }
    }

    /// When to probe the path, so that it is used as soon as it answers again.
    fn probes_at(&self, health: &PathHealth) -> Option<Timestamp> {
        let state = self.watched(health).filter(|state| !state.inquiry.probed)?;
        Some(self.times_out_at(state, health))
    }

    /// When the silence has lasted for one RTO, or for longer where an answer takes longer.
    fn times_out_at(&self, state: &PathState, health: &PathHealth) -> Timestamp {
        state.began() + self.patience(health).max(health.rto)
    }

    /// When to ask the receiver about the path: on suspicion, and again if no answer came.
    fn asks_at(
        &self,
        health: &PathHealth,
        paths: &[PathHealth],
        send: &SendState,
    ) -> Option<Timestamp> {
        let state = self.watched(health).filter(|s| s.inquiry.evidence != Evidence::Confirmed)?;
        let suspect = self.suspect_at(health, send)?;
        let at = suspect.max(self.clock);
        let Some(asked) = state.inquiry.asked else {
            // Past times are returned as they are, so that what became possible late is done at
            // once.
            return self.stable(paths, at, send).next().map(|_| suspect);
        };
        let reply = self.stable(paths, at, send).map(|h| self.patience(h)).min()?;
        let at = at.max(asked.at + reply.max(round_trip(health)));
        self.stable(paths, at, send).next().map(|_| at)
    }

    /// Paths over which a question can be asked at time `at`.
    fn stable<'a>(
        &'a self,
        paths: &'a [PathHealth],
        at: Timestamp,
        send: &'a SendState,
    ) -> impl Iterator<Item = &'a PathHealth> {
        paths.iter().filter(move |h| self.is_stable(h, at, send))
    }

    fn is_stable(&self, health: &PathHealth, at: Timestamp, send: &SendState) -> bool {
        let alive = self.paths.get(health.id).is_some_and(|state| !state.failed);
        alive && self.suspect_at(health, send).is_none_or(|suspect| suspect > at)
    }
}

/// The time within which an acknowledgement is due.
fn answer_time(health: &PathHealth) -> Duration {
    round_trip(health) + health.rtt_var.saturating_mul(4) + health.max_ack_delay
}
