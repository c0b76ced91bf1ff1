//! LLSM: each segment on the path that would have transmitted it first, unless that would make the
//! receive window block.
//!
//! Source: P. Hurtig, K.-J. Grinnemo, A. Brunstrom, S. Ferlin, O. Alay, N. Kuhn, "Low-latency
//! scheduling in MPTCP", IEEE/ACM Transactions on Networking 27(1), 2019 (blocking estimation as in
//! [`Blest`](super::Blest), and shortest transmission time first, STTF).
//!
//! STTF, with the `q`-th segment from now on a path with window `w` and `f = w - in_flight`, in
//! segments: it is transmitted after `rtt / 2` if `q <= f`; else `q -= f`, and with `W = grow(w)`,
//! after `rtt` more for each `W` that `q` exceeds (`q -= W`, `W = grow(W)`), and `3/2 rtt`.
//! `grow(W) = 2 W` if `W <= ssthresh`, else `W + 1`.
//!
//! The source queues a segment on its path even where the window is full. Here segments wait in one
//! queue: a path with room takes the first that no other path would transmit earlier, ahead of
//! those that wait for the others, or none. That is what re-scheduling the queues at every
//! change amounts to. Deviations: 256 rounds are looked ahead; a reinjection does not wait; a path
//! without an RTT sends the head of the queue, which is how it gets one.

use super::blest::Blest;
use super::candidates::{Candidates, fastest, place, reopens};
use super::rounds::{rtt_secs, windows};
use super::{BlestParameters, PathView, Pick, QueueView, Scheduler};
use crate::registry::{Description, Kind, Values};
use polypath_units::Timestamp;

/// Low-latency scheduler for Multipath TCP.
#[derive(Clone, Debug, Default)]
pub struct Llsm {
    blocking: Blest,
}

impl Llsm {
    /// What the registry says of it.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Scheduler,
        name: "llsm",
        purpose: "the path that would have transmitted the segment first; waits as blest does",
        source: "Hurtig et al., IEEE/ACM ToN 27(1), 2019",
        parameters: Blest::DESCRIPTION.parameters,
    };

    /// A scheduler whose blocking estimate has these parameters.
    pub fn new(blocking: BlestParameters) -> Self {
        Self { blocking: Blest::new(blocking) }
    }

    /// A scheduler with the default parameters.
    pub fn build(values: &Values) -> Box<dyn Scheduler> {
        Box::new(Self::new(BlestParameters::of(values)))
    }
}

impl Scheduler for Llsm {
    fn pick(&mut self, paths: &[PathView], queue: &QueueView, now: Timestamp) -> Pick {
        let candidates = Candidates::new(paths, queue, now);
        let Some(chosen) = candidates.lowest_rtt() else { return candidates.wait(now) };
        let blocks = self.blocking.holds_back(candidates, chosen, queue, now);
        if queue.reinjection {
            return Pick::Send(chosen.id);
        }
        if let Some(until) = blocks {
            return Pick::Wait(until);
        }
        if chosen.srtt.is_none() {
            return Pick::Send(chosen.id);
        }
        let others = candidates.iter().filter(|p| reopens(p, now).is_some());
        let sooner: f64 = others.map(|p| transmitted_before(p, chosen, queue)).sum();
        let skip = (sooner * chosen.mss as f64) as u64;
        place(chosen, skip, queue).unwrap_or_else(|| {
            let opens = fastest(candidates.iter()).and_then(|fast| reopens(fast, now));
            opens.map_or(Pick::Send(chosen.id), Pick::Wait)
        })
    }
}

/// How many segments are transmitted by which time, in seconds from now: first with the free
/// window, then round by round.
fn rounds(path: &PathView) -> impl Iterator<Item = (f64, f64)> {
    let rtt = rtt_secs(path);
    let free = path.room() as f64 / path.mss.max(1) as f64;
    let later = windows(path).skip(1).zip(1_u32..);
    let later = later.map(move |(window, round)| (window, rtt * (f64::from(round) + 0.5)));
    std::iter::once((free.floor(), rtt / 2.0)).chain(later)
}

/// Segments that a path which has no room now would transmit before `chosen` has transmitted one;
/// of equals the path of lower number is preferred.
fn transmitted_before(path: &PathView, chosen: &PathView, queue: &QueueView) -> f64 {
    if path.available || path.srtt.is_none() {
        return 0.0;
    }
    let limit = rtt_secs(chosen) / 2.0;
    let sooner = |at: f64| at < limit || at == limit && path.id < chosen.id;
    let enough = (queue.unsent / path.mss.max(1)) as f64;
    let mut sum = 0.0;
    for (segments, _) in rounds(path).take_while(|&(_, at)| sooner(at)) {
        sum += segments;
        if sum > enough {
            break;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::fixtures::{bulk, full, id, loaded, path, queue, reinjection};

    /// When the `q`-th segment from now is transmitted, in ms.
    fn transmission_ms(path: &PathView, q: u64) -> f64 {
        let mut left = q as f64;
        let done = rounds(path).find(|&(segments, _)| {
            left -= segments;
            left <= 0.0
        });
        done.map_or(f64::INFINITY, |(_, at)| (at * 1e3).round())
    }

    #[test]
    fn t_sttf_1() {
        let (starting, idle) = (path(0, 40, 10), path(0, 40, 10));
        let avoiding = PathView { ssthresh: 5_000.0, ..idle };
        assert_eq!(transmission_ms(&loaded(starting, 4), 1), 20.0);
        assert_eq!(transmission_ms(&loaded(starting, 10), 1), 60.0);
        assert_eq!(transmission_ms(&loaded(starting, 4), 30), 100.0);
        assert_eq!(transmission_ms(&loaded(avoiding, 10), 30), 140.0);
    }

    /// The fast path, full, has transmitted 11 segments after 30 ms and 12 more after 50 ms.
    fn pick(slow_ms: u64, queue: &QueueView) -> Pick {
        let fast = PathView { ssthresh: 5_000.0, ..full(path(1, 20, 10)) };
        Llsm::default().pick(&[fast, path(2, slow_ms, 20)], queue, Timestamp::ZERO)
    }

    #[test]
    fn the_slow_path_takes_what_it_would_have_transmitted_first() {
        let ahead = |segments: u64| Pick::Ahead { path: id(2), skip: segments * 1_000 };
        assert_eq!(pick(58, &bulk()), Pick::Send(id(2)));
        assert_eq!(pick(60, &bulk()), ahead(11));
        assert_eq!(pick(98, &bulk()), ahead(11));
        assert_eq!(pick(100, &bulk()), ahead(23));
    }

    #[test]
    fn a_short_flow_stays_on_the_fast_path() {
        assert_eq!(pick(100, &queue(23, 1_000)), Pick::Wait(Timestamp::MAX));
        assert_eq!(pick(100, &reinjection(&[])), Pick::Send(id(2)));
    }

    /// Every segment is transmitted sooner than after an RTT that is not known.
    #[test]
    fn a_path_without_an_rtt_sends_and_so_gets_one() {
        let views = [full(path(1, 20, 10)), PathView { srtt: None, ..path(2, 100, 20) }];
        let pick = Llsm::default().pick(&views, &queue(100, 1_000_000), Timestamp::ZERO);
        assert_eq!(pick, Pick::Send(id(2)));
    }

    /// As in T-BLEST-1: 60 segments, by 1.19 after the first adaptation, against 100 less one.
    #[test]
    fn a_segment_that_would_block_the_window_waits() {
        assert!(matches!(pick(100, &queue(500, 100)), Pick::Ahead { .. }));
        assert_eq!(pick(100, &queue(500, 70)), Pick::Wait(Timestamp::MAX));
    }
}
