//! Deadlines of connections, bonds and retries.

use super::BondKey;
use polypath_units::{PathId, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// Whose deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    Connection(usize),
    /// The join must be over by then.
    Join(usize),
    Bond(BondKey),
    Retry(BondKey, PathId),
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
}
