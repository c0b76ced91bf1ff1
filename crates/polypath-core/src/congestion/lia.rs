//! LIA, the linked increases of MPTCP ("coupled").
//!
//! Source: RFC 6356 sections 3 and 4. Windows in bytes, RTTs (smoothed) in seconds, sums over the
//! usable subflows that have an RTT sample:
//!
//! ```text
//! a        = w_tot * max_i(w_i / rtt_i^2) / (sum_i w_i / rtt_i)^2
//! w_i     += min(a * acked * MSS_i / w_tot,  acked * MSS_i / w_i)
//! loss, timeout: as Reno
//! ```
//!
//! During recovery the threshold stands for the window in `a`. Deviation: `a` is computed anew for
//! each ACK event instead of once a window (RFC 6356 section 4 allows the latter to save time): a
//! bond has few subflows. A subflow that takes no part in coupling grows as Reno. Worked examples:
//! `docs/algorithms/congestion/lia.md`.

use super::coupling::{self, Totals};
use super::{Ack, CongestionAvoidance, Loss, Subflow, Subflows, reno};
use crate::registry::{Description, Kind, Values};
use polypath_units::PathId;

/// The linked-increases algorithm. It keeps no state beside the windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lia;

impl Lia {
    /// The registry row.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Congestion,
        name: "lia",
        purpose: "coupled increase: as much as one TCP on the best path, no more on a shared one",
        source: "RFC 6356 sections 3 and 4",
        parameters: &[],
    };

    /// An instance for the registry; LIA draws nothing at random.
    pub fn build(_values: &Values, _seed: u64) -> Box<dyn CongestionAvoidance> {
        Box::new(Self)
    }
}

/// RFC 6356 equation (2).
fn alpha(totals: &Totals) -> f64 {
    totals.window * totals.max_acceleration / (totals.rate * totals.rate)
}

/// The growth shared by LIA and the algorithms that grow as it does.
pub(super) fn on_ack(subflow: PathId, ack: &Ack, subflows: &mut Subflows) {
    let totals = Totals::of(subflows, Subflow::coupling_window);
    // RFC 6356 equation (1).
    coupling::grow(subflow, ack, subflows, |state, _, acked| {
        (alpha(&totals) * acked / totals.window).min(acked / state.cwnd)
    });
}

impl CongestionAvoidance for Lia {
    fn on_ack(&mut self, subflow: PathId, ack: &Ack, subflows: &mut Subflows) {
        on_ack(subflow, ack, subflows);
    }

    fn on_loss(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        if let Some(state) = subflows.get_mut(subflow) {
            reno::on_loss(state, loss);
        }
    }

    fn on_timeout(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        if let Some(state) = subflows.get_mut(subflow) {
            reno::on_timeout(state, loss);
        }
    }

    fn is_coupled(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::CongestionKind;
    use crate::congestion::testing::{ack, path, subflows};
    use proptest::prelude::*;
    use std::time::Duration;

    /// Growth of path `number` for one packet acknowledged, with a packet of one byte.
    fn growth(flows: &Subflows, number: u8) -> f64 {
        let mut after = flows.clone();
        Lia.on_ack(path(number), &ack(1, 1), &mut after);
        after.get(path(number)).unwrap().cwnd - flows.get(path(number)).unwrap().cwnd
    }

    #[test]
    fn t_lia_1() {
        let flows = subflows(1, &[(10.0, 100), (20.0, 200)]);
        assert!((alpha(&Totals::of(&flows, Subflow::coupling_window)) - 0.75).abs() < 1e-9);
        assert!((growth(&flows, 0) - 0.025).abs() < 1e-9);
        assert!((growth(&flows, 1) - 0.025).abs() < 1e-9);
    }

    #[test]
    fn t_lia_2() {
        let flows = subflows(1, &[(10.0, 100), (10.0, 100)]);
        assert!((alpha(&Totals::of(&flows, Subflow::coupling_window)) - 0.5).abs() < 1e-9);
        let each_rtt = 10.0 * growth(&flows, 0) + 10.0 * growth(&flows, 1);
        assert!((each_rtt - 0.5).abs() < 1e-9);
    }

    #[test]
    fn t_lia_3() {
        let flows = subflows(1, &[(2.0, 10), (40.0, 100)]);
        assert!((alpha(&Totals::of(&flows, Subflow::coupling_window)) - 7.0 / 3.0).abs() < 1e-9);
        assert!((growth(&flows, 0) - 1.0 / 18.0).abs() < 1e-9);
    }

    #[test]
    fn one_usable_subflow_is_reno() {
        let mut flows = subflows(1, &[(10.0, 100), (20.0, 50), (30.0, 10)]);
        flows.get_mut(path(1)).unwrap().usable = false;
        flows.get_mut(path(2)).unwrap().srtt = None;
        assert!((growth(&flows, 0) - 0.1).abs() < 1e-9);
    }

    #[test]
    fn in_recovery_the_threshold_counts() {
        let mut flows = subflows(1, &[(10.0, 100), (10.0, 100)]);
        let other = flows.get_mut(path(1)).unwrap();
        (other.in_recovery, other.ssthresh, other.cwnd) = (true, 10.0, 500.0);
        assert!((growth(&flows, 0) - 0.025).abs() < 1e-9);
    }

    proptest! {
        /// RFC 6356 section 3, goal 2: on no path more than a TCP would take there.
        #[test]
        fn lia_never_grows_faster_than_reno(
            flows in prop::collection::vec((1.0f64..1e9, 0.0f64..1e9, 1u64..10_000_000_000, any::<bool>(), any::<bool>()), 1..8),
            acked_bytes in 1u64..1_000_000,
            mss in 1u64..9_001,
        ) {
            let mut subflows = Subflows::default();
            for (number, &(cwnd, ssthresh, rtt, in_recovery, usable)) in (0..).zip(&flows) {
                let mut subflow = Subflow::new(path(number), mss);
                (subflow.cwnd, subflow.ssthresh) = (cwnd, ssthresh.max(1.0));
                subflow.srtt = Some(Duration::from_nanos(rtt));
                (subflow.in_recovery, subflow.usable) = (in_recovery, usable);
                subflows.insert(subflow);
            }
            for id in (0..flows.len() as u8).map(path) {
                let growth = |kind: CongestionKind| {
                    let mut after = subflows.clone();
                    kind.build(0).on_ack(id, &ack(acked_bytes, mss), &mut after);
                    after.get(id).unwrap().cwnd - subflows.get(id).unwrap().cwnd
                };
                let [lia, reno] = [CongestionKind::Lia, CongestionKind::Reno].map(growth);
                prop_assert!((0.0..=reno).contains(&lia), "{lia} against {reno}");
            }
        }
    }
}
