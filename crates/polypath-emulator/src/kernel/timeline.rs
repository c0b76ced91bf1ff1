//! What a receiver got, and when.

use polypath_units::Timestamp;

/// Payload bytes in order that an application has read, over time.
#[derive(Clone, Debug, Default)]
pub struct Timeline(Vec<(Timestamp, u64)>);

impl Timeline {
    /// Enters `bytes` more; times do not go backwards.
    pub fn add(&mut self, at: Timestamp, bytes: u64) {
        self.0.push((at, self.total() + bytes));
    }

    /// All bytes.
    pub fn total(&self) -> u64 {
        self.0.last().map_or(0, |&(_, total)| total)
    }

    /// The same with times that count from `start`, which is before all of them.
    pub(crate) fn since(&self, start: Timestamp) -> Self {
        let later = |&(at, total): &(Timestamp, u64)| (Timestamp::ZERO + at.since(start), total);
        Self(self.0.iter().map(later).collect())
    }

    /// When something came, ascending.
    pub fn times(&self) -> impl Iterator<Item = Timestamp> {
        self.0.iter().map(|&(at, _)| at)
    }

    /// The bytes until a time, those that came at it included.
    pub(crate) fn bytes_at(&self, at: Timestamp) -> u64 {
        let after = self.0.partition_point(|&(when, _)| when <= at);
        after.checked_sub(1).map_or(0, |last| self.0[last].1)
    }

    /// The mean rate between two times in Mbit/s; zero over no time.
    pub fn mbit_s(&self, from: Timestamp, to: Timestamp) -> f64 {
        let seconds = to.since(from).as_secs_f64();
        let bytes = self.bytes_at(to).saturating_sub(self.bytes_at(from));
        if seconds > 0.0 { bytes as f64 * 8e-6 / seconds } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn timeline() -> Timeline {
        let mut timeline = Timeline::default();
        for (at, bytes) in [(10, 1_000), (20, 500), (70, 1_500)] {
            timeline.add(ms(at), bytes);
        }
        timeline
    }

    #[test]
    fn bytes_count_from_when_they_came() {
        let timeline = timeline();
        let at = [9, 10, 19, 20, 70, 99].map(|millis| timeline.bytes_at(ms(millis)));
        assert_eq!(at, [0, 1_000, 1_000, 1_500, 3_000, 3_000]);
        assert_eq!(timeline.total(), 3_000);
        assert_eq!(timeline.times().collect::<Vec<_>>(), [10, 20, 70].map(ms));
    }

    #[test]
    fn times_count_from_a_start() {
        let since = timeline().since(ms(5));
        assert_eq!(since.times().collect::<Vec<_>>(), [5, 15, 65].map(ms));
        assert_eq!((since.bytes_at(ms(15)), since.total()), (1_500, 3_000));
    }

    /// 2000 bytes in 60 ms.
    #[test]
    fn rates_are_of_the_bytes_between() {
        assert!((timeline().mbit_s(ms(10), ms(70)) - 2_000.0 * 8e-6 / 0.06).abs() < 1e-12);
        assert_eq!(timeline().mbit_s(ms(10), ms(10)), 0.0);
    }
}
