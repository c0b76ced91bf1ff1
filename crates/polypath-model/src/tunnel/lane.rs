//! One direction of a link: a server with a queue, then a delay.

use super::TunnelLink;
use super::order::{NEVER, nanos};
use polypath_core::random::SplitMix64;

/// Bits of a byte in a nanosecond at 1 bit/s.
const WORK: u64 = 8_000_000_000;

/// All its packets are of one size.
#[derive(Debug)]
pub(super) struct Lane {
    /// In bit/s, and how long a packet takes to be sent: whole nanoseconds, and the rest of the
    /// division.
    rate: u64,
    service: u64,
    rest: u64,
    /// What the last packet left over of its last nanosecond, for the next one if it waits.
    surplus: u64,
    free_at: u64,
    delay: u64,
    /// How long a packet may wait.
    queue: u64,
    loss: f64,
}

/// Chance, and what does not arrive.
#[derive(Debug)]
pub(super) struct Losses {
    random: SplitMix64,
    /// Packets that found a queue full, and those that were lost on a link.
    pub(super) gone: [u32; 2],
}

impl Losses {
    pub(super) const fn new() -> Self {
        Self { random: SplitMix64::new(1), gone: [0; 2] }
    }

    #[inline]
    fn takes(&mut self, share: f64) -> bool {
        let lost = share > 0.0 && self.random.unit() < share;
        self.gone[1] += u32::from(lost);
        lost
    }
}

impl Lane {
    /// `bytes`: the size of a packet.
    pub(super) fn new(link: &TunnelLink, bytes: u32) -> Self {
        let (rate, work) = (link.rate.bits_per_sec(), u64::from(bytes) * WORK);
        let service = work / rate;
        Self {
            rate,
            service,
            rest: work % rate,
            surplus: 0,
            free_at: 0,
            delay: nanos(link.rtt / 2),
            queue: service.saturating_mul(link.queue_packets.into()),
            loss: link.loss,
        }
    }

    /// How long a packet of so many bytes takes alone.
    pub(super) const fn alone(&self, bytes: u64) -> u64 {
        (bytes * WORK).div_ceil(self.rate) + self.delay
    }

    /// When a packet that is sent now arrives, if it does.
    #[inline]
    pub(super) fn send(&mut self, now: u64, losses: &mut Losses) -> Option<u64> {
        let waiting = self.free_at.saturating_sub(now);
        if waiting > self.queue {
            losses.gone[0] += 1;
            return None;
        }
        self.serve(now, waiting);
        (!losses.takes(self.loss)).then(|| (self.free_at + self.delay).min(NEVER))
    }

    /// Takes a packet that has to wait this long. Links count exactly: packets that follow each
    /// other take whole nanoseconds together, not each by itself.
    #[inline]
    fn serve(&mut self, now: u64, waiting: u64) {
        let surplus = if waiting > 0 { self.surplus } else { 0 };
        let (left, more) = surplus.overflowing_sub(self.rest);
        self.surplus = if more { left.wrapping_add(self.rate) } else { left };
        self.free_at = now + waiting + self.service + u64::from(more);
    }
}
