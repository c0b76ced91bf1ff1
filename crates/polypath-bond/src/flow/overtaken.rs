//! By how much datagrams are overtaken by later ones: how long order is worth waiting for.
//!
//! The round-trip times that the receiver of a flow measures are those of its own packets. The
//! queues that the flow makes grow in the other direction, and what takes a path with a longer one
//! is later than these times say.

use polypath_core::estimator::WindowedMax;
use polypath_units::Timestamp;
use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

/// Holes whose beginning is remembered. A path that is late by 100 ms while another one opens a
/// hole with every second of 20,000 datagrams a second needs as many.
const MEMORY: usize = 1_024;

/// For how long the most counts that a datagram was late by.
const WINDOW: Duration = Duration::from_secs(2);

/// What is waited for beside the most that was seen: queues grow.
const MARGIN: f64 = 1.25;

/// How late datagrams of a flow come.
#[derive(Debug)]
pub(super) struct Overtaken {
    /// Above all that have arrived.
    end: u64,
    /// Numbers that later ones came before, and since when.
    holes: VecDeque<(Range<u64>, Timestamp)>,
    latest: WindowedMax<Duration>,
}

impl Overtaken {
    pub(super) fn new() -> Self {
        let window = u64::try_from(WINDOW.as_millis()).unwrap_or(u64::MAX);
        Self { end: 0, holes: VecDeque::new(), latest: WindowedMax::new(window) }
    }

    /// The datagram `seq` arrived for the first time.
    pub(super) fn on_arrival(&mut self, seq: u64, now: Timestamp) {
        let late = self.since(seq).map_or(Duration::ZERO, |since| now.since(since));
        self.latest.update(now.as_nanos() / 1_000_000, late);
        if seq > self.end {
            if self.holes.len() == MEMORY {
                self.holes.pop_front();
            }
            self.holes.push_back((self.end..seq, now));
        }
        self.end = self.end.max(seq + 1);
    }

    /// When a later datagram came before this one.
    fn since(&self, seq: u64) -> Option<Timestamp> {
        let place = self.holes.partition_point(|(hole, _)| hole.end <= seq);
        self.holes.get(place).filter(|(hole, _)| hole.contains(&seq)).map(|&(_, since)| since)
    }

    /// How long a later datagram is to wait for those before it, by what has come late.
    pub(super) fn wait(&self) -> Duration {
        self.latest.get().unwrap_or_default().mul_f64(MARGIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(arrivals: &[(u64, u64)]) -> Overtaken {
        let mut overtaken = Overtaken::new();
        for &(seq, ms) in arrivals {
            overtaken.on_arrival(seq, Timestamp::from_millis(ms));
        }
        overtaken
    }

    fn wait_ms(arrivals: &[(u64, u64)]) -> f64 {
        after(arrivals).wait().as_secs_f64() * 1e3
    }

    #[test]
    fn what_came_late_counts_from_the_first_that_overtook_it() {
        assert_eq!(wait_ms(&[(0, 0), (1, 5), (2, 9)]), 0.0, "in order");
        assert_eq!(wait_ms(&[(0, 0), (3, 10), (4, 20), (1, 50)]), 50.0, "40 ms and a quarter");
        assert_eq!(wait_ms(&[(0, 0), (3, 10), (1, 30), (6, 35), (2, 34), (4, 43)]), 30.0);
        assert_eq!(wait_ms(&[(5, 0), (0, 8)]), 10.0, "the first ones too");
    }

    #[test]
    fn it_is_forgotten_after_two_seconds() {
        let mut overtaken = after(&[(0, 0), (2, 10), (1, 50), (4, 60), (3, 70)]);
        assert_eq!(overtaken.wait(), Duration::from_millis(50));
        for second in 0..=3 {
            overtaken.on_arrival(5 + second, Timestamp::from_millis(100 + 1_000 * second));
        }
        assert_eq!(overtaken.wait(), Duration::ZERO);
    }

    #[test]
    fn memory_is_bounded() {
        let every_second: Vec<_> = (0..10_000).map(|n| (2 * n, n)).collect();
        assert_eq!(after(&every_second).holes.len(), MEMORY);
    }
}
