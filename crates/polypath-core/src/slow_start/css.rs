//! Coupled slow start: the subflows of a connection grow together as one TCP.
//!
//! Source: Wang, Xue, Yue, Han, Xu, Hong, "Coupled slow-start", GLOBECOM 2017;
//! `docs/algorithms/slow_start/css.md`. Windows in bytes, RTTs in seconds, sums over the usable
//! subflows that have an RTT sample:
//!
//! ```text
//! delta = max_i(w_i / rtt_i^2) / sum_i(w_i / rtt_i^2)          1/n <= delta <= 1
//! ACK:    w_r += delta * acked
//! exit:   sum_i(w_i / rtt_i) >= conssthresh / baseRTT:   ssthresh_r = w_r of every subflow
//! ```
//!
//! `rtt` is smoothed, `baseRTT` the smallest of all subflows. The exit rule is that of the paper;
//! its growth rule could not be found, and this one is derived from its aim: the rate of the
//! connection grows as that of one TCP with the window of the fastest-growing subflow.
//! `conssthresh` is given, or infinite; after each loss it becomes the sum of the thresholds, if
//! all subflows have one (assumed): a subflow that joins later then grows within what the
//! connection has found to be its share. It acts on the first slow start of a subflow only.

use super::{Growth, SlowStart};
use crate::congestion::{Ack, Subflow};
use crate::path_map::PathMap;
use crate::registry::{Description, Kind, Values, parameters};
use polypath_units::PathId;

parameters! {
    /// The parameters of [`Css`].
    ///
    /// Defaults: no threshold at first, as TCP.
    pub struct CssParameters {
        /// The initial `conssthresh` in segments; 0: infinite.
        pub conssthresh: f64 = 0.0, "conssthresh", "segments",
            "threshold of the connection over its smallest RTT; 0 = infinite";
        /// 1: the subflows grow as one TCP; 0: each doubles, and only the exit is coupled.
        pub coupled_growth: f64 = 1.0, "coupled_growth", "",
            "1: growth of one TCP for all subflows; 0: each doubles", 0.0 to 1.0;
    }
}

/// Coupled slow start for the subflows of a connection.
#[derive(Clone, Debug, Default)]
pub struct Css {
    parameters: CssParameters,
    /// `conssthresh` in bytes after a loss.
    learned: Option<f64>,
    phases: PathMap<Phase>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    First,
    /// The connection has reached its share, so that the next ACK ends slow start.
    Leaving,
    /// The first slow start is over.
    Later,
}

impl Css {
    /// The registry row.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::SlowStart,
        name: "css",
        purpose: "coupled: the subflows grow together as one TCP on the fastest path",
        source: "Wang et al., Coupled slow-start, GLOBECOM 2017; growth rule reconstructed",
        parameters: CssParameters::PARAMETERS,
    };

    /// Coupled slow start with other parameters.
    pub fn new(parameters: CssParameters) -> Self {
        Self { parameters, ..Self::default() }
    }

    /// An instance for the registry.
    pub fn build(values: &Values) -> Box<dyn SlowStart> {
        Box::new(Self::new(CssParameters::of(values)))
    }

    fn phase(&self, subflow: PathId) -> Phase {
        self.phases.get(subflow).copied().unwrap_or_default()
    }

    /// `conssthresh` in bytes; `None` while it is infinite.
    fn conssthresh(&self, mss: u64) -> Option<f64> {
        let given = self.parameters.conssthresh * mss as f64;
        self.learned.or((given > 0.0).then_some(given))
    }

    /// Whether the connection sends as fast as one TCP would at the end of its slow start.
    fn is_reached(&self, ack: &Ack, subflows: &[Subflow]) -> bool {
        let base_rtt = subflows.iter().filter_map(|s| s.min_rtt).min();
        let Some((threshold, base)) = self.conssthresh(ack.mss).zip(base_rtt) else { return false };
        let rate: f64 = coupled(subflows).map(|(_, window, rtt)| window / rtt).sum();
        rate >= threshold / base.as_secs_f64()
    }

    fn leave(&mut self, subflows: &[Subflow]) {
        for subflow in subflows.iter().filter(|s| s.cwnd < s.ssthresh) {
            if self.phase(subflow.id) == Phase::First {
                self.phases.insert(subflow.id, Phase::Leaving);
            }
        }
    }
}

/// The subflows that take part in coupling: which, window in bytes, RTT in seconds.
fn coupled(subflows: &[Subflow]) -> impl Iterator<Item = (PathId, f64, f64)> {
    let usable = subflows.iter().filter(|s| s.usable);
    usable.filter_map(|s| Some((s.id, s.coupling_window(), s.srtt_secs()?)))
}

/// The share of its growth that a subflow keeps; all of it if it takes no part in coupling.
fn delta(subflow: PathId, subflows: &[Subflow]) -> f64 {
    let (mut best, mut sum, mut takes_part) = (0.0f64, 0.0, false);
    for (id, window, rtt) in coupled(subflows) {
        let term = window / (rtt * rtt);
        (best, sum) = (best.max(term), sum + term);
        takes_part |= id == subflow;
    }
    if takes_part { best / sum } else { 1.0 }
}

impl SlowStart for Css {
    fn on_ack(&mut self, subflow: PathId, ack: &Ack, subflows: &[Subflow]) -> Growth {
        let acked = ack.acked_bytes as f64;
        if self.phase(subflow) == Phase::Later {
            return Growth::Grow(acked);
        }
        if self.is_reached(ack, subflows) {
            self.leave(subflows);
        }
        if self.phase(subflow) == Phase::Leaving {
            self.phases.insert(subflow, Phase::Later);
            return Growth::Exit;
        }
        let coupled = self.parameters.coupled_growth > 0.0;
        Growth::Grow(if coupled { acked * delta(subflow, subflows) } else { acked })
    }

    fn on_congestion(&mut self, subflow: PathId) {
        self.phases.insert(subflow, Phase::Later);
    }

    fn on_timeout(&mut self, subflow: PathId) {
        self.phases.insert(subflow, Phase::Later);
    }

    fn on_threshold(&mut self, _subflow: PathId, subflows: &[Subflow]) {
        let sum: f64 = subflows.iter().map(|s| s.ssthresh).sum();
        if sum.is_finite() {
            self.learned = Some(sum);
        }
    }

    fn on_remove(&mut self, subflow: PathId) {
        self.phases.remove(subflow);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{ack, path, subflows};

    /// Subflows in slow start, with packets of one byte.
    fn starting(flows: &[(f64, u64)]) -> Vec<Subflow> {
        let mut flows = subflows(1, flows).as_slice().to_vec();
        flows.iter_mut().for_each(|subflow| subflow.ssthresh = f64::INFINITY);
        flows
    }

    fn limited(conssthresh: f64) -> Css {
        Css::new(CssParameters { conssthresh, ..CssParameters::DEFAULT })
    }

    #[test]
    fn t_css_1() {
        let flows = starting(&[(10.0, 50), (10.0, 50)]);
        let mut css = limited(64.0);
        for n in [0, 1] {
            assert_eq!(css.on_ack(path(n), &ack(10, 1), &flows), Growth::Grow(5.0));
        }
        let flows = starting(&[(31.0, 50), (32.0, 50)]);
        assert!(matches!(css.on_ack(path(1), &ack(1, 1), &flows), Growth::Grow(_)), "1260 < 1280");
        let mut flows = starting(&[(32.0, 50), (32.0, 50)]);
        assert_eq!(css.on_ack(path(0), &ack(1, 1), &flows), Growth::Exit);
        // The other one leaves, too, even though a loss has meanwhile lowered the rate.
        (flows[0].cwnd, flows[0].ssthresh) = (16.0, 16.0);
        assert_eq!(css.on_ack(path(1), &ack(1, 1), &flows), Growth::Exit);
    }

    #[test]
    fn t_css_2() {
        let flows = starting(&[(10.0, 50), (10.0, 100)]);
        for n in [0, 1] {
            let growth = Css::default().on_ack(path(n), &ack(10, 1), &flows);
            assert!(matches!(growth, Growth::Grow(bytes) if (bytes - 8.0).abs() < 1e-9));
        }
    }

    #[test]
    fn one_subflow_and_those_that_are_not_coupled_double() {
        let mut flows = starting(&[(10.0, 50), (10.0, 50), (10.0, 50)]);
        flows[1].usable = false;
        flows[2].srtt = None;
        for n in 0..3 {
            let growth = Css::default().on_ack(path(n), &ack(10, 1), &flows);
            assert_eq!(growth, Growth::Grow(10.0), "{n}");
        }
    }

    #[test]
    fn the_growth_can_be_left_alone() {
        let mut css = Css::new(CssParameters { coupled_growth: 0.0, conssthresh: 64.0 });
        let flows = starting(&[(10.0, 50), (10.0, 50)]);
        assert_eq!(css.on_ack(path(0), &ack(10, 1), &flows), Growth::Grow(10.0));
        let flows = starting(&[(32.0, 50), (32.0, 50)]);
        assert_eq!(css.on_ack(path(0), &ack(1, 1), &flows), Growth::Exit);
    }

    #[test]
    fn without_a_threshold_it_never_leaves() {
        let flows = starting(&[(1e12, 50), (1e12, 50)]);
        assert_eq!(Css::default().on_ack(path(0), &ack(10, 1), &flows), Growth::Grow(5.0));
    }

    #[test]
    fn only_the_first_slow_start_is_coupled() {
        let flows = starting(&[(32.0, 50), (32.0, 50)]);
        for event in [Css::on_congestion, Css::on_timeout] {
            let mut css = limited(64.0);
            event(&mut css, path(0));
            assert_eq!(css.on_ack(path(0), &ack(10, 1), &flows), Growth::Grow(10.0));
        }
        let mut css = limited(64.0);
        assert_eq!(css.on_ack(path(0), &ack(10, 1), &flows), Growth::Exit);
        assert_eq!(css.on_ack(path(0), &ack(10, 1), &flows), Growth::Grow(10.0));
    }

    /// Two subflows have thresholds of 30 each. With a third at the same RTT the connection
    /// has its share at 60; an infinite threshold says nothing.
    #[test]
    fn who_joins_after_a_loss_stays_within_the_share_of_the_connection() {
        let mut css = Css::default();
        let mut flows = starting(&[(25.0, 50), (25.0, 50), (9.0, 50)]);
        (flows[0].ssthresh, flows[1].ssthresh) = (30.0, 30.0);
        css.on_threshold(path(0), &flows[..2]);
        css.on_threshold(path(0), &flows);
        assert!(matches!(css.on_ack(path(2), &ack(1, 1), &flows), Growth::Grow(_)));
        flows[2].cwnd = 10.0;
        assert_eq!(css.on_ack(path(2), &ack(1, 1), &flows), Growth::Exit);
    }
}
