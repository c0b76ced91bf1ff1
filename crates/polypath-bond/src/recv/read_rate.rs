//! How fast the reader of a stream takes its data.

use polypath_units::Timestamp;
use std::time::Duration;

/// Bytes that a reader takes in a period, from which the window of its stream follows, as the
/// receive buffer of a TCP connection does from what its reader copies in an RTT (dynamic
/// right-sizing, Fisk and Feng 2001).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReadRate {
    /// When the present period began, once something has been read.
    since: Option<Timestamp>,
    /// Bytes read in it.
    bytes: u64,
    /// Bytes read in the last period that is over.
    last: u64,
}

impl ReadRate {
    /// `bytes` were read. A period that `period` or more has passed of is over; of a longer one
    /// counts what would have been read in `period`.
    pub(super) fn on_read(&mut self, bytes: u64, now: Timestamp, period: Duration) {
        let since = *self.since.get_or_insert(now);
        let elapsed = now.since(since);
        if elapsed >= period {
            let share = period.as_secs_f64() / elapsed.as_secs_f64();
            self.last = (self.bytes as f64 * share) as u64;
            self.bytes = 0;
            self.since = Some(now);
        }
        self.bytes += bytes;
    }

    /// Whether something was read in the last two periods or so.
    pub(super) fn is_live(&self, now: Timestamp, period: Duration) -> bool {
        self.since.is_some_and(|since| now.since(since) < 2 * period)
    }

    /// Bytes that the reader takes in a period: in the last one, or already in the present one.
    pub(super) fn per_period(&self) -> u64 {
        self.last.max(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_millis(100);

    fn at(rate: &mut ReadRate, millis: u64, bytes: u64) -> u64 {
        rate.on_read(bytes, Timestamp::from_millis(millis), PERIOD);
        rate.per_period()
    }

    #[test]
    fn what_is_read_in_a_period_counts_from_the_start_and_until_the_next_is_over() {
        let mut rate = ReadRate::default();
        assert_eq!(rate.per_period(), 0);
        assert_eq!([at(&mut rate, 10, 300), at(&mut rate, 60, 500)], [300, 800]);
        assert_eq!(at(&mut rate, 110, 100), 800, "the last period has more");
        assert_eq!(at(&mut rate, 150, 900), 1_000, "the present one has more");
        assert_eq!(at(&mut rate, 210, 1), 1_000);
        assert_eq!(at(&mut rate, 310, 1), 1, "of the period from 210 ms on");
    }

    #[test]
    fn a_reader_is_live_until_it_has_not_read_for_a_while() {
        let mut rate = ReadRate::default();
        assert!(!rate.is_live(Timestamp::ZERO, PERIOD));
        at(&mut rate, 0, 1);
        at(&mut rate, 150, 1);
        let live = |millis| rate.is_live(Timestamp::from_millis(millis), PERIOD);
        assert_eq!([live(349), live(350)], [true, false]);
    }

    /// 800 bytes from 0 to 400 ms are 200 in 100 ms.
    #[test]
    fn a_reader_that_slows_down_counts_by_the_time_it_took() {
        let mut rate = ReadRate::default();
        at(&mut rate, 0, 800);
        assert_eq!(at(&mut rate, 400, 100), 200);
    }
}
