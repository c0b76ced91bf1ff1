//! Views for tests.

use super::{
    Action, FailureDetector, PathHealth, ReceiveState, SendState, Suspect, SuspicionReport,
};
use polypath_units::{PathId, Timestamp};
use std::time::Duration;

pub(super) const CALM: SendState = SendState { window_exhausted: false, oldest: None };
pub(super) const RECEIVED: ReceiveState =
    ReceiveState { rcv_nxt: 0, max_end: 0, window: 1_000_000, mss: 1_000 };

pub(super) fn id(number: u8) -> PathId {
    PathId::new(number).unwrap()
}

pub(super) fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(super) fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// A path with data in flight, 5 ms of `max_ack_delay`, an RTO of 200 ms.
pub(super) fn health(number: u8, srtt_ms: u64, rtt_var_ms: u64) -> PathHealth {
    PathHealth {
        id: id(number),
        srtt: Some(ms(srtt_ms)),
        rtt_var: ms(rtt_var_ms),
        max_ack_delay: ms(5),
        rto: ms(200),
        in_flight: 1_000,
    }
}

pub(super) fn idle(health: PathHealth) -> PathHealth {
    PathHealth { in_flight: 0, ..health }
}

/// A report on one path: solicited if `query` is not 0.
pub(super) fn report(query: u16, path: PathId, silent_for: Duration) -> SuspicionReport {
    let suspects = vec![Suspect { path, silent_for }];
    SuspicionReport { query, rcv_nxt: 0, max_end: 0, window: 0, suspects }
}

pub(super) fn actions(detector: &mut dyn FailureDetector) -> Vec<Action> {
    std::iter::from_fn(|| detector.poll_action()).collect()
}

/// Calls `on_timer` and takes the actions.
pub(super) fn tick(
    detector: &mut dyn FailureDetector,
    now: Timestamp,
    paths: &[PathHealth],
    state: &SendState,
) -> Vec<Action> {
    detector.on_timer(now, paths, state);
    actions(detector)
}
