//! Redundant: every segment on every path that has room.
//!
//! Source: `mptcp_redundant.c` of the MPTCP v0.9x kernels. Deviation: the kernel keeps for each
//! path a pointer into the unacknowledged data. Here, as in its v0.89 variant, a new segment is
//! copied to all paths that have room when it is sent, and copies that cannot go at once are
//! dropped: the choice is made once for each segment. On backups nothing is duplicated.

use super::candidates::Candidates;
use super::{PathView, Pick, QueueView, Scheduler};
use crate::registry::{Description, Kind, Values};
use polypath_units::Timestamp;

/// Duplicates on every path with room. Stateless.
#[derive(Clone, Copy, Debug, Default)]
pub struct Redundant;

impl Redundant {
    /// What the registry says of it.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Scheduler,
        name: "redundant",
        purpose: "a copy of every segment on every path with room: lowest latency, not throughput",
        source: "MPTCP v0.9x mptcp_redundant.c (v0.89 variant)",
        parameters: &[],
    };

    /// A scheduler with the default parameters.
    pub fn build(_values: &Values) -> Box<dyn Scheduler> {
        Box::new(Self)
    }
}

impl Scheduler for Redundant {
    fn pick(&mut self, paths: &[PathView], queue: &QueueView, now: Timestamp) -> Pick {
        let candidates = Candidates::new(paths, queue, now);
        match candidates.lowest_rtt() {
            None => candidates.wait(now),
            Some(path) if path.backup => Pick::Send(path.id),
            Some(_) => Pick::Duplicate(candidates.available().map(|p| p.id).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::fixtures::{bulk, full, id, loaded, path};
    use polypath_units::PathSet;

    fn pick(paths: &[PathView]) -> Pick {
        Redundant.pick(paths, &bulk(), Timestamp::ZERO)
    }

    #[test]
    fn t_red_1() {
        let both = Pick::Duplicate([id(0), id(1)].into_iter().collect::<PathSet>());
        for sent in 0..3 {
            assert_eq!(pick(&[loaded(path(0, 10, 3), sent), loaded(path(1, 40, 3), sent)]), both);
        }
        let waiting = [full(path(0, 10, 3)), full(path(1, 40, 3))];
        assert_eq!(pick(&waiting), Pick::Wait(Timestamp::MAX));
        // A's data-level ACK of 1 to 3 frees both: the next segment, 4, goes on B too.
        assert_eq!(pick(&[path(0, 10, 3), path(1, 40, 3)]), both);
    }

    #[test]
    fn nothing_is_duplicated_on_backups() {
        let backup = |number| PathView { backup: true, ..path(number, 10, 3) };
        assert_eq!(pick(&[backup(0), backup(1)]), Pick::Send(id(0)));
    }
}
