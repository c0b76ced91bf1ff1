//! Buffer blocking protection (BBP): any scheduler, shown only the paths that the receive buffer
//! has room for, so that a connection is never slower than its best path alone.
//!
//! Source: B.-H. Oh, J. Lee, "Feedback-based path failure detection and buffer blocking protection
//! for MPTCP", IEEE/ACM Transactions on Networking 24(6), 2016, whose abstract states the goal; the
//! rule is Polypath's own (`docs/algorithms/blocking_protection.md`).
//!
//! Of the prefixes `S` of the paths sorted by srtt, in bytes, bytes/s and s, the one with the
//! largest `Thr(S) = min(sum of x_i, RcvBuf / max srtt_i)` is used, the smaller of equals; `x_i =
//! w_i / srtt_i`, the largest of the last 4 rounds of the path; `RcvBuf` is the largest receive
//! window seen. The choice is made anew once in each srtt of the slowest path used; another set is
//! taken only if it carries more by the hysteresis.
//!
//! Deviations: a set that only adds paths may carry a little more, if `RcvBuf / max srtt_i` is
//! above by the hysteresis; what is sent again goes by all paths, since it fills a hole instead of
//! making one; a path without an RTT is used, which is how it gets one; a path that is not used is
//! hidden from the scheduler, except where nothing else could go on.

use super::candidates::Candidates;
use super::carried::Carried;
use super::rounds::rtt_secs;
use super::{Delivery, PathView, Pick, QueueView, Scheduler};
use crate::path_map::PathMap;
use polypath_units::{PathId, PathSet, Timestamp};

/// Rounds over which a path's largest rate is taken.
const ROUNDS: usize = 4;

/// Parameters of [`BlockingProtection`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockingProtectionParameters {
    /// Share by which another set of paths must carry more to be taken.
    pub hysteresis: f64,
}

impl BlockingProtectionParameters {
    /// The defaults.
    pub const DEFAULT: Self = Self { hysteresis: 0.1 };
}

impl Default for BlockingProtectionParameters {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A scheduler that sees only the paths that the receive buffer has room for.
#[derive(Debug)]
pub struct BlockingProtection {
    parameters: BlockingProtectionParameters,
    scheduler: Box<dyn Scheduler>,
    /// The largest receive window seen, in bytes.
    buffer: u64,
    rates: PathMap<RecentRate>,
    /// The paths that were considered, and those of them that are used.
    known: PathSet,
    used: PathSet,
    look_at: Timestamp,
    /// What the scheduler is shown.
    shown: Vec<PathView>,
}

/// The largest `w / srtt` of each of the last rounds, in bytes/s.
#[derive(Clone, Copy, Debug)]
struct RecentRate {
    rounds: [f64; ROUNDS],
    round_ends: Timestamp,
}

impl RecentRate {
    fn look(&mut self, path: &PathView, now: Timestamp) {
        if now >= self.round_ends {
            self.rounds.rotate_right(1);
            self.rounds[0] = 0.0;
            self.round_ends = now + path.srtt.unwrap_or_default();
        }
        self.rounds[0] = self.rounds[0].max(path.cwnd as f64 / rtt_secs(path));
    }

    fn largest(&self) -> f64 {
        self.rounds.iter().copied().fold(0.0, f64::max)
    }
}

impl BlockingProtection {
    /// Protects a scheduler.
    pub fn new(scheduler: Box<dyn Scheduler>, parameters: BlockingProtectionParameters) -> Self {
        Self {
            parameters,
            scheduler,
            buffer: 0,
            rates: PathMap::default(),
            known: PathSet::EMPTY,
            used: PathSet::EMPTY,
            look_at: Timestamp::ZERO,
            shown: Vec::new(),
        }
    }

    /// Protects a scheduler, with the default parameters.
    pub fn build(scheduler: Box<dyn Scheduler>) -> Box<dyn Scheduler> {
        Box::new(Self::new(scheduler, BlockingProtectionParameters::DEFAULT))
    }

    /// Chooses the paths to use.
    fn look(&mut self, candidates: Candidates, queue: &QueueView, now: Timestamp) {
        self.buffer = self.buffer.max(queue.window);
        let mut ranked: Vec<_> = candidates.iter().filter(|p| p.srtt.is_some()).collect();
        ranked.sort_by_key(|p| p.srtt);
        for path in &ranked {
            let new = RecentRate { rounds: [0.0; ROUNDS], round_ends: now };
            self.rates.get_or_insert_with(path.id, || new).look(path, now);
        }
        let known = ranked.iter().map(|p| p.id).collect();
        let is_new = known != self.known;
        if !is_new && now < self.look_at {
            return;
        }
        let chosen = self.largest_prefix(&ranked);
        if is_new || self.is_better(&ranked, chosen) {
            self.used = chosen;
        }
        self.known = known;
        let slowest =
            ranked.iter().filter(|p| self.used.contains(p.id)).filter_map(|p| p.srtt).max();
        self.look_at = now + slowest.unwrap_or_default();
    }

    /// Whether a set carries clearly more than the one that is used, or only adds paths to it while
    /// the buffer would let clearly more through: the window of a hidden path does not grow, so
    /// that what it could carry is not known.
    fn is_better(&self, ranked: &[&PathView], set: PathSet) -> bool {
        let buffer = self.buffer as f64;
        let present = self.carried(ranked, self.used).goodput(buffer);
        let clearly = present * (1.0 + self.parameters.hysteresis);
        let carried = self.carried(ranked, set);
        let adds = self.used.iter().all(|path| set.contains(path));
        let fits = adds && buffer / carried.hole > clearly && carried.goodput(buffer) > present;
        fits || carried.goodput(buffer) > clearly
    }

    /// The prefix of the ranked paths that carries most.
    fn largest_prefix(&self, ranked: &[&PathView]) -> PathSet {
        let mut best = (0.0, PathSet::EMPTY);
        let mut prefix = PathSet::EMPTY;
        for path in ranked {
            prefix = prefix.with(path.id);
            let carried = self.carried(ranked, prefix).goodput(self.buffer as f64);
            if carried > best.0 || best.1.is_empty() {
                best = (carried, prefix);
            }
        }
        best.1
    }

    /// The two terms of `Thr(S)`.
    fn carried(&self, ranked: &[&PathView], set: PathSet) -> Carried {
        let rate = |path| self.rates.get(path).map_or(0.0, RecentRate::largest);
        let members = ranked.iter().filter(|p| set.contains(p.id));
        let carried = members.map(|p| Carried { rate: rate(p.id), hole: rtt_secs(p) });
        carried.fold(Carried::default(), Carried::with)
    }
}

impl Scheduler for BlockingProtection {
    fn pick(&mut self, paths: &[PathView], queue: &QueueView, now: Timestamp) -> Pick {
        let candidates = Candidates::new(paths, queue, now);
        if queue.reinjection {
            return self.scheduler.pick(paths, queue, now);
        }
        self.look(candidates, queue, now);
        let unused: PathSet = self.known.iter().filter(|&path| !self.used.contains(path)).collect();
        self.shown.clear();
        self.shown.extend(candidates.without(unused, now).iter());
        self.scheduler.pick(&self.shown, queue, now)
    }

    fn on_delivered(&mut self, delivery: &Delivery, now: Timestamp) {
        self.scheduler.on_delivered(delivery, now);
    }

    fn on_remove(&mut self, path: PathId) {
        self.rates.remove(path);
        self.scheduler.on_remove(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::fixtures::{id, path, queue, reinjection};
    use crate::scheduler::{LowRtt, Redundant};
    use std::time::Duration;

    /// Table I of the measurement on PS-LTE, in MB/s.
    fn measured(number: u8, rtt_us: u64, rate: f64) -> PathView {
        let srtt = Duration::from_micros(rtt_us);
        let cwnd = (rate * srtt.as_secs_f64()) as u64;
        PathView { srtt: Some(srtt), cwnd, ..path(number, 1, 1) }
    }

    fn paths() -> [PathView; 2] {
        [measured(0, 6_650, 64.72e6), measured(1, 24_160, 18.03e6)]
    }

    fn buffer(bytes: u64) -> QueueView {
        QueueView { window: bytes, ..queue(1_000, 1_000) }
    }

    /// The paths that a scheduler that uses all of them is shown.
    fn shown(bbp: &mut BlockingProtection, views: &[PathView], bytes: u64, at_us: u64) -> Vec<u8> {
        match bbp.pick(views, &buffer(bytes), Timestamp::from_micros(at_us)) {
            Pick::Duplicate(paths) => paths.iter().map(PathId::get).collect(),
            other => panic!("{other:?}"),
        }
    }

    fn protected() -> BlockingProtection {
        BlockingProtection::new(Box::new(Redundant), BlockingProtectionParameters::DEFAULT)
    }

    #[test]
    fn t_bbp_1() {
        for (bytes, alone, both, used) in
            [(300_000, 45.11, 12.42, vec![0]), (4_000_000, 64.72, 82.75, vec![0, 1])]
        {
            let mut bbp = protected();
            assert_eq!(shown(&mut bbp, &paths(), bytes, 0), used);
            let [wifi, lte] = paths();
            let carries = |set: &[&PathView]| {
                let members = set.iter().map(|p| p.id).collect();
                let carried = bbp.carried(&[&wifi, &lte], members);
                (carried.goodput(bytes as f64) / 1e4).round() / 1e2
            };
            assert_eq!((carries(&[&wifi]), carries(&[&wifi, &lte])), (alone, both));
        }
    }

    /// Alone 64.72 MB/s, both `RcvBuf / 24.16 ms`: more than 1.1 times that from 1.72 MB on.
    #[test]
    fn another_set_must_carry_clearly_more() {
        let mut bbp = protected();
        let mut at = |bytes, us| shown(&mut bbp, &paths(), bytes, us);
        assert_eq!(at(300_000, 0), [0]);
        assert_eq!(at(1_719_000, 6_650), [0], "both carry 71.15 MB/s, alone 64.72");
        assert_eq!(at(1_722_000, 13_000), [0], "not yet looked at again");
        assert_eq!(at(1_722_000, 13_300), [0, 1]);
    }

    /// With its first window the second path carries 0.4 MB/s beside 64.72, and the buffer leaves
    /// it more than 71.19 from 1.72 MB on. That it carries less than a tenth does not exclude it
    /// again.
    #[test]
    fn a_path_whose_window_never_grew_is_used_when_the_buffer_has_room_for_it() {
        let mut bbp = protected();
        let views = [paths()[0], measured(1, 24_160, 0.4e6)];
        let mut at = |bytes, us| shown(&mut bbp, &views, bytes, us);
        assert_eq!(at(300_000, 0), [0]);
        assert_eq!(at(1_719_000, 6_650), [0], "room, but not clearly");
        assert_eq!(at(1_722_000, 13_300), [0, 1]);
        assert_eq!(at(1_722_000, 40_000), [0, 1]);
    }

    /// A window that was halved counts with its former size for three more rounds.
    #[test]
    fn the_largest_rate_of_four_rounds_counts() {
        let mut rate = RecentRate { rounds: [0.0; ROUNDS], round_ends: Timestamp::ZERO };
        let mut at = |segments, ms| {
            rate.look(&path(0, 10, segments), Timestamp::from_millis(ms));
            rate.largest()
        };
        assert_eq!(at(10, 0), 1e6);
        for ms in [10, 20, 30, 39] {
            assert_eq!(at(5, ms), 1e6, "{ms} ms");
        }
        assert_eq!(at(5, 40), 0.5e6);
    }

    #[test]
    fn what_is_sent_again_and_paths_that_are_not_known_are_not_held_back() {
        let [wifi, lte] = paths();
        let low_rtt = || BlockingProtection::build(Box::new(LowRtt));
        let again = QueueView { window: 300_000, ..reinjection(&[0]) };
        assert_eq!(low_rtt().pick(&[wifi, lte], &again, Timestamp::ZERO), Pick::Send(id(1)));
        let unknown = PathView { srtt: None, ..lte };
        assert_eq!(shown(&mut protected(), &[wifi, unknown], 300_000, 0), [0, 1]);
        let full = PathView { in_flight: wifi.cwnd, available: false, ..wifi };
        let wait = low_rtt().pick(&[full, lte], &buffer(300_000), Timestamp::ZERO);
        assert_eq!(wait, Pick::Wait(Timestamp::MAX));
        // Nothing is under way on the used path, and it has no room: the other may go.
        let stuck = PathView { available: false, ..wifi };
        let pick = low_rtt().pick(&[stuck, lte], &buffer(300_000), Timestamp::ZERO);
        assert_eq!(pick, Pick::Send(id(1)));
    }
}
