//! A path has potentially failed when its retransmission timer expires.
//!
//! Source: the `pf` flag of the MPTCP v0.9x kernels (`mptcp_output.c`, `mptcp_input.c`). Rule:
//! silent for one RTO with data outstanding, or the world's own retransmission timer expired, or
//! the interface is down: failed. Any ACK: recovered. Deviation: the detector also watches the RTO
//! itself (`PathHealth::rto`, without back-off), for worlds whose transport has no retransmission
//! timeout (QUIC).

use super::arrivals::{Arrivals, answer_query};
use super::silence::Silence;
use super::{
    Action, FailureCause, FailureDetector, PathHealth, Query, ReceiveState, SendState,
    SuspicionReport,
};
use crate::registry::{Description, Kind, Values};
use polypath_units::{PathId, Timestamp};
use std::collections::{BTreeMap, VecDeque};

/// Failure on retransmission timeout.
#[derive(Clone, Debug, Default)]
pub struct Rto {
    paths: BTreeMap<PathId, PathState>,
    arrivals: Arrivals,
    actions: VecDeque<Action>,
}

#[derive(Clone, Copy, Debug)]
struct PathState {
    silence: Silence,
    failed: bool,
}

impl PathState {
    fn new(now: Timestamp) -> Self {
        Self { silence: Silence::new(now), failed: false }
    }
}

impl Rto {
    /// What the registry says of it.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Failure,
        name: "rto",
        purpose: "a path fails when its retransmission timer expires, and recovers on any ACK",
        source: "MPTCP v0.9x, potentially failed (mptcp_output.c, mptcp_input.c)",
        parameters: &[],
    };

    /// A detector with the default parameters.
    pub fn build(_values: &Values) -> Box<dyn FailureDetector> {
        Box::new(Self::default())
    }

    fn state(&mut self, path: PathId, now: Timestamp) -> &mut PathState {
        self.paths.entry(path).or_insert_with(|| PathState::new(now))
    }

    fn fail(&mut self, path: PathId, cause: FailureCause, now: Timestamp) {
        let state = self.state(path, now);
        if !std::mem::replace(&mut state.failed, true) {
            self.actions.push_back(Action::Failed(path, cause));
        }
    }

    fn recover(&mut self, path: PathId, now: Timestamp) {
        let state = self.state(path, now);
        state.silence.on_ack(now);
        if std::mem::take(&mut state.failed) {
            self.actions.push_back(Action::Recovered(path));
        }
    }

    /// When a path that carries data fails if it stays silent.
    fn deadline(&self, health: &PathHealth) -> Option<Timestamp> {
        let state = self.paths.get(&health.id)?;
        (!state.failed && health.in_flight > 0).then(|| state.silence.began() + health.rto)
    }
}

impl FailureDetector for Rto {
    fn on_sent(&mut self, path: PathId, now: Timestamp) {
        self.state(path, now).silence.on_sent(now);
    }

    fn on_ack(&mut self, path: PathId, now: Timestamp) {
        self.recover(path, now);
    }

    fn on_timeout(&mut self, path: PathId, now: Timestamp) {
        self.fail(path, FailureCause::TimedOut, now);
    }

    fn on_down(&mut self, path: PathId, now: Timestamp) {
        self.fail(path, FailureCause::Down, now);
    }

    fn on_probe_acked(&mut self, path: PathId, now: Timestamp) {
        self.recover(path, now);
    }

    /// Reports of the receiver play no part in this rule.
    fn on_report(&mut self, _: &SuspicionReport, _: Timestamp, _: &[PathHealth]) {}

    fn on_idle(&mut self, path: PathId) {
        if let Some(state) = self.paths.get_mut(&path) {
            state.silence.on_idle();
        }
    }

    fn on_query(&mut self, query: Query, now: Timestamp, state: &ReceiveState) {
        self.actions.push_back(answer_query(query, &self.arrivals, now, state));
    }

    fn on_data(&mut self, path: PathId, _: bool, now: Timestamp, _: &ReceiveState) {
        self.on_arrival(path, now);
    }

    fn on_arrival(&mut self, path: PathId, now: Timestamp) {
        self.arrivals.record(path, now);
    }

    fn on_timer(&mut self, now: Timestamp, paths: &[PathHealth], _: &SendState) {
        for health in paths {
            if self.deadline(health).is_some_and(|at| at <= now) {
                self.fail(health.id, FailureCause::TimedOut, now);
            }
        }
    }

    fn next_timer(&self, paths: &[PathHealth], _: &SendState) -> Option<Timestamp> {
        paths.iter().filter_map(|health| self.deadline(health)).min()
    }

    fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    fn on_add(&mut self, path: PathId, now: Timestamp) {
        self.recover(path, now);
        self.paths.insert(path, PathState::new(now));
        self.arrivals.record(path, now);
    }

    fn on_remove(&mut self, path: PathId) {
        self.paths.remove(&path);
        self.arrivals.remove(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::fixtures::{CALM, actions, at, health, id, idle, ms, tick};
    use std::time::Duration;

    #[test]
    fn t_pf_1() {
        let mut rto = Rto::default();
        let path = PathHealth { srtt: Some(Duration::from_micros(6_650)), ..health(0, 0, 1) };
        rto.on_add(path.id, at(0));
        rto.on_sent(path.id, at(90));
        rto.on_ack(path.id, at(100));
        assert_eq!(rto.next_timer(&[path], &CALM), Some(at(300)));
        assert_eq!(tick(&mut rto, at(299), &[path], &CALM), []);
        assert_eq!(
            tick(&mut rto, at(300), &[path], &CALM),
            [Action::Failed(path.id, FailureCause::TimedOut)]
        );
        assert_eq!(rto.next_timer(&[path], &CALM), None);
    }

    #[test]
    fn an_idle_path_that_begins_to_send_is_not_dead() {
        let mut rto = Rto::default();
        let path = health(0, 10, 1);
        rto.on_add(path.id, at(0));
        rto.on_sent(path.id, at(1_000));
        // It is lost.
        rto.on_idle(path.id);
        assert_eq!(tick(&mut rto, at(5_000), &[idle(path)], &CALM), []);
        rto.on_sent(path.id, at(5_000));
        rto.on_sent(path.id, at(5_150));
        assert_eq!(rto.next_timer(&[path], &CALM), Some(at(5_000) + ms(200)));
    }

    #[test]
    fn timeouts_and_downs_fail_once_and_any_ack_recovers() {
        let mut rto = Rto::default();
        rto.on_timeout(id(0), at(1));
        rto.on_down(id(0), at(2));
        rto.on_ack(id(0), at(3));
        rto.on_ack(id(0), at(4));
        rto.on_down(id(0), at(5));
        rto.on_probe_acked(id(0), at(6));
        let failed = |cause| Action::Failed(id(0), cause);
        let recovered = Action::Recovered(id(0));
        let expected = [
            failed(FailureCause::TimedOut),
            recovered.clone(),
            failed(FailureCause::Down),
            recovered,
        ];
        assert_eq!(actions(&mut rto), expected);
    }
}
