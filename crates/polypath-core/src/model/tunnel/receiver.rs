//! The receiving TCP: what it acknowledges, and when (RFC 5681 section 4.2, and Linux).

use super::TunnelTransfer;
use super::lanes::{Lanes, NEVER, nanos};

/// After so long without a segment in order acknowledgements come at once again, in nanoseconds.
const IDLE: u64 = 200_000_000;
/// So many do.
const AT_ONCE: u32 = 16;

#[derive(Debug)]
pub(super) struct Receiver {
    segments_per_ack: u32,
    delayed_ack: u64,
    /// All segments below this one are there.
    expected: u32,
    /// Which of those above are.
    arrived: Vec<bool>,
    /// How many of them.
    beyond: u32,
    acknowledged: u32,
    at_once: u32,
    last_in_order: u64,
}

impl Receiver {
    pub(super) fn new(transfer: &TunnelTransfer, horizon: u32) -> Self {
        Self {
            segments_per_ack: transfer.segments_per_ack,
            delayed_ack: nanos(transfer.delayed_ack),
            expected: 0,
            arrived: vec![false; horizon as usize + 64],
            beyond: 0,
            acknowledged: 0,
            at_once: AT_ONCE,
            last_in_order: 0,
        }
    }

    /// How many segments are there in order.
    pub(super) const fn in_order(&self) -> u32 {
        self.expected
    }

    pub(super) fn on_segment(&mut self, now: u64, number: u32, lanes: &mut Lanes) {
        let index = number as usize;
        if index >= self.arrived.len() {
            self.arrived.resize(index + 64, false);
        }
        if number < self.expected || self.arrived[index] {
            // Told twice: the sender has probably lost its way.
            self.at_once = self.at_once.max(AT_ONCE);
            return self.acknowledge(now, lanes);
        }
        self.arrived[index] = true;
        if number > self.expected {
            self.beyond += 1;
            return self.acknowledge(now, lanes);
        }
        let fills = self.beyond > 0;
        self.expected += 1;
        while self.beyond > 0 && self.arrived.get(self.expected as usize) == Some(&true) {
            self.expected += 1;
            self.beyond -= 1;
        }
        if fills { self.acknowledge(now, lanes) } else { self.on_in_order(now, lanes) }
    }

    fn on_in_order(&mut self, now: u64, lanes: &mut Lanes) {
        if now - self.last_in_order > IDLE {
            self.at_once = AT_ONCE;
        }
        self.last_in_order = now;
        if self.at_once > 0 || self.expected - self.acknowledged >= self.segments_per_ack {
            self.acknowledge(now, lanes);
        } else if lanes.delayed_ack() == NEVER {
            lanes.set_delayed_ack(now + self.delayed_ack);
        }
    }

    pub(super) fn acknowledge(&mut self, now: u64, lanes: &mut Lanes) {
        if self.expected > self.acknowledged {
            self.at_once = self.at_once.saturating_sub(1);
        }
        self.acknowledged = self.expected;
        lanes.set_delayed_ack(NEVER);
        lanes.send_ack(now, self.expected);
    }
}
