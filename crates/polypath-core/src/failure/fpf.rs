//! Feedback-based path-failure detection (FPF).
//!
//! Source: idea of H. Oh and J. Lee, "Feedback-based path failure detection and buffer blocking
//! protection for MPTCP", IEEE/ACM Transactions on Networking 24(6), 2016; message and timers are
//! Polypath's own (`docs/algorithms/failure/fpf.md`). A path that falls silent, or that carries the
//! byte on which the receive window is stuck, is suspected. The receiver is asked over a stable
//! path whether anything still arrives there, and its report decides, one RTT of the stable path
//! later instead of one RTO.
//!
//! Equation: suspicion at `began + srtt + 4 rttvar + max_ack_delay + timer_margin`, where `began`
//! is the later of the last ACK and the first transmission after it.
//!
//! Reasons for what the paper does not have:
//! - `max_ack_delay` and `timer_margin` are in the suspicion time, because one delayed ACK does not
//!   mean that the path is dead.
//! - The receiver's `silent_for` decides, not only the place of the hole: it also tells a dead path
//!   from a path whose ACKs are lost, while nothing else is missing. A report that comes before the
//!   answer was due decides only if the hole is on that path and overdue.
//! - Without a stable path to ask over, or without an answer, the path is probed after one RTO and
//!   fails `peer_absence` later. One RTO alone, the rule of [`Rto`](super::Rto), convicts a path
//!   because the peer stands still, or is busy with what came on other paths.
//! - A report from a peer that was not heard for longer than the path may be silent convicts one
//!   suspicion time later: the ACK may have left with it (`docs/decisions/0021-silent-peers.md`).
//! - A failed path recovers by a full-size probe only, because small packets pass MTU black holes.

mod evidence;
mod path_state;
mod receiver;
mod sender;

use super::arrivals::answer_query;
use super::{
    Action, FailureCause, FailureDetector, PathHealth, Query, ReceiveState, SendState,
    SuspicionReport,
};
use crate::registry::{Description, Kind, Values, parameters};
use polypath_units::{PathId, Timestamp};
use receiver::Receiver;
use sender::Sender;
use std::collections::VecDeque;
use std::time::Duration;

parameters! {
    /// Parameters of [`Fpf`].
    pub struct FpfParameters {
        /// Added to the suspicion time for the noise of timers.
        pub timer_margin: Duration = Duration::from_millis(10), "timer_margin", "ms",
            "added to the suspicion time for the noise of timers";
        /// How near the out-of-order span must come to the receive window, in segments. A sender
        /// cannot exceed the window, so that the paper's "beyond it" would never happen.
        pub guard_segments: u64 = 1, "guard_segments", "segments",
            "how near the out-of-order span must come to the receive window";
        /// Time between two equal reports of the receiver while it knows no RTT.
        pub report_interval: Duration = Duration::from_millis(100), "report_interval", "ms",
            "time between equal reports while the receiver knows no RTT", 1.0 to 1e9;
        /// Time from an RTO to the failure of a silent path of which no answer tells: the peer may
        /// stand still.
        pub peer_absence: Duration = Duration::from_secs(5), "peer_absence", "ms",
            "time from an RTO to the failure of a silent path of which no answer tells";
    }
}

/// Feedback-based path-failure detection, both halves.
#[derive(Clone, Debug, Default)]
pub struct Fpf {
    sender: Sender,
    receiver: Receiver,
    actions: VecDeque<Action>,
}

impl Fpf {
    /// What the registry says of it.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Failure,
        name: "fpf",
        purpose: "asks the receiver over a stable path whether a silent path is dead",
        source: "Oh and Lee, IEEE/ACM ToN 24(6), 2016",
        parameters: FpfParameters::PARAMETERS,
    };

    /// A detector with these parameters.
    pub fn new(parameters: FpfParameters) -> Self {
        Self {
            sender: Sender::new(parameters),
            receiver: Receiver::new(parameters),
            actions: VecDeque::new(),
        }
    }

    /// A detector with the default parameters.
    pub fn build(values: &Values) -> Box<dyn FailureDetector> {
        Box::new(Self::new(FpfParameters::of(values)))
    }
}

impl FailureDetector for Fpf {
    fn on_sent(&mut self, path: PathId, now: Timestamp) {
        self.sender.on_sent(path, now);
    }

    fn on_ack(&mut self, path: PathId, now: Timestamp) {
        self.sender.on_ack(path, now);
    }

    fn on_timeout(&mut self, path: PathId, now: Timestamp) {
        self.actions.extend(self.sender.fail(path, FailureCause::TimedOut, now));
    }

    fn on_down(&mut self, path: PathId, now: Timestamp) {
        self.actions.extend(self.sender.fail(path, FailureCause::Down, now));
    }

    fn on_probe_acked(&mut self, path: PathId, now: Timestamp) {
        self.actions.extend(self.sender.recover(path, now));
    }

    fn on_idle(&mut self, path: PathId) {
        self.sender.on_idle(path);
    }

    fn on_report(&mut self, report: &SuspicionReport, now: Timestamp, paths: &[PathHealth]) {
        self.sender.on_report(report, now, paths);
    }

    fn on_query(&mut self, query: Query, now: Timestamp, state: &ReceiveState) {
        self.actions.push_back(answer_query(query, self.receiver.arrivals(), now, state));
    }

    fn on_data(&mut self, path: PathId, out_of_order: bool, now: Timestamp, state: &ReceiveState) {
        self.sender.on_arrival(path, now);
        self.actions.extend(self.receiver.on_data(path, out_of_order, now, state));
    }

    fn on_arrival(&mut self, path: PathId, now: Timestamp) {
        self.sender.on_arrival(path, now);
        self.receiver.on_arrival(path, now);
    }

    fn on_timer(&mut self, now: Timestamp, paths: &[PathHealth], state: &SendState) {
        self.receiver.set_report_interval(paths);
        self.actions.extend(self.sender.on_timer(now, paths, state));
    }

    fn next_timer(&self, paths: &[PathHealth], state: &SendState) -> Option<Timestamp> {
        self.sender.next_timer(paths, state)
    }

    fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    fn on_add(&mut self, path: PathId, now: Timestamp) {
        self.actions.extend(self.sender.recover(path, now));
        self.receiver.on_add(path, now);
    }

    fn on_remove(&mut self, path: PathId) {
        self.sender.on_remove(path);
        self.receiver.on_remove(path);
    }
}

/// The smoothed RTT, or the RTO before the first sample.
fn round_trip(health: &PathHealth) -> Duration {
    health.srtt.unwrap_or(health.rto)
}

#[cfg(test)]
mod tests;
