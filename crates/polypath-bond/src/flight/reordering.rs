//! How long a packet may be missing after later ones have arrived.
//!
//! A path keeps the order until it is seen not to. Until then a packet counts as lost by the third
//! one after it, or an eighth of a round trip after it was due (RFC 9002 section 6.1). On a path
//! that reorders only time tells, as in RFC 8985 section 6.2: a round trip and the reordering
//! window. There a window grows by a quarter of the minimum RTT for each round trip in which
//! something was sent again in vain; here packet numbers tell by how much each packet was late, so
//! that the window is at once what the latest packets needed. A round trip is what packets usually
//! take, of which the RTT tells only the fast ones.

use polypath_core::estimator::{RttEstimator, WindowedMax};
use std::time::Duration;

/// Episodes of loss for which a window is kept without a packet that was late (RFC 8985 section
/// 6.2, step 4): it costs nothing where nothing is lost.
const PERSISTENCE: u64 = 16;
/// The window is so many of these parts of the minimum RTT (ibid.).
const STEP: u32 = 4;
/// Without reordering: loss after so much more than a round trip (RFC 9002 section 6.1.2), and the
/// granularity of timers.
const IN_ORDER: u32 = 8;
const GRANULARITY: Duration = Duration::from_millis(1);

/// Times in flight are smoothed over so many packets.
const SMOOTHED_OVER: u32 = 16;

#[derive(Debug)]
pub(super) struct Reordering {
    /// How much longer than usual packets took that later ones had overtaken.
    lateness: WindowedMax<Duration>,
    episodes: u64,
    /// The episode in which a packet was late last.
    last_late: Option<u64>,
    /// How long packets take, smoothed. RTT samples are of the newest packet of an acknowledgement,
    /// which is a fast one where packets overtake each other.
    flight_time: Option<Duration>,
}

impl Default for Reordering {
    fn default() -> Self {
        Self {
            lateness: WindowedMax::new(PERSISTENCE),
            episodes: 0,
            last_late: None,
            flight_time: None,
        }
    }
}

impl Reordering {
    /// A packet in flight is acknowledged, so long after it was sent.
    pub(super) fn on_acked(&mut self, took: Duration) {
        self.flight_time = Some(match self.flight_time {
            Some(smoothed) => (smoothed * (SMOOTHED_OVER - 1) + took) / SMOOTHED_OVER,
            None => took,
        });
    }

    /// What packets usually take: on a path that reorders not less than they did of late.
    fn usual(&self, rtt: &RttEstimator) -> Option<Duration> {
        rtt.srtt().max(self.flight_time.filter(|_| self.is_seen()))
    }

    /// A packet that later ones had overtaken is acknowledged, so long after it was sent.
    pub(super) fn on_late(&mut self, took: Duration, rtt: Option<&RttEstimator>) {
        let usual = rtt.and_then(|rtt| self.usual(rtt)).unwrap_or_default();
        self.lateness.update(self.episodes, took.saturating_sub(usual));
        self.last_late = Some(self.episodes);
    }

    /// An episode of loss began.
    pub(super) const fn on_episode(&mut self) {
        self.episodes += 1;
    }

    /// Whether packets overtake each other on this path.
    pub(super) fn is_seen(&self) -> bool {
        self.last_late.is_some_and(|at| self.episodes - at <= PERSISTENCE)
    }

    /// The time since it was sent after which a packet is lost, if a later one has been
    /// acknowledged.
    pub(super) fn wait(&self, rtt: &RttEstimator) -> Duration {
        let usual = self.usual(rtt).max(rtt.latest()).unwrap_or_default();
        (usual + self.window(rtt).max(usual / IN_ORDER)).max(GRANULARITY)
    }

    /// The reordering window: at most what packets usually take; zero on a path that keeps the
    /// order.
    pub(super) fn window(&self, rtt: &RttEstimator) -> Duration {
        let (Some(min), Some(usual)) = (rtt.min(), self.usual(rtt)) else { return Duration::ZERO };
        let Some(lateness) = self.lateness.get().filter(|_| self.is_seen()) else {
            return Duration::ZERO;
        };
        let step = (min / STEP).max(Duration::from_nanos(1));
        let steps = lateness.min(usual).as_nanos().div_ceil(step.as_nanos()).max(1);
        (step * u32::try_from(steps).unwrap_or(u32::MAX)).min(usual)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// A path of 80 ms whose minimum was 40 ms: both the smoothed and the latest RTT are 80 ms.
    fn rtt() -> RttEstimator {
        let mut rtt = RttEstimator::default();
        rtt.on_sample(40 * MS);
        (0..200).for_each(|_| rtt.on_sample(80 * MS));
        rtt
    }

    /// To a microsecond: the smoothed RTT approaches its samples.
    fn micros(duration: Duration) -> u128 {
        (duration + Duration::from_nanos(500)).as_micros()
    }

    #[test]
    fn without_reordering_the_wait_is_that_of_quic() {
        let reordering = Reordering::default();
        assert!(!reordering.is_seen());
        assert_eq!(micros(reordering.wait(&rtt())), 90_000);
        assert_eq!(reordering.wait(&RttEstimator::default()), GRANULARITY);
    }

    /// Every other packet takes 80 ms and the others 155 ms, but all RTT samples are of the former.
    #[test]
    fn a_round_trip_is_what_packets_usually_take_once_they_overtake_each_other() {
        let (rtt, mut reordering) = (rtt(), Reordering::default());
        let take_all = |reordering: &mut Reordering| {
            (0..100).for_each(|n| reordering.on_acked((80 + 75 * (n % 2)) * MS));
        };
        take_all(&mut reordering);
        assert_eq!(micros(reordering.wait(&rtt)), 90_000, "none has overtaken another");
        reordering.on_late(155 * MS, Some(&rtt));
        take_all(&mut reordering);
        reordering.on_late(155 * MS, Some(&rtt));
        let (window, wait) = (reordering.window(&rtt), reordering.wait(&rtt));
        assert_eq!(window, 80 * MS, "what the first needed");
        // The mean is 117.5 ms, of which a packet moves it by 75/2/16 ms at most.
        assert!((195..200).contains(&wait.as_millis()), "the mean and the window: {wait:?}");
    }

    #[test]
    fn the_window_is_what_the_latest_packet_needed_in_whole_steps() {
        let rtt = rtt();
        for (took, window) in [(60, 10), (80, 10), (85, 10), (91, 20), (119, 40), (300, 80)] {
            let mut reordering = Reordering::default();
            reordering.on_late(took * MS, Some(&rtt));
            assert!(reordering.is_seen());
            assert_eq!(micros(reordering.window(&rtt)), window * 1_000, "{took} ms");
            assert_eq!(micros(reordering.wait(&rtt)), 80_000 + window * 1_000, "{took} ms");
        }
    }

    #[test]
    fn what_is_seen_is_forgotten_after_sixteen_episodes_without_it() {
        let (mut reordering, rtt) = (Reordering::default(), rtt());
        reordering.on_late(109 * MS, Some(&rtt));
        for _ in 0..PERSISTENCE {
            reordering.on_episode();
        }
        assert_eq!(micros(reordering.window(&rtt)), 30_000);
        reordering.on_late(85 * MS, Some(&rtt));
        reordering.on_episode();
        reordering.on_late(85 * MS, Some(&rtt));
        assert_eq!(micros(reordering.window(&rtt)), 10_000, "the late one is out of the window");
        for _ in 0..=PERSISTENCE {
            reordering.on_episode();
        }
        assert!(!reordering.is_seen());
        assert_eq!(reordering.window(&rtt), Duration::ZERO);
    }
}
