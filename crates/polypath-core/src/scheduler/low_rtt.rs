//! Lowest RTT first (minRTT): the default scheduler of MPTCP.
//!
//! Source: `mptcp_sched.c` of the MPTCP v0.9x kernels, `get_available_subflow`. Equation: `argmin
//! srtt` over the paths that have room, ties to the lowest number. Deviation: none; a path without
//! an RTT sample counts as the slowest.

use super::candidates::Candidates;
use super::{PathView, Pick, QueueView, Scheduler};
use crate::registry::{Description, Kind, Values};
use polypath_units::Timestamp;

/// Lowest RTT first. Stateless.
#[derive(Clone, Copy, Debug, Default)]
pub struct LowRtt;

impl LowRtt {
    /// What the registry says of it.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Scheduler,
        name: "low_rtt",
        purpose: "the path with room that has the smallest smoothed RTT",
        source: "MPTCP v0.9x mptcp_sched.c (get_available_subflow)",
        parameters: &[],
    };

    /// A scheduler with the default parameters.
    pub fn build(_values: &Values) -> Box<dyn Scheduler> {
        Box::new(Self)
    }
}

impl Scheduler for LowRtt {
    fn pick(&mut self, paths: &[PathView], queue: &QueueView, now: Timestamp) -> Pick {
        let candidates = Candidates::new(paths, queue, now);
        candidates.lowest_rtt().map_or_else(|| candidates.wait(now), |path| Pick::Send(path.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::fixtures::{bulk, full, id, loaded, path, reinjection};

    fn pick(paths: &[PathView], queue: &QueueView) -> Pick {
        LowRtt.pick(paths, queue, Timestamp::ZERO)
    }

    #[test]
    fn t_minrtt_1() {
        let slow = path(1, 40, 10);
        let picks = [0, 1, 2].map(|sent| pick(&[loaded(path(0, 10, 2), sent), slow], &bulk()));
        assert_eq!(picks, [Pick::Send(id(0)), Pick::Send(id(0)), Pick::Send(id(1))]);
    }

    #[test]
    fn a_path_without_an_rtt_is_the_slowest() {
        let unknown = PathView { srtt: None, ..path(0, 1, 10) };
        assert_eq!(pick(&[unknown, path(1, 500, 10)], &bulk()), Pick::Send(id(1)));
        assert_eq!(pick(&[unknown, full(path(1, 500, 10))], &bulk()), Pick::Send(id(0)));
    }

    #[test]
    fn a_backup_is_used_only_when_every_other_path_has_failed() {
        let backup = PathView { backup: true, ..path(1, 1, 10) };
        assert_eq!(pick(&[full(path(0, 50, 10)), backup], &bulk()), Pick::Wait(Timestamp::MAX));
        let failed = PathView { failed: true, ..full(path(0, 50, 10)) };
        assert_eq!(pick(&[failed, backup], &bulk()), Pick::Send(id(1)));
    }

    #[test]
    fn a_reinjection_avoids_the_paths_that_carry_the_segment() {
        let paths = [path(0, 10, 10), path(1, 40, 10)];
        assert_eq!(pick(&paths, &reinjection(&[0])), Pick::Send(id(1)));
        assert_eq!(pick(&paths, &reinjection(&[0, 1])), Pick::Send(id(0)));
        // It waits for a path that does not carry it, so long as an ACK will come.
        let busy = [path(0, 10, 10), full(path(1, 40, 10))];
        assert_eq!(pick(&busy, &reinjection(&[0])), Pick::Wait(Timestamp::MAX));
    }
}
