//! What a controller without gain cycle has in its place: it keeps pace with the path by the queue
//! that it sees.

use crate::congestion::Ack;
use std::time::Duration;

/// The constants of a controller without gain cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::congestion) struct Steady {
    /// Pacing gain once the pipe is full: the window holds the flow, pacing only spreads it.
    pub(in crate::congestion) pacing_gain: f64,
    /// What may be in flight in ProbeRTT, in bandwidth-delay products.
    pub(in crate::congestion) probe_rtt_gain: f64,
    /// RTTs above this many propagation times show a queue.
    pub(in crate::congestion) queue_rtts: f64,
    /// A queue that has stood for so many rounds is not ours: the propagation time is measured anew.
    pub(in crate::congestion) patience_rounds: f64,
}

/// Rounds during all of which a queue stood. The link was busy then, so that what it delivered is
/// what it can, be the sender limited by the application or not.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct StandingQueue {
    least_rtt: Option<Duration>,
    fastest: f64,
    /// The fastest sample of each of the last two whole rounds, in bytes/s.
    last: [f64; 2],
    rounds: u32,
}

impl StandingQueue {
    /// For how many whole rounds the queue has stood now, where RTTs above `factor` times `rtprop`
    /// show one.
    pub(super) fn on_ack(&mut self, ack: &Ack, rtprop: Option<Duration>, factor: f64) -> u32 {
        if ack.round_start {
            self.end_round(rtprop, factor);
        }
        self.least_rtt = match (self.least_rtt, ack.rtt) {
            (Some(least), Some(rtt)) => Some(least.min(rtt)),
            (least, rtt) => least.or(rtt),
        };
        self.fastest =
            ack.rate.map_or(self.fastest, |sample| self.fastest.max(sample.bytes_per_sec));
        self.rounds
    }

    fn end_round(&mut self, rtprop: Option<Duration>, factor: f64) {
        let stood = |(least, rtprop): (Duration, Duration)| least > rtprop.mul_f64(factor);
        let stood = self.least_rtt.take().zip(rtprop).is_some_and(stood);
        self.rounds = if stood { self.rounds + 1 } else { 0 };
        self.last = [core::mem::take(&mut self.fastest), self.last[0]];
    }

    /// What the link delivered in the last two whole rounds, in bytes/s.
    pub(super) const fn drained_at(&self) -> f64 {
        self.last[0].max(self.last[1])
    }

    /// Counts from here.
    pub(super) const fn restart(&mut self) {
        self.rounds = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{ack, rate};

    const RTPROP: Option<Duration> = Some(Duration::from_millis(20));

    /// An ACK with an RTT in ms and a rate; of a new round or not.
    fn event(rtt: u64, bytes_per_sec: f64, round_start: bool) -> Ack {
        let rtt = Some(Duration::from_millis(rtt));
        Ack { rtt, rate: Some(rate(bytes_per_sec)), round_start, ..ack(1_000, 1_000) }
    }

    #[test]
    fn rounds_count_whose_every_rtt_shows_a_queue() {
        let mut queue = StandingQueue::default();
        let mut on = |rtt, new| queue.on_ack(&event(rtt, 1.0, new), RTPROP, 1.4);
        let counts = [on(60, true), on(29, false), on(50, true), on(28, false), on(50, true)];
        assert_eq!(counts, [0, 0, 1, 1, 0], "28 ms, 1.4 times 20 ms, are no queue");
        assert_eq!([on(50, true), on(50, true)], [1, 2]);
        queue.restart();
        assert_eq!(queue.on_ack(&event(50, 1.0, true), RTPROP, 1.4), 1);
    }

    #[test]
    fn a_round_without_measurement_shows_nothing() {
        let mut queue = StandingQueue::default();
        let silent = Ack { round_start: true, ..ack(1_000, 1_000) };
        assert_eq!(
            [queue.on_ack(&silent, RTPROP, 1.4), queue.on_ack(&silent, RTPROP, 1.4)],
            [0, 0]
        );
        queue.on_ack(&event(50, 1.0, true), None, 1.4);
        assert_eq!(queue.on_ack(&event(50, 1.0, true), None, 1.4), 0, "nothing to compare with");
    }

    #[test]
    fn the_capacity_is_that_of_two_whole_rounds() {
        let mut queue = StandingQueue::default();
        let mut on = |rate, new| {
            queue.on_ack(&event(50, rate, new), RTPROP, 1.4);
            queue.drained_at()
        };
        on(100.0, true);
        on(90.0, false);
        assert_eq!(on(10.0, true), 100.0);
        assert_eq!(on(12.0, false), 100.0, "the present round is not whole");
        assert_eq!(on(11.0, true), 100.0);
        assert_eq!(on(9.0, true), 12.0);
        assert_eq!(on(9.0, true), 11.0);
    }
}
