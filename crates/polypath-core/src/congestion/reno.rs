//! NewReno, the additive-increase multiplicative-decrease baseline.
//!
//! Source: RFC 5681 section 3.1 (growth, ssthresh), RFC 6582 (recovery), RFC 9002 section 7.3.
//! Windows in bytes, one call for each ACK event:
//!
//! ```text
//! avoidance:  w += MSS * acked / w
//! loss:       ssthresh = max(flight / 2, 2 MSS)    w = ssthresh
//! timeout:    ssthresh = max(flight / 2, 2 MSS)    w = MSS
//! ```
//!
//! This is the variant with selective acknowledgements, which every Polypath world has: no window
//! inflation in recovery. [`super::NewRenoRecovery`] is the arithmetic without them.

use super::{Ack, CongestionAvoidance, Loss, Subflow, Subflows};
use crate::registry::{Description, Kind, Values};
use polypath_units::PathId;

/// NewReno with SACK. Each subflow on its own; it keeps no state beside the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reno;

impl Reno {
    /// The registry row.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Congestion,
        name: "reno",
        purpose: "additive increase, halving on loss: the uncoupled baseline",
        source: "RFC 5681 section 3.1; RFC 6582; RFC 9002 section 7.3",
        parameters: &[],
    };

    /// An instance for the registry; Reno draws nothing at random.
    pub fn build(_values: &Values, _seed: u64) -> Box<dyn CongestionAvoidance> {
        Box::new(Self)
    }
}

/// Growth in bytes of one Reno window for `acked_bytes`: about one segment in a round.
pub(super) fn increase(subflow: &Subflow, acked_bytes: u64) -> f64 {
    subflow.mss as f64 * acked_bytes as f64 / subflow.cwnd
}

/// `ssthresh` after a loss: RFC 5681 equation (4).
pub(super) fn threshold(loss: &Loss) -> f64 {
    (loss.bytes_in_flight as f64 / 2.0).max(2.0 * loss.mss as f64)
}

/// The response to loss shared by Reno and the algorithms that decrease as it does.
pub(super) fn on_loss(subflow: &mut Subflow, loss: &Loss) {
    subflow.ssthresh = threshold(loss);
    subflow.cwnd = subflow.ssthresh;
}

/// The response to a timeout shared by Reno and the algorithms that decrease as it does.
pub(super) fn on_timeout(subflow: &mut Subflow, loss: &Loss) {
    subflow.ssthresh = threshold(loss);
    subflow.cwnd = loss.mss as f64;
}

/// The growth shared by Reno and the algorithms that grow as it does.
pub(super) fn on_ack(subflow: PathId, ack: &Ack, subflows: &mut Subflows) {
    if let Some(state) = subflows.get_mut(subflow).filter(|s| s.may_grow(ack)) {
        state.cwnd += increase(state, ack.acked_bytes);
    }
}

impl CongestionAvoidance for Reno {
    fn on_ack(&mut self, subflow: PathId, ack: &Ack, subflows: &mut Subflows) {
        on_ack(subflow, ack, subflows);
    }

    fn on_loss(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        if let Some(state) = subflows.get_mut(subflow) {
            on_loss(state, loss);
        }
    }

    fn on_timeout(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        if let Some(state) = subflows.get_mut(subflow) {
            on_timeout(state, loss);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{ack, loss, path, subflows};

    #[test]
    fn t_reno_2() {
        let mut flows = subflows(1_000, &[(10_000.0, 100)]);
        Reno.on_ack(path(0), &ack(1_000, 1_000), &mut flows);
        assert_eq!(flows.get(path(0)).unwrap().cwnd, 10_100.0);
        Reno.on_timeout(path(0), &loss(10_000, 1_000), &mut flows);
        let state = flows.get(path(0)).unwrap();
        assert_eq!((state.ssthresh, state.cwnd), (5_000.0, 1_000.0));
    }

    #[test]
    fn t_unc_1() {
        let mut flows = subflows(1, &[(10.0, 100), (10.0, 100)]);
        for n in [0, 1] {
            Reno.on_ack(path(n), &ack(1, 1), &mut flows);
            assert!((flows.get(path(n)).unwrap().cwnd - 10.1).abs() < 1e-12);
        }
    }

    #[test]
    fn loss_halves_what_is_in_flight_but_keeps_two_segments() {
        let mut flows = subflows(1_000, &[(20_000.0, 100)]);
        Reno.on_loss(path(0), &loss(20_000, 1_000), &mut flows);
        assert_eq!(flows.get(path(0)).unwrap().cwnd, 10_000.0);
        Reno.on_loss(path(0), &loss(1_000, 1_000), &mut flows);
        assert_eq!(flows.get(path(0)).unwrap().cwnd, 2_000.0);
    }

    #[test]
    fn nothing_grows_in_recovery_or_while_the_window_does_not_limit() {
        let mut flows = subflows(1_000, &[(10_000.0, 100)]);
        Reno.on_ack(path(0), &Ack { cwnd_limited: false, ..ack(1_000, 1_000) }, &mut flows);
        flows.get_mut(path(0)).unwrap().in_recovery = true;
        Reno.on_ack(path(0), &ack(1_000, 1_000), &mut flows);
        assert_eq!(flows.get(path(0)).unwrap().cwnd, 10_000.0);
    }
}
