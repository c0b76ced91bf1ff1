//! The timestamp clock (RFC 7323 section 5.4).

use super::config::TcpConfig;
use polypath_units::Timestamp;
use std::time::Duration;

/// Turns time into ticks. Consecutive questions are most often about the same tick.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimestampClock {
    tick: u64,
    value: u32,
    since: u64,
}

impl TimestampClock {
    pub(super) fn new(config: &TcpConfig) -> Self {
        let tick = u64::try_from(config.timestamp_tick.as_nanos()).unwrap_or(u64::MAX).max(1);
        Self { tick, value: 1, since: 0 }
    }

    /// The value at `at`; never 0, which means that there is nothing to echo.
    #[inline]
    pub(super) fn value_at(&mut self, at: Timestamp) -> u32 {
        let nanos = at.as_nanos();
        if nanos.wrapping_sub(self.since) >= self.tick {
            let ticks = nanos / self.tick;
            self.since = ticks * self.tick;
            self.value = (ticks as u32).wrapping_add(1);
        }
        self.value
    }

    /// The time of so many ticks.
    pub(super) const fn time_of(&self, ticks: u32) -> Duration {
        Duration::from_nanos(self.tick.saturating_mul(ticks as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_ticks_from_one_in_any_order() {
        let mut clock = TimestampClock::new(&TcpConfig::LINUX);
        let values = [0, 999, 1_000, 5_500, 5_999, 2_000]
            .map(|micros| clock.value_at(Timestamp::from_micros(micros)));
        assert_eq!(values, [1, 1, 2, 6, 6, 3]);
        assert_eq!(clock.time_of(3), Duration::from_millis(3));
    }
}
