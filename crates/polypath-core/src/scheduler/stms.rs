//! STMS: the fast path sends the head of the data, slow ones send so far ahead that both arrive
//! together.
//!
//! Source: H. Shi, Y. Cui, X. Wang, Y. Hu, M. Dai, F. Wang, K. Zheng, "STMS: Improving MPTCP
//! throughput under heterogeneous networks", USENIX ATC 2018. Details that the paper leaves open
//! are Polypath's own (`docs/algorithms/scheduler/stms.md`).
//!
//! With `f` the path of smallest srtt, another path `s` leaves `gap_s` bytes of what is unsent to
//! faster ones and sends what follows; if less is unsent it sends nothing. In bytes, bytes/s and s:
//! at first `gap = B_f max(0, (srtt_s - srtt_f) / 2)`; after each round trip of `s`,
//! `gap = max(0, gap - gain mean(e))`. A segment from `start` to `end` that `s` has delivered while
//! the data-level acknowledgement is `D` has the error `e = start - D` if it was early (so many
//! bytes were missing before it), else `e = -(D - end)`.
//!
//! Deviations: `e` is at most what `f` sends in a round trip of `s`, so that a segment that was
//! sent twice does not count for more; the gap starts anew when another path becomes the fastest,
//! and where it would be smaller if nothing is under way on `s` and nothing came for a round trip.

use super::candidates::{Candidates, estimated_rate, fastest, place, reopens};
use super::{Delivery, PathView, Pick, QueueView, Scheduler};
use crate::path_map::PathMap;
use crate::registry::{Description, Kind, Values, parameters};
use polypath_units::{PathId, Timestamp};
use std::time::Duration;

parameters! {
    /// Parameters of [`Stms`].
    pub struct StmsParameters {
        /// Share of the mean error that the gap is corrected by.
        pub gain: f64 = 0.5, "gain", "",
            "share of the mean error of a round that the gap is corrected by";
    }
}

/// Slide together multipath scheduler.
#[derive(Clone, Debug, Default)]
pub struct Stms {
    parameters: StmsParameters,
    fast: Option<PathId>,
    gaps: PathMap<Gap>,
}

/// How far ahead a slow path sends.
#[derive(Clone, Copy, Debug)]
struct Gap {
    bytes: f64,
    /// Sum and number of the errors of this round.
    error: (f64, u32),
    /// The largest error that counts, in bytes.
    bound: f64,
    round: Duration,
    round_ends: Timestamp,
    /// A round trip after the last delivery.
    stale_at: Timestamp,
}

impl Gap {
    fn new(fast: &PathView, slow: &PathView, now: Timestamp) -> Self {
        let rate = estimated_rate(fast).unwrap_or(0.0);
        let (rtt_f, rtt_s) = (fast.srtt.unwrap_or_default(), slow.srtt.unwrap_or_default());
        let bytes = rate * rtt_s.saturating_sub(rtt_f).as_secs_f64() / 2.0;
        let bound = rate * rtt_s.as_secs_f64();
        let ends = now + rtt_s;
        Self { bytes, error: (0.0, 0), bound, round: rtt_s, round_ends: ends, stale_at: ends }
    }

    /// The path's RTT and the rate of the fast one, as they are now. Only deliveries correct the
    /// gap: without any, a path whose RTT fell would keep a gap beyond the unsent data and never
    /// send again.
    fn look(&mut self, fast: &PathView, slow: &PathView, now: Timestamp) {
        let fresh = Self::new(fast, slow, now);
        if slow.in_flight == 0 && now >= self.stale_at && fresh.bytes < self.bytes {
            *self = fresh;
        }
        (self.bound, self.round) = (fresh.bound, fresh.round);
    }

    fn on_error(&mut self, error: f64, gain: f64, now: Timestamp) {
        let (sum, count) = self.error;
        self.error = (sum + error.clamp(-self.bound, self.bound), count + 1);
        self.stale_at = now + self.round;
        if now < self.round_ends {
            return;
        }
        let (sum, count) = std::mem::take(&mut self.error);
        self.bytes = (self.bytes - gain * sum / f64::from(count)).max(0.0);
        self.round_ends = now + self.round;
    }
}

/// Bytes by which a segment came too early; negative if too late.
fn error(delivery: &Delivery) -> f64 {
    let Delivery { start, end, data_ack, .. } = *delivery;
    if data_ack >= end {
        return -((data_ack - end) as f64);
    }
    start.saturating_sub(data_ack) as f64
}

impl Stms {
    /// What the registry says of it.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Scheduler,
        name: "stms",
        purpose: "slow paths send so far ahead that their data arrives together with the fast one's",
        source: "Shi et al., USENIX ATC 2018",
        parameters: StmsParameters::PARAMETERS,
    };

    /// A scheduler with these parameters.
    pub fn new(parameters: StmsParameters) -> Self {
        Self { parameters, ..Self::default() }
    }

    /// A scheduler with the default parameters.
    pub fn build(values: &Values) -> Box<dyn Scheduler> {
        Box::new(Self::new(StmsParameters::of(values)))
    }

    /// Bytes that `slow` leaves to faster paths.
    fn gap(&mut self, fast: &PathView, slow: &PathView, now: Timestamp) -> u64 {
        if slow.srtt.is_none() {
            return 0; // Using it is how it gets one.
        }
        let gap = self.gaps.get_or_insert_with(slow.id, || Gap::new(fast, slow, now));
        gap.look(fast, slow, now);
        gap.bytes as u64
    }
}

impl Scheduler for Stms {
    fn pick(&mut self, paths: &[PathView], queue: &QueueView, now: Timestamp) -> Pick {
        let candidates = Candidates::new(paths, queue, now);
        let Some(lowest) = candidates.lowest_rtt() else { return candidates.wait(now) };
        let Some(fast) = fastest(candidates.iter()) else { return candidates.wait(now) };
        if lowest.id == fast.id || queue.reinjection {
            return Pick::Send(lowest.id);
        }
        if self.fast.replace(fast.id) != Some(fast.id) {
            self.gaps = PathMap::default();
        }
        let mut slow: Vec<_> = candidates.available().collect();
        slow.sort_by(|a, b| a.srtt_secs().total_cmp(&b.srtt_secs()));
        let placed = slow.into_iter().find_map(|p| place(p, self.gap(fast, p, now), queue));
        placed.unwrap_or_else(|| reopens(fast, now).map_or(Pick::Send(lowest.id), Pick::Wait))
    }

    fn on_delivered(&mut self, delivery: &Delivery, now: Timestamp) {
        if let Some(gap) = self.gaps.get_mut(delivery.path) {
            gap.on_error(error(delivery), self.parameters.gain, now);
        }
    }

    fn on_remove(&mut self, path: PathId) {
        self.gaps.remove(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::fixtures::{bulk, full, id, loaded, path, queue};

    /// T-STMS-1: 10 Mbit/s, 20 and 100 ms.
    fn paths() -> [PathView; 2] {
        [PathView { rate: 1.25e6, ..path(0, 20, 25) }, path(1, 100, 20)]
    }

    fn ahead(skip: u64) -> Pick {
        Pick::Ahead { path: id(1), skip }
    }

    fn blocked() -> [PathView; 2] {
        let [fast, slow] = paths();
        [full(fast), slow]
    }

    fn delivery(start: u64, data_ack: u64) -> Delivery {
        Delivery { path: id(1), start, end: start + 1_000, data_ack }
    }

    #[test]
    fn t_stms_1() {
        let mut stms = Stms::default();
        let at = Timestamp::from_millis;
        assert_eq!(stms.pick(&paths(), &bulk(), at(0)), Pick::Send(id(0)));
        assert_eq!(stms.pick(&blocked(), &bulk(), at(0)), ahead(50_000));
        stms.on_delivered(&delivery(60_000, 50_000), at(99));
        assert_eq!(stms.pick(&blocked(), &bulk(), at(99)), ahead(50_000), "within the round");
        stms.on_delivered(&delivery(61_000, 55_000), at(100));
        assert_eq!(stms.pick(&blocked(), &bulk(), at(100)), ahead(46_000));
    }

    #[test]
    fn a_segment_that_comes_late_widens_the_gap() {
        assert_eq!(error(&delivery(5_000, 9_000)), -3_000.0);
        assert_eq!(error(&delivery(5_000, 6_000)), 0.0);
        assert_eq!(error(&delivery(5_000, 5_500)), 0.0, "neither early nor covered");
        let mut stms = Stms::default();
        stms.pick(&blocked(), &bulk(), Timestamp::ZERO);
        let at = Timestamp::from_millis(100);
        stms.on_delivered(&delivery(5_000, 9_000), at);
        assert_eq!(stms.pick(&blocked(), &bulk(), at), ahead(51_500));
    }

    /// 125 kB are sent on the fast path in a round trip of the slow one.
    #[test]
    fn one_error_is_bounded_and_the_gap_not_negative() {
        let after = |start, data_ack| {
            let mut stms = Stms::default();
            stms.pick(&blocked(), &bulk(), Timestamp::ZERO);
            stms.on_delivered(&delivery(start, data_ack), Timestamp::from_millis(100));
            stms.pick(&blocked(), &bulk(), Timestamp::from_millis(100))
        };
        assert_eq!(after(0, 90_000_000), ahead(50_000 + 62_500));
        assert_eq!(after(90_000_000, 0), Pick::Send(id(1)));
    }

    #[test]
    fn the_last_burst_is_the_fast_paths() {
        let last = |unsent, window| {
            Stms::default().pick(&blocked(), &queue(unsent, window), Timestamp::ZERO)
        };
        assert_eq!(last(51, 99), ahead(50_000));
        assert_eq!(last(50, 99), Pick::Wait(Timestamp::MAX));
        assert_eq!(last(99, 50), Pick::Wait(Timestamp::MAX), "the window does not reach so far");
    }

    /// 125 kB are ahead of 500 ms, which is more than is unsent, and 50 kB ahead of 100 ms.
    #[test]
    fn a_path_on_which_nothing_is_under_way_starts_anew_when_its_rtt_fell() {
        let mut stms = Stms::default();
        let [fast, slow] = blocked();
        let at = Timestamp::from_millis;
        let mut pick = |slow, now| stms.pick(&[fast, slow], &queue(100, 1_000), at(now));
        assert_eq!(pick(path(1, 220, 20), 0), Pick::Wait(Timestamp::MAX), "125 kB");
        assert_eq!(pick(slow, 219), Pick::Wait(Timestamp::MAX), "a delivery may come yet");
        assert_eq!(pick(loaded(slow, 1), 220), Pick::Wait(Timestamp::MAX), "and here as well");
        assert_eq!(pick(slow, 220), ahead(50_000));
        assert_eq!(pick(path(1, 220, 20), 900), ahead(50_000), "deliveries alone widen it");
    }

    #[test]
    fn a_delivery_within_a_round_trip_keeps_the_gap() {
        let mut stms = Stms::default();
        stms.pick(&blocked(), &bulk(), Timestamp::ZERO);
        let at = Timestamp::from_millis(100);
        stms.on_delivered(&delivery(5_000, 9_000), at);
        let mut pick = |now| stms.pick(&blocked(), &bulk(), Timestamp::from_millis(now));
        assert_eq!([199, 200].map(&mut pick), [ahead(51_500), ahead(50_000)]);
    }

    #[test]
    fn another_fastest_path_starts_anew() {
        let mut stms = Stms::default();
        stms.pick(&blocked(), &bulk(), Timestamp::ZERO);
        let [_, slow] = paths();
        let faster = PathView { rate: 2e6, ..path(2, 10, 20) };
        let views = [full(paths()[0]), slow, full(faster)];
        assert_eq!(stms.pick(&views, &bulk(), Timestamp::ZERO), ahead(90_000));
    }
}
