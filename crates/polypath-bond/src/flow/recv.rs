//! The receiving half of a datagram flow: fragments are put together, the first copy wins, order is
//! restored within a bound.

mod counts;
mod pace;

use super::flows::PathWaits;
use super::overtaken::{Overtaken, Waits};
use super::partial::{Added, Partials};
use super::{Arrived, FlowCounters};
use crate::carried_bytes::CarriedBytes;
use crate::codec::{FlowConfig, FragmentFrame};
use crate::error::ProtocolError;
use crate::ranges::RangeSet;
use pace::Pace;
use polypath_units::{PathId, Timestamp};
use std::cell::LazyCell;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// The longest wait for order that nobody asked for.
pub(crate) const MAX_AUTO_RESEQUENCE: Duration = Duration::from_millis(250);

/// The longest that the receiver of a flow waits for a datagram that is sent again, where nobody
/// asked for a wait: a round trip of a satellite.
pub const MAX_RESEND_WAIT: Duration = Duration::from_secs(1);

/// How far behind the newest datagram a copy can still be told from a new datagram. Older ones
/// are dropped as copies. A path of 1 Gbit/s brings so many in 0.8 s.
const MEMORY: u64 = 65_536;

/// Where so many numbers are missing here and there, older ones are dropped earlier: memory is
/// bounded whatever comes.
const MAX_SEEN_RANGES: usize = 4_096;

/// What one waiting datagram costs beside its bytes.
const COST: u64 = 64;

/// Datagrams of one flow that arrived.
#[derive(Debug)]
pub(crate) struct RecvFlow {
    /// The application's bound; `None` follows the paths' delays.
    resequence: Option<Duration>,
    /// Whether the peer sends again what was lost.
    resends: bool,
    /// Datagrams that arrived or were given up, and which of them are not remembered: all below.
    seen: RangeSet,
    forgotten: u64,
    partials: Partials,
    /// All below were given to the application or given up.
    next: u64,
    held: BTreeMap<u64, (CarriedBytes, Timestamp)>,
    held_cost: u64,
    /// When the last ones came, as many as are held: the oldest first.
    came: VecDeque<Timestamp>,
    /// How fast they leave, where a missing one has held them up.
    pace: Option<Pace>,
    overtaken: Overtaken,
    ready: VecDeque<CarriedBytes>,
    cost: u64,
    pub(crate) counters: FlowCounters,
}

impl RecvFlow {
    pub(crate) fn new(config: &FlowConfig) -> Self {
        Self {
            resequence: config.wait_for_order(),
            resends: config.resend,
            seen: RangeSet::default(),
            forgotten: 0,
            partials: Partials::default(),
            next: 0,
            held: BTreeMap::new(),
            held_cost: 0,
            came: VecDeque::new(),
            pace: None,
            overtaken: Overtaken::new(),
            ready: VecDeque::new(),
            cost: 0,
            counters: FlowCounters::default(),
        }
    }

    /// The flow is one of these from now on.
    pub(crate) fn configure(&mut self, config: &FlowConfig) {
        (self.resequence, self.resends) = (config.wait_for_order(), config.resend);
    }

    /// What a datagram costs while it waits for its reader.
    pub(crate) fn cost_of(datagram: &CarriedBytes) -> u64 {
        datagram.data.len() as u64 + COST
    }

    /// What all datagrams cost that wait for their reader, for order or for the rest of them.
    pub(crate) fn cost(&self) -> u64 {
        self.cost + self.partial_cost()
    }

    /// What those cost that wait for the rest of them.
    pub(crate) fn partial_cost(&self) -> u64 {
        self.partials.bytes() + COST * self.partials.len() as u64
    }

    fn is_known(&self, seq: u64) -> bool {
        seq < self.forgotten || self.seen.contains(seq)
    }

    fn mark(&mut self, seq: u64) {
        self.seen.insert(seq..seq + 1, |_| ());
        let oldest = self.seen.max_end().unwrap_or(0).saturating_sub(MEMORY);
        self.forgotten = self.forgotten.max(oldest);
        if self.seen.len() > MAX_SEEN_RANGES {
            let first = self.seen.iter().next().map_or(0, |first| first.end);
            self.forgotten = self.forgotten.max(first);
        }
        self.seen.remove_below(self.forgotten);
    }

    /// What a datagram, or a part of one, that has just arrived would cost in addition.
    ///
    /// # Errors
    /// When it does not belong to the part that has arrived before.
    pub(crate) fn need(&self, arrived: &FragmentFrame) -> Result<u64, ProtocolError> {
        let begun = self.partials.knows(arrived)?;
        let costs_nothing = begun || self.is_known(arrived.seq);
        Ok(if costs_nothing { 0 } else { arrived.total as u64 + COST })
    }

    /// Whether the flow's share has room for `need` once its incomplete datagrams are given up.
    pub(crate) fn may_fit(&self, need: u64, share: u64) -> bool {
        self.cost + need <= share
    }

    pub(crate) fn fits(&self, need: u64, share: u64) -> bool {
        self.cost() + need <= share
    }

    /// Gives up the datagram that waits for the rest of it for longest; false if none does.
    pub(crate) fn give_up_oldest(&mut self) -> bool {
        let oldest = self.partials.forget_oldest();
        if let Some(seq) = oldest {
            self.counters.incomplete += 1;
            self.mark(seq);
        }
        oldest.is_some()
    }

    /// A datagram, or a part of it, is dropped as it arrives.
    pub(crate) fn drop_arrived(&mut self, arrived: &FragmentFrame) {
        self.partials.forget(arrived.seq);
        if !self.is_known(arrived.seq) {
            self.counters.dropped += 1;
            self.mark(arrived.seq);
        }
    }

    /// Until when the datagram `seq`, which arrived at `at`, waits for those before it.
    fn deadline(&self, seq: u64, at: Timestamp, paths: &PathWaits) -> Timestamp {
        match self.resequence {
            Some(asked) => at + asked,
            None => self.overtaken.deadline(seq, at, &self.waits(paths)),
        }
    }

    fn waits(&self, paths: &PathWaits) -> Waits {
        let unknown = paths.order;
        match self.resends {
            false => Waits { unknown, lost: Duration::ZERO, most: MAX_AUTO_RESEQUENCE },
            true => Waits { unknown, lost: paths.again, most: MAX_RESEND_WAIT },
        }
    }

    /// How long a part of a datagram waits for the rest of it.
    fn patience(&self, paths: &PathWaits) -> Duration {
        self.resequence.unwrap_or(paths.order) + paths.rest
    }

    /// A datagram, or a part of it, arrived over a path and there is room for it in the flow's
    /// `share`. The `paths` are looked at only if something waits for order, and nobody has said
    /// for how long.
    pub(crate) fn insert(
        &mut self,
        arrived: Arrived,
        paths: impl Fn() -> PathWaits,
        share: u64,
        now: Timestamp,
    ) {
        let Arrived { path, ref fragment, is_marked } = arrived;
        let seq = fragment.seq;
        self.overtaken.on_arrival(path, seq, now);
        if self.is_known(seq) {
            // A copy that was cut is counted by its first part.
            self.counters.duplicates += u64::from(fragment.offset == 0);
            return;
        }
        if fragment.is_whole() {
            self.partials.forget(seq);
            let whole = CarriedBytes { data: arrived.fragment.data, is_marked };
            self.insert_whole(path, seq, whole, &paths, now);
        } else {
            match self.partials.add(&arrived, now) {
                Added::Incomplete => {}
                Added::Complete(whole) => self.insert_whole(path, seq, whole, &paths, now),
                Added::Dropped => self.drop_arrived(fragment),
            }
        }
        // Order is worth no loss: what comes next needs room.
        while self.held_cost > share / 4 * 3 && self.give_first() {
            self.release(&paths, now);
        }
    }

    fn insert_whole(
        &mut self,
        path: PathId,
        seq: u64,
        whole: CarriedBytes,
        paths: impl FnOnce() -> PathWaits,
        now: Timestamp,
    ) {
        self.overtaken.on_complete(path, seq, now);
        self.count_order(seq);
        self.mark(seq);
        self.cost += Self::cost_of(&whole);
        if seq < self.next {
            self.counters.late += 1;
            self.ready.push_back(whole);
            return;
        }
        if seq == self.next && self.held.is_empty() {
            self.next = seq + 1;
            self.ready.push_back(whole);
            return;
        }
        self.held_cost += Self::cost_of(&whole);
        self.held.insert(seq, (whole, now));
        self.came.push_back(now);
        self.release(paths, now);
    }

    /// Gives up what has waited for the rest of it for too long.
    pub(crate) fn expire(&mut self, paths: &PathWaits, now: Timestamp) {
        let limit = self.patience(paths);
        while self.partials.next_timer(limit).is_some_and(|at| at <= now) {
            self.give_up_oldest();
        }
    }

    /// Gives what is in order, or has waited for it long enough, to the application.
    pub(crate) fn release(&mut self, paths: impl FnOnce() -> PathWaits, now: Timestamp) {
        let paths = LazyCell::new(paths);
        while let Some((&seq, &(_, arrived))) = self.held.first_key_value() {
            if seq != self.next && self.deadline(seq, arrived, &paths) > now {
                self.pace.get_or_insert_with(|| Pace::new(now));
                return;
            }
            let (held, since) = (self.held_cost, self.came.front().copied().unwrap_or(now));
            if self.pace.as_mut().is_some_and(|pace| !pace.has_turn(held, since, now)) {
                return;
            }
            self.give_first();
            if let Some(pace) = &mut self.pace {
                pace.on_left(held - self.held_cost);
            }
        }
        self.pace = None;
    }

    /// Gives the first of those that wait for order to the application; false if none does.
    fn give_first(&mut self) -> bool {
        let Some((seq, (whole, _))) = self.held.pop_first() else { return false };
        self.held_cost -= Self::cost_of(&whole);
        self.came.pop_front();
        self.next = seq + 1;
        self.ready.push_back(whole);
        true
    }

    /// When [`Self::release`] would find something, or [`Self::expire`].
    pub(crate) fn next_timer(&self, paths: &PathWaits) -> Option<Timestamp> {
        let held = self.held.first_key_value().map(|(&seq, &(_, arrived))| {
            let due = if seq == self.next { arrived } else { self.deadline(seq, arrived, paths) };
            self.pace.as_ref().map_or(due, |pace| due.max(pace.next()))
        });
        held.into_iter().chain(self.partials.next_timer(self.patience(paths))).min()
    }

    /// A path is gone or failed: nothing is waited for that it may bring.
    pub(crate) fn forget_path(&mut self, path: PathId) {
        self.overtaken.forget_path(path);
    }

    /// Whether a datagram waits for order or for the rest of it.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.held.is_empty() || self.partials.len() > 0
    }

    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    pub(crate) fn pop(&mut self) -> Option<CarriedBytes> {
        let whole = self.ready.pop_front()?;
        self.cost -= Self::cost_of(&whole);
        self.counters.delivered += 1;
        Some(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{DatagramFrame, FlowId, FlowMode};
    use bytes::Bytes;

    /// In which what is lost is not sent again.
    const SPREAD: FlowConfig = FlowConfig::of(FlowMode::Aggregate);

    const BOUND: Duration = Duration::from_millis(20);
    const REST: Duration = Duration::from_millis(80);
    /// What a flow may hold.
    const SHARE: u64 = 1_000;

    /// Paths by which order is worth so long.
    fn worth(order: Duration) -> PathWaits {
        PathWaits { order, rest: REST, again: Duration::from_millis(200) }
    }

    fn take(flow: &mut RecvFlow) -> Vec<u8> {
        std::iter::from_fn(|| flow.pop()).map(|whole| whole.data[0]).collect()
    }

    fn feed(flow: &mut RecvFlow, seq: u64, bound: Duration, ms: u64) {
        let data = Bytes::from(vec![seq as u8; 10]);
        let datagram = DatagramFrame { flow: FlowId(0), seq, data };
        arrive(flow, datagram.into(), bound, ms);
    }

    /// As [`Flows`](super::super::Flows) has it.
    fn arrive(flow: &mut RecvFlow, arrived: FragmentFrame, bound: Duration, ms: u64) {
        let need = flow.need(&arrived).unwrap();
        while !flow.fits(need, SHARE) && flow.give_up_oldest() {}
        if flow.fits(need, SHARE) {
            let now = Timestamp::from_millis(ms);
            let arrived = Arrived { path: PathId::default(), fragment: arrived, is_marked: false };
            flow.insert(arrived, || worth(bound), SHARE, now);
        } else {
            flow.drop_arrived(&arrived);
        }
    }

    fn part(seq: u64, range: std::ops::Range<usize>) -> FragmentFrame {
        let (offset, data) = (range.start, Bytes::from(vec![seq as u8; range.len()]));
        FragmentFrame { flow: FlowId(0), seq, total: 400, offset, data }
    }

    #[test]
    fn order_is_restored_within_the_bound_and_no_longer() {
        let mut flow = RecvFlow::new(&SPREAD);
        for (seq, ms) in [(0, 0), (2, 1), (3, 2), (1, 5), (1, 6), (5, 10)] {
            feed(&mut flow, seq, BOUND, ms);
        }
        assert_eq!(take(&mut flow), [0, 1, 2, 3]);
        assert_eq!(flow.next_timer(&worth(BOUND)), Some(Timestamp::from_millis(30)));
        flow.release(|| worth(BOUND), Timestamp::from_millis(29));
        assert!(!flow.has_ready());
        flow.release(|| worth(BOUND), Timestamp::from_millis(30));
        feed(&mut flow, 4, BOUND, 31);
        assert_eq!(take(&mut flow), [5, 4], "late is better than never");
        let counters = flow.counters;
        assert_eq!((counters.duplicates, counters.late, counters.delivered), (1, 1, 6));
    }

    /// In the first second it is the longest round trip of the paths; then what came late by 60 ms
    /// makes the wait 75 ms. One path brings the even numbers, the other one the odd ones.
    #[test]
    fn the_wait_follows_how_late_datagrams_come() {
        let mut flow = RecvFlow::new(&SPREAD);
        let paths = worth(Duration::from_millis(90));
        let mut feed = |seq, ms| {
            let data = Bytes::from(vec![seq as u8; 10]);
            let datagram = DatagramFrame { flow: FlowId(0), seq, data };
            let path = PathId::new((seq % 2) as u8).unwrap();
            let arrived = Arrived { path, fragment: datagram.into(), is_marked: false };
            flow.insert(arrived, || paths, SHARE, Timestamp::from_millis(ms));
            flow.next_timer(&paths).map(Timestamp::as_millis_f64)
        };
        assert_eq!(feed(1, 0), Some(90.0));
        assert_eq!(feed(0, 60), None);
        assert_eq!(feed(3, 1_060), Some(1_135.0));
        assert_eq!(feed(2, 1_070), None);
        (4..24).for_each(|seq| assert_eq!(feed(seq, seq * 500), None));
        assert_eq!(feed(25, 12_000), None, "nothing was late for ten seconds");
    }

    /// 100 datagrams of 1,000 bytes, one each millisecond, wait for number 0, and those behind it
    /// for number 50. With what each costs beside its bytes 16 make a burst, and three leave in two
    /// milliseconds.
    #[test]
    fn what_has_waited_leaves_half_as_fast_again_as_it_came() {
        let resequence = Some(Duration::from_millis(500));
        let mut flow = RecvFlow::new(&FlowConfig { resequence, ..SPREAD });
        let paths = PathWaits::default();
        // How many have left by then.
        let insert = |flow: &mut RecvFlow, seq: u64, ms| {
            let data = Bytes::from(vec![0; 1_000]);
            let datagram = DatagramFrame { flow: FlowId(0), seq, data };
            let (path, now) = (PathId::default(), Timestamp::from_millis(ms));
            let arrived = Arrived { path, fragment: datagram.into(), is_marked: false };
            flow.insert(arrived, || paths, 1_000_000, now);
            flow.ready.len()
        };
        let others = (1..=100).filter(|&seq| seq != 50);
        others.for_each(|seq| assert_eq!(insert(&mut flow, seq, seq), 0));
        let first = insert(&mut flow, 0, 101);
        assert!((15..=17).contains(&first), "{first}");
        for seq in 101..=140 {
            let expected = 50.min(first + 3 * (seq as usize - 100) / 2);
            let left = insert(&mut flow, seq, seq + 1);
            assert!(left.abs_diff(expected) <= 2, "{seq}: {left} and not {expected}");
        }
        let second = insert(&mut flow, 50, 142) - 50;
        assert!((15..=17).contains(&second), "a short wait behind a long one: {second}");
        // What comes suddenly leaves within two thirds of the time that all that waits has come in.
        (141..=700).for_each(|seq| assert!(insert(&mut flow, seq, 142) < 80));
        let since = flow.came[0];
        let end = Timestamp::from_millis(142) + Timestamp::from_millis(142).since(since) * 2 / 3;
        let mut now = since;
        while let Some(next) = flow.next_timer(&paths) {
            now = next;
            flow.release(|| paths, now);
        }
        assert!(flow.ready.len() == 701 && now <= end + Duration::from_millis(1), "{now:?}");
    }

    #[test]
    fn without_a_bound_nothing_waits() {
        let mut flow = RecvFlow::new(&FlowConfig::of(FlowMode::Redundant));
        for seq in [3, 0, 2, 2] {
            feed(&mut flow, seq, Duration::ZERO, 1);
        }
        assert_eq!(take(&mut flow), [3, 0, 2]);
    }

    /// A datagram of 10 bytes costs 74: three quarters of 1,000 are the cost of ten.
    #[test]
    fn those_that_wait_for_order_leave_a_quarter_of_the_room_to_what_comes() {
        let mut flow = RecvFlow::new(&SPREAD);
        (1..11).for_each(|seq| feed(&mut flow, seq, BOUND, 0));
        assert!(!flow.has_ready());
        feed(&mut flow, 11, BOUND, 0);
        assert_eq!(take(&mut flow), (1..12).collect::<Vec<_>>(), "the hole is given up");
        assert_eq!(flow.counters.dropped, 0);
    }

    #[test]
    fn memory_is_bounded_whatever_arrives() {
        let mut flow = RecvFlow::new(&SPREAD);
        for seq in 0..100_000 {
            feed(&mut flow, seq * 2 + 1, BOUND, 0);
        }
        assert!(flow.cost <= 1_000);
        assert!(flow.cost() <= SHARE);
        assert!(flow.seen.len() <= MAX_SEEN_RANGES);
        feed(&mut flow, 0, BOUND, 0);
        assert_eq!(flow.counters.duplicates, 1, "it is too old to be told from a copy");
    }

    /// Both paths bring a later one at once. The other datagrams are put back into their order by
    /// what comes 200 ms later.
    #[test]
    fn what_is_sent_again_is_waited_for_though_all_paths_have_brought_later_ones() {
        let after = |resends| {
            let mut flow = RecvFlow::new(&FlowConfig { resend: resends, ..SPREAD });
            let mut arrive = |path: u8, seq: u64, ms| {
                let data = Bytes::from(vec![seq as u8; 10]);
                let datagram = DatagramFrame { flow: FlowId(0), seq, data };
                let (path, now) = (PathId::new(path).unwrap(), Timestamp::from_millis(ms));
                let arrived = Arrived { path, fragment: datagram.into(), is_marked: false };
                flow.insert(arrived, || worth(BOUND), SHARE, now);
            };
            // All paths are known after a second.
            (0..4).for_each(|seq| arrive((seq % 2) as u8, seq, 700 * seq));
            arrive(0, 5, 2_105);
            arrive(1, 6, 2_105);
            let due = flow.next_timer(&worth(BOUND)).map(Timestamp::as_millis_f64);
            flow.release(|| worth(BOUND), Timestamp::from_millis(2_304));
            (take(&mut flow), due)
        };
        assert_eq!(after(false), (vec![0, 1, 2, 3, 5, 6], None));
        assert_eq!(after(true), (vec![0, 1, 2, 3], Some(2_305.0)));
    }

    #[test]
    fn a_datagram_in_parts_keeps_its_place() {
        let mut flow = RecvFlow::new(&SPREAD);
        feed(&mut flow, 0, BOUND, 0);
        arrive(&mut flow, part(1, 200..400), BOUND, 1);
        feed(&mut flow, 2, BOUND, 2);
        arrive(&mut flow, part(1, 0..200), BOUND, 3);
        assert_eq!(take(&mut flow), [0, 1, 2]);
        arrive(&mut flow, part(1, 0..200), BOUND, 4);
        arrive(&mut flow, part(1, 200..400), BOUND, 4);
        let counters = flow.counters;
        assert_eq!((counters.duplicates, counters.incomplete, flow.cost()), (1, 0, 0));
    }

    /// A path that carries the whole overtakes one that carries parts.
    #[test]
    fn a_whole_copy_ends_the_wait_for_parts() {
        let mut flow = RecvFlow::new(&SPREAD);
        arrive(&mut flow, part(0, 0..200), BOUND, 0);
        arrive(&mut flow, part(0, 0..400), BOUND, 1);
        arrive(&mut flow, part(0, 200..400), BOUND, 2);
        assert_eq!((take(&mut flow), flow.cost()), (vec![0], 0));
    }

    #[test]
    fn the_wait_for_parts_ends() {
        let mut flow = RecvFlow::new(&SPREAD);
        arrive(&mut flow, part(0, 0..200), BOUND, 5);
        assert_eq!(flow.next_timer(&worth(BOUND)), Some(Timestamp::from_millis(105)));
        flow.expire(&worth(BOUND), Timestamp::from_millis(104));
        assert_eq!(flow.cost(), 464);
        flow.expire(&worth(BOUND), Timestamp::from_millis(105));
        arrive(&mut flow, part(0, 200..400), BOUND, 106);
        assert_eq!((flow.cost(), flow.counters.incomplete), (0, 1), "what comes later is nothing");
    }

    #[test]
    fn the_oldest_parts_make_room() {
        let mut flow = RecvFlow::new(&SPREAD);
        (0..3).for_each(|seq| arrive(&mut flow, part(seq, 0..200), Duration::ZERO, seq));
        (0..3).for_each(|seq| arrive(&mut flow, part(seq, 200..400), Duration::ZERO, 9));
        assert_eq!((take(&mut flow), flow.counters.incomplete), (vec![1, 2], 1));
    }
}
