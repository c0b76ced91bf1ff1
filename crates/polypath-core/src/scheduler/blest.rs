//! BLEST: do not put a segment on a slow path if it would make the receive window block the
//! fast one.
//!
//! Source: S. Ferlin, O. Alay, O. Mehani, R. Boreli, "BLEST: Blocking estimation-based MPTCP
//! scheduler for heterogeneous networks", IFIP Networking 2016, and `mptcp_blest.c`, whose
//! constants are the defaults.
//!
//! With the fastest path `f` without room and `s` the lowest-RTT path that has it, windows in
//! segments, `r = srtt_s / srtt_f`: `X = (w_f + (r - 1) / 2) r`, in the first slow start
//! `X = w_f (2^r - 1)` with `r <= 16`; wait if `lambda X mss_f > window - (in_flight_s + mss_s)`.
//!
//! Deviations: `r` is a real number (the kernel rounds it up and smooths it over extremes of srtt);
//! a reinjection does not wait, since it fills a hole instead of making one; the wait ends at the
//! pacing time if pacing alone holds `f`.

use super::candidates::{Candidates, fastest, reopens};
use super::{PathView, Pick, QueueView, Scheduler};
use crate::registry::{Description, Kind, Values, parameters};
use polypath_units::Timestamp;

/// The largest RTT ratio in the first slow start, so that `2^r` stays in range.
const MAX_SLOW_START_RATIO: f64 = 16.0;

parameters! {
    /// Parameters of [`Blest`].
    pub struct BlestParameters {
        /// Initial correction factor of the estimate.
        pub lambda: f64 = 1.2, "lambda", "",
            "initial correction factor of the blocking estimate";
        /// Its lower bound.
        pub min_lambda: f64 = 1.0, "min_lambda", "",
            "lower bound of the correction factor";
        /// Its upper bound.
        pub max_lambda: f64 = 1.3, "max_lambda", "",
            "upper bound of the correction factor";
        /// Taken off in each round of the slow path without blocking.
        pub decrease: f64 = 0.01, "decrease", "",
            "taken off the factor in each round of the slow path without blocking";
        /// Added in a round in which the window blocked.
        pub increase: f64 = 0.04, "increase", "",
            "added to the factor in a round in which the window blocked";
    }
}

/// Blocking-estimation scheduler.
#[derive(Clone, Debug)]
pub struct Blest {
    parameters: BlestParameters,
    lambda: f64,
    /// Whether the window has blocked since `lambda` was last adapted.
    blocked: bool,
    adapt_at: Timestamp,
}

impl Default for Blest {
    fn default() -> Self {
        Self::new(BlestParameters::DEFAULT)
    }
}

impl Blest {
    /// What the registry says of it.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Scheduler,
        name: "blest",
        purpose: "lowest RTT, but waits where a slow path would block the receive window",
        source: "Ferlin et al., IFIP Networking 2016; MPTCP v0.9x mptcp_blest.c",
        parameters: BlestParameters::PARAMETERS,
    };

    /// A scheduler with these parameters.
    pub fn new(parameters: BlestParameters) -> Self {
        let lambda = parameters.lambda;
        Self { parameters, lambda, blocked: false, adapt_at: Timestamp::ZERO }
    }

    /// A scheduler with the default parameters.
    pub fn build(values: &Values) -> Box<dyn Scheduler> {
        Box::new(Self::new(BlestParameters::of(values)))
    }

    /// Adapts lambda, at most once in the smallest RTT of the slow path.
    fn adapt(&mut self, slow: &PathView, now: Timestamp) {
        if now < self.adapt_at {
            return;
        }
        let BlestParameters { min_lambda, max_lambda, decrease, increase, .. } = self.parameters;
        let step = if std::mem::take(&mut self.blocked) { increase } else { -decrease };
        self.lambda = (self.lambda + step).max(min_lambda).min(max_lambda);
        self.adapt_at = now + slow.min_rtt.or(slow.srtt).unwrap_or_default();
    }

    /// Until when to wait, if a segment on `chosen` would make the window block a faster path.
    pub(super) fn holds_back(
        &mut self,
        candidates: Candidates,
        chosen: &PathView,
        queue: &QueueView,
        now: Timestamp,
    ) -> Option<Timestamp> {
        self.blocked |= queue.blocked_since_last;
        let fast = fastest(candidates.iter()).filter(|f| f.id != chosen.id)?;
        self.adapt(chosen, now);
        let opens = reopens(fast, now)?;
        (!queue.reinjection && self.blocks(chosen, fast, queue)).then_some(opens)
    }

    /// Whether a segment on `slow` would make the window block `fast`.
    fn blocks(&self, slow: &PathView, fast: &PathView, queue: &QueueView) -> bool {
        let left = queue.window.saturating_sub(slow.in_flight + slow.mss);
        self.lambda * sent_meanwhile(fast, slow) > left as f64
    }
}

impl Scheduler for Blest {
    fn pick(&mut self, paths: &[PathView], queue: &QueueView, now: Timestamp) -> Pick {
        let candidates = Candidates::new(paths, queue, now);
        let Some(chosen) = candidates.lowest_rtt() else { return candidates.wait(now) };
        let until = self.holds_back(candidates, chosen, queue, now);
        until.map_or(Pick::Send(chosen.id), Pick::Wait)
    }
}

/// `X mss_f`: bytes that `fast` sends during one RTT of `slow`; zero if that RTT is unknown, so
/// that a path without one is tried.
fn sent_meanwhile(fast: &PathView, slow: &PathView) -> f64 {
    let (Some(rtt_fast), Some(rtt_slow)) = (fast.srtt, slow.srtt) else { return 0.0 };
    let ratio = (rtt_slow.as_secs_f64() / rtt_fast.as_secs_f64().max(1e-6)).max(1.0);
    let mss = fast.mss as f64;
    if fast.in_slow_start {
        return fast.cwnd as f64 * (libm::exp2(ratio.min(MAX_SLOW_START_RATIO)) - 1.0);
    }
    (fast.cwnd as f64 + mss * (ratio - 1.0) / 2.0) * ratio
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::fixtures::{full, id, loaded, ms, paced, path, queue, reinjection};

    /// T-BLEST-1: windows of 10 segments, 20 and 100 ms, lambda fixed at 1.2.
    fn pick(fast: PathView, in_flight: u64, queue: &QueueView) -> Pick {
        let fixed = BlestParameters { decrease: 0.0, ..Default::default() };
        let slow = loaded(path(1, 100, 50), in_flight);
        Blest::new(fixed).pick(&[fast, slow], queue, Timestamp::ZERO)
    }

    #[test]
    fn t_blest_1() {
        let fast = full(path(0, 20, 10));
        assert_eq!(sent_meanwhile(&fast, &path(1, 100, 50)), 60_000.0);
        assert_eq!(pick(fast, 20, &queue(500, 100)), Pick::Send(id(1)));
        assert_eq!(pick(fast, 30, &queue(500, 100)), Pick::Wait(Timestamp::MAX));
    }

    #[test]
    fn the_window_doubles_each_round_of_the_first_slow_start() {
        let fast = PathView { in_slow_start: true, ..path(0, 20, 10) };
        assert_eq!(sent_meanwhile(&fast, &path(1, 100, 50)), 310_000.0);
    }

    #[test]
    fn a_paced_fast_path_is_waited_for_until_pacing_lets_it_go() {
        let until = Timestamp::from_millis(3);
        let fast = paced(loaded(path(0, 20, 10), 5), until);
        assert_eq!(pick(fast, 30, &queue(500, 100)), Pick::Wait(until));
    }

    #[test]
    fn a_reinjection_does_not_wait() {
        let tight = QueueView { window: 100_000, ..reinjection(&[]) };
        assert_eq!(pick(full(path(0, 20, 10)), 30, &tight), Pick::Send(id(1)));
    }

    #[test]
    fn lambda_adapts_once_a_round_of_the_slow_path_within_its_bounds() {
        let mut blest = Blest::default();
        let paths = [full(path(0, 20, 10)), path(1, 100, 50)];
        let mut now = Timestamp::from_millis(1);
        let mut step = |blocked_since_last, after: u64| {
            now += ms(after);
            let queue = QueueView { blocked_since_last, ..queue(500, 1_000) };
            blest.pick(&paths, &queue, now);
            (blest.lambda * 100.0).round()
        };
        assert_eq!(step(false, 0), 119.0);
        assert_eq!(step(true, 50), 119.0, "the round has not ended");
        assert_eq!(step(false, 50), 123.0, "the blocking is remembered");
        assert_eq!((0..9).map(|_| step(true, 100)).last(), Some(130.0));
        assert_eq!((0..99).map(|_| step(false, 100)).last(), Some(100.0));
    }
}
