//! RACK: loss by time, with a reordering window that adapts (RFC 8985 section 6.2).

use polypath_units::Timestamp;
use std::time::Duration;

/// The reordering window is a quarter of the minimum RTT times a step count of at most this.
const MAX_STEPS: u32 = 255;
/// Recoveries after which an enlarged reordering window shrinks again (RFC 8985 section 6.2).
const PERSISTENCE: u32 = 16;

/// The most recently sent segment of those delivered, and what is known of reordering.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rack {
    sent_at: Timestamp,
    order: u32,
    rtt: Duration,
    reordering_seen: bool,
    steps: u32,
    persist: u32,
    /// A DSACK enlarges the window once in a round trip: not again before this is acknowledged.
    round_end: Option<u64>,
}

/// What the reordering window depends on beside RACK's own state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    pub(super) in_recovery: bool,
    pub(super) dupack_threshold_reached: bool,
    pub(super) min_rtt: Duration,
    pub(super) srtt: Duration,
}

impl Rack {
    pub(super) const fn new() -> Self {
        Self {
            sent_at: Timestamp::ZERO,
            order: 0,
            rtt: Duration::ZERO,
            reordering_seen: false,
            steps: 1,
            persist: PERSISTENCE,
            round_end: None,
        }
    }

    /// A segment was newly delivered: step 2. `spurious` if the acknowledgement may be of a
    /// transmission before the last one.
    #[inline]
    pub(super) fn on_delivered(
        &mut self,
        now: Timestamp,
        sent_at: Timestamp,
        order: u32,
        spurious: bool,
    ) {
        if spurious {
            return;
        }
        self.rtt = now - sent_at;
        if self.is_before(sent_at, order) {
            (self.sent_at, self.order) = (sent_at, order);
        }
    }

    /// A segment that was never retransmitted was delivered after a later one: step 3.
    pub(super) const fn on_reordering(&mut self) {
        self.reordering_seen = true;
    }

    /// A duplicate was reported: the window grows, once in a round trip (step 4).
    pub(super) fn on_dsack(&mut self, acked: u64, sent: u64) {
        if self.round_end.is_some_and(|end| acked < end) {
            return;
        }
        self.round_end = Some(sent);
        self.steps = (self.steps + 1).min(MAX_STEPS);
        self.persist = PERSISTENCE;
    }

    /// A recovery ended: an enlarged window lasts for 16 of them.
    pub(super) const fn on_recovery_exit(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// The reordering window of step 4.
    pub(super) fn window(&self, context: Context) -> Duration {
        let certain = context.in_recovery || context.dupack_threshold_reached;
        if !self.reordering_seen && certain {
            return Duration::ZERO;
        }
        (context.min_rtt / 4 * self.steps).min(context.srtt)
    }

    /// Whether the newest segment delivered was sent after the `order`th transmission, which was at
    /// `sent_at`. The order decides among those of one burst: RFC 8985 goes by sequence number
    /// there, which is wrong for a retransmission after new data in the same instant.
    #[inline]
    pub(super) fn is_after(&self, sent_at: Timestamp, order: u32) -> bool {
        self.sent_at > sent_at || (self.sent_at == sent_at && self.order > order)
    }

    fn is_before(&self, sent_at: Timestamp, order: u32) -> bool {
        self.sent_at < sent_at || (self.sent_at == sent_at && self.order < order)
    }

    /// When a segment sent at `sent_at` is lost, with reordering window `window`.
    #[inline]
    pub(super) fn lost_at(&self, sent_at: Timestamp, window: Duration) -> Timestamp {
        sent_at + self.rtt + window
    }

    /// When every segment sent before the newest one delivered is lost.
    pub(super) fn all_lost_at(&self, window: Duration) -> Timestamp {
        self.lost_at(self.sent_at, window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    const CONTEXT: Context = Context {
        in_recovery: false,
        dupack_threshold_reached: false,
        min_rtt: Duration::from_millis(40),
        srtt: Duration::from_millis(50),
    };

    #[test]
    fn the_window_is_zero_only_without_reordering_and_with_proof() {
        let mut rack = Rack::new();
        let proof = Context { dupack_threshold_reached: true, ..CONTEXT };
        assert_eq!(rack.window(CONTEXT), Duration::from_millis(10));
        assert_eq!(rack.window(proof), Duration::ZERO);
        rack.on_reordering();
        assert_eq!(rack.window(proof), Duration::from_millis(10));
    }

    #[test]
    fn duplicates_widen_it_once_a_round_up_to_srtt_and_it_shrinks_after_16_recoveries() {
        let mut rack = Rack::new();
        rack.on_dsack(100, 200);
        rack.on_dsack(150, 260);
        assert_eq!(rack.window(CONTEXT), Duration::from_millis(20));
        for round in 1..9 {
            rack.on_dsack(round * 1_000, round * 1_000 + 500);
        }
        assert_eq!(rack.window(CONTEXT), CONTEXT.srtt);
        (0..15).for_each(|_| rack.on_recovery_exit());
        assert_eq!(rack.window(CONTEXT), CONTEXT.srtt);
        rack.on_recovery_exit();
        assert_eq!(rack.window(CONTEXT), Duration::from_millis(10));
    }

    #[test]
    fn the_newest_by_time_then_by_order_counts() {
        let mut rack = Rack::new();
        rack.on_delivered(ms(50), ms(10), 2_000, false);
        rack.on_delivered(ms(51), ms(5), 9_000, false);
        assert!(rack.is_after(ms(10), 1_000) && !rack.is_after(ms(10), 2_000));
        rack.on_delivered(ms(52), ms(30), 500, true);
        assert!(!rack.is_after(ms(20), 0), "possibly the answer to an earlier transmission");
        assert_eq!(rack.lost_at(ms(10), Duration::from_millis(4)), ms(10 + 46 + 4));
    }
}
