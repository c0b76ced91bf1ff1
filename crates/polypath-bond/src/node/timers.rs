//! Deadlines of connections, bonds and retries.

use super::BondKey;
use polypath_units::{PathId, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How soon what keeps naming a deadline that has passed is called again.
const STALLED: Duration = Duration::from_millis(1);

/// Whose deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    Connection(usize),
    /// The join must be over by then.
    Join(usize),
    Bond(BondKey),
    Retry(BondKey, PathId),
    /// The next attempt to connect the path begins.
    Attempt(BondKey, PathId),
}

/// At most one deadline each.
#[derive(Debug, Default)]
pub(super) struct Timers {
    by_time: BTreeSet<(Timestamp, Timer)>,
    current: BTreeMap<Timer, Timestamp>,
}

impl Timers {
    pub(super) fn set(&mut self, timer: Timer, at: Timestamp) {
        if let Some(before) = self.current.insert(timer, at) {
            if before == at {
                return;
            }
            self.by_time.remove(&(before, timer));
        }
        self.by_time.insert((at, timer));
    }

    /// Sets a deadline that may have passed already: then `timer` is due soon, and no later for
    /// being told so again and again. Events can follow each other faster than timers are looked
    /// at.
    pub(super) fn set_or_due(&mut self, timer: Timer, at: Timestamp, now: Timestamp) {
        if at > now {
            return self.set(timer, at);
        }
        let soon = now + STALLED;
        let pending = self.current.get(&timer);
        self.set(timer, pending.map_or(soon, |&pending| pending.min(soon)));
    }

    pub(super) fn cancel(&mut self, timer: Timer) {
        if let Some(at) = self.current.remove(&timer) {
            self.by_time.remove(&(at, timer));
        }
    }

    pub(super) fn next(&self) -> Option<Timestamp> {
        self.by_time.first().map(|(at, _)| *at)
    }

    /// The earliest timer that is due.
    pub(super) fn pop(&mut self, now: Timestamp) -> Option<Timer> {
        let &(at, timer) = self.by_time.first()?;
        if at > now {
            return None;
        }
        self.cancel(timer);
        Some(timer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_has_one_deadline() {
        let mut timers = Timers::default();
        let at = Timestamp::from_millis;
        timers.set(Timer::Connection(1), at(5));
        timers.set(Timer::Connection(2), at(3));
        timers.set(Timer::Connection(1), at(2));
        assert_eq!(timers.next(), Some(at(2)));
        assert_eq!(timers.pop(at(4)), Some(Timer::Connection(1)));
        timers.cancel(Timer::Connection(2));
        assert_eq!(timers.pop(at(9)), None);
    }

    /// A busy connection names its deadline anew with each packet.
    #[test]
    fn a_deadline_that_has_passed_is_not_put_off_by_events() {
        let mut timers = Timers::default();
        let (timer, passed) = (Timer::Connection(1), Timestamp::from_millis(5));
        let now = |micros: u64| Timestamp::from_millis(5) + Duration::from_micros(micros);
        timers.set_or_due(timer, passed, now(0));
        (1..=4).for_each(|event| timers.set_or_due(timer, passed, now(200 * event)));
        assert_eq!(timers.next(), Some(now(0) + STALLED));
        timers.set_or_due(timer, now(3_000), now(900));
        timers.set_or_due(timer, now(3_000), now(3_500));
        assert_eq!(timers.pop(now(3_500)), Some(timer));
    }
}
