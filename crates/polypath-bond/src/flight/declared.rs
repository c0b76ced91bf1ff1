//! Packets that were declared lost: an acknowledgement may still show that they were not.

use super::{Acked, InFlight, Standing};
use polypath_core::estimator::SentPacket;
use polypath_units::Timestamp;
use std::collections::VecDeque;
use std::time::Duration;

/// So many are remembered at most, and for so many round trips: a carrier says nothing of a packet
/// that it has given up itself, four and a quarter of them after it was sent.
const REMEMBERED: usize = 4_096;
const ROUND_TRIPS: u32 = 4;

/// Packets declared lost of late, ascending by number.
#[derive(Debug, Default)]
pub(super) struct Declared {
    packets: VecDeque<Entry>,
    episode: Option<Episode>,
    /// Of the batch under way.
    batch: u64,
}

#[derive(Debug)]
struct Entry {
    number: u64,
    packet: SentPacket,
    standing: Standing,
    at: Timestamp,
}

/// An episode of loss, as congestion control counts them (RFC 9002 section 7.3.2).
#[derive(Debug)]
struct Episode {
    began: Timestamp,
    /// Declared lost in it and not arrived.
    missing: u64,
}

impl Declared {
    /// A packet is declared lost.
    pub(super) fn push(&mut self, number: u64, lost: &InFlight, now: Timestamp) {
        if self.packets.len() == REMEMBERED {
            self.packets.pop_front();
        }
        let &InFlight { packet, standing, .. } = lost;
        self.packets.push_back(Entry { number, packet, standing, at: now });
        self.batch += u64::from(standing == Standing::Counted);
    }

    /// The carrier has given a packet up: nothing will be heard of it.
    pub(super) const fn give_up(&mut self) {
        self.batch += 1;
    }

    pub(super) const fn has_batch(&self) -> bool {
        self.batch > 0
    }

    /// A batch is complete. Returns whether it began an episode: its newest packet was sent after
    /// the present one had begun.
    pub(super) fn end_batch(
        &mut self,
        newest_sent: Timestamp,
        srtt: Duration,
        now: Timestamp,
    ) -> bool {
        while self.packets.front().is_some_and(|entry| entry.at + ROUND_TRIPS * srtt < now) {
            self.packets.pop_front();
        }
        let lost = std::mem::take(&mut self.batch);
        match &mut self.episode {
            Some(episode) if newest_sent <= episode.began => {
                episode.missing += lost;
                false
            }
            _ => {
                self.episode = Some(Episode { began: now, missing: lost });
                true
            }
        }
    }

    /// A packet of this number has arrived after all: `None` unless it counted.
    pub(super) fn take(&mut self, number: u64) -> Option<Acked> {
        let at = self.packets.binary_search_by_key(&number, |entry| entry.number).ok()?;
        let Entry { packet, standing, at, .. } = self.packets.remove(at)?;
        if standing != Standing::Counted {
            return None;
        }
        let spurious = self.episode.as_mut().filter(|episode| at >= episode.began);
        let spurious = spurious.is_some_and(|episode| {
            episode.missing = episode.missing.saturating_sub(1);
            episode.missing == 0
        });
        if spurious {
            self.episode = None;
        }
        Some(Acked::Late { packet, spurious })
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> {
        self.packets.iter().map(|entry| entry.number)
    }
}
