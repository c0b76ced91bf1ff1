//! BALIA, the balanced linked adaptation of MPTCP.
//!
//! Source: Peng, Walid, Hwang, Low, "Multipath TCP: Analysis, Design, and Implementation", IEEE/ACM
//! ToN 24(1), 2016; draft-walid-mptcp-congestion-control-04 section 3. Windows in bytes, RTTs
//! (smoothed) in seconds, over the usable subflows that have an RTT sample:
//!
//! ```text
//! x_i      = w_i / rtt_i          a_i = max_k x_k / x_i
//! w_i     += acked * MSS_i * x_i / (rtt_i * (sum_k x_k)^2) * (1 + a_i) / 2 * (4 + a_i) / 5
//! loss:     ssthresh = w - w / 2 * min(a, 1.5), at least one segment (two, if alone);
//!           w = ssthresh
//! timeout:  the same threshold;   w = MSS
//! ```
//!
//! Deviation: `a` is a fraction, where the Multipath TCP kernel (`mptcp_balia.c`) truncates it to a
//! whole number for the decrease. A subflow that takes no part in coupling grows as Reno. Worked
//! examples: `docs/algorithms/congestion/balia.md`.

use super::coupling::{self, Totals};
use super::{Ack, CongestionAvoidance, Loss, Subflow, Subflows};
use crate::registry::{Description, Kind, Values};
use polypath_units::PathId;

/// The largest `a` that the decrease takes: three quarters of the window go.
const MAX_DECREASE: f64 = 1.5;

/// The balanced linked adaptation. It keeps no state beside the windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balia;

impl Balia {
    /// The registry row.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Congestion,
        name: "balia",
        purpose: "coupled increase and decrease, friendliness balanced with a quick response",
        source: "Peng et al., IEEE/ACM ToN 24(1), 2016; draft-walid-mptcp-congestion-control-04",
        parameters: &[],
    };

    /// An instance for the registry; BALIA draws nothing at random.
    pub fn build(_values: &Values, _seed: u64) -> Box<dyn CongestionAvoidance> {
        Box::new(Self)
    }
}

/// Windows as they are, also in recovery: the decrease depends on the window that just met the
/// loss.
fn totals(subflows: &Subflows) -> Totals {
    Totals::of(subflows, |subflow| subflow.cwnd)
}

/// `a`: how many times faster the fastest subflow is; 1 without an RTT.
fn lag(subflow: &Subflow, totals: &Totals) -> f64 {
    let rate = subflow.srtt_secs().filter(|_| subflow.is_coupled()).map(|rtt| subflow.cwnd / rtt);
    rate.map_or(1.0, |rate| totals.max_rate / rate)
}

fn decrease(state: &mut Subflow, loss: &Loss, totals: &Totals, others: bool) {
    let share = lag(state, totals).min(MAX_DECREASE) / 2.0;
    coupling::lower_threshold(state, state.cwnd * (1.0 - share), loss, others);
}

impl CongestionAvoidance for Balia {
    fn on_ack(&mut self, subflow: PathId, ack: &Ack, subflows: &mut Subflows) {
        let totals = totals(subflows);
        coupling::grow(subflow, ack, subflows, |state, rtt, acked| {
            let (rate, a) = (state.cwnd / rtt, lag(state, &totals));
            acked * rate / (rtt * totals.rate * totals.rate) * (1.0 + a) / 2.0 * (4.0 + a) / 5.0
        });
    }

    fn on_loss(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        let (totals, others) = (totals(subflows), subflows.have_coupled_beside(subflow));
        if let Some(state) = subflows.get_mut(subflow) {
            decrease(state, loss, &totals, others);
            state.cwnd = state.ssthresh;
        }
    }

    fn on_timeout(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        let (totals, others) = (totals(subflows), subflows.have_coupled_beside(subflow));
        if let Some(state) = subflows.get_mut(subflow) {
            decrease(state, loss, &totals, others);
            state.cwnd = loss.mss as f64;
        }
    }

    fn is_coupled(&self) -> bool {
        true
    }

    fn min_window_segments(&self) -> f64 {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{ack, loss, path, subflows};

    fn window(flows: &Subflows, number: u8) -> f64 {
        flows.get(path(number)).unwrap().cwnd
    }

    /// Growth of path `number` for one packet acknowledged, with a packet of one byte.
    fn growth(flows: &Subflows, number: u8) -> f64 {
        let mut after = flows.clone();
        Balia.on_ack(path(number), &ack(1, 1), &mut after);
        window(&after, number) - window(flows, number)
    }

    /// The window of path `number` after a loss.
    fn after_loss(flows: &Subflows, number: u8) -> f64 {
        let mut after = flows.clone();
        after.get_mut(path(number)).unwrap().in_recovery = true;
        Balia.on_loss(path(number), &loss(1, 1), &mut after);
        window(&after, number)
    }

    #[test]
    fn t_balia_1() {
        let flows = subflows(1, &[(10.0, 100), (20.0, 200)]);
        assert!((growth(&flows, 0) - 0.025).abs() < 1e-9);
        assert!((growth(&flows, 1) - 0.0125).abs() < 1e-9);
        assert_eq!([after_loss(&flows, 0), after_loss(&flows, 1)], [5.0, 10.0]);
    }

    #[test]
    fn t_balia_2() {
        let flows = subflows(1, &[(10.0, 100), (40.0, 200)]);
        assert!((growth(&flows, 0) - 0.02).abs() < 1e-9);
        assert!((growth(&flows, 1) - 1.0 / 90.0).abs() < 1e-9);
        assert_eq!([after_loss(&flows, 0), after_loss(&flows, 1)], [2.5, 20.0]);
    }

    #[test]
    fn a_slightly_slower_path_gives_up_slightly_more() {
        // a = 1.2: the window falls by 0.6 of it.
        let flows = subflows(1, &[(10.0, 100), (12.0, 100)]);
        assert!((after_loss(&flows, 0) - 4.0).abs() < 1e-9);
    }

    #[test]
    fn one_usable_subflow_is_reno() {
        let mut flows = subflows(1, &[(10.0, 100), (40.0, 50)]);
        flows.get_mut(path(1)).unwrap().usable = false;
        assert!((growth(&flows, 0) - 0.1).abs() < 1e-9);
        assert_eq!([after_loss(&flows, 0), after_loss(&flows, 1)], [5.0, 20.0]);
    }

    #[test]
    fn a_timeout_leaves_one_segment_and_the_threshold_of_a_loss() {
        let mut flows = subflows(1, &[(10.0, 100), (40.0, 200)]);
        Balia.on_timeout(path(0), &loss(10, 1), &mut flows);
        let state = flows.get(path(0)).unwrap();
        assert_eq!((state.cwnd, state.ssthresh), (1.0, 2.5));
    }

    #[test]
    fn a_subflow_among_others_falls_to_one_segment_alone_to_two() {
        let mut flows = subflows(1, &[(2.0, 100), (40.0, 200)]);
        assert_eq!(after_loss(&flows, 0), 1.0);
        flows.remove(path(1));
        assert_eq!(after_loss(&flows, 0), 2.0);
    }
}
