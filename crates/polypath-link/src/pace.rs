//! Service times, with a short cut for packets of one size at one rate.

use crate::rate::{Completion, Rate, Work, work_of};
use polypath_units::Timestamp;

/// The service times of a link while it keeps its rate; for another rate, start with another pace.
///
/// At a constant rate the division of work by rate is done once for each packet size: its
/// quotient and rest give every completion exactly, whatever the surplus before.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    /// In bit/s; zero, as at first, for no short cut.
    rate: u64,
    bytes: u32,
    /// Work of such a packet divided by the rate: whole nanoseconds, and what is left.
    nanos: u64,
    rest: u64,
}

impl Pace {
    /// When `bytes` that start at `start` with `surplus` of them done are served; `None` if never.
    pub(crate) fn completion(
        &mut self,
        rate: &Rate,
        start: Timestamp,
        bytes: u32,
        surplus: Work,
    ) -> Option<Completion> {
        if self.knows(rate, bytes)
            && let Some(surplus) = u64::try_from(surplus).ok().filter(|&s| s < self.rate)
        {
            return self.recall(start, surplus);
        }
        exact_completion(rate, start, work_of(bytes), surplus)
    }

    /// Divides if the size differs from the last one; otherwise the rate, which is stored
    /// elsewhere, is not even read. False if there is no short cut, as for numbers that are too
    /// large.
    fn knows(&mut self, rate: &Rate, bytes: u32) -> bool {
        if bytes == self.bytes && self.rate > 0 {
            return true;
        }
        let Rate::Constant(constant) = *rate else { return false };
        let rate = constant.bits_per_sec();
        let work = u64::try_from(work_of(bytes)).ok();
        let quotient = work.and_then(|work| Some((work.checked_div(rate)?, work % rate)));
        let Some((nanos, rest)) = quotient else { return false };
        *self = Self { rate, bytes, nanos, rest };
        true
    }

    /// The work is `nanos x rate + rest`, and both `rest` and `surplus` are below the rate: what
    /// is to be done takes one more nanosecond exactly if the surplus does not cover the rest.
    fn recall(&self, start: Timestamp, surplus: u64) -> Option<Completion> {
        let more = self.rest > surplus;
        let left = match more {
            true => self.rate - (self.rest - surplus),
            false => surplus - self.rest,
        };
        let nanos = start.as_nanos().checked_add(self.nanos)?.checked_add(more.into())?;
        Some(Completion { at: Timestamp::from_nanos(nanos), surplus: left.into() })
    }
}

/// The same for any rate and work, by the definition.
pub(crate) fn exact_completion(
    rate: &Rate,
    start: Timestamp,
    work: Work,
    surplus: Work,
) -> Option<Completion> {
    match surplus.checked_sub(work) {
        Some(surplus) => Some(Completion { at: start, surplus }),
        None => rate.completion(start, work - surplus),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_units::Bandwidth;
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = u64> {
        prop_oneof![0..20_u64, 0..10_000_000_000_u64, any::<u64>()]
    }

    proptest! {
        /// Chains of packets, as a busy link serves them, of two sizes and from any surplus.
        #[test]
        fn the_short_cut_is_exact(
            rate in number(),
            start in number(),
            sizes in prop::array::uniform2(prop_oneof![0..3000_u32, any::<u32>()]),
            choices in prop::collection::vec(any::<bool>(), 1..50),
            surplus in prop_oneof![Just(0), number()],
        ) {
            let rate = Rate::from(Bandwidth::from_bits_per_sec(rate));
            let mut pace = Pace::default();
            let start = Timestamp::from_nanos(start);
            let mut last = Some(Completion { at: start, surplus: surplus.into() });
            for choice in choices {
                let Some(Completion { at, surplus }) = last else { break };
                let bytes = sizes[usize::from(choice)];
                last = pace.completion(&rate, at, bytes, surplus);
                prop_assert_eq!(last, exact_completion(&rate, at, work_of(bytes), surplus));
            }
        }
    }
}
