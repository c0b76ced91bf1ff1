//! What replaces the gain cycle in a controller that has none: it follows the path by the queue
//! that it sees.

use crate::congestion::Ack;
use std::time::Duration;

/// The constants of a controller without a gain cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::congestion) struct Steady {
    /// Pacing gain once the pipe is full: the window holds the flow, pacing only spreads it.
    pub(in crate::congestion) pacing_gain: f64,
    /// What may be in flight in ProbeRTT, in bandwidth-delay products.
    pub(in crate::congestion) probe_rtt_gain: f64,
    /// RTTs above this many propagation times show a queue.
    pub(in crate::congestion) queue_rtts: f64,
    /// RTTs above this many times what the window explains show a queue that is not the flow's own.
    pub(in crate::congestion) foreign_rtts: f64,
    /// After this many such rounds the propagation time is measured anew.
    pub(in crate::congestion) patience_rounds: f64,
    /// RTTs above this many times what the window explains show that not all of the queue is the
    /// flow's own.
    pub(in crate::congestion) excess_rtts: f64,
    /// After this many such rounds the propagation time is measured anew.
    pub(in crate::congestion) excess_rounds: f64,
    /// A round in which the bandwidth rose at least by this factor is one of growth.
    pub(in crate::congestion) growth: f64,
    /// After this many rounds of growth in a row, pacing and window have `growth_gain`.
    pub(in crate::congestion) growth_rounds: f64,
    /// Pacing and window gain while the bandwidth grows.
    pub(in crate::congestion) growth_gain: f64,
    /// Above this share of losses while a queue stands, the queue cannot hold what the window has
    /// above a BDP.
    pub(in crate::congestion) overflow_loss: f64,
    /// The factor by which that room is then cut.
    pub(in crate::congestion) overflow_cut: f64,
    /// What is added to it in a round without such losses, as a share of the whole room.
    pub(in crate::congestion) overflow_growth: f64,
}

/// The link was busy in a round if this share of what was delivered met a queue. Not all has to:
/// where the receive window opens in bursts, the first packets of each burst find no queue.
const BUSY: f64 = 0.25;

/// Rounds in which there was a queue. The link was busy then, so that what it delivered is what it
/// can deliver, whether or not the application limited the sender.
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
    foreign_rounds: u32,
    excess_rounds: u32,
}

/// RTTs above which there is a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct QueueLimits {
    /// Above this there is a queue by which the bandwidth is lowered.
    pub(super) any: Duration,
    /// Above this there is one that the flow's own window does not explain.
    pub(super) foreign: Duration,
    /// Above this there is a longer queue than the window explains.
    pub(super) excess: Duration,
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
        self.least_rtt = match (self.least_rtt, ack.rtt) {
            (Some(least), Some(rtt)) => Some(least.min(rtt)),
            (least, rtt) => least.or(rtt),
        };
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
        let counted = |rounds: u32, another| if another { rounds.saturating_add(1) } else { 0 };
        self.foreign_rounds = counted(self.foreign_rounds, above(|limits| limits.foreign));
        self.excess_rounds = counted(self.excess_rounds, above(|limits| limits.excess));
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

    /// Whether a queue has stood for too long, or is too long, to be the flow's own.
    pub(super) fn is_foreign(&self, steady: &Steady) -> bool {
        f64::from(self.foreign_rounds) >= steady.patience_rounds
            || f64::from(self.excess_rounds) >= steady.excess_rounds
    }

    /// What the link delivered in the last two whole rounds, in bytes/s.
    pub(super) const fn drained_at(&self) -> f64 {
        self.last[0].max(self.last[1])
    }

    /// Counts rounds from here.
    pub(super) const fn restart(&mut self) {
        self.foreign_rounds = 0;
        self.excess_rounds = 0;
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

    /// Three rounds of a foreign queue are too many, or five of an excessive one.
    const STEADY: Steady = Steady {
        pacing_gain: 1.0,
        probe_rtt_gain: 0.5,
        queue_rtts: 2.0,
        foreign_rtts: 1.5,
        patience_rounds: 3.0,
        excess_rtts: 1.1,
        excess_rounds: 5.0,
        growth: 1.1,
        growth_rounds: 2.0,
        growth_gain: 2.0,
        overflow_loss: 0.05,
        overflow_cut: 0.7,
        overflow_growth: 0.05,
    };

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
                queue.is_foreign(&STEADY)
            };
            rtts.iter().position(&mut foreign)
        };
        assert_eq!(rounds(&[41; 9]), Some(3));
        assert_eq!(rounds(&[36; 9]), Some(5));
        assert_eq!(rounds(&[41, 41, 40, 41, 41, 41]), Some(5), "40 ms is excess alone");
        assert_eq!(rounds(&[35; 9]), None, "the window explains it");
        assert_eq!(rounds(&[36, 36, 36, 36, 35, 36, 36, 36, 36]), None);
    }

    #[test]
    fn rounds_of_foreign_queues_can_be_counted_anew() {
        let mut queue = StandingQueue::default();
        (0..4).for_each(|_| take(&mut queue, &event(50, 1.0, true), LIMITS));
        assert!(queue.is_foreign(&STEADY));
        queue.restart();
        (0..2).for_each(|_| take(&mut queue, &event(50, 1.0, true), LIMITS));
        assert!(!queue.is_foreign(&STEADY));
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
