//! What is in flight on a path, and what of it is lost.
//!
//! The bond judges losses itself: how far packets may overtake each other differs from path to path
//! and changes, and QUIC's thresholds (RFC 9002 section 6.1) do not. Carriers report what is
//! acknowledged; what they take for lost themselves, much later, is the last resort.

mod declared;
mod reordering;

use crate::path::Payload;
use declared::Declared;
use polypath_core::estimator::{RttEstimator, SentPacket};
use polypath_units::Timestamp;
use reordering::Reordering;
use std::collections::VecDeque;
use std::time::Duration;

/// Packets above a missing one that show its loss on a path that keeps the order (RFC 9002 section
/// 6.1.1).
const PACKET_THRESHOLD: u64 = 3;

/// A packet in flight.
#[derive(Debug)]
pub(crate) struct InFlight {
    pub(crate) packet: SentPacket,
    pub(crate) payload: Payload,
    pub(crate) standing: Standing,
}

/// What the loss of a packet would mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Congestion, perhaps, and what it holds must travel again.
    Counted,
    /// Nothing of congestion: the carrier does not say any more whether it arrives. What it holds
    /// must travel again.
    Forgotten,
    /// Nothing: the path was declared failed while it was in flight, and what it holds has been
    /// given to others.
    WrittenOff,
}

/// What an acknowledgement tells of a packet.
#[derive(Debug)]
pub(crate) enum Acked {
    /// It has arrived.
    InFlight(InFlight),
    /// It has arrived although it was declared lost. `spurious`: so has all that was declared lost
    /// in its episode.
    Late { packet: SentPacket, spurious: bool },
}

/// Packets in flight by packet number, ascending, and those declared lost of late.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    packets: VecDeque<(u64, Option<InFlight>)>,
    largest_acked: Option<u64>,
    /// The same with the acknowledgement under way.
    acking: Option<u64>,
    reordering: Reordering,
    declared: Declared,
}

impl Flight {
    /// Whether a packet of this number can follow those in flight.
    pub(crate) fn admits(&self, number: u64) -> bool {
        self.packets.back().is_none_or(|(last, _)| *last < number)
    }

    pub(crate) fn insert(&mut self, number: u64, packet: InFlight) {
        debug_assert!(self.admits(number));
        self.packets.push_back((number, Some(packet)));
    }

    fn remove(&mut self, number: u64) -> Option<InFlight> {
        // Most often the oldest is acknowledged.
        let at = match self.packets.front() {
            Some((first, _)) if *first == number => 0,
            _ => self.packets.binary_search_by_key(&number, |(number, _)| *number).ok()?,
        };
        let packet = self.packets[at].1.take();
        self.trim();
        packet
    }

    fn trim(&mut self) {
        while self.packets.front().is_some_and(|(_, packet)| packet.is_none()) {
            self.packets.pop_front();
        }
    }

    /// A packet is acknowledged; `None` for one that is not known. End a batch with
    /// [`Flight::end_acks`].
    pub(crate) fn on_acked(
        &mut self,
        number: u64,
        now: Timestamp,
        rtt: Option<&RttEstimator>,
    ) -> Option<Acked> {
        self.acking = self.acking.max(Some(number));
        let acked = match self.remove(number) {
            Some(packet) => Acked::InFlight(packet),
            None => self.declared.take(number)?,
        };
        if let Acked::InFlight(packet) = &acked {
            self.reordering.on_acked(now - packet.packet.sent_at);
        }
        let is_overtaken = |largest| number + PACKET_THRESHOLD <= largest;
        if self.largest_acked.is_some_and(is_overtaken) {
            self.reordering.on_late(now - acked.sent_at(), rtt);
        }
        Some(acked)
    }

    /// All packets of an acknowledgement have been reported.
    pub(crate) fn end_acks(&mut self) {
        self.largest_acked = self.acking;
    }

    /// Everything declared lost lately has arrived, and the carrier did not say which packets.
    pub(crate) fn on_spurious(&mut self, rtt: Option<&RttEstimator>) {
        self.reordering.on_late(Duration::MAX, rtt);
    }

    /// The oldest packet if it counts as lost by now. End a batch with [`Flight::end_losses`].
    pub(crate) fn next_lost(&mut self, now: Timestamp, rtt: &RttEstimator) -> Option<InFlight> {
        let (number, sent_at) = self.oldest_overtaken()?;
        let by_number = self.largest_acked.is_some_and(|acked| number + PACKET_THRESHOLD <= acked);
        let is_lost =
            by_number && !self.reordering.is_seen() || sent_at + self.reordering.wait(rtt) <= now;
        if !is_lost {
            return None;
        }
        let lost = self.remove(number)?;
        self.declared.push(number, &lost, now);
        Some(lost)
    }

    /// When the oldest packet counts as lost, if nothing is heard of it.
    pub(crate) fn loss_at(&self, rtt: &RttEstimator) -> Option<Timestamp> {
        let (_, sent_at) = self.oldest_overtaken()?;
        Some(sent_at + self.reordering.wait(rtt))
    }

    /// Number and time of sending of the oldest packet, if a later one has been acknowledged.
    fn oldest_overtaken(&self) -> Option<(u64, Timestamp)> {
        let (number, packet) = self.packets.front()?;
        let sent_at = packet.as_ref()?.packet.sent_at;
        self.largest_acked.is_some_and(|acked| *number < acked).then_some((*number, sent_at))
    }

    /// The carrier takes a packet for lost. End a batch with [`Flight::end_losses`].
    pub(crate) fn on_lost(&mut self, number: u64) -> Option<InFlight> {
        let lost = self.remove(number)?;
        if lost.standing == Standing::Counted {
            self.declared.give_up();
        }
        Some(lost)
    }

    /// Whether losses have been declared that [`Flight::end_losses`] has not been told of.
    pub(crate) const fn has_lost(&self) -> bool {
        self.declared.has_batch()
    }

    /// Losses have been declared, of which the newest packet was sent at `newest_sent`.
    pub(crate) fn end_losses(&mut self, newest_sent: Timestamp, srtt: Duration, now: Timestamp) {
        if self.declared.end_batch(newest_sent, srtt, now) {
            self.reordering.on_episode();
        }
    }

    /// By how much later than others a packet may arrive on this path, as far as is known.
    pub(crate) fn reordering(&self, rtt: &RttEstimator) -> Duration {
        self.reordering.window(rtt)
    }

    /// Numbers of packets that were declared lost of late and have not arrived, ascending.
    pub(crate) fn declared_lost(&self) -> impl Iterator<Item = u64> {
        self.declared.numbers()
    }

    /// The carrier will say nothing of what is in flight now, as QUIC does not when the peer's
    /// address has changed.
    pub(crate) fn forget(&mut self) {
        for packet in self.iter_mut().filter(|packet| packet.standing == Standing::Counted) {
            packet.standing = Standing::Forgotten;
        }
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut InFlight> {
        self.packets.iter_mut().filter_map(|(_, packet)| packet.as_mut())
    }

    pub(crate) fn drain(&mut self) -> impl Iterator<Item = InFlight> {
        self.packets.drain(..).filter_map(|(_, packet)| packet)
    }
}

impl Acked {
    fn sent_at(&self) -> Timestamp {
        match self {
            Self::InFlight(packet) => packet.packet.sent_at,
            Self::Late { packet, .. } => packet.sent_at,
        }
    }
}

#[cfg(test)]
mod tests;
