//! What happens next: one pending event for each source of events.

use polypath_units::Timestamp;

/// Children of a heap node. Four fit a cache line and halve the depth of a binary heap.
const ARITY: usize = 4;

/// A source of events: a link, an endpoint, an application. Small numbers, given out in sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub u32);

impl SourceId {
    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// When each source wants to be looked at next.
///
/// A source says "not later than" a time, as often as it likes; only an earlier time than the
/// pending one costs anything, so that a timer which is pushed back with every acknowledgement is
/// free. The source is then asked again at the pending time, and answers with its true next time.
/// Sources that are due at one time are looked at in the order in which they asked for it.
///
/// ```
/// use polypath_sim::engine::{Agenda, SourceId};
/// use polypath_units::Timestamp;
///
/// let mut agenda = Agenda::new(1);
/// let (clock, ms) = (SourceId(0), Timestamp::from_millis);
/// agenda.wake(clock, ms(5));
/// let mut ticks = 0;
/// while let Some((now, _source)) = agenda.begin(ms(100)) {
///     ticks += 1;
///     agenda.end(now + std::time::Duration::from_millis(5));
/// }
/// assert_eq!(ticks, 20);
/// ```
#[derive(Clone, Debug)]
pub struct Agenda {
    heap: Vec<Entry>,
    /// What is pending of each source. Entries of other numbers are stale.
    pending: Vec<Pending>,
    sequence: u64,
    /// Whether a source is being looked at: it is at the top of the heap.
    busy: bool,
}

/// The time ([`Timestamp::MAX`]: none) and the number of a source's entry.
#[derive(Clone, Copy, Debug)]
struct Pending {
    at: Timestamp,
    sequence: u64,
}

impl Pending {
    const NONE: Self = Self { at: Timestamp::MAX, sequence: 0 };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at: Timestamp,
    sequence: u64,
    source: SourceId,
}

impl Agenda {
    /// An agenda of `sources` sources without anything pending.
    pub fn new(sources: usize) -> Self {
        Self { heap: Vec::new(), pending: vec![Pending::NONE; sources], sequence: 0, busy: false }
    }

    /// Adds a source.
    pub fn add(&mut self) -> SourceId {
        self.pending.push(Pending::NONE);
        SourceId((self.pending.len() - 1) as u32)
    }

    /// Looks at `source` not later than `at`. Of the source that is being looked at nothing is
    /// noted: its answer to [`Agenda::end`] counts.
    ///
    /// # Panics
    /// If there is no such source.
    pub fn wake(&mut self, source: SourceId, at: Timestamp) {
        let at = if self.busy { at.max(self.heap[0].at) } else { at };
        if at >= self.pending[source.index()].at {
            return;
        }
        if self.busy && self.heap[0].source == source {
            return;
        }
        let entry = self.entry(at, source);
        self.heap.push(entry);
        self.sift_up(self.heap.len() - 1);
    }

    /// The next source that is due not later than `limit`, and when. [`Agenda::end`] must follow.
    pub fn begin(&mut self, limit: Timestamp) -> Option<(Timestamp, SourceId)> {
        debug_assert!(!self.busy, "end was not called");
        loop {
            let top = *self.heap.first()?;
            if top.at > limit {
                return None;
            }
            if self.pending[top.source.index()].sequence == top.sequence {
                self.busy = true;
                return Some((top.at, top.source));
            }
            self.remove_top();
        }
    }

    /// The source that [`Agenda::begin`] gave has been looked at and wants to be looked at again
    /// at `next`; [`Timestamp::MAX`]: not before it is woken.
    pub fn end(&mut self, next: Timestamp) {
        let Some(top) = self.heap.first().copied().filter(|_| self.busy) else { return };
        self.busy = false;
        if next == Timestamp::MAX {
            self.pending[top.source.index()] = Pending::NONE;
            self.remove_top();
        } else {
            self.heap[0] = self.entry(next, top.source);
            self.sift_down(0);
        }
    }

    /// How many sources have something pending, stale entries included.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    fn entry(&mut self, at: Timestamp, source: SourceId) -> Entry {
        self.sequence += 1;
        let sequence = self.sequence;
        self.pending[source.index()] = Pending { at, sequence };
        Entry { at, sequence, source }
    }

    fn remove_top(&mut self) {
        self.heap.swap_remove(0);
        if !self.heap.is_empty() {
            self.sift_down(0);
        }
    }

    fn sift_up(&mut self, mut at: usize) {
        let entry = self.heap[at];
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.heap[parent] <= entry {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = entry;
    }

    fn sift_down(&mut self, mut at: usize) {
        let entry = self.heap[at];
        loop {
            let first = at * ARITY + 1;
            let children = self.heap.get(first..(first + ARITY).min(self.heap.len()));
            let Some(least) = children.and_then(|c| (0..c.len()).min_by_key(|&i| c[i])) else {
                break;
            };
            let child = first + least;
            if self.heap[child] >= entry {
                break;
            }
            self.heap[at] = self.heap[child];
            at = child;
        }
        self.heap[at] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    fn ms(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    /// What an agenda does, by search.
    #[derive(Default)]
    struct Model(Vec<(Timestamp, u64, SourceId)>, u64);

    impl Model {
        fn wake(&mut self, source: SourceId, at: Timestamp) {
            let pending = self.0.iter().position(|&(_, _, s)| s == source);
            if let Some(i) = pending {
                if self.0[i].0 <= at {
                    return;
                }
                self.0.remove(i);
            }
            self.1 += 1;
            self.0.push((at, self.1, source));
        }

        fn next(&mut self, limit: Timestamp) -> Option<(Timestamp, SourceId)> {
            let least = self.0.iter().copied().min().filter(|&(at, ..)| at <= limit)?;
            self.0.retain(|entry| *entry != least);
            Some((least.0, least.2))
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Wake(u32, u64),
        Next { limit: u64, again: Option<u64> },
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0..20_u32, 0..50_u64).prop_map(|(source, at)| Step::Wake(source, at)),
            (0..50_u64, prop::option::of(0..20_u64))
                .prop_map(|(limit, again)| Step::Next { limit, again }),
        ]
    }

    proptest! {
        #[test]
        fn sources_are_due_by_time_then_in_the_order_they_asked(
            steps in prop::collection::vec(step(), 0..300),
        ) {
            let (mut agenda, mut model) = (Agenda::new(20), Model::default());
            for step in steps {
                match step {
                    Step::Wake(source, at) => {
                        agenda.wake(SourceId(source), ms(at));
                        model.wake(SourceId(source), ms(at));
                    }
                    Step::Next { limit, again } => {
                        let next = agenda.begin(ms(limit));
                        prop_assert_eq!(next, model.next(ms(limit)));
                        let Some((at, source)) = next else { continue };
                        let again = again.map(|after| at + Duration::from_millis(after));
                        agenda.end(again.unwrap_or(Timestamp::MAX));
                        if let Some(again) = again {
                            model.wake(source, again);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_timer_that_is_pushed_back_adds_nothing() {
        let mut agenda = Agenda::new(1);
        (5..1000).for_each(|at| agenda.wake(SourceId(0), ms(at)));
        assert_eq!(agenda.len(), 1);
        assert_eq!(agenda.begin(Timestamp::MAX), Some((ms(5), SourceId(0))));
    }

    #[test]
    fn the_answer_counts_not_what_the_source_does_to_itself() {
        let mut agenda = Agenda::new(2);
        agenda.wake(SourceId(0), ms(1));
        agenda.begin(ms(1)).unwrap();
        agenda.wake(SourceId(0), ms(1));
        agenda.wake(SourceId(1), ms(1));
        agenda.end(Timestamp::MAX);
        assert_eq!(agenda.begin(ms(9)), Some((ms(1), SourceId(1))));
        agenda.end(Timestamp::MAX);
        assert!(agenda.is_empty());
    }
}
