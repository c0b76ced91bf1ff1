//! ECF: wait for the fastest path if it would complete the queue earlier than the slower one.
//!
//! Source: Y. Lim, E. Nahum, D. Towsley, R. Gibbens, "ECF: An MPTCP path scheduler to manage
//! heterogeneous paths", CoNEXT 2017, and `mptcp_ecf.c`.
//!
//! With the fastest path `f` without room, `s` the lowest-RTT path that has it, `k` unsent bytes
//! and `delta = max(rttvar_f, rttvar_s)`: wait if
//! `(1 + k / w_f) rtt_f < (1 + waiting beta) (rtt_s + delta)` and
//! `(k / w_s) rtt_s >= 2 rtt_f + delta`. The kernel replaces `k` by `max(k, w_f)` and
//! `max(k, w_s)`: parameter `kernel`.
//!
//! Deviations: where pacing alone holds `f`, the round trip that is waited for before sending on
//! it is the time until pacing lets it go.

use super::candidates::{Candidates, fastest, reopens};
use super::{PathView, Pick, QueueView, Scheduler};
use crate::registry::{Description, Kind, Values, parameters};
use polypath_units::Timestamp;

parameters! {
    /// Parameters of [`Ecf`].
    pub struct EcfParameters {
        /// Hysteresis: how much longer to go on waiting.
        pub beta: f64 = 0.25, "beta", "",
            "hysteresis: how much longer to go on waiting";
        /// Whether the queue counts as one window at least, as in the kernel.
        pub kernel: bool = true, "kernel", "",
            "1: the queue counts as one window at least, as in the kernel; 0: as in the paper";
    }
}

/// Earliest completion first.
#[derive(Clone, Debug, Default)]
pub struct Ecf {
    parameters: EcfParameters,
    waiting: bool,
}

impl Ecf {
    /// What the registry says of it.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Scheduler,
        name: "ecf",
        purpose: "lowest RTT, but waits for the fastest path where that completes earlier",
        source: "Lim et al., CoNEXT 2017; MPTCP v0.9x mptcp_ecf.c",
        parameters: EcfParameters::PARAMETERS,
    };

    /// A scheduler with these parameters.
    pub fn new(parameters: EcfParameters) -> Self {
        Self { parameters, ..Self::default() }
    }

    /// A scheduler with the default parameters.
    pub fn build(values: &Values) -> Box<dyn Scheduler> {
        Box::new(Self::new(EcfParameters::of(values)))
    }

    /// Decides between waiting for `fast`, which opens at `opens`, and sending on `slow`.
    fn waits(
        &mut self,
        fast: &PathView,
        slow: &PathView,
        queue: &QueueView,
        now: Timestamp,
        opens: Timestamp,
    ) -> bool {
        let (Some(rtt_f), Some(rtt_s)) = (fast.srtt, slow.srtt) else { return false };
        let (rtt_f, rtt_s) = (rtt_f.as_secs_f64(), rtt_s.as_secs_f64());
        let delta = fast.rtt_var.max(slow.rtt_var).as_secs_f64();
        let opening = if opens < Timestamp::MAX { (opens - now).as_secs_f64() } else { rtt_f };
        let hysteresis = if self.waiting { 1.0 + self.parameters.beta } else { 1.0 };
        let completes = opening + self.windows(queue, fast) * rtt_f;
        if completes >= hysteresis * (rtt_s + delta) {
            self.waiting = false;
            return false;
        }
        let worth = self.windows(queue, slow) * rtt_s >= rtt_f + opening + delta;
        self.waiting |= worth;
        worth
    }

    /// The queue in windows of the path.
    fn windows(&self, queue: &QueueView, path: &PathView) -> f64 {
        let windows = queue.unsent as f64 / path.cwnd.max(1) as f64;
        if self.parameters.kernel { windows.max(1.0) } else { windows }
    }
}

impl Scheduler for Ecf {
    fn pick(&mut self, paths: &[PathView], queue: &QueueView, now: Timestamp) -> Pick {
        let candidates = Candidates::new(paths, queue, now);
        let Some(chosen) = candidates.lowest_rtt() else { return candidates.wait(now) };
        let fast = fastest(candidates.iter()).filter(|f| f.id != chosen.id);
        if let Some(fast) = fast
            && let Some(opens) = reopens(fast, now)
            && self.waits(fast, chosen, queue, now, opens)
        {
            return Pick::Wait(opens);
        }
        Pick::Send(chosen.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::fixtures::{full, id, loaded, ms, paced, path, queue};

    const KERNEL: EcfParameters = EcfParameters::DEFAULT;
    const PAPER: EcfParameters = EcfParameters { kernel: false, ..KERNEL };
    const WAIT: Pick = Pick::Wait(Timestamp::MAX);

    fn views(fast: PathView) -> [PathView; 2] {
        [fast, PathView { rtt_var: ms(5), ..path(1, 100, 20) }]
    }

    fn pick(ecf: &mut Ecf, fast: PathView, unsent: u64) -> Pick {
        ecf.pick(&views(fast), &queue(unsent, 1_000), Timestamp::ZERO)
    }

    #[test]
    fn t_ecf_1() {
        let fast = full(path(0, 20, 10));
        let once = |parameters, unsent| pick(&mut Ecf::new(parameters), fast, unsent);
        assert_eq!(once(KERNEL, 60), Pick::Send(id(1)));
        assert_eq!(once(PAPER, 60), Pick::Send(id(1)));
        assert_eq!(once(PAPER, 5), Pick::Send(id(1)));
        assert_eq!(once(KERNEL, 5), WAIT);
    }

    /// Unsent 45 segments: 110 ms on the fast path, against 105 ms, and 131.25 ms while waiting.
    #[test]
    fn waiting_goes_on_until_the_hysteresis_is_used_up() {
        let fast = full(path(0, 20, 10));
        let mut ecf = Ecf::default();
        assert_eq!(pick(&mut ecf, fast, 45), Pick::Send(id(1)));
        assert_eq!(pick(&mut ecf, fast, 5), WAIT);
        assert_eq!(pick(&mut ecf, fast, 45), WAIT);
        assert_eq!(pick(&mut ecf, fast, 60), Pick::Send(id(1)));
        assert_eq!(pick(&mut ecf, fast, 45), Pick::Send(id(1)));
    }

    /// The same 45 segments, but the fast path opens in 2 ms: 92 ms, against 105 ms.
    #[test]
    fn a_paced_fast_path_opens_at_the_pacing_time_not_a_round_trip_later() {
        let until = Timestamp::from_millis(2);
        let fast = paced(loaded(path(0, 20, 10), 5), until);
        assert_eq!(pick(&mut Ecf::default(), fast, 45), Pick::Wait(until));
    }
}
