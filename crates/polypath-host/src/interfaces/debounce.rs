//! Waits until a burst of notifications is over. Sans-I/O.

use std::time::Duration;

use polypath_units::Timestamp;

/// One uplink that comes up makes a dozen notifications within milliseconds. This holds them back
/// until none came for `quiet`, but no longer than `longest` after the first: a flapping link must
/// not silence the rest.
#[derive(Clone, Debug)]
pub(super) struct Debounce {
    quiet: Duration,
    longest: Duration,
    burst: Option<Burst>,
}

#[derive(Clone, Copy, Debug)]
struct Burst {
    first: Timestamp,
    last: Timestamp,
}

impl Debounce {
    /// A debouncer at rest.
    pub(super) fn new(quiet: Duration, longest: Duration) -> Self {
        Self { quiet, longest, burst: None }
    }

    /// A notification came.
    pub(super) fn notify(&mut self, now: Timestamp) {
        let first = self.burst.map_or(now, |burst| burst.first);
        self.burst = Some(Burst { first, last: now });
    }

    /// When the burst is over; `None` at rest.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        self.burst.map(|burst| (burst.last + self.quiet).min(burst.first + self.longest))
    }

    /// The burst has been dealt with.
    pub(super) fn reset(&mut self) {
        self.burst = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_over_after_quiet_but_no_later_than_the_longest_wait() {
        let at = Timestamp::from_millis;
        let mut debounce = Debounce::new(Duration::from_millis(100), Duration::from_millis(250));
        assert_eq!(debounce.deadline(), None);
        debounce.notify(at(1000));
        assert_eq!(debounce.deadline(), Some(at(1100)));
        debounce.notify(at(1090));
        assert_eq!(debounce.deadline(), Some(at(1190)));
        debounce.notify(at(1180));
        assert_eq!(debounce.deadline(), Some(at(1250)));
        debounce.reset();
        assert_eq!(debounce.deadline(), None);
    }
}
