//! Rounds in which a queue stood: they tell the rate of the link.

use super::foreign_queue::{EXCESS_RTTS, FOREIGN_RTTS, ForeignQueue};
use crate::congestion::Ack;
use std::time::Duration;

/// RTTs above this many times what packets usually take show a queue that stands. The rule divides
/// the delay after a blockage by nearly four; from 1.4 propagation times on it costs a little more
/// goodput and saves no delay (docs/algorithms/congestion/polypath.md, ablation).
const QUEUE_RTTS: f64 = 2.0;

/// Of what a round delivered, so much has met a queue if the link was busy: a sender that sends in
/// bursts, because the receive window opens in bursts, finds none with the first packets of each.
const BUSY: f64 = 0.25;

/// RTTs above which there is a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct QueueLimits {
    /// Above this there is one to go down with.
    any: Duration,
    /// Above this there is one that the flow's own window does not explain.
    foreign: Duration,
    /// Above this there is more than the window explains.
    excess: Duration,
}

impl QueueLimits {
    /// Those of what packets usually take and of a window that takes so long to drain, in seconds.
    pub(super) fn new(usual: f64, window: f64) -> Self {
        let limit = |secs| Duration::try_from_secs_f64(secs).unwrap_or(Duration::MAX);
        Self {
            any: limit(QUEUE_RTTS * usual),
            foreign: limit(FOREIGN_RTTS * usual.max(window)),
            excess: limit(EXCESS_RTTS * usual.max(window)),
        }
    }
}

/// Rounds in which there was a queue. The link was busy then, so that what it delivered is what it
/// can, be the sender limited by the application or not.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct StandingQueue {
    least_rtt: Option<Duration>,
    fastest: f64,
    /// The fastest sample of each of the last two whole rounds, in bytes/s.
    last: [f64; 2],
    /// What this round delivered, and how much of that met a queue, in bytes.
    delivered: [u64; 2],
    busy: bool,
    stands: bool,
    foreign: ForeignQueue,
}

impl StandingQueue {
    /// Takes the samples of an ACK, whose RTT shows a queue or does not; at the end of a round,
    /// judges it by `limits`.
    pub(super) fn on_ack(&mut self, ack: &Ack, queued: bool, limits: Option<QueueLimits>) {
        if ack.round_start {
            self.end_round(limits);
        }
        self.delivered[0] += ack.acked_bytes;
        self.delivered[1] += if queued { ack.acked_bytes } else { 0 };
        self.least_rtt = ack.least_rtt(self.least_rtt);
        self.fastest =
            ack.rate.map_or(self.fastest, |sample| self.fastest.max(sample.bytes_per_sec));
    }

    fn end_round(&mut self, limits: Option<QueueLimits>) {
        let seen = self.least_rtt.take().zip(limits);
        let above = |limit: fn(QueueLimits) -> Duration| {
            seen.is_some_and(|(least, limits)| least > limit(limits))
        };
        let [all, late] = core::mem::take(&mut self.delivered).map(|bytes| bytes as f64);
        self.busy = late > 0.0 && late >= BUSY * all;
        self.stands = above(|limits| limits.any);
        self.foreign.on_round(above(|limits| limits.foreign), above(|limits| limits.excess));
        self.last = [core::mem::take(&mut self.fastest), self.last[0]];
    }

    /// Whether enough of the last round met a queue to say that the link was busy.
    pub(super) const fn busy(&self) -> bool {
        self.busy
    }

    /// Whether a queue stood during the whole of the last round.
    pub(super) const fn stands(&self) -> bool {
        self.stands
    }

    /// Whether it has stood for too long, or excessively, to be the flow's own.
    pub(super) const fn is_foreign(&self) -> bool {
        self.foreign.stands()
    }

    /// What the link delivered in the last two whole rounds, in bytes/s.
    pub(super) const fn drained_at(&self) -> f64 {
        self.last[0].max(self.last[1])
    }

    /// Counts rounds of foreign queues from here.
    pub(super) fn restart(&mut self) {
        self.foreign = ForeignQueue::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{ack, rate};

    const LIMITS: Option<QueueLimits> = Some(QueueLimits {
        any: Duration::from_millis(28),
        foreign: Duration::from_millis(40),
        excess: Duration::from_millis(35),
    });

    /// Takes an ACK, whose RTT shows a queue above 25 ms.
    fn take(queue: &mut StandingQueue, ack: &Ack, limits: Option<QueueLimits>) {
        let queued = ack.rtt.is_some_and(|rtt| rtt > Duration::from_millis(25));
        queue.on_ack(ack, queued, limits);
    }

    /// An ACK with an RTT in ms and a rate; of a new round or not.
    fn event(rtt: u64, bytes_per_sec: f64, round_start: bool) -> Ack {
        let rtt = Some(Duration::from_millis(rtt));
        Ack { rtt, rate: Some(rate(bytes_per_sec)), round_start, ..ack(1_000, 1_000) }
    }

    #[test]
    fn a_queue_stands_if_every_rtt_of_a_whole_round_shows_it() {
        let mut queue = StandingQueue::default();
        let mut on = |rtt, new| {
            take(&mut queue, &event(rtt, 1.0, new), LIMITS);
            queue.stands()
        };
        assert!(!on(60, true));
        assert!(!on(29, false));
        assert!(on(50, true), "29 ms was the least");
        assert!(on(28, false), "the round is not over");
        assert!(!on(50, true));
    }

    /// Four ACKs of equal size in each round.
    #[test]
    fn the_link_was_busy_if_a_quarter_of_a_round_has_met_a_short_queue() {
        let mut queue = StandingQueue::default();
        let mut round = |rtts: [u64; 4]| {
            let told = (queue.busy(), queue.stands());
            for (nth, rtt) in rtts.into_iter().enumerate() {
                take(&mut queue, &event(rtt, 1.0, nth == 0), LIMITS);
            }
            told
        };
        round([20, 20, 20, 26]);
        round([20, 20, 20, 25]);
        assert_eq!(round([40; 4]), (true, false), "of the round before the last one");
        assert_eq!(round([20; 4]), (false, false));
        assert_eq!(round([20; 4]), (true, true));
    }

    /// After the first round, which says nothing yet.
    #[test]
    fn a_queue_that_stays_is_foreign_the_sooner_the_larger_it_is() {
        let rounds = |rtts: &[u64]| {
            let mut queue = StandingQueue::default();
            let mut foreign = |rtt: &u64| {
                take(&mut queue, &event(*rtt, 1.0, true), LIMITS);
                queue.is_foreign()
            };
            rtts.iter().position(&mut foreign)
        };
        assert_eq!(rounds(&[41; 30]), Some(6));
        assert_eq!(rounds(&[36; 30]), Some(20));
        let but_one = |most: u64, nth: usize, one: u64| {
            let mut rtts = [most; 30];
            rtts[nth] = one;
            rtts
        };
        assert_eq!(rounds(&but_one(41, 4, 40)), Some(11), "40 ms is excess alone");
        assert_eq!(rounds(&[35; 30]), None, "the window explains it");
        assert_eq!(rounds(&but_one(36, 15, 35)), None);
    }

    #[test]
    fn rounds_of_foreign_queues_can_be_counted_anew() {
        let mut queue = StandingQueue::default();
        (0..7).for_each(|_| take(&mut queue, &event(50, 1.0, true), LIMITS));
        assert!(queue.is_foreign());
        queue.restart();
        (0..5).for_each(|_| take(&mut queue, &event(50, 1.0, true), LIMITS));
        assert!(!queue.is_foreign());
    }

    #[test]
    fn a_round_without_measurement_or_limits_shows_nothing() {
        let mut queue = StandingQueue::default();
        let silent = Ack { round_start: true, ..ack(1_000, 1_000) };
        (0..2).for_each(|_| take(&mut queue, &silent, LIMITS));
        assert!(!queue.stands());
        (0..2).for_each(|_| take(&mut queue, &event(50, 1.0, true), None));
        assert!(!queue.stands());
    }

    #[test]
    fn the_capacity_is_that_of_two_whole_rounds() {
        let mut queue = StandingQueue::default();
        let mut on = |rate, new| {
            take(&mut queue, &event(50, rate, new), LIMITS);
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
