//! How fast the server of a link works, as a function of time.

use crate::trace::{OPPORTUNITY_BYTES, Trace};
use polypath_units::{Bandwidth, Timestamp};
use std::sync::Arc;

/// The rate of a link over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rate {
    /// One rate for ever.
    Constant(Bandwidth),
    /// A rate that changes at given times.
    Schedule {
        /// The rate until the first step.
        initial: Bandwidth,
        /// The changes, in strictly ascending order of time.
        steps: Vec<RateStep>,
    },
    /// Delivery opportunities of 1500 bytes each at given milliseconds.
    ///
    /// As in Mahimahi, a packet larger than what is left of an opportunity continues in the next
    /// one, what a packet leaves over serves the packets queued behind it, and what then remains
    /// is lost. A packet that arrives at the very time of an opportunity has missed it.
    Trace {
        /// The opportunities.
        trace: Arc<Trace>,
        /// Whether the trace starts over at its end; otherwise the link then stands still.
        repeat: bool,
    },
}

/// From `at` on the rate is `rate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateStep {
    /// When.
    pub at: Timestamp,
    /// The rate from then on; zero stops the link without dropping anything.
    pub rate: Bandwidth,
}

impl From<Bandwidth> for Rate {
    fn from(rate: Bandwidth) -> Self {
        Self::Constant(rate)
    }
}

/// Service in bits times 10^9: a rate in bit/s times nanoseconds, exact in integers.
pub(crate) type Work = u128;

const WORK_PER_BYTE: Work = 8_000_000_000;
const WORK_PER_OPPORTUNITY: Work = OPPORTUNITY_BYTES as Work * WORK_PER_BYTE;
const NANOS_PER_MILLI: u64 = 1_000_000;

/// The service that `bytes` need.
pub(crate) fn work_of(bytes: u32) -> Work {
    Work::from(bytes) * WORK_PER_BYTE
}

/// When a piece of work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Completion {
    pub(crate) at: Timestamp,
    /// Service available at `at` beyond the work: what rounding up to a nanosecond gave too
    /// much, or the rest of a delivery opportunity. Only work that starts at `at` may use it.
    pub(crate) surplus: Work,
}

impl Rate {
    /// The rate that a queue limit in BDP refers to: the highest of a schedule, the mean of a
    /// trace.
    pub fn reference(&self) -> Bandwidth {
        match self {
            Self::Constant(rate) => *rate,
            Self::Schedule { initial, steps } => {
                steps.iter().map(|step| step.rate).fold(*initial, Bandwidth::max)
            }
            Self::Trace { trace, .. } => trace.mean_rate(),
        }
    }

    /// When work that starts at `start` is done; `None` if never.
    pub(crate) fn completion(&self, start: Timestamp, work: Work) -> Option<Completion> {
        match self {
            Self::Constant(rate) => complete_fluid(*rate, &[], start, work),
            Self::Schedule { initial, steps } => complete_fluid(*initial, steps, start, work),
            Self::Trace { trace, repeat } => complete_trace(trace, *repeat, start, work),
        }
    }

    /// The service available in (`from`, `to`].
    pub(crate) fn service_between(&self, from: Timestamp, to: Timestamp) -> Work {
        match self {
            Self::Constant(rate) => fluid_between(*rate, &[], from, to),
            Self::Schedule { initial, steps } => fluid_between(*initial, steps, from, to),
            Self::Trace { trace, repeat } => {
                let count = |at| trace.count_until(millis(at), *repeat);
                Work::from(count(to).saturating_sub(count(from))) * WORK_PER_OPPORTUNITY
            }
        }
    }
}

fn millis(at: Timestamp) -> u64 {
    at.as_nanos() / NANOS_PER_MILLI
}

/// A stretch of constant rate, from the time asked for to `end`.
struct Stretch {
    rate: Work,
    end: Timestamp,
    next: usize,
}

/// The stretch after the first `passed` steps.
fn stretch(initial: Bandwidth, steps: &[RateStep], passed: usize) -> Stretch {
    let rate = passed.checked_sub(1).map_or(initial, |last| steps[last].rate);
    let end = steps.get(passed).map_or(Timestamp::MAX, |step| step.at);
    Stretch { rate: Work::from(rate.bits_per_sec()), end, next: passed + 1 }
}

fn steps_until(steps: &[RateStep], at: Timestamp) -> usize {
    steps.partition_point(|step| step.at <= at)
}

fn nanos_between(from: Timestamp, to: Timestamp) -> Work {
    Work::from(to.as_nanos().saturating_sub(from.as_nanos()))
}

fn complete_fluid(
    initial: Bandwidth,
    steps: &[RateStep],
    start: Timestamp,
    mut work: Work,
) -> Option<Completion> {
    let (mut at, mut passed) = (start, steps_until(steps, start));
    loop {
        let Stretch { rate, end, next } = stretch(initial, steps, passed);
        let available = rate * nanos_between(at, end);
        if work <= available {
            let nanos = if work == 0 { 0 } else { work.div_ceil(rate) };
            let done = at.as_nanos() + u64::try_from(nanos).ok()?;
            let surplus = nanos * rate - work;
            return Some(Completion { at: Timestamp::from_nanos(done), surplus });
        }
        if passed >= steps.len() {
            return None;
        }
        work -= available;
        (at, passed) = (end, next);
    }
}

fn fluid_between(initial: Bandwidth, steps: &[RateStep], from: Timestamp, to: Timestamp) -> Work {
    let (mut at, mut passed, mut sum) = (from, steps_until(steps, from), 0);
    while at < to {
        let Stretch { rate, end, next } = stretch(initial, steps, passed);
        sum += rate * nanos_between(at, end.min(to));
        (at, passed) = (end, next);
    }
    sum
}

fn complete_trace(trace: &Trace, repeat: bool, start: Timestamp, work: Work) -> Option<Completion> {
    if work == 0 {
        return Some(Completion { at: start, surplus: 0 });
    }
    let used = trace.count_until(millis(start), repeat);
    let needed = u64::try_from(work.div_ceil(WORK_PER_OPPORTUNITY)).ok()?;
    let last = trace.millis_of(used.checked_add(needed - 1)?, repeat)?;
    // All opportunities of that millisecond come at once, those not needed are surplus.
    let given = trace.count_until(last, repeat).saturating_sub(used);
    let at = Timestamp::from_nanos(last.checked_mul(NANOS_PER_MILLI)?);
    Some(Completion {
        at,
        surplus: (Work::from(given) * WORK_PER_OPPORTUNITY).saturating_sub(work),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Timestamp {
        Timestamp::from_micros(micros)
    }

    fn mbit(rate: f64) -> Bandwidth {
        Bandwidth::from_mbit_per_sec(rate)
    }

    #[test]
    fn work_continues_across_rate_steps_and_standstill() {
        let steps = [(100, 0.0), (200, 10.0)];
        let steps = steps.map(|(time, rate)| RateStep { at: at(time), rate: mbit(rate) }).to_vec();
        let rate = Rate::Schedule { initial: mbit(100.0), steps };
        // 1500 B = 12 000 bit: 10 000 in 100 us at 100 Mbit/s, none, 2000 in 200 us at 10 Mbit/s.
        let done = rate.completion(Timestamp::ZERO, work_of(1500)).unwrap();
        assert_eq!(done, Completion { at: at(400), surplus: 0 });
        assert_eq!(rate.service_between(Timestamp::ZERO, at(400)), work_of(1500));
        assert_eq!(rate.service_between(at(100), at(200)), 0);
        assert_eq!(rate.reference(), mbit(100.0));
    }

    #[test]
    fn a_rate_that_ends_at_zero_never_completes() {
        let steps = vec![RateStep { at: at(100), rate: Bandwidth::ZERO }];
        let rate = Rate::Schedule { initial: mbit(100.0), steps };
        assert_eq!(rate.completion(Timestamp::ZERO, work_of(1251)), None);
        assert_eq!(rate.completion(Timestamp::ZERO, work_of(1250)).unwrap().at, at(100));
        assert_eq!(Rate::from(Bandwidth::ZERO).completion(at(1), 1), None);
    }

    #[test]
    fn rounding_up_leaves_the_difference_as_surplus() {
        // 1 B at 3 bit/s: 2 666 666 666.67 ns.
        let done = Rate::from(Bandwidth::from_bits_per_sec(3)).completion(at(0), work_of(1));
        let at = Timestamp::from_nanos(2_666_666_667);
        assert_eq!(done, Some(Completion { at, surplus: 1 }));
    }

    #[test]
    fn the_end_of_time_does_not_overflow() {
        let trace = Arc::new(Trace::from_millis(vec![1; 1000]).unwrap());
        let rates = [
            Rate::Trace { trace, repeat: true },
            Rate::from(Bandwidth::from_bits_per_sec(u64::MAX)),
            Rate::from(Bandwidth::from_bits_per_sec(1)),
        ];
        for rate in rates {
            let late = Timestamp::from_nanos(u64::MAX - 1);
            assert!(rate.completion(late, work_of(u32::MAX)).is_none_or(|done| done.at >= late));
            assert!(rate.service_between(Timestamp::ZERO, Timestamp::MAX) > 0);
        }
    }
}
