//! Paths that die and come back.

use super::connection::{Connection, Message, Output};
use super::log::PathEvent;
use polypath_core::failure::{Action, SendState, SuspicionReport};
use polypath_units::{PathId, PathSet, Timestamp};

impl Connection {
    /// The first byte of a subflow was acknowledged: it works.
    pub(super) fn on_acked(&mut self, path: PathId, now: Timestamp) {
        if self.subflows[path.index()].failed {
            // TCP's own retransmissions are the probes of a failed subflow.
            self.detector.on_probe_acked(path, now);
        }
        self.detector.on_ack(path, now);
    }

    pub(super) fn on_suspicion_report(&mut self, report: &SuspicionReport, now: Timestamp) {
        self.look_at_health();
        self.detector.on_report(report, now, &self.health);
        self.run_detector(now);
    }

    pub(super) fn run_detector(&mut self, now: Timestamp) {
        self.look_at_health();
        let state = self.send_state();
        self.detector.on_timer(now, &self.health, &state);
    }

    pub(super) fn next_detection(&mut self) -> Timestamp {
        self.look_at_health();
        let state = self.send_state();
        self.detector.next_timer(&self.health, &state).unwrap_or(Timestamp::MAX)
    }

    fn look_at_health(&mut self) {
        let (congestion, delay) = (&self.congestion, self.config.tcp.delayed_ack);
        self.health.clear();
        let established = self.subflows.iter().filter(|subflow| subflow.established);
        self.health.extend(established.map(|subflow| congestion.health(subflow.path, delay)));
    }

    fn send_state(&self) -> SendState {
        SendState {
            window_exhausted: self.unsent > 0 && self.is_window_full(),
            oldest: self.chunks.oldest().and_then(|chunk| chunk.last_sent),
        }
    }

    pub(super) fn obey_detector(&mut self, now: Timestamp) {
        while let Some(action) = self.detector.poll_action() {
            match action {
                Action::Query { query, avoid } => {
                    if let Some(path) = self.fastest(avoid) {
                        self.out.push_back(Output::Message(path, Message::Query(query)));
                    }
                }
                Action::Report(report) => self.send_suspicion_report(&report),
                // TCP's own retransmissions do that.
                Action::Probe(_) => {}
                Action::Failed(path, _) => self.set_failed(path, true, now),
                Action::Recovered(path) => self.set_failed(path, false, now),
            }
        }
    }

    fn set_failed(&mut self, path: PathId, failed: bool, now: Timestamp) {
        self.subflows[path.index()].failed = failed;
        let event = if failed { PathEvent::Failed } else { PathEvent::Recovered };
        self.log.record(now, path, event);
        self.congestion.set_usable(path, !failed);
        if failed {
            self.chunks.reinject(path);
        }
        self.wake = self.wake.min(now);
    }

    /// The working path of smallest RTT that is not to be avoided.
    pub(super) fn fastest(&self, avoid: PathSet) -> Option<PathId> {
        let working = self.subflows.iter().filter(|subflow| subflow.works());
        let paths = working.map(|subflow| subflow.path).filter(|&path| !avoid.contains(path));
        let srtt = |&path: &PathId| self.congestion.rtt(path).and_then(|rtt| rtt.srtt());
        paths.min_by_key(|path| (srtt(path).is_none(), srtt(path)))
    }

    /// A report goes over every path that it does not name.
    fn send_suspicion_report(&mut self, report: &SuspicionReport) {
        let suspects = |path| report.suspects.iter().any(|suspect| suspect.path == path);
        let established = self.subflows.iter().filter(|subflow| subflow.established);
        for path in established.map(|subflow| subflow.path).filter(|&path| !suspects(path)) {
            self.out.push_back(Output::Message(path, Message::Report(report.clone())));
        }
    }
}
