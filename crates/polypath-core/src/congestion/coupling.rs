//! What coupled controls have in common: who takes part, the sums over them, and growth by them.

use super::{Ack, Loss, Subflow, Subflows, reno};
use polypath_units::PathId;

/// Sums over the subflows that take part in coupling. RTTs are smoothed ones, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Totals {
    /// `sum_i w_i` in bytes.
    pub(super) window: f64,
    /// `sum_i w_i / rtt_i` in bytes/s.
    pub(super) rate: f64,
    /// `max_i(w_i / rtt_i)` in bytes/s.
    pub(super) max_rate: f64,
    /// `max_i(w_i / rtt_i^2)` in bytes/s^2.
    pub(super) max_acceleration: f64,
}

impl Totals {
    /// The sums; `window` says which window of a subflow counts.
    pub(super) fn of(subflows: &Subflows, window: impl Fn(&Subflow) -> f64) -> Self {
        let members = subflows.coupled().filter_map(|s| Some((window(s), s.srtt_secs()?)));
        members.fold(Self::default(), |sum, (window, rtt)| Self {
            window: sum.window + window,
            rate: sum.rate + window / rtt,
            max_rate: sum.max_rate.max(window / rtt),
            max_acceleration: sum.max_acceleration.max(window / (rtt * rtt)),
        })
    }
}

/// Grows the window of a subflow for an ACK by the bytes that `linked` makes of it, its RTT in
/// seconds, and `MSS * acked` in square bytes; one that takes no part in coupling as Reno does.
pub(super) fn grow(
    subflow: PathId,
    ack: &Ack,
    subflows: &mut Subflows,
    linked: impl FnOnce(&Subflow, f64, f64) -> f64,
) {
    let Some(state) = subflows.get_mut(subflow).filter(|s| s.may_grow(ack)) else { return };
    let acked = state.mss as f64 * ack.acked_bytes as f64;
    state.cwnd += match state.srtt_secs().filter(|_| state.is_coupled()) {
        Some(rtt) => linked(state, rtt, acked),
        None => reno::increase(state, ack.acked_bytes),
    };
}

/// Sets the threshold after a loss: at least one segment where other subflows take part, else two.
pub(super) fn lower_threshold(state: &mut Subflow, bytes: f64, loss: &Loss, others: bool) {
    let least = if others { 1.0 } else { 2.0 };
    state.ssthresh = bytes.max(least * loss.mss as f64);
}
