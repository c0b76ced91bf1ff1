//! FPS: a slow path gets the segment that will be next in order when it arrives.
//!
//! Source: F. H. Mirani, N. Boukhatem, M. A. Tran, "A data-scheduling mechanism for multi-homed
//! mobile terminals with disparate link latencies", IEEE VTC 2010-Fall (forward prediction
//! scheduling). The formula is a reconstruction (`docs/algorithms/scheduler/fps.md`).
//!
//! A path `s` with room gets the segment with index `N` in the unsent queue (0 is the head): `N =
//! sum over j with rtt_j < rtt_s of floor(N_j)`, where `N_j` is what path `j` sends within `h =
//! (rtt_s - rtt_j) / 2`: its window in each of `floor(h / rtt_j)` rounds, doubled from round to
//! round in slow start and else grown by a segment, and of the next round's window the fraction `(h
//! mod rtt_j) / rtt_j`. If fewer than `N + 1` segments are unsent, `s` sends nothing.
//!
//! Deviations: 256 rounds are looked ahead; faster paths on which nothing is under way that would
//! give them room do not count; a reinjection takes the path of lowest RTT; a path without an RTT
//! sends the head of the queue, which is how it gets one.

use super::candidates::{Candidates, place, reopens};
use super::rounds::{rtt_secs, windows};
use super::{PathView, Pick, QueueView, Scheduler};
use crate::registry::{Description, Kind, Values, parameters};
use polypath_units::Timestamp;

parameters! {
    /// Parameters of [`Fps`].
    pub struct FpsParameters {
        /// Whether a slow path sends the last segment of the queue where its index lies beyond it.
        pub last_segment: bool = false, "last_segment", "",
            "1: a slow path sends the last segment where its index lies beyond the queue; 0: nothing";
    }
}

/// Forward prediction scheduling.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fps {
    parameters: FpsParameters,
}

impl Fps {
    /// What the registry says of it.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Scheduler,
        name: "fps",
        purpose: "a slow path sends what will be next in order when it arrives",
        source: "Mirani et al., IEEE VTC 2010-Fall",
        parameters: FpsParameters::PARAMETERS,
    };

    /// A scheduler with these parameters.
    pub fn new(parameters: FpsParameters) -> Self {
        Self { parameters }
    }

    /// A scheduler with the default parameters.
    pub fn build(values: &Values) -> Box<dyn Scheduler> {
        Box::new(Self::new(FpsParameters::of(values)))
    }

    /// Bytes that the path leaves to faster ones; at most those before the last segment if that is
    /// to be sent.
    fn skip(self, predicted: f64, path: &PathView, queue: &QueueView) -> u64 {
        let skip = (predicted * path.mss as f64) as u64;
        let last = queue.unsent.saturating_sub(queue.segment);
        if self.parameters.last_segment { skip.min(last) } else { skip }
    }
}

impl Scheduler for Fps {
    fn pick(&mut self, paths: &[PathView], queue: &QueueView, now: Timestamp) -> Pick {
        let candidates = Candidates::new(paths, queue, now);
        let Some(chosen) = candidates.lowest_rtt() else { return candidates.wait(now) };
        if queue.reinjection || chosen.srtt.is_none() {
            return Pick::Send(chosen.id);
        }
        let faster: Vec<_> = candidates
            .iter()
            .filter(|p| p.srtt < chosen.srtt)
            .filter_map(|p| Some((p, reopens(p, now)?)))
            .collect();
        let predicted = faster.iter().map(|(p, _)| predicted(p, chosen)).sum();
        let opens = faster.iter().map(|&(_, at)| at).min();
        place(chosen, self.skip(predicted, chosen, queue), queue)
            .unwrap_or_else(|| opens.map_or(Pick::Send(chosen.id), Pick::Wait))
    }
}

/// `floor(N_j)`: segments that `fast` delivers before one that is sent on `slow` now.
fn predicted(fast: &PathView, slow: &PathView) -> f64 {
    let rtt = rtt_secs(fast);
    let rounds = ((rtt_secs(slow) - rtt) / 2.0 / rtt).max(0.0);
    let in_round = |(window, round): (f64, u32)| window * (rounds - f64::from(round)).min(1.0);
    let during = windows(fast).zip(0_u32..).take_while(|&(_, round)| f64::from(round) < rounds);
    libm::floor(during.map(in_round).sum::<f64>() + ROUNDING)
}

/// Quotients of times are not exact: a whole number of segments must not become one less.
const ROUNDING: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::fixtures::{bulk, full, id, path, queue, reinjection};

    fn avoiding(rtt_ms: u64) -> PathView {
        PathView { ssthresh: 5_000.0, ..path(0, rtt_ms, 10) }
    }

    fn ahead(segments: u64) -> Pick {
        Pick::Ahead { path: id(1), skip: segments * 1_000 }
    }

    fn pick(fps: &mut Fps, queue: &QueueView) -> Pick {
        fps.pick(&[full(avoiding(20)), path(1, 100, 20)], queue, Timestamp::ZERO)
    }

    #[test]
    fn t_fps_1() {
        assert_eq!(predicted(&avoiding(20), &path(1, 100, 20)), 21.0);
        assert_eq!(pick(&mut Fps::default(), &bulk()), ahead(21));
    }

    /// 10 segments in the first round, then 11 in congestion avoidance and 20 in slow start, of
    /// which a quarter of a round is left.
    #[test]
    fn the_last_round_counts_in_part() {
        let slow = path(1, 70, 20);
        assert_eq!(predicted(&avoiding(20), &slow), 12.0, "12.75");
        assert_eq!(predicted(&path(0, 20, 10), &slow), 15.0);
    }

    #[test]
    fn all_faster_paths_count() {
        let views =
            [full(avoiding(20)), path(1, 100, 20), full(PathView { id: id(2), ..avoiding(100) })];
        assert_eq!(Fps::default().pick(&views, &bulk(), Timestamp::ZERO), ahead(21));
        let views =
            [full(avoiding(20)), path(1, 100, 20), full(PathView { id: id(2), ..avoiding(50) })];
        assert_eq!(Fps::default().pick(&views, &bulk(), Timestamp::ZERO), ahead(21 + 5));
    }

    #[test]
    fn a_slow_path_sends_nothing_of_a_short_queue_or_its_last_segment() {
        let mut plain = Fps::default();
        assert_eq!(pick(&mut plain, &queue(22, 99)), ahead(21));
        assert_eq!(pick(&mut plain, &queue(21, 99)), Pick::Wait(Timestamp::MAX));
        assert_eq!(pick(&mut plain, &queue(99, 21)), Pick::Wait(Timestamp::MAX));
        let mut last = Fps::new(FpsParameters { last_segment: true });
        assert_eq!(pick(&mut last, &queue(21, 99)), ahead(20));
        assert_eq!(pick(&mut last, &queue(1, 99)), Pick::Send(id(1)));
        assert_eq!(pick(&mut plain, &reinjection(&[])), Pick::Send(id(1)));
    }
}
