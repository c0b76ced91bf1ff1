//! Constraint-based proactive scheduling (CP): a path whose delay would fill the receive buffer, or
//! hold data up for too long, is not used.
//!
//! Source: B.-H. Oh, J. Lee, "Constraint-based proactive scheduling for MPTCP in wireless
//! networks", Computer Networks 91, 2015; the rule as B.G. Lee, S.B. Song, S. Ryu, J.Y. Lee,
//! "Validation of MPTCP performance enhancement algorithm in real PS-LTE environment", section
//! II.A, tells it. Neither variant's formula was found; those here are Polypath's own
//! (`docs/algorithms/scheduler/cp_radical.md`).
//!
//! With `b` the path of smallest srtt and `x_i = w_i / srtt_i` in bytes/s, path `j` makes
//! `OFO_j = phi x_b (srtt_j - srtt_b)` bytes arrive out of order. It is used if
//!
//! - radical: `OFO_j <= RcvBuf`, the largest receive window seen;
//! - conservative: `OFO_j <= min(RcvBuf, sum(x_i) D_max)`.
//!
//! Paths are graded once in each srtt of `b`, or when another path has become `b`; a path that is
//! not used comes back if `OFO_j` is below the bound by the hysteresis. Among the paths used:
//! lowest RTT first. Each path that is not used gets a copy of a segment now and then, so that its
//! RTT is known. A path without an RTT cannot be suspected.

use super::candidates::{Candidates, fastest};
use super::rounds::rtt_secs;
use super::{PathView, Pick, QueueView, Scheduler};
use crate::path_map::PathMap;
use crate::registry::{Description, Kind, Values, parameters};
use polypath_units::{PathId, PathSet, Timestamp};
use std::time::Duration;

parameters! {
    /// Parameters of [`CpRadical`] and [`CpConservative`].
    pub struct CpParameters {
        /// Share of the difference of RTTs for which data comes out of order: 1, or 0.5 for one
        /// way.
        pub phi: f64 = 1.0, "phi", "",
            "share of the difference of RTTs for which data comes out of order", 0.0 to 1000.0;
        /// Share by which a path must stay below the bound to be used again.
        pub hysteresis: f64 = 0.1, "hysteresis", "",
            "share by which a path must stay below the bound to be used again", 0.0 to 1.0;
        /// How often a path that is not used gets a copy of a segment.
        pub probe_interval: Duration = Duration::from_secs(1), "probe_interval", "s",
            "how often a path that is not used gets a copy of a segment", 0.001 to 1e9;
        /// The longest delay that out-of-order data may add (conservative alone).
        pub max_delay: Duration = Duration::from_millis(20), "max_delay", "s",
            "the longest delay that out-of-order data may add";
    }
}

/// The radical variant: bounded by the receive buffer.
pub type CpRadical = Cp<false>;
/// The conservative variant: bounded by the delay, too.
pub type CpConservative = Cp<true>;

/// Constraint-based proactive scheduling.
#[derive(Clone, Debug, Default)]
pub struct Cp<const BOUNDS_DELAY: bool> {
    parameters: CpParameters,
    /// The largest receive window seen, in bytes.
    buffer: u64,
    /// The paths that are not used.
    unused: PathSet,
    /// The best path when they were last graded.
    best: Option<PathId>,
    look_at: Timestamp,
    /// When each unused path gets its next copy.
    probe_at: PathMap<Timestamp>,
}

const SOURCE: &str = "Oh and Lee, Computer Networks 91, 2015; bound by this project";

impl CpRadical {
    /// What the registry says of it.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Scheduler,
        name: "cp_radical",
        purpose: "lowest RTT, without paths whose delay would fill the receive buffer",
        source: SOURCE,
        // The last, `max_delay`, is of the conservative variant alone.
        parameters: CpParameters::PARAMETERS.first_chunk::<3>().unwrap(),
    };
}

impl CpConservative {
    /// What the registry says of it.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Scheduler,
        name: "cp_conservative",
        purpose: "lowest RTT, without paths that would fill the receive buffer or hold data up",
        source: SOURCE,
        parameters: CpParameters::PARAMETERS,
    };
}

impl<const BOUNDS_DELAY: bool> Cp<BOUNDS_DELAY> {
    /// A scheduler with these parameters.
    pub fn new(parameters: CpParameters) -> Self {
        Self { parameters, ..Self::default() }
    }

    /// A scheduler with the default parameters.
    pub fn build(values: &Values) -> Box<dyn Scheduler> {
        Box::new(Self::new(CpParameters::of(values)))
    }

    /// Grades the paths, at most once in an RTT of the best.
    fn look(&mut self, candidates: Candidates, queue: &QueueView, now: Timestamp) {
        self.buffer = self.buffer.max(queue.window);
        let Some(best) = fastest(candidates.iter()) else { return };
        if now < self.look_at && self.best == Some(best.id) {
            return;
        }
        self.best = Some(best.id);
        self.look_at = now + best.srtt.unwrap_or_default();
        let bound = self.bound(candidates);
        let unused = |p: &&PathView| {
            let room =
                if self.unused.contains(p.id) { 1.0 - self.parameters.hysteresis } else { 1.0 };
            self.out_of_order(p, best) > bound * room
        };
        self.unused = candidates.iter().filter(unused).map(|p| p.id).collect();
    }

    /// In bytes.
    fn bound(&self, candidates: Candidates) -> f64 {
        let buffer = self.buffer as f64;
        if !BOUNDS_DELAY {
            return buffer;
        }
        let sum: f64 = candidates.iter().map(rate).sum();
        buffer.min(sum * self.parameters.max_delay.as_secs_f64())
    }

    /// `OFO_j` in bytes; zero without an RTT.
    fn out_of_order(&self, path: &PathView, best: &PathView) -> f64 {
        if path.srtt.is_none() || best.srtt.is_none() {
            return 0.0;
        }
        self.parameters.phi * rate(best) * (rtt_secs(path) - rtt_secs(best))
    }

    /// An unused path with room whose copy is due.
    fn probe(&mut self, candidates: Candidates, now: Timestamp) -> Option<PathId> {
        let interval = self.parameters.probe_interval;
        for path in candidates.iter().filter(|p| self.unused.contains(p.id)) {
            let due = self.probe_at.get_or_insert_with(path.id, || now + interval);
            if path.available && *due <= now {
                *due = now + interval;
                return Some(path.id);
            }
        }
        None
    }
}

impl<const BOUNDS_DELAY: bool> Scheduler for Cp<BOUNDS_DELAY> {
    fn pick(&mut self, paths: &[PathView], queue: &QueueView, now: Timestamp) -> Pick {
        let candidates = Candidates::new(paths, queue, now);
        if queue.reinjection {
            // A reinjection fills a hole instead of making one, and its candidates lack the paths
            // that carry it: paths must not be graded by the best that is left.
            let chosen = candidates.lowest_rtt();
            return chosen.map_or_else(|| candidates.wait(now), |path| Pick::Send(path.id));
        }
        self.look(candidates, queue, now);
        let used = candidates.without(self.unused, now);
        let Some(chosen) = used.lowest_rtt() else { return used.wait(now) };
        match self.probe(candidates, now).filter(|&probed| probed != chosen.id) {
            Some(probed) => Pick::Duplicate(PathSet::only(chosen.id).with(probed)),
            None => Pick::Send(chosen.id),
        }
    }

    fn on_remove(&mut self, path: PathId) {
        self.unused = self.unused.without(path);
        self.probe_at.remove(path);
    }
}

/// `x_i` in bytes/s; zero without an RTT.
fn rate(path: &PathView) -> f64 {
    path.cwnd as f64 / rtt_secs(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::fixtures::{full, id, ms, path, queue, reinjection};

    /// T-CP-1: Wi-Fi and PS-LTE of the measurement, in MB/s.
    fn paths() -> [PathView; 2] {
        let measured = |number, rtt_us: u64, rate: f64| {
            let srtt = Duration::from_micros(rtt_us);
            PathView {
                srtt: Some(srtt),
                cwnd: (rate * srtt.as_secs_f64()) as u64,
                ..path(number, 1, 1)
            }
        };
        [measured(0, 6_650, 64.72e6), measured(1, 24_160, 18.03e6)]
    }

    fn buffer(bytes: u64) -> QueueView {
        QueueView { window: bytes, ..queue(1_000, 1_000) }
    }

    /// Where a segment goes while Wi-Fi has no room.
    fn pick<const D: bool>(cp: &mut Cp<D>, bytes: u64, at: Timestamp) -> Pick {
        let [wifi, lte] = paths();
        cp.pick(&[full_window(wifi), lte], &buffer(bytes), at)
    }

    fn full_window(path: PathView) -> PathView {
        PathView { in_flight: path.cwnd, available: false, ..path }
    }

    const LTE: Pick = Pick::Send(PathId::new(1).unwrap());
    const WAIT: Pick = Pick::Wait(Timestamp::MAX);

    #[test]
    fn t_cp_1() {
        let [wifi, lte] = paths();
        let out_of_order = |phi| {
            CpRadical::new(CpParameters { phi, ..Default::default() }).out_of_order(&lte, &wifi)
        };
        // Windows are whole bytes.
        assert!((out_of_order(1.0) - 1_133_247.0).abs() < 5.0, "{}", out_of_order(1.0));
        assert!((out_of_order(0.5) - 566_624.0).abs() < 5.0);
        for (bytes, expected) in [(200_000, WAIT), (300_000, WAIT), (4_000_000, LTE)] {
            assert_eq!(pick(&mut CpRadical::default(), bytes, Timestamp::ZERO), expected);
        }
        for (max_delay, expected) in [(20, LTE), (10, WAIT)] {
            let parameters = CpParameters { max_delay: ms(max_delay), ..Default::default() };
            let mut cp = CpConservative::new(parameters);
            assert_eq!(pick(&mut cp, 4_000_000, Timestamp::ZERO), expected, "{max_delay} ms");
        }
        assert_eq!(pick(&mut CpConservative::default(), 300_000, Timestamp::ZERO), WAIT);
    }

    /// The largest window counts, not the present one, and 1.133 MB come back at 1.259 MB.
    #[test]
    fn a_path_comes_back_when_it_is_clearly_below_the_bound() {
        let mut cp = CpRadical::default();
        let at = Timestamp::from_micros;
        assert_eq!(pick(&mut cp, 1_100_000, at(0)), WAIT);
        assert_eq!(pick(&mut cp, 1_300_000, at(6_649)), WAIT, "not yet looked at again");
        assert_eq!(pick(&mut cp, 100_000, at(6_650)), LTE);
        let mut cp = CpRadical::default();
        assert_eq!(pick(&mut cp, 1_100_000, at(0)), WAIT);
        assert_eq!(pick(&mut cp, 1_250_000, at(6_650)), WAIT);
    }

    #[test]
    fn what_is_sent_again_does_not_grade_paths() {
        let mut cp = CpRadical::default();
        let at = Timestamp::from_micros;
        assert_eq!(pick(&mut cp, 1_100_000, at(0)), WAIT);
        let again = QueueView { window: 1_100_000, ..reinjection(&[0]) };
        assert_eq!(cp.pick(&paths(), &again, at(1)), LTE);
        assert_eq!(pick(&mut cp, 1_200_000, at(6_650)), WAIT, "below the bound, but not clearly");
    }

    #[test]
    fn an_unused_path_gets_a_copy_each_second() {
        let mut cp = CpRadical::default();
        let mut pick = |at| cp.pick(&paths(), &buffer(300_000), Timestamp::from_millis(at));
        let copy = Pick::Duplicate([id(0), id(1)].into_iter().collect());
        let picks = [0, 999, 1_000, 1_001, 2_000].map(|at| pick(at) == copy);
        assert_eq!(picks, [false, false, true, false, true]);
    }

    #[test]
    fn the_best_path_alone_and_what_is_sent_again_are_not_held_back() {
        let [wifi, lte] = paths();
        let again = QueueView { window: 300_000, ..reinjection(&[0]) };
        let pick = CpRadical::default().pick(&[wifi, lte], &again, Timestamp::ZERO);
        assert_eq!(pick, LTE);
        let dead = PathView { failed: true, available: false, ..wifi };
        let pick = CpRadical::default().pick(&[dead, lte], &buffer(300_000), Timestamp::ZERO);
        assert_eq!(pick, LTE);
        let unknown = PathView { srtt: None, ..lte };
        let views = [full(path(0, 10, 100)), unknown];
        assert_eq!(CpRadical::default().pick(&views, &buffer(1), Timestamp::ZERO), LTE);
    }
}
