//! How long packets usually take without a queue. On a path that jitters that is more than the
//! propagation time, which is that of the fastest of them: a window of the bandwidth and the
//! propagation time is used up before the link has been busy for a round trip, the bandwidth that
//! is measured falls with the window, and the window with the bandwidth. Ours.
//!
//! Times in flight are those of all packets ([`Ack::flight_time`]); RTT samples are of the newest
//! packet of each acknowledgement, which is a fast one where packets overtake each other.
//!
//! A queue makes packets late, too. So the mean counts in start-up only, where the bandwidth still
//! grows and no queue stands. Later what counts is how far the mean is above the least of the same
//! round trip, which a queue that stands does not change, and of twenty such round trips the one
//! with the least, in which neither did a queue that was growing.

use crate::congestion::Ack;
use crate::estimator::{FlightTime, WindowedMin};
use polypath_units::Timestamp;
use std::time::Duration;

/// Round trips of which the least spread counts: enough that in one of them no queue was growing,
/// and few enough that a path which begins to jitter has its window soon. From 10 to 40 neither
/// goodput nor the share of a competing TCP depends much on it.
const WINDOW: u64 = 20;

/// Fewer segments say little of how far their times are spread.
const LEAST_SEGMENTS: u64 = 10;

/// A spread up to this share of the propagation time is that of bursts, our own and those of
/// others: what the send quanta of the window are for.
const BURSTS: f64 = 0.1;

/// Packets that were acknowledged in some time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Flights {
    time: FlightTime,
    least: Option<Duration>,
}

impl Flights {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(time) = ack.flight_time {
            self.time.add(time, ack.acked_bytes);
        }
        self.least = ack.least_rtt(self.least);
    }

    /// How far the mean is above the least.
    fn spread(&self) -> Option<Duration> {
        Some(self.time.mean()?.saturating_sub(self.least?))
    }
}

/// What packets of a path take.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct UsualRtt {
    round: Flights,
    /// The mean times of the last two rounds of start-up in which the bandwidth grew.
    growing: [Option<Duration>; 2],
    /// Packets since `began`: a round, or more where rounds are shorter than what packets take.
    period: Flights,
    began: Timestamp,
    periods: u64,
    spread: WindowedMin<Duration>,
}

impl Default for UsualRtt {
    fn default() -> Self {
        Self {
            round: Flights::default(),
            growing: [None; 2],
            period: Flights::default(),
            began: Timestamp::ZERO,
            periods: 0,
            spread: WindowedMin::new(WINDOW),
        }
    }
}

impl UsualRtt {
    /// Takes an ACK; `growing`: if a round ended, it was one of start-up in which the bandwidth
    /// grew.
    pub(super) fn on_ack(&mut self, ack: &Ack, growing: bool) {
        if ack.round_start {
            self.end_round(growing);
            self.end_period(ack);
        }
        self.round.on_ack(ack);
        self.period.on_ack(ack);
    }

    fn end_round(&mut self, growing: bool) {
        let mean = core::mem::take(&mut self.round).time.mean();
        if growing && mean.is_some() {
            self.growing = [mean, self.growing[0]];
        }
    }

    fn end_period(&mut self, ack: &Ack) {
        let (Some(mean), Some(spread)) = (self.period.time.mean(), self.period.spread()) else {
            return;
        };
        let few = self.period.time.bytes() < LEAST_SEGMENTS * ack.mss;
        if few || ack.now.since(self.began) < mean {
            return;
        }
        self.spread.update(self.periods, spread);
        self.periods += 1;
        self.period = Flights::default();
        self.began = ack.now;
    }

    /// What packets usually take in start-up, at least the propagation time.
    pub(super) fn in_start_up(&self, rtprop: Duration) -> Duration {
        self.growing.into_iter().flatten().min().unwrap_or(rtprop).max(rtprop)
    }

    /// What they usually take after start-up.
    pub(super) fn in_steady_state(&self, rtprop: Duration) -> Duration {
        let spread = self.spread.get().unwrap_or_default();
        rtprop + spread.saturating_sub(rtprop.mul_f64(BURSTS))
    }
}

#[cfg(test)]
mod tests {
    use super::super::growth::Growth;
    use super::*;
    use crate::congestion::bbr_model::full_pipe;
    use crate::congestion::testing::ack;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// A sender each of whose rounds is an ACK for the fastest packet and one for all others.
    #[derive(Default)]
    struct Path {
        usual: UsualRtt,
        growth: Growth,
        now: u64,
        bandwidth: f64,
    }

    impl Path {
        /// A round of so many segments and milliseconds.
        fn round(&mut self, starting: bool, segments: u64, lasts: u64, fastest: u64, others: u64) {
            self.now += lasts;
            let acked = |segments: u64, time: u64, round_start| Ack {
                now: Timestamp::from_millis(self.now),
                rtt: Some(ms(time)),
                flight_time: Some(ms(time)),
                round_start,
                ..ack(segments * 1_000, 1_000)
            };
            self.growth.on_round(self.bandwidth, false);
            let growing = starting && self.growth.grew_by(full_pipe::GROWTH);
            self.usual.on_ack(&acked(1, fastest, true), growing);
            self.usual.on_ack(&acked(segments - 1, others, false), growing);
        }
    }

    /// The mean of a round is that of the fastest packet and nine others.
    #[test]
    fn in_start_up_it_is_the_least_mean_of_two_rounds_of_growth() {
        let mut path = Path::default();
        let mut after = |bandwidth, others| {
            path.bandwidth = bandwidth;
            path.round(true, 10, 50, 20, others);
            path.usual.in_start_up(ms(20))
        };
        assert_eq!(after(100.0, 60), ms(20), "nothing to compare with");
        assert_eq!(after(200.0, 50), ms(56), "of the round before, in which the bandwidth grew");
        assert_eq!(after(400.0, 90), ms(47));
        assert_eq!(after(450.0, 90), ms(47), "less than a quarter more: there may be a queue");
        assert_eq!(after(900.0, 90), ms(47));
        assert_eq!(after(1_800.0, 90), ms(83));
        assert_eq!(path.usual.in_start_up(ms(90)), ms(90), "never less than the propagation time");
    }

    #[test]
    fn then_it_is_the_propagation_time_and_the_least_spread_of_twenty() {
        let mut path = Path::default();
        assert_eq!(path.usual.in_steady_state(ms(20)), ms(20));
        path.round(false, 10, 100, 20, 40);
        path.round(false, 10, 100, 20, 60);
        assert_eq!(path.usual.in_steady_state(ms(20)), ms(20 + 18 - 2));
        // A queue makes them all late.
        path.round(false, 10, 100, 90, 100);
        path.round(false, 10, 100, 90, 100);
        assert_eq!(path.usual.in_steady_state(ms(20)), ms(20 + 9 - 2));
        (0..25).for_each(|_| path.round(false, 10, 100, 20, 60));
        assert_eq!(path.usual.in_steady_state(ms(20)), ms(20 + 36 - 2));
    }

    #[test]
    fn bursts_are_no_jitter() {
        let mut path = Path::default();
        (0..2).for_each(|_| path.round(false, 20, 50, 40, 44));
        assert_eq!(path.usual.in_steady_state(ms(40)), ms(40));
    }

    /// Rounds that are told by fast packets are too short to show the least: two of them and a half
    /// are a round trip.
    #[test]
    fn short_rounds_and_those_of_few_packets_are_taken_together() {
        let mut path = Path { now: 1_000, ..Path::default() };
        path.round(false, 10, 0, 20, 55);
        let mut after = |segments, fastest| {
            path.round(false, segments, 20, fastest, 55);
            path.usual.in_steady_state(Duration::ZERO)
        };
        let first = after(10, 40);
        assert!(first > ms(30), "the first round ended one that began long before: {first:?}");
        assert_eq!([after(10, 20), after(10, 40)], [first; 2]);
        assert_eq!(after(10, 40), first.min(ms(33)), "three rounds: 60 ms");
        let mut path = Path::default();
        (0..4).for_each(|_| path.round(false, 3, 100, 20, 50));
        assert_eq!(path.usual.in_steady_state(Duration::ZERO), Duration::ZERO, "nine segments");
        path.round(false, 3, 100, 20, 50);
        assert_eq!(path.usual.in_steady_state(Duration::ZERO), ms(20));
    }
}
