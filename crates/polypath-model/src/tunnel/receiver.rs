//! The receiving TCP: what it acknowledges, and when (RFC 5681 section 4.2, and Linux).

use super::TunnelTransfer;
use super::arrived::Arrived;
use super::lanes::Lanes;
use super::order::nanos;

/// After this long without a segment in order acknowledgements are sent at once again, in
/// nanoseconds.
const IDLE: u64 = 200_000_000;
/// How many are sent at once.
const AT_ONCE: u32 = 16;

#[derive(Debug)]
pub(super) struct Receiver {
    segments_per_ack: u32,
    delayed_ack: u64,
    /// All segments below this one have arrived.
    expected: u32,
    arrived: Arrived,
    /// How many of those above have arrived.
    beyond: u32,
    acknowledged: u32,
    at_once: u32,
    /// When a segment came out of order, and in order.
    last: [u64; 2],
}

impl Receiver {
    pub(super) fn new(transfer: &TunnelTransfer, horizon: u32) -> Self {
        Self {
            segments_per_ack: transfer.segments_per_ack,
            delayed_ack: nanos(transfer.delayed_ack),
            expected: 0,
            arrived: Arrived::new(horizon),
            beyond: 0,
            acknowledged: 0,
            at_once: AT_ONCE,
            last: [0; 2],
        }
    }

    /// How many segments have arrived in order.
    pub(super) const fn in_order(&self) -> u32 {
        self.expected
    }

    /// Most segments are acknowledged at once, whether they are in order or not. Only what depends
    /// on the order is a branch, because a processor cannot predict the order.
    #[inline]
    pub(super) fn on_segment<const N: usize>(
        &mut self,
        now: u64,
        number: u32,
        lanes: &mut Lanes<N>,
    ) {
        if number < self.expected || !self.arrived.insert(number) {
            // A duplicate: the sender has probably retransmitted needlessly.
            self.at_once = self.at_once.max(AT_ONCE);
            return self.acknowledge(now, lanes);
        }
        let in_order = (number == self.expected) & (self.beyond == 0);
        self.move_on();
        if now - self.last[1] > IDLE && in_order {
            self.at_once = AT_ONCE;
        }
        self.last[usize::from(in_order)] = now;
        let full = self.expected - self.acknowledged >= self.segments_per_ack;
        if self.at_once | u32::from(!in_order) | u32::from(full) > 0 {
            self.acknowledge(now, lanes);
        } else if !lanes.has_delayed_ack() {
            lanes.set_delayed_ack(now + self.delayed_ack);
        }
    }

    /// A segment came, perhaps the one expected.
    #[inline]
    fn move_on(&mut self) {
        let missing = self.arrived.first_missing(self.expected);
        self.beyond = self.beyond + 1 - (missing - self.expected);
        self.expected = missing;
    }

    #[inline]
    pub(super) fn acknowledge<const N: usize>(&mut self, now: u64, lanes: &mut Lanes<N>) {
        self.at_once = self.at_once.saturating_sub(u32::from(self.expected > self.acknowledged));
        self.acknowledged = self.expected;
        lanes.stop_delayed_ack();
        lanes.send_ack(now, self.expected);
    }
}
