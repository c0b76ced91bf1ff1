//! How much passes now.

use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

/// Parts of the last second that are counted apart.
const PARTS: u64 = 8;
const PART: Duration = Duration::from_millis(1_000 / PARTS);
/// Those, and the part that has only begun.
const SLOTS: usize = PARTS as usize + 1;

/// Counts what passes, so that it can be told how much that was in the last second.
#[derive(Clone, Debug, Default)]
pub(crate) struct RateMeter {
    /// Bytes of the last parts by their numbers, modulo [`SLOTS`].
    bytes: [u64; SLOTS],
    /// The number of the newest part that is counted.
    newest: u64,
}

/// The number of the part that a time belongs to.
fn part(now: Timestamp) -> u64 {
    now.as_nanos() / PART.as_nanos() as u64
}

fn slot(part: u64) -> usize {
    (part % SLOTS as u64) as usize
}

impl RateMeter {
    /// So much passes now.
    pub(crate) fn count(&mut self, bytes: u64, now: Timestamp) {
        let part = part(now);
        if part > self.newest {
            let begun = (part - self.newest).min(SLOTS as u64);
            (0..begun).for_each(|back| self.bytes[slot(part - back)] = 0);
            self.newest = part;
        }
        self.bytes[slot(self.newest)] += bytes;
    }

    /// What has passed in the last second and the begun part of it, over that time.
    pub(crate) fn rate(&self, now: Timestamp) -> Bandwidth {
        let part = part(now).max(self.newest);
        let counted = (0..=PARTS).filter_map(|back| part.checked_sub(back));
        let bytes = counted.filter(|&part| part <= self.newest).map(|part| self.bytes[slot(part)]);
        let begun = Duration::from_nanos(now.as_nanos() % PART.as_nanos() as u64);
        Bandwidth::from_transfer(bytes.sum(), PART * PARTS as u32 + begun).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    /// 1,000 bytes every 10 ms are 0.8 Mbit/s. The window ends within a part, so that it holds one
    /// of them more or less than its length has of 10 ms: 1 % of a second's.
    #[test]
    fn a_constant_rate_is_shown_as_it_is() {
        let mut meter = RateMeter::default();
        for millis in (0..5_000).step_by(10) {
            meter.count(1_000, at(millis));
            if millis >= 1_000 {
                let rate = meter.rate(at(millis)).bits_per_sec();
                assert!(rate.abs_diff(800_000) <= 8_000, "{rate} bit/s at {millis} ms");
            }
        }
    }

    #[test]
    fn what_stops_is_gone_after_a_second_and_a_part_of_it() {
        let mut meter = RateMeter::default();
        meter.count(1_000, at(3_124));
        assert_eq!(meter.rate(at(3_124)).bits_per_sec(), 8_000_000 / 1_124);
        assert_eq!(meter.rate(at(4_000)).bits_per_sec(), 8_000);
        assert_eq!(meter.rate(at(4_125)), Bandwidth::ZERO);
        assert_eq!(meter.rate(at(3_600_000)), Bandwidth::ZERO);
    }

    /// What is left in the slots of long ago does not come back.
    #[test]
    fn after_a_pause_only_what_is_new_counts() {
        for pause in [125, 1_000, 1_125, 10_000] {
            let mut meter = RateMeter::default();
            (0..2_000).step_by(125).for_each(|millis| meter.count(1_000, at(millis)));
            let now = at(2_000 + pause + 1_000);
            meter.count(5, now);
            assert_eq!(meter.rate(now).bits_per_sec(), 40, "{pause} ms");
        }
    }
}
