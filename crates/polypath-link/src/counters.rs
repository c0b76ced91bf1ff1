//! What went in and what became of it.

use core::ops::Add;
use serde::Serialize;
use std::time::Duration;

/// A number of packets and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Packets.
    pub packets: u64,
    /// Bytes in them.
    pub bytes: u64,
}

impl Tally {
    pub(crate) fn put(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }

    pub(crate) fn take(&mut self, bytes: u32) {
        self.packets -= 1;
        self.bytes -= u64::from(bytes);
    }
}

impl Add for Tally {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        Self { packets: self.packets + rhs.packets, bytes: self.bytes + rhs.bytes }
    }
}

/// The time that packets spent in a queue and in its server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sojourn {
    /// Packets that left.
    pub packets: u64,
    /// The sum of their times from entry to departure, in nanoseconds.
    pub total_ns: u64,
}

impl Sojourn {
    /// The mean time of the packets that left since `earlier`; none if none did.
    pub fn mean_since(self, earlier: Self) -> Option<Duration> {
        let packets = self.packets.checked_sub(earlier.packets)?;
        let total = self.total_ns.checked_sub(earlier.total_ns)?;
        total.checked_div(packets).map(Duration::from_nanos)
    }
}

/// Why a link dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The queue had no room, for this packet or for one that came later.
    QueueFull,
    /// Active queue management took it, on its way into the queue or out of it.
    Aqm,
    /// The loss model took it.
    Loss,
    /// The link was or went down.
    Blackout,
    /// It was larger than the MTU, or than the burst of a token bucket.
    Mtu,
}

/// Dropped packets by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Drops {
    /// The queue had no room.
    pub queue_full: Tally,
    /// Active queue management took them.
    pub aqm: Tally,
    /// The loss model took them.
    pub loss: Tally,
    /// The link was or went down.
    pub blackout: Tally,
    /// They were larger than the MTU, or than the burst of a token bucket.
    pub mtu: Tally,
}

impl Drops {
    pub(crate) fn add(&mut self, reason: DropReason, bytes: u32) {
        match reason {
            DropReason::QueueFull => self.queue_full.put(bytes),
            DropReason::Aqm => self.aqm.put(bytes),
            DropReason::Loss => self.loss.put(bytes),
            DropReason::Blackout => self.blackout.put(bytes),
            DropReason::Mtu => self.mtu.put(bytes),
        }
    }

    /// All of them.
    pub fn total(&self) -> Tally {
        self.queue_full + self.aqm + self.loss + self.blackout + self.mtu
    }
}

/// A link's counters, as of the last call that passed it the time.
///
/// `entered` = `delivered` + `dropped.total()` + [`queued`](Self::queued) at all times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Packets given to [`Link::send`](crate::Link::send).
    pub entered: Tally,
    /// Packets taken with [`Link::poll`](crate::Link::poll).
    pub delivered: Tally,
    /// Packets dropped.
    pub dropped: Drops,
    /// Packets that queue management marked with Congestion Experienced instead of dropping them.
    /// What became of them then is in the other counters.
    pub marked: Tally,
    /// Packets in the queue, with the one in service.
    pub waiting: Tally,
    /// Packets that have left the queue and were not taken yet.
    pub propagating: Tally,
    /// The time in queue and server of the packets that left the server, also of those that the
    /// loss model then took.
    pub served: Sojourn,
}

impl Counters {
    /// Packets inside the link: in the queue or propagating.
    pub fn queued(&self) -> Tally {
        self.waiting + self.propagating
    }
}
