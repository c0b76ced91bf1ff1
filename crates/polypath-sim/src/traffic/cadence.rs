//! Messages of one size at a rate.

use super::Periods;
use polypath_units::{Bandwidth, Timestamp};

/// Messages of one size at equal distances, in the on-times of [`Periods`]. Message n is due when
/// n messages would have passed at the rate: rounding does not add up, and over on-times of any
/// length the rate is the mean.
#[derive(Clone, Debug)]
pub(crate) struct Cadence {
    rate: Bandwidth,
    bytes: u64,
    periods: Periods,
    taken: u64,
}

impl Cadence {
    /// Messages of `bytes` that make up `rate`. A rate of zero has none.
    pub(crate) fn new(rate: Bandwidth, bytes: u64, periods: Periods) -> Self {
        Self { rate, bytes, periods, taken: 0 }
    }

    /// Takes the next message that is due at `now`; tells when it was.
    pub(crate) fn poll(&mut self, now: Timestamp) -> Option<Timestamp> {
        loop {
            if let Some(at) = self.message() {
                let is_due = at <= now;
                self.taken += u64::from(is_due);
                return is_due.then_some(at);
            }
            if self.periods.until() > now {
                return None;
            }
            self.periods.turn();
        }
    }

    /// When [`Cadence::poll`] may have something; [`Timestamp::MAX`]: never.
    pub(crate) fn next_due(&self) -> Timestamp {
        self.message().unwrap_or(self.periods.until())
    }

    /// Its on-times.
    pub(crate) fn periods(&self) -> &Periods {
        &self.periods
    }

    /// When the next message is due, if in this period.
    fn message(&self) -> Option<Timestamp> {
        let on_time = self.rate.time_to_send(self.bytes.saturating_mul(self.taken))?;
        self.periods.at(on_time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{OnOff, Spread};
    use proptest::prelude::*;
    use std::time::Duration;

    /// All messages before `end`, taken one by one.
    fn times(mut cadence: Cadence, end: Timestamp) -> Vec<Timestamp> {
        let mut times = Vec::new();
        while cadence.next_due() < end {
            times.extend(cadence.poll(cadence.next_due()));
        }
        times
    }

    #[test]
    fn thirds_of_a_nanosecond_do_not_add_up() {
        // 3 bytes at 7.2 Gbit/s take 3 1/3 ns.
        let rate = Bandwidth::from_bits_per_sec(7_200_000_000);
        let start = Timestamp::from_nanos(100);
        let cadence = Cadence::new(rate, 3, Periods::always(start));
        let nanos = times(cadence, Timestamp::from_nanos(121)).into_iter().map(Timestamp::as_nanos);
        assert!(nanos.eq([100, 104, 107, 110, 114, 117, 120]));
    }

    #[test]
    fn without_a_rate_nothing_is_due() {
        let cadence = Cadence::new(Bandwidth::ZERO, 3, Periods::always(Timestamp::ZERO));
        assert_eq!(times(cadence, Timestamp::from_millis(1_000)), []);
    }

    proptest! {
        /// With on-times shorter or longer than the distance of messages: in all on-time t there
        /// are ceil(t rate / bytes) messages, or one more at its very end, and none in silence.
        #[test]
        fn the_mean_is_the_rate(
            on in 1..500_u64, off in 0..500_u64, kbit_s in 100..10_000_u64, exponential: bool,
        ) {
            let durations = if exponential { Spread::Exponential } else { Spread::Constant };
            let us = Duration::from_micros;
            let flow = OnOff { on: us(on), off: us(off), durations, rate: None };
            let periods = Periods::alternating(&flow, Timestamp::ZERO, 1);
            let rate = Bandwidth::from_bits_per_sec(1_000 * kbit_s);
            let end = Timestamp::from_millis(100);
            let messages = times(Cadence::new(rate, 125, periods.clone()), end);
            let (mut on_time, mut periods, mut seen) = (Duration::ZERO, periods, 0);
            while periods.until() < end {
                periods.turn();
                let until = periods.until().min(end);
                let since = until.min(periods.at(on_time).unwrap_or(until));
                let inside = messages[seen..].iter().take_while(|&&at| at < until).count();
                prop_assert!(periods.is_on() || inside == 0);
                on_time += until - since;
                seen += inside;
            }
            let expected = on_time.as_secs_f64() * rate.bytes_per_sec() / 125.0;
            let excess = messages.len() as f64 - expected;
            prop_assert!((-1e-6..=1.0).contains(&excess), "{} of {expected}", messages.len());
        }
    }
}
