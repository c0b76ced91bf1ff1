//! By how much datagrams are overtaken by later ones: how long order is worth waiting for.
//!
//! The round-trip times that the receiver of a flow measures are those of its own packets. The
//! queues that the flow makes grow in the other direction, and what takes a path with a longer one
//! is later than these times say.
//!
//! A path brings what was sent over it in order, as a rule. Once each path that carries the flow
//! has brought something later than a number that is missing, it has been lost, whatever the paths
//! differ by: then only what a path itself puts out of order is worth a wait.

use polypath_core::estimator::WindowedMax;
use polypath_units::{PathId, Timestamp};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::time::Duration;

/// Holes whose beginning is remembered. A path that is late by 100 ms while another one opens a
/// hole with every second of 20,000 datagrams a second needs as many.
const MEMORY: usize = 1_024;

/// For how long the most counts that a datagram was late by.
const WINDOW: Duration = Duration::from_secs(10);

/// A path that brought nothing for as long does not carry the flow.
const UNUSED: Duration = Duration::from_secs(2);

/// A path has shown by then how late its datagrams come. Start-up takes less, and its queues are
/// the longest.
const LEARNING: Duration = Duration::from_secs(1);

/// What is waited for beside the most that was seen: queues grow.
const MARGIN: f64 = 1.25;

/// How long datagrams are waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waits {
    /// At least, while a path that may bring them has not shown how late its datagrams come.
    pub(super) unknown: Duration,
    /// At least, once all paths have brought later ones.
    pub(super) lost: Duration,
    /// At most.
    pub(super) most: Duration,
}

/// How late datagrams of a flow come.
#[derive(Debug)]
pub(super) struct Overtaken {
    /// When the first one came.
    began: Option<Timestamp>,
    /// Above all that have arrived.
    end: u64,
    /// Those that all paths have passed come first.
    holes: VecDeque<Hole>,
    paths: BTreeMap<PathId, Brought>,
    late: Lateness,
    /// By how much datagrams came after all paths had passed them.
    late_after_all: Lateness,
}

/// Numbers that a later one came before.
#[derive(Debug)]
struct Hole {
    numbers: Range<u64>,
    since: Timestamp,
    /// Since when each path has brought a later one.
    passed: Option<Timestamp>,
}

/// What a path that carries the flow has brought.
#[derive(Debug)]
struct Brought {
    /// The highest number.
    newest: u64,
    /// When it was used again, or for the first time.
    since: Timestamp,
    last: Timestamp,
}

/// The most that datagrams were late by recently.
#[derive(Debug)]
struct Lateness(WindowedMax<Duration>);

impl Lateness {
    fn new() -> Self {
        Self(WindowedMax::new(u64::try_from(WINDOW.as_millis()).unwrap_or(u64::MAX)))
    }

    fn update(&mut self, since: Option<Timestamp>, now: Timestamp) {
        let late = since.map_or(Duration::ZERO, |since| now.since(since));
        self.0.update(now.as_nanos() / 1_000_000, late);
    }

    /// What it is worth to wait for others.
    fn wait(&self) -> Duration {
        self.0.get().unwrap_or_default().mul_f64(MARGIN)
    }
}

impl Overtaken {
    pub(super) fn new() -> Self {
        Self {
            began: None,
            end: 0,
            holes: VecDeque::new(),
            paths: BTreeMap::new(),
            late: Lateness::new(),
            late_after_all: Lateness::new(),
        }
    }

    /// A path brought the datagram `seq` or a part of it, whether it is the first copy or not.
    pub(super) fn on_arrival(&mut self, path: PathId, seq: u64, now: Timestamp) {
        self.began.get_or_insert(now);
        if seq > self.end {
            self.open_hole(self.end..seq, now);
        }
        self.end = self.end.max(seq + 1);
        self.paths.retain(|_, brought| now.since(brought.last) < UNUSED);
        let begun = Brought { newest: seq, since: now, last: now };
        let brought = self.paths.entry(path).or_insert(begun);
        (brought.newest, brought.last) = (brought.newest.max(seq), now);
        let all = self.paths.values().map(|brought| brought.newest).min().unwrap_or_default();
        let passed = self.holes.partition_point(|hole| hole.passed.is_some());
        let others = self.holes.range_mut(passed..);
        for hole in others.take_while(|hole| hole.numbers.end <= all) {
            hole.passed = Some(now);
        }
    }

    fn open_hole(&mut self, numbers: Range<u64>, now: Timestamp) {
        if self.holes.len() == MEMORY {
            self.holes.pop_front();
        }
        self.holes.push_back(Hole { numbers, since: now, passed: None });
    }

    /// The datagram `seq` is complete, for the first time, by what `path` has just brought.
    pub(super) fn on_complete(&mut self, path: PathId, seq: u64, now: Timestamp) {
        let hole = self.hole(seq);
        let (since, passed) = (hole.map(|hole| hole.since), hole.and_then(|hole| hole.passed));
        // The others have not waited for a path that was not used.
        let was_used =
            |passed: &Timestamp| self.paths.get(&path).is_some_and(|p| p.since < *passed);
        let passed = passed.filter(was_used);
        self.late.update(since, now);
        self.late_after_all.update(passed, now);
    }

    /// A path brings nothing any more.
    pub(super) fn forget_path(&mut self, path: PathId) {
        self.paths.remove(&path);
    }

    fn hole(&self, seq: u64) -> Option<&Hole> {
        let place = self.holes.partition_point(|hole| hole.numbers.end <= seq);
        self.holes.get(place).filter(|hole| hole.numbers.contains(&seq))
    }

    /// Until when the datagram `seq`, which arrived at `at`, waits for those before it.
    pub(super) fn deadline(&self, seq: u64, at: Timestamp, waits: &Waits) -> Timestamp {
        let wait = self.wait(at, waits.unknown).max(waits.lost).min(waits.most);
        let others_may_begin = self.began.is_none_or(|began| at < began + LEARNING);
        let lost = seq.checked_sub(1).filter(|_| !others_may_begin);
        let lost = lost.and_then(|missing| self.lost_at(missing, waits.lost));
        lost.map_or(at + wait, |lost| lost.min(at + wait))
    }

    fn wait(&self, at: Timestamp, unknown: Duration) -> Duration {
        let are_known = self.paths.values().all(|brought| brought.since + LEARNING <= at);
        if are_known { self.late.wait() } else { self.late.wait().max(unknown) }
    }

    /// When `seq`, which is missing, need not be waited for any more, as all paths have brought
    /// later ones.
    fn lost_at(&self, seq: u64, least: Duration) -> Option<Timestamp> {
        Some(self.hole(seq)?.passed? + self.late_after_all.wait().max(least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_units::millis;

    fn arrive(overtaken: &mut Overtaken, path: u8, seq: u64, ms: u64) {
        let (path, now) = (PathId::new(path).unwrap(), Timestamp::from_millis(ms));
        overtaken.on_arrival(path, seq, now);
        overtaken.on_complete(path, seq, now);
    }

    fn after(arrivals: &[(u64, u64)]) -> Overtaken {
        let mut overtaken = Overtaken::new();
        for &(seq, ms) in arrivals {
            arrive(&mut overtaken, 0, seq, ms);
        }
        overtaken
    }

    fn wait_at(overtaken: &Overtaken, ms: u64) -> f64 {
        millis(overtaken.wait(Timestamp::from_millis(ms), Duration::from_millis(777)))
    }

    fn wait_ms(arrivals: &[(u64, u64)]) -> f64 {
        wait_at(&after(arrivals), 1_000)
    }

    #[test]
    fn what_came_late_counts_from_the_first_that_overtook_it() {
        assert_eq!(wait_ms(&[(0, 0), (1, 5), (2, 9)]), 0.0, "in order");
        assert_eq!(wait_ms(&[(0, 0), (3, 10), (4, 20), (1, 50)]), 50.0, "40 ms and a quarter");
        assert_eq!(wait_ms(&[(0, 0), (3, 10), (1, 30), (6, 35), (2, 34), (4, 43)]), 30.0);
        assert_eq!(wait_ms(&[(5, 0), (0, 8)]), 10.0, "the first ones too");
    }

    /// One path brings the even numbers, the other one the odd ones.
    fn over_two_paths(overtaken: &mut Overtaken, seq: u64, ms: u64) {
        arrive(overtaken, (seq % 2) as u8, seq, ms);
    }

    #[test]
    fn a_number_is_lost_once_each_path_has_brought_a_later_one() {
        let mut overtaken = Overtaken::new();
        let lost_at = |overtaken: &Overtaken, seq| {
            overtaken.lost_at(seq, Duration::ZERO).map(|at| at.as_millis_f64())
        };
        for (seq, ms) in [(0, 0), (2, 2), (1, 21), (4, 24), (6, 26), (3, 27)] {
            over_two_paths(&mut overtaken, seq, ms);
        }
        assert_eq!(lost_at(&overtaken, 5), None, "the second path has not come to it");
        over_two_paths(&mut overtaken, 7, 41);
        assert_eq!(lost_at(&overtaken, 5), Some(41.0));
        over_two_paths(&mut overtaken, 5, 45);
        assert_eq!(lost_at(&overtaken, 5), Some(46.0), "a path is not in order, by 4 ms");
    }

    #[test]
    fn a_path_that_brings_nothing_is_not_waited_for() {
        let lost_at = |then: fn(&mut Overtaken)| {
            let mut overtaken = Overtaken::new();
            [0, 1].iter().for_each(|&seq| over_two_paths(&mut overtaken, seq, 0));
            then(&mut overtaken);
            overtaken.lost_at(3, Duration::ZERO).map(|at| at.as_millis_f64())
        };
        assert_eq!(lost_at(|overtaken| over_two_paths(overtaken, 4, 1_999)), None);
        assert_eq!(lost_at(|overtaken| over_two_paths(overtaken, 4, 2_000)), Some(2_000.0));
        let after_the_end_of_a_path = |overtaken: &mut Overtaken| {
            overtaken.forget_path(PathId::new(1).unwrap());
            over_two_paths(overtaken, 4, 5);
        };
        assert_eq!(lost_at(after_the_end_of_a_path), Some(5.0));
    }

    #[test]
    fn it_is_forgotten_after_ten_seconds() {
        let mut overtaken = after(&[(0, 0), (2, 10), (1, 50), (4, 60), (3, 70)]);
        assert_eq!(wait_at(&overtaken, 1_000), 50.0);
        for second in 1..=10 {
            arrive(&mut overtaken, 0, 4 + second, 40 + 1_000 * second);
            assert_eq!(wait_at(&overtaken, 40 + 1_000 * second), 50.0);
        }
        arrive(&mut overtaken, 0, 15, 10_051);
        assert_eq!(wait_at(&overtaken, 10_051), 0.0);
    }

    #[test]
    fn a_path_shows_in_a_second_how_late_it_is() {
        let mut overtaken = after(&[(0, 0)]);
        assert_eq!([wait_at(&overtaken, 999), wait_at(&overtaken, 1_000)], [777.0, 0.0]);
        arrive(&mut overtaken, 1, 1, 1_500);
        assert_eq!([wait_at(&overtaken, 2_499), wait_at(&overtaken, 2_500)], [777.0, 0.0]);
    }

    #[test]
    fn memory_is_bounded() {
        let every_second: Vec<_> = (0..10_000).map(|n| (2 * n, n)).collect();
        assert_eq!(after(&every_second).holes.len(), MEMORY);
    }
}
