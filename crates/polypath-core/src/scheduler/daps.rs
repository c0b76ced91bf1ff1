//! DAPS: deals a stretch of the data to the paths so that it arrives in order.
//!
//! Source: N. Kuhn, E. Lochin, A. Mifdaoui, G. Sarwar, O. Mehani, R. Boreli, "DAPS: Intelligent
//! delay-aware packet scheduling for multipath transport", IEEE ICC 2014, and its kernel port.
//!
//! With delays `d_i = srtt_i / 2`, rounded to the granularity, and windows `c_i` in segments,
//! smoothed from plan to plan (`7/8 c + 1/8 w`), a plan covers `E = lcm(d_i)`: for `t = 1..E`, for
//! the paths by delay, `t mod d_i = 0` gives the next `c_i` segments to path `i`. A path that has
//! room sends its part of the plan at once, ahead of what slower entries of other paths hold.
//!
//! Deviations: `E` is cut at `horizon`. The source makes a new plan when the old one is consumed,
//! and has paths without room leave the plan. The plan gives a window in each `d_i`, while a window
//! takes a round trip: here it is given up after `2 E`, with what paths have found no room for by
//! then, or when a path's delay has changed by a factor of two, and a new one begins at the head. A
//! path that has sent its part earlier begins with the next plan, behind what is left, instead of
//! waiting for the others; it waits only where the data or the receiver's window does not reach so
//! far. A path without an RTT is used only where no planned path has room.

use super::candidates::{Candidates, place, reopens};
use super::{PathView, Pick, QueueView, Scheduler};
use crate::path_map::PathMap;
use crate::registry::{Description, Kind, Values, parameters};
use polypath_units::{PathId, PathSet, Timestamp};
use std::collections::VecDeque;
use std::time::Duration;

/// Weight of the former window in the smoothed one.
const SMOOTHING: f64 = 7.0 / 8.0;

parameters! {
    /// Parameters of [`Daps`].
    pub struct DapsParameters {
        /// What delays are rounded to.
        pub granularity: Duration = Duration::from_millis(4), "granularity", "s",
            "what delays are rounded to before their least common multiple is taken", 0.001 to 10.0;
        /// The longest plan.
        pub horizon: Duration = Duration::from_secs(10), "horizon", "s",
            "the longest plan", 0.001 to 60.0;
    }
}

impl DapsParameters {
    fn horizon_ms(&self) -> u64 {
        self.horizon.as_millis() as u64
    }

    /// One-way delay in ms, at least 1; delays beyond the horizon count as the horizon, so that a
    /// plan has an end.
    fn delay_ms(&self, srtt: Duration) -> u64 {
        let step = self.granularity.as_secs_f64().max(1e-3);
        let steps = libm::round(srtt.as_secs_f64() / 2.0 / step);
        ((steps * step * 1e3) as u64).min(self.horizon_ms()).max(1)
    }
}

/// Delay-aware packet scheduling.
#[derive(Clone, Debug, Default)]
pub struct Daps {
    parameters: DapsParameters,
    /// Smoothed windows in segments.
    windows: PathMap<f64>,
    /// The delays in ms that the plan was made with.
    delays: PathMap<u64>,
    plan: Plan,
}

/// A path's share: the delay in ms and the window in segments.
#[derive(Clone, Copy, Debug)]
struct Share {
    path: PathId,
    delay_ms: u64,
    window: u64,
}

/// Segments for a path, in the order of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    path: PathId,
    segments: u64,
}

/// What is left of a plan.
#[derive(Clone, Debug, Default)]
struct Plan {
    entries: VecDeque<Entry>,
    /// The paths that it was made for.
    paths: PathSet,
    /// When what is left of it is given up.
    ends: Timestamp,
}

impl Daps {
    /// What the registry says of it.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Scheduler,
        name: "daps",
        purpose: "deals a stretch of the data to the paths so that it arrives in order",
        source: "Kuhn et al., IEEE ICC 2014, and its kernel port",
        parameters: DapsParameters::PARAMETERS,
    };

    /// A scheduler with these parameters.
    pub fn new(parameters: DapsParameters) -> Self {
        Self { parameters, ..Self::default() }
    }

    /// A scheduler with the default parameters.
    pub fn build(values: &Values) -> Box<dyn Scheduler> {
        Box::new(Self::new(DapsParameters::of(values)))
    }

    /// Gives up what is left of the plan, and plans from the head.
    fn renew(&mut self, candidates: Candidates, now: Timestamp) {
        self.plan = Plan { paths: planned(candidates), ..Plan::default() };
        for path in candidates.iter() {
            if let Some(srtt) = path.srtt {
                self.delays.insert(path.id, self.parameters.delay_ms(srtt));
            }
        }
        let length = self.extend(candidates);
        self.plan.ends = now + 2 * length;
    }

    /// Whether the plan was made for other paths, or for other delays: by more than a factor of
    /// two, which queues of a BDP alone do not make. Such a plan would end after twice the least
    /// common multiple of delays that no longer exist.
    fn is_outdated(&self, candidates: Candidates) -> bool {
        let differs = |path: &PathView| {
            let now = path.srtt.map(|srtt| self.parameters.delay_ms(srtt));
            let then = self.delays.get(path.id).copied();
            now.zip(then).is_some_and(|(now, then)| now > 2 * then || then > 2 * now)
        };
        self.plan.paths != planned(candidates) || candidates.iter().any(differs)
    }

    /// Plans a stretch behind what is left of the plan; returns its length.
    fn extend(&mut self, candidates: Candidates) -> Duration {
        let mut shares: Vec<_> = candidates.iter().filter_map(|p| self.share(p)).collect();
        shares.sort_by_key(|share| (share.delay_ms, share.path));
        let (entries, length_ms) = plan(&shares, self.parameters.horizon_ms());
        self.plan.entries.extend(entries);
        Duration::from_millis(length_ms)
    }

    fn share(&mut self, path: &PathView) -> Option<Share> {
        let delay_ms = self.parameters.delay_ms(path.srtt?);
        let segments = path.cwnd as f64 / path.mss.max(1) as f64;
        let window = self.windows.get_or_insert_with(path.id, || segments);
        *window = SMOOTHING * *window + (1.0 - SMOOTHING) * segments;
        Some(Share { path: path.id, delay_ms, window: (*window as u64).max(1) })
    }

    /// The first entry of the plan whose path has room, and the segments before it.
    fn next<'a>(&self, candidates: Candidates<'a>) -> Option<(usize, u64, &'a PathView)> {
        let mut before = 0_u64;
        for (index, entry) in self.plan.entries.iter().enumerate() {
            if let Some(path) = candidates.available().find(|p| p.id == entry.path) {
                return Some((index, before, path));
            }
            before = before.saturating_add(entry.segments);
        }
        None
    }

    /// Sends what the plan says, if a path has room and the segment is there.
    fn follow(&mut self, candidates: Candidates, queue: &QueueView) -> Option<Pick> {
        let can_be_planned = candidates.available().any(|path| path.srtt.is_some());
        if can_be_planned && self.next(candidates).is_none() {
            self.extend(candidates);
        }
        let (index, before, path) = self.next(candidates)?;
        let pick = place(path, before.saturating_mul(path.mss), queue)?;
        let entry = self.plan.entries.get_mut(index)?;
        entry.segments -= 1;
        if entry.segments == 0 {
            self.plan.entries.remove(index);
        }
        Some(pick)
    }

    /// Until when to wait for the paths that have part of the plan, and no room.
    fn waits(&self, candidates: Candidates, now: Timestamp) -> Option<Timestamp> {
        let has_part = |id| self.plan.entries.iter().any(|entry| entry.path == id);
        let waited_for = candidates.iter().filter(|p| !p.available && has_part(p.id));
        let opens = waited_for.filter_map(|p| reopens(p, now)).min()?;
        (self.plan.ends > now).then_some(opens.min(self.plan.ends))
    }
}

impl Scheduler for Daps {
    fn pick(&mut self, paths: &[PathView], queue: &QueueView, now: Timestamp) -> Pick {
        let candidates = Candidates::new(paths, queue, now);
        let Some(lowest) = candidates.lowest_rtt() else { return candidates.wait(now) };
        if queue.reinjection {
            return Pick::Send(lowest.id);
        }
        if now >= self.plan.ends || self.is_outdated(candidates) {
            self.renew(candidates, now);
        }
        let planned = self.follow(candidates, queue);
        if let Some(pick) = planned.or_else(|| self.waits(candidates, now).map(Pick::Wait)) {
            return pick;
        }
        self.renew(candidates, now);
        self.follow(candidates, queue).unwrap_or(Pick::Send(lowest.id))
    }

    fn on_remove(&mut self, path: PathId) {
        self.windows.remove(path);
    }
}

/// The paths that a plan is made for.
fn planned(candidates: Candidates) -> PathSet {
    candidates.iter().filter(|p| p.srtt.is_some()).map(|p| p.id).collect()
}

/// The segments of each path in the order of the data, and the length in ms.
fn plan(shares: &[Share], horizon_ms: u64) -> (VecDeque<Entry>, u64) {
    let cycle = shares.iter().fold(1, |e, share| lcm(e, share.delay_ms).min(horizon_ms));
    let slowest = shares.iter().map(|share| share.delay_ms).max().unwrap_or(1);
    // Where the horizon cuts it, still at least one turn for each path.
    let length = cycle.max(slowest);
    let mut turns: Vec<_> = (0..)
        .zip(shares)
        .flat_map(|(rank, share)| (1..=length / share.delay_ms).map(move |n| (n, rank, share)))
        .map(|(n, rank, share): (u64, usize, &Share)| (n * share.delay_ms, rank, share))
        .collect();
    turns.sort_by_key(|&(at, rank, _)| (at, rank));
    let entry =
        |(_, _, share): (u64, usize, &Share)| Entry { path: share.path, segments: share.window };
    (turns.into_iter().map(entry).collect(), length)
}

fn lcm(a: u64, b: u64) -> u64 {
    let (mut divisor, mut rest) = (a, b);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (a / divisor).saturating_mul(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::fixtures::{MSS, bulk, full, id, loaded, ms, path, queue};

    /// The RTT of an outage once made plans that took all memory.
    #[test]
    fn a_path_beyond_the_horizon_has_a_turn_at_its_end() {
        let (mut daps, hour) = (Daps::default(), 3_600_000);
        let paths = [path(0, 20, 2), path(1, hour, 2)];
        assert_eq!(daps.pick(&paths, &bulk(), Timestamp::ZERO), Pick::Send(id(0)));
        // Delays of 12 and 10,000 ms.
        assert_eq!(daps.plan.entries.len(), 833 + 1);
    }

    /// A path without RTT is in no plan. While it alone had room, each pick made the plan longer.
    #[test]
    fn a_plan_does_not_grow_while_no_path_of_it_has_room() {
        let mut daps = Daps::default();
        let unknown = PathView { srtt: None, ..path(1, 10, 2) };
        daps.pick(&[path(0, 20, 2), unknown], &bulk(), Timestamp::ZERO);
        let planned = daps.plan.entries.len();
        for at in 1..5 {
            let paths = [full(path(0, 20, 2)), unknown];
            daps.pick(&paths, &bulk(), Timestamp::from_millis(at));
            assert!(daps.plan.entries.len() <= planned, "{:?}", daps.plan);
        }
    }

    /// T-DAPS-1: delays of 10 and 30 ms, windows of 2 and 3.
    fn paths() -> [PathView; 2] {
        [path(0, 20, 2), path(1, 60, 3)]
    }

    /// Delays as they are.
    fn daps() -> Daps {
        Daps::new(DapsParameters { granularity: ms(1), ..Default::default() })
    }

    fn ahead(number: u8, segments: u64) -> Pick {
        Pick::Ahead { path: id(number), skip: segments * MSS }
    }

    #[test]
    fn t_daps_1() {
        let shares = [(0, 10, 2), (1, 30, 3)];
        let shares = shares.map(|(n, delay_ms, window)| Share { path: id(n), delay_ms, window });
        let (entries, length) = plan(&shares, 10_000);
        let entries: Vec<_> = entries.iter().map(|e| (e.path.get(), e.segments)).collect();
        assert_eq!((entries, length), (vec![(0, 2), (0, 2), (0, 2), (1, 3)], 30));
    }

    /// The same plan, worked off: the slow path sends 7 to 9 while 3 to 6 wait for the fast one.
    #[test]
    fn the_slow_path_sends_its_part_at_once() {
        let mut daps = daps();
        let mut pick = |a, b, at| {
            let [fast, slow] = paths();
            let views = [loaded(fast, a), loaded(slow, b)];
            daps.pick(&views, &bulk(), Timestamp::from_millis(at))
        };
        assert_eq!(pick(0, 0, 0), Pick::Send(id(0)));
        assert_eq!(pick(1, 0, 0), Pick::Send(id(0)));
        assert_eq!(pick(2, 0, 0), ahead(1, 4));
        assert_eq!(pick(2, 1, 0), ahead(1, 4));
        assert_eq!(pick(2, 2, 0), ahead(1, 4));
        assert_eq!(pick(2, 3, 0), Pick::Wait(Timestamp::MAX));
        for (a, b, at) in [(0, 3, 20), (1, 3, 20), (0, 3, 40), (1, 3, 40)] {
            assert_eq!(pick(a, b, at), Pick::Send(id(0)));
        }
        assert_eq!(pick(0, 0, 60), Pick::Send(id(0)), "a new plan");
        assert_eq!(pick(2, 0, 60), ahead(1, 5));
    }

    /// The slow path has worked off its part and has room: it begins with the next plan, behind the
    /// rest of this one, or waits where the window does not reach so far; after twice the length of
    /// the plan all begins at the head.
    #[test]
    fn a_path_that_is_done_begins_with_the_next_plan() {
        let mut daps = daps();
        let mut pick = |in_flight, window, at| {
            let views = [full(paths()[0]), loaded(path(1, 60, 9), in_flight)];
            daps.pick(&views, &queue(1_000, window), Timestamp::from_millis(at))
        };
        assert_eq!((0..9).map(|n| pick(n, 99, 0)).last(), Some(ahead(1, 6)));
        assert_eq!(pick(0, 99, 10), ahead(1, 12));
        assert_eq!(pick(1, 12, 59), Pick::Wait(Timestamp::from_millis(60)));
        assert_eq!(pick(1, 12, 60), ahead(1, 6));
    }

    /// The slow path has had its part when its RTT falls from 60 to 20 ms. The old plan gives it
    /// nothing before its turn in the next one, behind six segments; the new one has it take turns.
    #[test]
    fn another_delay_makes_another_plan() {
        let mut daps = daps();
        let mut pick = |rtt_ms| {
            let views = [full(paths()[0]), path(1, rtt_ms, 3)];
            daps.pick(&views, &bulk(), Timestamp::ZERO)
        };
        assert_eq!([pick(60), pick(60), pick(60)], [ahead(1, 6); 3]);
        assert_eq!(pick(30), ahead(1, 8), "half is the queue's doing: a turn behind the old plan");
        assert_eq!(pick(20), ahead(1, 2));
    }

    #[test]
    fn what_is_too_little_for_the_slow_path_waits_for_the_fast_one() {
        let [fast, slow] = paths();
        let wait = Pick::Wait(Timestamp::from_millis(60));
        for (unsent, window, pick) in [(6, 99, wait), (7, 99, ahead(1, 6)), (99, 6, wait)] {
            let queue = queue(unsent, window);
            assert_eq!(daps().pick(&[full(fast), slow], &queue, Timestamp::ZERO), pick);
        }
    }

    #[test]
    fn the_horizon_cuts_a_long_plan() {
        let shares = [(0, 997, 1), (1, 1_009, 1)];
        let shares = shares.map(|(n, delay_ms, window)| Share { path: id(n), delay_ms, window });
        let (entries, length) = plan(&shares, 10_000);
        assert_eq!((entries.len(), length), (10 + 9, 10_000));
        let (entries, length) = plan(&shares, 10);
        assert_eq!((entries.len(), length), (2, 1_009), "each path has a turn");
    }
}
