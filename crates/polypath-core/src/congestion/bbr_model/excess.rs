//! Start-up's end by loss: the queue overflowed before the bandwidth stopped growing.
//!
//! Source: draft-ietf-ccwg-bbr, "Exiting Startup Based on Packet Loss".

use crate::congestion::Ack;

/// How much loss ends start-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LossLimits {
    /// Share of a round.
    pub(crate) share: f64,
    /// ACKs of the round that told of losses.
    pub(crate) events: f64,
}

impl LossLimits {
    /// Those of the draft: `BBRLossThresh` and `BBRStartupFullLossCnt`, which counts discontiguous
    /// ranges.
    pub(crate) const DRAFT: Self = Self { share: 0.02, events: 6.0 };
}

/// What was lost in the present round of start-up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ExcessLoss {
    lost: u64,
    delivered: u64,
    events: u32,
    /// Rounds that began and ended in recovery.
    rounds: u32,
}

impl ExcessLoss {
    /// Whether start-up is over: a whole round in recovery, too much of it lost, and not at once.
    /// `counts`: whether what was lost says something of the queue.
    pub(crate) fn on_ack(
        &mut self,
        ack: &Ack,
        recovering: bool,
        counts: bool,
        limits: &LossLimits,
    ) -> bool {
        self.delivered += ack.acked_bytes;
        if ack.lost_bytes > 0 && counts {
            self.lost += ack.lost_bytes;
            self.events += 1;
        }
        if !ack.round_start {
            return false;
        }
        let Self { lost, delivered, events, rounds } = *self;
        *self = Self { rounds: if recovering { rounds + 1 } else { 0 }, ..Self::default() };
        let share = lost as f64 / (lost + delivered) as f64;
        rounds >= 1 && recovering && f64::from(events) >= limits.events && share > limits.share
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::queued::is_queued;
    use crate::congestion::testing::ack;
    use std::time::Duration;

    /// A round of 100 segments of 1000 bytes in ten ACKs, of which the first `events` tell of
    /// `segments` lost each, at an RTT of `rtt_ms` over a path of 20 ms. Whether start-up ends.
    fn round(
        excess: &mut ExcessLoss,
        recovering: bool,
        events: u64,
        segments: u64,
        rtt_ms: u64,
    ) -> bool {
        (1..=10).fold(false, |_, n| {
            let lost_bytes = if n <= events { segments * 1_000 } else { 0 };
            let rtt = Some(Duration::from_millis(rtt_ms));
            let ack = Ack { lost_bytes, rtt, round_start: n == 10, ..ack(10_000, 1_000) };
            let queued = is_queued(ack.rtt, Some(Duration::from_millis(20)));
            excess.on_ack(&ack, recovering, queued, &LossLimits::DRAFT)
        })
    }

    #[test]
    fn a_whole_round_of_many_losses_in_recovery_ends_start_up() {
        let mut excess = ExcessLoss::default();
        assert!(!round(&mut excess, true, 10, 2, 40), "recovery began in this round");
        assert!(round(&mut excess, true, 10, 2, 40));
    }

    #[test]
    fn few_losses_or_a_single_burst_do_not_end_it() {
        let mut excess = ExcessLoss::default();
        for (events, segments) in [(2, 1), (5, 10), (0, 0)] {
            assert!(!round(&mut excess, true, events, segments, 40), "{events} x {segments}");
        }
        assert!(!round(&mut excess, false, 10, 2, 40), "recovery is over");
    }

    #[test]
    fn losses_without_a_queue_do_not_end_it() {
        let mut excess = ExcessLoss::default();
        (0..5).for_each(|_| assert!(!round(&mut excess, true, 10, 2, 24)));
    }
}
