//! The sender half of FPF: suspicion, query, verdict.

use super::FpfParameters;
use crate::failure::arrivals::LONGEST_SILENCE;
use crate::failure::silence::Silence;
use crate::failure::{Action, PathHealth, Query, SendState, Suspect, SuspicionReport};
use crate::path_map::PathMap;
use polypath_units::{PathId, PathSet, Timestamp};
use std::time::Duration;

/// Reports are in whole milliseconds on the wire.
const REPORT_GRANULARITY: Duration = Duration::from_millis(1);

#[derive(Clone, Debug, Default)]
pub(super) struct Sender {
    parameters: FpfParameters,
    paths: PathMap<PathState>,
    /// The latest time seen by `on_timer`: what was due before it has been handled.
    clock: Timestamp,
    last_query: u16,
}

/// What is known of a path. Everything but `failed` belongs to the present silence and ends with
/// the next ACK.
#[derive(Clone, Copy, Debug)]
struct PathState {
    silence: Silence,
    failed: bool,
    /// When a report last showed that the path delivers: suspicion counts anew from there.
    cleared: Option<Timestamp>,
    /// The last query about the path.
    asked: Option<Timestamp>,
    evidence: Evidence,
}

/// What the receiver said about a silent path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Evidence {
    #[default]
    None,
    /// It suspects the path, but said so before an answer from the path was due.
    Hint,
    /// Nothing has arrived there since the silence began.
    Confirmed,
}

impl PathState {
    fn new(now: Timestamp) -> Self {
        Self {
            silence: Silence::new(now),
            failed: false,
            cleared: None,
            asked: None,
            evidence: Evidence::None,
        }
    }

    /// Since when an answer is due.
    fn began(&self) -> Timestamp {
        self.silence.began().max(self.cleared.unwrap_or(Timestamp::ZERO))
    }

    fn clear(&mut self, now: Timestamp) {
        self.cleared = Some(now);
        self.asked = None;
        self.evidence = Evidence::None;
    }
}

impl Sender {
    pub(super) fn new(parameters: FpfParameters) -> Self {
        Self { parameters, ..Self::default() }
    }

    pub(super) fn on_sent(&mut self, path: PathId, now: Timestamp) {
        self.state(path, now).silence.on_sent(now);
    }

    pub(super) fn on_ack(&mut self, path: PathId, now: Timestamp) {
        let state = self.state(path, now);
        let mut silence = state.silence;
        silence.on_ack(now);
        *state = PathState { silence, failed: state.failed, ..PathState::new(now) };
    }

    pub(super) fn fail(&mut self, path: PathId, now: Timestamp) -> Option<Action> {
        let state = self.state(path, now);
        (!std::mem::replace(&mut state.failed, true)).then_some(Action::Failed(path))
    }

    /// Starts the path anew; an action if it had failed.
    pub(super) fn recover(&mut self, path: PathId, now: Timestamp) -> Option<Action> {
        let before = self.paths.insert(path, PathState::new(now));
        before.is_some_and(|state| state.failed).then_some(Action::Recovered(path))
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
        for suspect in &report.suspects {
            let Some(health) = paths.iter().find(|h| h.id == suspect.path) else { continue };
            let Some(state) = self.watched(health) else { continue };
            let asked = state.asked.filter(|_| report.query != 0);
            let arrived = last_arrival(suspect, asked, now, paths);
            let verdict = weigh(state, arrived, health, report.query == 0, now);
            let state = self.state(suspect.path, now);
            match verdict {
                Some(evidence) => state.evidence = state.evidence.max(evidence),
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
        self.clock = self.clock.max(now);
        self.forget_idle(paths);
        let due = |at: Option<Timestamp>| at.is_some_and(|at| at <= now);
        let dead = paths.iter().filter(|h| due(self.fails_at(h, send)));
        let dead: Vec<_> = dead.map(|h| h.id).collect();
        let mut actions: Vec<_> = dead.into_iter().filter_map(|id| self.fail(id, now)).collect();
        let asked = paths.iter().filter(|h| due(self.asks_at(h, paths, send))).map(|h| h.id);
        let asked: PathSet = asked.collect();
        if !asked.is_empty() {
            actions.push(self.ask(asked, now, paths, send));
        }
        actions
    }

    /// With nothing outstanding, silence means nothing: it starts anew with the next transmission.
    fn forget_idle(&mut self, paths: &[PathHealth]) {
        for health in paths.iter().filter(|h| h.in_flight == 0) {
            if let Some(state) = self.paths.get_mut(health.id) {
                state.silence.on_idle();
                state.asked = None;
                state.evidence = Evidence::None;
            }
        }
    }

    /// The first time at which `on_timer` would act.
    pub(super) fn next_timer(&self, paths: &[PathHealth], send: &SendState) -> Option<Timestamp> {
        paths
            .iter()
            .flat_map(|h| [self.fails_at(h, send), self.asks_at(h, paths, send)])
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
            self.state(path, now).asked = Some(now);
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
    fn fails_at(&self, health: &PathHealth, send: &SendState) -> Option<Timestamp> {
        let state = self.watched(health)?;
        let patience = self.patience(health);
        let silent = state.began() + patience;
        let overdue_hole =
            send.oldest.is_some_and(|(on, at)| on == health.id && at + patience <= silent);
        let convicted = match state.evidence {
            Evidence::Confirmed => true,
            Evidence::Hint => overdue_hole,
            Evidence::None => false,
        };
        Some(if convicted { silent } else { state.began() + patience.max(health.rto) })
    }

    /// When to ask the receiver about the path: on suspicion, and again if no answer came.
    fn asks_at(
        &self,
        health: &PathHealth,
        paths: &[PathHealth],
        send: &SendState,
    ) -> Option<Timestamp> {
        let state = self.watched(health).filter(|s| s.evidence != Evidence::Confirmed)?;
        let suspect = self.suspect_at(health, send)?;
        let at = suspect.max(self.clock);
        let Some(asked) = state.asked else {
            // Past times are returned as they are, so that what became possible late is done at
            // once.
            return self.stable(paths, at, send).next().map(|_| suspect);
        };
        let reply = self.stable(paths, at, send).map(|h| self.patience(h)).min()?;
        let at = at.max(asked + reply.max(round_trip(health)));
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

/// What a report proves about a path; `None` if the path delivers.
fn weigh(
    state: &PathState,
    arrived: Option<Timestamp>,
    health: &PathHealth,
    unsolicited: bool,
    now: Timestamp,
) -> Option<Evidence> {
    // What was sent before the silence began may still have arrived within one RTT.
    let due = state.began() + round_trip(health);
    if arrived.is_some_and(|at| at > due) {
        return None;
    }
    Some(match now >= due + health.max_ack_delay {
        true => Evidence::Confirmed,
        false if unsolicited => Evidence::Hint,
        false => Evidence::None,
    })
}

/// The earliest time of the last arrival on the path, if a report can express it. The report itself
/// travelled one way of a stable path, and not for longer than since the question.
fn last_arrival(
    suspect: &Suspect,
    asked: Option<Timestamp>,
    now: Timestamp,
    paths: &[PathHealth],
) -> Option<Timestamp> {
    let others = paths.iter().filter(|h| h.id != suspect.path);
    let one_way = others.map(|h| round_trip(h) / 2).max().unwrap_or_default();
    let travelled = asked.map_or(one_way, |at| one_way.min(now - at));
    let ago = suspect.silent_for + travelled + REPORT_GRANULARITY;
    (suspect.silent_for < LONGEST_SILENCE).then(|| now - ago)
}

/// The smoothed RTT, or the RTO before the first sample.
fn round_trip(health: &PathHealth) -> Duration {
    health.srtt.unwrap_or(health.rto)
}

/// The time within which an acknowledgement is due.
fn answer_time(health: &PathHealth) -> Duration {
    round_trip(health) + health.rtt_var.saturating_mul(4) + health.max_ack_delay
}
