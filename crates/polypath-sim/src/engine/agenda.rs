//! What happens next: one pending event for each source of events.

use super::heap::{Entry, Heap};
use polypath_units::Timestamp;

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
    heap: Heap,
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

impl Agenda {
    /// An agenda of `sources` sources without anything pending.
    pub fn new(sources: usize) -> Self {
        Self { heap: Heap::new(), pending: vec![Pending::NONE; sources], sequence: 0, busy: false }
    }

    /// Adds a source.
    ///
    /// # Panics
    /// If there are 16,777,216 already.
    pub fn add(&mut self) -> SourceId {
        assert!(self.pending.len() < Entry::MAX_SOURCES, "too many sources of events");
        self.pending.push(Pending::NONE);
        SourceId((self.pending.len() - 1) as u32)
    }

    /// Looks at `source` not later than `at`. Of the source that is being looked at nothing is
    /// noted: its answer to [`Agenda::end`] counts.
    ///
    /// # Panics
    /// If there is no such source.
    pub fn wake(&mut self, source: SourceId, at: Timestamp) {
        let looked_at = if self.busy { self.heap.top() } else { None };
        let at = looked_at.map_or(at, |top| at.max(top.at));
        let is_itself = looked_at.is_some_and(|top| top.source() == source);
        if at < self.pending[source.index()].at && !is_itself {
            let entry = self.entry(at, source);
            self.heap.push(entry);
        }
    }

    /// The next source that is due not later than `limit`, and when. [`Agenda::end`] must follow.
    pub fn begin(&mut self, limit: Timestamp) -> Option<(Timestamp, SourceId)> {
        debug_assert!(!self.busy, "end was not called");
        loop {
            let top = self.heap.top().filter(|top| top.at <= limit)?;
            if self.is_current(top) {
                self.busy = true;
                return Some((top.at, top.source()));
            }
            self.heap.pop();
        }
    }

    /// The source that [`Agenda::begin`] gave has been looked at and wants to be looked at again
    /// at `next`; [`Timestamp::MAX`]: not before it is woken.
    pub fn end(&mut self, next: Timestamp) {
        let Some(top) = self.heap.top().filter(|_| self.busy) else { return };
        self.busy = false;
        if next == Timestamp::MAX {
            self.pending[top.source().index()] = Pending::NONE;
            self.heap.pop();
        } else {
            let entry = self.entry(next, top.source());
            self.heap.replace_top(entry);
        }
    }

    /// How many sources have something pending, stale entries included.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.heap.len() == 0
    }

    /// Whether it is what is pending of its source.
    fn is_current(&self, entry: Entry) -> bool {
        self.pending[entry.source().index()].sequence == entry.sequence()
    }

    fn entry(&mut self, at: Timestamp, source: SourceId) -> Entry {
        if self.sequence == Entry::MAX_SEQUENCE {
            self.renumber();
        }
        self.sequence += 1;
        let sequence = self.sequence;
        self.pending[source.index()] = Pending { at, sequence };
        Entry::new(at, sequence, source)
    }

    /// Numbers what is pending from 1 on, in the same order: numbers run out after 10^12 events.
    #[cold]
    fn renumber(&mut self) {
        let mut old = core::mem::replace(&mut self.heap, Heap::new());
        let all = core::iter::from_fn(|| old.pop());
        let current: Vec<_> = all.filter(|&entry| self.is_current(entry)).collect();
        self.sequence = 0;
        for entry in current {
            let renumbered = self.entry(entry.at, entry.source());
            self.heap.push(renumbered);
        }
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
    fn numbers_that_run_out_change_no_order() {
        let mut agenda = Agenda::new(3);
        agenda.wake(SourceId(2), ms(5));
        agenda.wake(SourceId(0), ms(9));
        agenda.wake(SourceId(0), ms(5));
        agenda.sequence = Entry::MAX_SEQUENCE;
        agenda.wake(SourceId(1), ms(5));
        assert_eq!((agenda.sequence, agenda.len()), (3, 3), "what was stale is gone");
        for source in [2, 0, 1] {
            assert_eq!(agenda.begin(ms(9)), Some((ms(5), SourceId(source))));
            agenda.end(Timestamp::MAX);
        }
        assert!(agenda.is_empty());
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
