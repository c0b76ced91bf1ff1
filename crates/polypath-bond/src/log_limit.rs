//! What is told at most so often, however often it happens.

use polypath_units::Timestamp;
use std::time::Duration;

/// Limits what is told of something that others can make happen.
#[derive(Debug)]
pub(crate) struct LogLimit {
    interval: Duration,
    next: Timestamp,
    unsaid: u64,
}

impl LogLimit {
    /// Once in each `interval`.
    pub(crate) const fn every(interval: Duration) -> Self {
        Self { interval, next: Timestamp::ZERO, unsaid: 0 }
    }

    /// Whether something may be said now, and then how much was not said before.
    pub(crate) fn admit(&mut self, now: Timestamp) -> Option<u64> {
        if now < self.next {
            self.unsaid += 1;
            return None;
        }
        self.next = now + self.interval;
        Some(std::mem::take(&mut self.unsaid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_says_one_thing_a_second_and_how_much_it_left_out() {
        let mut limit = LogLimit::every(Duration::from_secs(1));
        let at = Timestamp::from_millis;
        assert_eq!(limit.admit(at(0)), Some(0));
        assert_eq!(limit.admit(at(1)), None);
        assert_eq!(limit.admit(at(999)), None);
        assert_eq!(limit.admit(at(1_000)), Some(2));
        assert_eq!(limit.admit(at(2_000)), Some(0));
    }

    #[test]
    fn the_application_is_told_once_a_minute_of_all_since() {
        let mut limit = LogLimit::every(Duration::from_secs(60));
        let mut admit = |secs: u64| limit.admit(Timestamp::from_millis(1_000 * secs));
        assert_eq!([admit(5), admit(5), admit(64)], [Some(0), None, None]);
        assert_eq!(admit(65), Some(2));
    }
}
