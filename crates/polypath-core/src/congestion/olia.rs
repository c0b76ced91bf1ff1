//! OLIA, the opportunistic linked increases of MPTCP.
//!
//! Source: Khalili et al., "MPTCP is not Pareto-optimal", CoNEXT 2012; draft-khalili-mptcp-
//! congestion-control-05 section 3; the best path is chosen as the Multipath TCP kernel
//! (`mptcp_olia.c`) does. Windows and `l` in bytes, RTTs (smoothed) in seconds, over the `R` usable
//! subflows that have an RTT sample:
//!
//! ```text
//! l        = max(bytes acked since the last loss, bytes acked between the last two)
//! M        = those of the largest window in whole segments
//! B        = those of the largest l / rtt^2          (a rate is about sqrt(2 l) / rtt)
//! C        = B without M
//! e        = 1 / (R |C|) in C;   -1 / (R |M|) in M if C is not empty;   0 otherwise
//! w_i     += acked * MSS_i * ((w_i / rtt_i^2) / (sum_k w_k / rtt_k)^2 + e_i / w_i)
//! loss:     ssthresh = w / 2, at least one segment (two, if alone);   w = ssthresh
//! timeout:  the same threshold;   w = MSS
//! ```
//!
//! During recovery the threshold stands for the window. Windows are compared in whole segments, as
//! the kernel counts them: in bytes two would never be equal. A timeout in the recovery of a loss
//! does not count as another loss. A subflow that takes no part in coupling grows as Reno.

use super::coupling::{self, Totals};
use super::{Ack, CongestionAvoidance, Loss, Subflow, Subflows};
use crate::path_map::PathMap;
use crate::registry::{Description, Kind, Values};
use polypath_units::PathId;

/// The opportunistic linked-increases algorithm.
#[derive(Clone, Debug, Default)]
pub struct Olia {
    distances: PathMap<LossDistance>,
}

/// Bytes acknowledged between losses of one subflow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct LossDistance {
    /// Between the last two: `l1`.
    last: u64,
    /// Since the last: `l2`.
    present: u64,
    /// `last` before the last loss, for when that proves spurious.
    before: Option<u64>,
}

impl LossDistance {
    fn longest(self) -> f64 {
        self.last.max(self.present) as f64
    }

    /// Nothing was acknowledged since the last loss, so that this is the same one.
    fn on_loss(&mut self) {
        if self.present > 0 {
            self.before = Some(self.last);
            self.last = core::mem::take(&mut self.present);
        }
    }

    fn on_spurious_loss(&mut self) {
        if let Some(before) = self.before.take() {
            self.present = self.present.saturating_add(self.last);
            self.last = before;
        }
    }
}

/// What decides `e`: the largest window in segments and the best path.
#[derive(Clone, Copy, Debug, Default)]
struct Leaders {
    window: f64,
    quality: f64,
}

/// Of which sets a subflow is a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// `M`.
    LargestWindow,
    /// `C`: best, but not of the largest window.
    Collected,
    Other,
}

impl Olia {
    /// The registry row.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Congestion,
        name: "olia",
        purpose: "coupled increase that moves traffic to the best paths (Pareto-optimal)",
        source: "Khalili et al., CoNEXT 2012; draft-khalili-mptcp-congestion-control-05",
        parameters: &[],
    };

    /// An instance for the registry; OLIA draws nothing at random.
    pub fn build(_values: &Values, _seed: u64) -> Box<dyn CongestionAvoidance> {
        Box::new(Self::default())
    }

    /// `l / rtt^2` in bytes/s^2.
    fn quality(&self, subflow: &Subflow) -> f64 {
        let rtt = subflow.srtt_secs().unwrap_or(f64::INFINITY);
        self.distances.get(subflow.id).map_or(0.0, |distance| distance.longest()) / (rtt * rtt)
    }

    fn leaders(&self, subflows: &Subflows) -> Leaders {
        subflows.coupled().fold(Leaders::default(), |best, subflow| Leaders {
            window: best.window.max(whole_segments(subflow)),
            quality: best.quality.max(self.quality(subflow)),
        })
    }

    fn role(&self, subflow: &Subflow, leaders: &Leaders) -> Role {
        if whole_segments(subflow) >= leaders.window {
            Role::LargestWindow
        } else if self.quality(subflow) >= leaders.quality {
            Role::Collected
        } else {
            Role::Other
        }
    }

    /// `e` of a subflow that takes part.
    fn epsilon(&self, subflow: PathId, subflows: &Subflows) -> f64 {
        let leaders = self.leaders(subflows);
        let roles = || subflows.coupled().map(|s| (s.id, self.role(s, &leaders)));
        let members = |role| roles().filter(|&(_, each)| each == role).count();
        let own = roles().find(|&(id, _)| id == subflow).map_or(Role::Other, |(_, role)| role);
        if own == Role::Other || members(Role::Collected) == 0 {
            return 0.0;
        }
        let share = 1.0 / (roles().count() * members(own)) as f64;
        if own == Role::Collected { share } else { -share }
    }

    /// Takes a loss into `l` and the threshold; `again` means a timeout in its recovery.
    fn decrease(&mut self, state: &mut Subflow, loss: &Loss, others: bool, again: bool) {
        if !again && let Some(distance) = self.distances.get_mut(state.id) {
            distance.on_loss();
        }
        coupling::lower_threshold(state, state.cwnd / 2.0, loss, others);
    }
}

fn whole_segments(subflow: &Subflow) -> f64 {
    (subflow.coupling_window() / subflow.mss as f64).floor()
}

impl CongestionAvoidance for Olia {
    fn on_delivery(&mut self, subflow: PathId, ack: &Ack, _subflows: &Subflows) {
        let distance = self.distances.get_or_insert_with(subflow, LossDistance::default);
        distance.present = distance.present.saturating_add(ack.acked_bytes);
    }

    fn on_ack(&mut self, subflow: PathId, ack: &Ack, subflows: &mut Subflows) {
        let totals = Totals::of(subflows, Subflow::coupling_window);
        let epsilon = self.epsilon(subflow, subflows);
        coupling::grow(subflow, ack, subflows, |state, rtt, acked| {
            let linked = state.cwnd / (rtt * rtt) / (totals.rate * totals.rate);
            acked * (linked + epsilon / state.cwnd)
        });
    }

    fn on_loss(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        let others = subflows.have_coupled_beside(subflow);
        if let Some(state) = subflows.get_mut(subflow) {
            self.decrease(state, loss, others, false);
            state.cwnd = state.ssthresh;
        }
    }

    fn on_timeout(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        let others = subflows.have_coupled_beside(subflow);
        if let Some(state) = subflows.get_mut(subflow) {
            let again = state.in_recovery;
            self.decrease(state, loss, others, again);
            state.cwnd = loss.mss as f64;
        }
    }

    fn on_spurious_loss(&mut self, subflow: PathId, _subflows: &mut Subflows) {
        if let Some(distance) = self.distances.get_mut(subflow) {
            distance.on_spurious_loss();
        }
    }

    fn on_remove(&mut self, subflow: PathId) {
        self.distances.remove(subflow);
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

    /// Two subflows of 10 and 20 segments of one byte, 100 and 200 ms, with `l1` and `l2` = 0.
    fn two(l1: [u64; 2]) -> (Olia, Subflows) {
        let mut olia = Olia::default();
        for (number, last) in (0..).zip(l1) {
            olia.distances.insert(path(number), LossDistance { last, ..Default::default() });
        }
        (olia, subflows(1, &[(10.0, 100), (20.0, 200)]))
    }

    /// Growth of each path for one packet acknowledged.
    fn growth((olia, flows): &(Olia, Subflows)) -> Vec<f64> {
        let grown = |number| {
            let mut after = flows.clone();
            olia.clone().on_ack(path(number), &ack(1, 1), &mut after);
            after.get(path(number)).unwrap().cwnd - flows.get(path(number)).unwrap().cwnd
        };
        (0..flows.as_slice().len() as u8).map(grown).collect()
    }

    fn close(left: &[f64], right: &[f64]) {
        let same = left.iter().zip(right).all(|(l, r)| (l - r).abs() <= 1e-9);
        assert!(same && left.len() == right.len(), "{left:?} is not {right:?}");
    }

    #[test]
    fn t_olia_1() {
        close(&growth(&two([200, 900])), &[0.025, 0.0125]);
    }

    #[test]
    fn t_olia_2() {
        close(&growth(&two([300, 900])), &[0.075, -0.0125]);
    }

    #[test]
    fn without_a_loss_yet_every_path_is_best() {
        // As T-OLIA-2: path 0 is best but not of the largest window.
        close(&growth(&two([0, 0])), &[0.075, -0.0125]);
    }

    #[test]
    fn three_paths_share_what_moves() {
        let (mut olia, _) = two([0, 0]);
        olia.distances.insert(path(1), LossDistance { last: 1, ..Default::default() });
        let flows = subflows(1, &[(20.0, 100), (10.0, 100), (20.7, 100)]);
        // e = -1/6, 1/3, -1/6: paths 0 and 2 have 20 whole segments. The sum of windows is 50.7.
        let linked = [20.0, 10.0, 20.7].map(|w| w / (50.7 * 50.7));
        let moved = [-1.0 / 6.0 / 20.0, 1.0 / 30.0, -1.0 / 6.0 / 20.7];
        let sum: Vec<_> = linked.iter().zip(moved).map(|(l, m)| l + m).collect();
        close(&growth(&(olia, flows)), &sum);
    }

    #[test]
    fn one_usable_subflow_is_reno() {
        let (olia, mut flows) = two([300, 900]);
        flows.get_mut(path(1)).unwrap().usable = false;
        close(&growth(&(olia, flows)), &[0.1, 0.05]);
    }

    #[test]
    fn in_recovery_the_threshold_counts() {
        let (olia, mut flows) = two([200, 900]);
        let other = flows.get_mut(path(1)).unwrap();
        (other.in_recovery, other.ssthresh, other.cwnd) = (true, 20.0, 500.0);
        close(&growth(&(olia, flows)), &[0.025, 0.0]);
    }

    #[test]
    fn a_loss_halves_and_begins_a_new_distance() {
        let (mut olia, mut flows) = two([0, 0]);
        olia.on_delivery(path(0), &ack(500, 1), &flows);
        olia.on_loss(path(0), &loss(10, 1), &mut flows);
        olia.on_delivery(path(0), &ack(80, 1), &flows);
        let distance = |olia: &Olia| {
            let distance = olia.distances.get(path(0)).unwrap();
            (distance.last, distance.present)
        };
        assert_eq!(distance(&olia), (500, 80));
        assert_eq!(flows.get(path(0)).unwrap().cwnd, 5.0);
        flows.get_mut(path(0)).unwrap().in_recovery = true;
        olia.on_timeout(path(0), &loss(5, 1), &mut flows);
        assert_eq!(distance(&olia), (500, 80), "the same loss");
        assert_eq!(flows.get(path(0)).unwrap().cwnd, 1.0);
        olia.on_spurious_loss(path(0), &mut flows);
        assert_eq!(distance(&olia), (0, 580));
    }

    #[test]
    fn a_subflow_among_others_falls_to_one_segment_alone_to_two() {
        let (mut olia, mut flows) = two([0, 0]);
        flows.get_mut(path(0)).unwrap().cwnd = 1.5;
        olia.on_loss(path(0), &loss(1, 1), &mut flows);
        assert_eq!(flows.get(path(0)).unwrap().cwnd, 1.0);
        flows.get_mut(path(1)).unwrap().usable = false;
        olia.on_loss(path(0), &loss(1, 1), &mut flows);
        assert_eq!(flows.get(path(0)).unwrap().cwnd, 2.0);
    }
}
