//! Round robin: equal striping.
//!
//! Source: `mptcp_rr.c` of the MPTCP v0.9x kernels. Rule: continue the burst of the first path with
//! `0 < quota < num_segments`, else begin one on the first path with quota 0; when all quotas are
//! used, zero them and repeat. Deviation: with `cwnd_limited` = 0 the turn of a path without room
//! is waited for, so that packet `i` (from 1) of `n` paths goes on path `((i - 1) mod n) + 1`
//! (Sustainability 10(5):1337, 2018, equation 2); the kernel only stops filling the window.

use super::candidates::{Candidates, reopens};
use super::{PathView, Pick, QueueView, Scheduler};
use crate::registry::{Description, Kind, Values, parameters};
use polypath_units::{PathId, Timestamp};
use std::collections::BTreeMap;

parameters! {
    /// Parameters of [`RoundRobin`].
    pub struct RoundRobinParameters {
        /// Segments that a path takes in its turn, at least 1.
        pub num_segments: u32 = 1, "num_segments", "segments",
            "segments that a path takes in its turn", 1.0 to 1e9;
        /// Whether a path without room loses its turn instead of being waited for.
        pub cwnd_limited: bool = true, "cwnd_limited", "",
            "1: a path without room loses its turn; 0: it is waited for";
    }
}

/// Round robin.
#[derive(Clone, Debug, Default)]
pub struct RoundRobin {
    parameters: RoundRobinParameters,
    /// Segments that each path has taken in the present round.
    quota: BTreeMap<PathId, u32>,
}

impl RoundRobin {
    /// What the registry says of it.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Scheduler,
        name: "round_robin",
        purpose: "the paths in turn",
        source: "MPTCP v0.9x mptcp_rr.c",
        parameters: RoundRobinParameters::PARAMETERS,
    };

    /// A scheduler with these parameters.
    pub fn new(parameters: RoundRobinParameters) -> Self {
        Self { parameters, ..Self::default() }
    }

    /// A scheduler with the default parameters.
    pub fn build(values: &Values) -> Box<dyn Scheduler> {
        Box::new(Self::new(RoundRobinParameters::of(values)))
    }

    /// The path whose turn it is.
    fn next<'a>(&mut self, ring: &[&'a PathView]) -> Option<&'a PathView> {
        let full = self.parameters.num_segments.max(1);
        if ring.iter().all(|p| self.taken(p.id) >= full) {
            self.quota.clear();
        }
        let burst = ring.iter().find(|p| (1..full).contains(&self.taken(p.id)));
        burst.or_else(|| ring.iter().find(|p| self.taken(p.id) == 0)).copied()
    }

    fn taken(&self, path: PathId) -> u32 {
        self.quota.get(&path).copied().unwrap_or(0)
    }
}

impl Scheduler for RoundRobin {
    fn pick(&mut self, paths: &[PathView], queue: &QueueView, now: Timestamp) -> Pick {
        let candidates = Candidates::new(paths, queue, now);
        let awaited = |p: &&PathView| !self.parameters.cwnd_limited && reopens(p, now).is_some();
        let ring: Vec<_> = candidates.iter().filter(|p| p.available || awaited(p)).collect();
        match self.next(&ring) {
            Some(path) if path.available => {
                *self.quota.entry(path.id).or_default() += 1;
                Pick::Send(path.id)
            }
            Some(path) => Pick::Wait(reopens(path, now).unwrap_or(Timestamp::MAX)),
            None => candidates.wait(now),
        }
    }

    fn on_remove(&mut self, path: PathId) {
        self.quota.remove(&path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::fixtures::{bulk, full, id, path};

    fn order(mut rr: RoundRobin, paths: &[PathView], count: usize) -> Vec<u8> {
        let mut next = || match rr.pick(paths, &bulk(), Timestamp::ZERO) {
            Pick::Send(path) => path.get(),
            other => panic!("{other:?}"),
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn t_rr_1() {
        let (a, b, c) = (path(0, 10, 9), path(1, 10, 9), path(2, 10, 9));
        assert_eq!(order(RoundRobin::default(), &[a, b, c], 6), [0, 1, 2, 0, 1, 2]);
        assert_eq!(order(RoundRobin::default(), &[a, full(b), c], 4), [0, 2, 0, 2]);
        let pairs = RoundRobinParameters { num_segments: 2, ..Default::default() };
        assert_eq!(order(RoundRobin::new(pairs), &[a, b, c], 6), [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn strict_striping_waits_for_the_turn_of_a_full_path() {
        let strict = RoundRobinParameters { cwnd_limited: false, ..Default::default() };
        let mut rr = RoundRobin::new(strict);
        let paths = [path(0, 10, 9), full(path(1, 10, 9))];
        assert_eq!(rr.pick(&paths, &bulk(), Timestamp::ZERO), Pick::Send(id(0)));
        assert_eq!(rr.pick(&paths, &bulk(), Timestamp::ZERO), Pick::Wait(Timestamp::MAX));
    }
}
