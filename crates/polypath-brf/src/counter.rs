//! Counters of devices, read now and then.

/// A cumulative counter that may wrap around or start anew (a reset port, a restarted switch).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counter {
    last: Option<u64>,
}

impl Counter {
    /// By how much the counter grew since it was read last; `None` if that is not known: at the
    /// first reading, and where the counter fell. The width of a counter that fell is not known
    /// either, so that the sample is dropped.
    pub(super) fn advance(&mut self, reading: u64) -> Option<u64> {
        let last = self.last.replace(reading)?;
        reading.checked_sub(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_falls_gives_no_sample_and_counts_on_from_there() {
        let mut counter = Counter::default();
        let readings = [u64::MAX - 5, u64::MAX, 10, 25, 0, 0];
        let grown = readings.map(|reading| counter.advance(reading));
        assert_eq!(grown, [None, Some(5), None, Some(15), None, Some(0)]);
    }
}
