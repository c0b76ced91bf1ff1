//! Distributions of delays.

use std::time::Duration;

/// Buckets for each power of two: a bucket is 1/64 of its values wide at most.
const STEPS: u64 = 64;

/// A distribution of delays in bounded memory: the mean and the extremes are exact, quantiles
/// within 1/128.
///
/// ```
/// use polypath_sim::traffic::Delays;
/// use std::time::Duration;
///
/// let mut delays = Delays::default();
/// (1..=1_000).for_each(|ms| delays.add(Duration::from_millis(ms)));
/// assert_eq!(delays.mean(), Some(Duration::from_micros(500_500)));
/// let p99 = delays.quantile(0.99).unwrap().as_secs_f64();
/// assert!((p99 / 0.99 - 1.0).abs() <= 1.0 / 128.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    count: u64,
    /// Of all, in nanoseconds.
    sum: u128,
    minimum: Duration,
    maximum: Duration,
    /// The number of the first bucket, and how many fell into it and those behind it.
    first: usize,
    buckets: Vec<u64>,
}

/// The bucket of a delay in nanoseconds: linear below [`STEPS`], then [`STEPS`] for each power of
/// two.
fn bucket(nanos: u64) -> usize {
    let shift = (nanos / STEPS).checked_ilog2().unwrap_or(0);
    (u64::from(shift) * STEPS + (nanos >> shift)) as usize
}

/// The middle of a bucket in nanoseconds.
fn middle(bucket: usize) -> u64 {
    let shift = (bucket as u64 / STEPS).saturating_sub(1);
    let low = (bucket as u64 - shift * STEPS) << shift;
    low + ((1 << shift) >> 1)
}

/// The greatest delay of a bucket in nanoseconds.
fn last(bucket: usize) -> u64 {
    let shift = (bucket as u64 / STEPS).saturating_sub(1);
    // The last bucket ends at the greatest number that there is.
    let end = u128::from(bucket as u64 - shift * STEPS + 1) << shift;
    u64::try_from(end - 1).unwrap_or(u64::MAX)
}

impl Delays {
    /// One more.
    pub fn add(&mut self, delay: Duration) {
        let nanos = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
        self.minimum = if self.count == 0 { delay } else { self.minimum.min(delay) };
        self.maximum = self.maximum.max(delay);
        self.count += 1;
        self.sum += u128::from(nanos);
        *self.bucket_mut(bucket(nanos)) += 1;
    }

    fn bucket_mut(&mut self, bucket: usize) -> &mut u64 {
        if self.buckets.is_empty() {
            self.first = bucket;
        }
        if bucket < self.first {
            self.buckets.splice(0..0, (bucket..self.first).map(|_| 0));
            self.first = bucket;
        }
        let index = bucket - self.first;
        if index >= self.buckets.len() {
            self.buckets.resize(index + 1, 0);
        }
        &mut self.buckets[index]
    }

    /// All of another distribution, too.
    pub fn absorb(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.minimum =
            if self.count == 0 { other.minimum } else { self.minimum.min(other.minimum) };
        self.maximum = self.maximum.max(other.maximum);
        self.count += other.count;
        self.sum += other.sum;
        for (bucket, &count) in (other.first..).zip(&other.buckets).filter(|&(_, &count)| count > 0)
        {
            *self.bucket_mut(bucket) += count;
        }
    }

    /// How many do not exceed `limit`, which is met within 1/128.
    pub fn within(&self, limit: Duration) -> u64 {
        let nanos = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        let buckets = (self.first..).zip(&self.buckets);
        buckets.filter(|&(bucket, _)| middle(bucket) <= nanos).map(|(_, &count)| count).sum()
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean; `None` if there are none.
    pub fn mean(&self) -> Option<Duration> {
        let nanos = self.sum.checked_div(self.count.into())?;
        Some(Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
    }

    /// The shortest.
    pub fn minimum(&self) -> Option<Duration> {
        (self.count > 0).then_some(self.minimum)
    }

    /// The longest.
    pub fn maximum(&self) -> Option<Duration> {
        (self.count > 0).then_some(self.maximum)
    }

    /// The delay that a share `q`, from 0 to 1, does not exceed: by nearest rank.
    pub fn quantile(&self, q: f64) -> Option<Duration> {
        let rank = ((q * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut below = 0;
        let index = self.buckets.iter().position(|&count| {
            below += count;
            below >= rank
        })?;
        let nanos = Duration::from_nanos(middle(self.first + index));
        Some(nanos.clamp(self.minimum, self.maximum))
    }

    /// The cumulative distribution: delays in ascending order, and the share that did not exceed
    /// them, within 1/64.
    pub fn distribution(&self) -> impl Iterator<Item = (Duration, f64)> {
        let filled = (self.first..).zip(&self.buckets).filter(|&(_, &count)| count > 0);
        filled.scan(0, |reached, (bucket, count)| {
            *reached += count;
            let last = Duration::from_nanos(last(bucket)).min(self.maximum);
            Some((last, *reached as f64 / self.count as f64))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn there_is_none_of_nothing() {
        let delays = Delays::default();
        assert_eq!((delays.mean(), delays.minimum(), delays.quantile(0.5)), (None, None, None));
    }

    #[test]
    fn buckets_touch_and_cover_everything() {
        let highest = bucket(u64::MAX);
        assert_eq!((bucket(0), last(highest)), (0, u64::MAX));
        for number in 0..highest {
            assert_eq!((bucket(last(number)), bucket(last(number) + 1)), (number, number + 1));
        }
    }

    proptest! {
        #[test]
        fn the_distribution_rises_to_one(nanos in prop::collection::vec(0..u64::MAX, 1..100)) {
            let mut delays = Delays::default();
            nanos.iter().for_each(|&n| delays.add(Duration::from_nanos(n)));
            let points: Vec<_> = delays.distribution().collect();
            prop_assert!(points.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1));
            prop_assert_eq!(*points.last().unwrap(), (delays.maximum().unwrap(), 1.0));
            for &(delay, share) in &points {
                let within = nanos.iter().filter(|&&n| u128::from(n) <= delay.as_nanos()).count();
                prop_assert_eq!(share, within as f64 / nanos.len() as f64);
            }
        }

        #[test]
        fn what_is_absorbed_counts_as_if_added(
            one in prop::collection::vec(0..u64::MAX, 0..50),
            other in prop::collection::vec(0..u64::MAX, 0..50),
        ) {
            let of = |nanos: &[u64]| {
                let mut delays = Delays::default();
                nanos.iter().for_each(|&n| delays.add(Duration::from_nanos(n)));
                delays
            };
            let mut merged = of(&one);
            merged.absorb(&of(&other));
            let all = of(&[one, other].concat());
            prop_assert!(merged.distribution().eq(all.distribution()));
            prop_assert_eq!((merged.count(), merged.mean()), (all.count(), all.mean()));
            prop_assert_eq!(merged.minimum(), all.minimum());
        }

        #[test]
        fn those_within_a_limit_are_counted(
            nanos in prop::collection::vec(0..1_000_000_u64, 0..100),
            limit in 0..1_000_000_u64,
        ) {
            let mut delays = Delays::default();
            nanos.iter().for_each(|&n| delays.add(Duration::from_nanos(n)));
            let exact = |limit: f64| nanos.iter().filter(|&&n| n as f64 <= limit).count() as u64;
            let given = delays.within(Duration::from_nanos(limit));
            let (least, most) = (limit as f64 * (1.0 - 1.0 / 64.0), limit as f64 * (1.0 + 1.0 / 64.0));
            prop_assert!((exact(least)..=exact(most)).contains(&given));
        }

        #[test]
        fn quantiles_are_within_1_in_128(
            mut nanos in prop::collection::vec((0..40_u32, any::<u64>()), 1..200),
            q in 0.0..=1.0_f64,
        ) {
            let nanos: Vec<u64> = nanos.drain(..).map(|(bits, n)| n >> (bits + 10)).collect();
            let mut delays = Delays::default();
            nanos.iter().for_each(|&n| delays.add(Duration::from_nanos(n)));
            let mut sorted = nanos;
            sorted.sort_unstable();
            let rank = ((q * sorted.len() as f64).ceil() as usize).max(1);
            let exact = sorted[rank - 1] as f64;
            let found = delays.quantile(q).unwrap().as_nanos() as f64;
            prop_assert!((found - exact).abs() <= exact / 128.0, "{found} for {exact}");
            let ends = [delays.minimum(), delays.maximum()];
            let exact = [sorted.first(), sorted.last()];
            prop_assert_eq!(ends, exact.map(|n| n.map(|&n| Duration::from_nanos(n))));
            let sum: u128 = sorted.iter().map(|&n| u128::from(n)).sum();
            let mean = (sum / sorted.len() as u128) as u64;
            prop_assert_eq!(delays.mean(), Some(Duration::from_nanos(mean)));
        }
    }
}
