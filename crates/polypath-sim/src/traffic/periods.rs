//! Times of sending and times of silence.

use super::Random;
use crate::scenario::{OnOff, Spread};
use polypath_units::Timestamp;
use std::time::Duration;

/// On-times and off-times in turn. Silence comes first, until the start.
#[derive(Clone, Debug)]
pub(crate) struct Periods {
    /// How long they last; `None`: the first on-time does not end.
    lengths: Option<Lengths>,
    is_on: bool,
    /// When the present one began and when it ends.
    since: Timestamp,
    until: Timestamp,
    /// On-time before the present period, and how many on-times have begun.
    on_before: Duration,
    begun: u64,
}

#[derive(Clone, Debug)]
struct Lengths {
    on: Duration,
    off: Duration,
    spread: Spread,
    random: Random,
}

impl Periods {
    /// On from `start` without end.
    pub(crate) fn always(start: Timestamp) -> Self {
        Self {
            lengths: None,
            is_on: false,
            since: Timestamp::ZERO,
            until: start,
            on_before: Duration::ZERO,
            begun: 0,
        }
    }

    /// The first on-time begins at `start`.
    pub(crate) fn alternating(flow: &OnOff, start: Timestamp, seed: u64) -> Self {
        let OnOff { on, off, durations: spread, .. } = *flow;
        let random = Random::new(seed);
        Self { lengths: Some(Lengths { on, off, spread, random }), ..Self::always(start) }
    }

    /// Whether it is an on-time.
    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    /// When the present period ends.
    pub(crate) fn until(&self) -> Timestamp {
        self.until
    }

    /// The present period is over: the next one.
    pub(crate) fn turn(&mut self) {
        if self.is_on {
            self.on_before += self.until - self.since;
        }
        self.is_on = !self.is_on;
        self.begun += u64::from(self.is_on);
        self.since = self.until;
        self.until = match &mut self.lengths {
            Some(Lengths { on, off, spread, random }) => {
                let mean = if self.is_on { *on } else { *off };
                self.since + spread.draw(mean, random)
            }
            None => Timestamp::MAX,
        };
    }

    /// How many on-times have begun, and how long they have lasted until `now`, which lies in the
    /// present period.
    pub(crate) fn so_far(&self, now: Timestamp) -> (u64, Duration) {
        let present = if self.is_on { now.since(self.since) } else { Duration::ZERO };
        (self.begun, self.on_before + present)
    }

    /// When the on-times have lasted `on_time` together; `None` if not in the present period.
    pub(crate) fn at(&self, on_time: Duration) -> Option<Timestamp> {
        let at = self.since + on_time.saturating_sub(self.on_before);
        (self.is_on && at < self.until).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOW: OnOff = OnOff {
        on: Duration::from_millis(30),
        off: Duration::from_millis(70),
        durations: Spread::Constant,
        rate: None,
    };

    #[test]
    fn on_times_are_counted() {
        let at = Timestamp::from_millis;
        let mut periods = Periods::alternating(&FLOW, at(5), 0);
        let mut seen = Vec::new();
        for now in [0, 15, 50, 115] {
            while periods.until() <= at(now) {
                periods.turn();
            }
            seen.push(periods.so_far(at(now)));
        }
        let ms = Duration::from_millis;
        assert_eq!(seen, [(0, ms(0)), (1, ms(10)), (1, ms(30)), (2, ms(40))]);
    }

    #[test]
    fn on_time_stands_still_in_silence() {
        let (ms, at) = (Duration::from_millis, Timestamp::from_millis);
        let mut periods = Periods::alternating(&FLOW, at(5), 0);
        assert!(!periods.is_on() && periods.at(ms(0)).is_none());
        periods.turn();
        assert_eq!((periods.is_on(), periods.until()), (true, at(35)));
        assert_eq!([0, 29, 30].map(|on| periods.at(ms(on))), [Some(at(5)), Some(at(34)), None]);
        periods.turn();
        assert_eq!((periods.is_on(), periods.until(), periods.at(ms(30))), (false, at(105), None));
        periods.turn();
        assert_eq!([30, 31].map(|on| periods.at(ms(on))), [Some(at(105)), Some(at(106))]);
    }

    /// Of 10^5 periods of each kind the mean is within five standard errors, 5 / sqrt(10^5).
    #[test]
    fn exponential_periods_have_their_means() {
        let flow = OnOff { durations: Spread::Exponential, ..FLOW };
        let mut periods = Periods::alternating(&flow, Timestamp::ZERO, 3);
        (0..200_001).for_each(|_| periods.turn());
        let on = periods.on_before.as_secs_f64() / 1e5;
        let off = periods.since.as_secs_f64() / 1e5 - on;
        let near = |found: f64, mean: Duration| (found / mean.as_secs_f64() - 1.0).abs() < 0.0159;
        assert!(near(on, flow.on) && near(off, flow.off), "{on} {off}");
    }
}
