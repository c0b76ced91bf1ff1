//! The retransmission queue and what is known of each segment in it.
//!
//! Segments are contiguous and numbered by `id` in the order of their first transmission, which
//! is that of their sequence numbers. Three further views keep the work for each ACK O(1) on
//! average, however large the window and however many its holes: `fresh` moves over the segments
//! that were sent once, in order of time; `again` holds those sent again, in order of time; `lost`
//! holds those to be sent again, in order of sequence. The latter two are cleaned lazily.

use super::ranges::Ranges;
use polypath_core::estimator::SentPacket;
use polypath_units::Timestamp;
use std::collections::VecDeque;

/// Where a segment is, as far as the sender knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whereabouts {
    /// Under way: counted in flight.
    InFlight,
    /// Arrived, by a SACK.
    Sacked,
    /// Lost, and not sent again since.
    Lost,
}

/// A segment that is not cumulatively acknowledged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) seq: u64,
    pub(super) tag: u64,
    /// The last transmission.
    pub(super) packet: SentPacket,
    pub(super) len: u32,
    /// Which transmission of the connection the last one was; wraps.
    pub(super) order: u32,
    pub(super) whereabouts: Whereabouts,
    pub(super) fin: bool,
    pub(super) retransmissions: u8,
}

impl Entry {
    pub(super) const fn end(&self) -> u64 {
        self.seq + self.len as u64 + self.fin as u64
    }

    pub(super) const fn is_retransmitted(&self) -> bool {
        self.retransmissions > 0
    }
}

/// The retransmission queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    entries: VecDeque<Entry>,
    first_id: u64,
    sacked: Ranges,
    sacked_segments: u64,
    lost_segments: u64,
    fresh: u64,
    again: VecDeque<(u64, Timestamp)>,
    lost: VecDeque<u64>,
    /// Payload of the segments in flight.
    in_flight: u64,
}

impl Scoreboard {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Segments in the queue.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) const fn first_id(&self) -> u64 {
        self.first_id
    }

    /// The number that the next segment will have.
    pub(super) fn next_id(&self) -> u64 {
        self.first_id + self.entries.len() as u64
    }

    pub(super) fn get(&self, id: u64) -> Option<&Entry> {
        self.entries.get(usize::try_from(id.checked_sub(self.first_id)?).ok()?)
    }

    fn get_mut(&mut self, id: u64) -> Option<&mut Entry> {
        self.entries.get_mut(usize::try_from(id.checked_sub(self.first_id)?).ok()?)
    }

    pub(super) fn front(&self) -> Option<&Entry> {
        self.entries.front()
    }

    pub(super) const fn bytes_in_flight(&self) -> u64 {
        self.in_flight
    }

    pub(super) const fn sacked(&self) -> &Ranges {
        &self.sacked
    }

    pub(super) const fn sacked_segments(&self) -> u64 {
        self.sacked_segments
    }

    pub(super) const fn lost_segments(&self) -> u64 {
        self.lost_segments
    }

    /// A new segment was sent.
    #[inline]
    pub(super) fn push(&mut self, entry: Entry) {
        self.in_flight += u64::from(entry.len);
        self.entries.push_back(entry);
    }

    /// Removes the first segment if all of it is below `ack`.
    #[inline]
    pub(super) fn pop_acked(&mut self, ack: u64) -> Option<Entry> {
        if self.entries.front()?.end() > ack {
            return None;
        }
        let entry = self.entries.pop_front()?;
        self.first_id += 1;
        self.leave(&entry);
        if entry.whereabouts == Whereabouts::Sacked {
            self.sacked_segments -= 1;
        }
        Some(entry)
    }

    /// Everything below `ack` is cumulatively acknowledged: forgets the SACKs of it.
    #[inline]
    pub(super) fn forget_sacks_below(&mut self, ack: u64) {
        if !self.sacked.is_empty() {
            self.sacked.remove_below(ack);
        }
    }

    fn leave(&mut self, entry: &Entry) {
        match entry.whereabouts {
            Whereabouts::InFlight => self.in_flight -= u64::from(entry.len),
            Whereabouts::Lost => self.lost_segments -= 1,
            Whereabouts::Sacked => {}
        }
    }

    /// Marks the segments that lie within `start..end` as arrived; tells `on_sacked` of each that
    /// was not, as it was before.
    pub(super) fn sack(&mut self, start: u64, end: u64, mut on_sacked: impl FnMut(&Entry)) {
        let mut parts = [(0, 0); 4];
        let mut count = 0;
        let mut more = Vec::new();
        self.sacked.insert(start, end, |from, until| {
            match parts.get_mut(count) {
                Some(part) => *part = (from, until),
                None => more.push((from, until)),
            }
            count += 1;
        });
        for &(from, until) in parts[..count.min(4)].iter().chain(&more) {
            self.sack_part(from, until, &mut on_sacked);
        }
    }

    fn sack_part(&mut self, start: u64, end: u64, on_sacked: &mut impl FnMut(&Entry)) {
        let mut id = self.id_at_or_after(start);
        while let Some(entry) = self.get(id).copied().filter(|entry| entry.end() <= end) {
            if entry.whereabouts != Whereabouts::Sacked {
                on_sacked(&entry);
                self.leave(&entry);
                self.sacked_segments += 1;
                if let Some(entry) = self.get_mut(id) {
                    entry.whereabouts = Whereabouts::Sacked;
                }
            }
            id += 1;
        }
    }

    /// The first segment that begins at or after `seq`. Segments are of equal size most often, so
    /// that the first guess is right.
    pub(super) fn id_at_or_after(&self, seq: u64) -> u64 {
        let Some(front) = self.entries.front() else { return self.first_id };
        let guess = seq.saturating_sub(front.seq) / u64::from(front.len.max(1));
        let at = match self.entries.get(guess as usize) {
            Some(entry) if entry.seq == seq => guess as usize,
            _ => self.entries.partition_point(|entry| entry.seq < seq),
        };
        self.first_id + at as u64
    }

    /// The earliest sent of the segments in flight that were sent once, and of those sent again.
    pub(super) fn earliest_in_flight(&mut self) -> [Option<u64>; 2] {
        while let Some(entry) = self.get(self.fresh.max(self.first_id)) {
            if entry.whereabouts == Whereabouts::InFlight && !entry.is_retransmitted() {
                break;
            }
            self.fresh = self.fresh.max(self.first_id) + 1;
        }
        self.fresh = self.fresh.max(self.first_id);
        while let Some(&(id, sent_at)) = self.again.front() {
            let under_way = self.get(id).is_some_and(|entry| {
                entry.whereabouts == Whereabouts::InFlight && entry.packet.sent_at == sent_at
            });
            if under_way {
                break;
            }
            self.again.pop_front();
        }
        [self.get(self.fresh).map(|_| self.fresh), self.again.front().map(|&(id, _)| id)]
    }

    /// Takes a segment in flight for lost; returns it as it was, `None` if it is not in flight.
    pub(super) fn mark_lost(&mut self, id: u64) -> Option<Entry> {
        let entry = self.get_mut(id).filter(|e| e.whereabouts == Whereabouts::InFlight)?;
        let before = *entry;
        entry.whereabouts = Whereabouts::Lost;
        self.in_flight -= u64::from(before.len);
        self.lost_segments += 1;
        match self.lost.back() {
            Some(&last) if last >= id => {
                let at = self.lost.partition_point(|&other| other < id);
                if self.lost[at] != id {
                    self.lost.insert(at, id);
                }
            }
            _ => self.lost.push_back(id),
        }
        Some(before)
    }

    /// The lowest segment that is lost.
    #[inline]
    pub(super) fn next_lost(&mut self) -> Option<u64> {
        if self.lost_segments == 0 {
            self.lost.clear();
            return None;
        }
        while let Some(&id) = self.lost.front() {
            if self.get(id).is_some_and(|entry| entry.whereabouts == Whereabouts::Lost) {
                return Some(id);
            }
            self.lost.pop_front();
        }
        None
    }

    /// A segment is sent again; `packet` is the new transmission. Returns it as it is now.
    pub(super) fn mark_retransmitted(
        &mut self,
        id: u64,
        packet: SentPacket,
        order: u32,
    ) -> Option<Entry> {
        let entry = self.get_mut(id)?;
        let before = entry.whereabouts;
        entry.whereabouts = Whereabouts::InFlight;
        (entry.packet, entry.order) = (packet, order);
        entry.retransmissions = entry.retransmissions.saturating_add(1);
        let after = *entry;
        if before == Whereabouts::Lost {
            self.lost_segments -= 1;
            self.in_flight += u64::from(after.len);
        }
        self.again.push_back((id, packet.sent_at));
        Some(after)
    }

    /// Takes back every loss; tells `on_reverted` of each segment.
    pub(super) fn revert_losses(&mut self, mut on_reverted: impl FnMut(&Entry)) {
        while let Some(id) = self.next_lost() {
            self.lost.pop_front();
            let Some(entry) = self.get_mut(id) else { continue };
            entry.whereabouts = Whereabouts::InFlight;
            let entry = *entry;
            on_reverted(&entry);
            self.lost_segments -= 1;
            self.in_flight += u64::from(entry.len);
            if entry.is_retransmitted() {
                let at = self.again.partition_point(|&(_, sent)| sent <= entry.packet.sent_at);
                self.again.insert(at, (id, entry.packet.sent_at));
            } else {
                self.fresh = self.fresh.min(id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_core::estimator::DeliveryTracker;
    use proptest::prelude::*;

    fn packet(millis: u64) -> SentPacket {
        DeliveryTracker::default().on_sent(Timestamp::from_millis(millis), 10, 0)
    }

    fn entry(n: u64, millis: u64) -> Entry {
        Entry {
            seq: 1 + n * 10,
            tag: n,
            packet: packet(millis),
            len: 10,
            order: 0,
            whereabouts: Whereabouts::InFlight,
            fin: false,
            retransmissions: 0,
        }
    }

    fn count(board: &Scoreboard, whereabouts: Whereabouts) -> u64 {
        board.entries.iter().filter(|entry| entry.whereabouts == whereabouts).count() as u64
    }

    /// The counters and views against a walk over everything.
    fn check(board: &mut Scoreboard) {
        assert_eq!(board.bytes_in_flight(), 10 * count(board, Whereabouts::InFlight));
        assert_eq!(board.sacked_segments(), count(board, Whereabouts::Sacked));
        assert_eq!(board.lost_segments(), count(board, Whereabouts::Lost));
        let first_lost = board.entries.iter().find(|e| e.whereabouts == Whereabouts::Lost);
        let first_lost = first_lost.map(|entry| entry.tag);
        assert_eq!(board.next_lost(), first_lost);
        for (again, found) in board.earliest_in_flight().into_iter().enumerate() {
            let under_way = |entry: &&Entry| {
                entry.whereabouts == Whereabouts::InFlight
                    && entry.is_retransmitted() == (again == 1)
            };
            let earliest = board.entries.iter().filter(under_way);
            let earliest = earliest.map(|entry| entry.packet.sent_at).min();
            let found = found.and_then(|id| board.get(id)).map(|entry| entry.packet.sent_at);
            assert_eq!(found, earliest, "sent again: {again}");
        }
    }

    proptest! {
        #[test]
        fn its_views_are_what_a_walk_would_find(
            steps in prop::collection::vec((0..6_u8, 0..40_u64, 1..5_u64), 0..120)
        ) {
            let mut board = Scoreboard::default();
            let (mut sent, mut acked) = (0, 0);
            for (now, (step, at, size)) in (0..).zip(steps) {
                let id = acked + at % (sent - acked).max(1);
                match step {
                    0 | 1 => {
                        board.push(entry(sent, now));
                        sent += 1;
                    }
                    2 => {
                        let ack = (acked + size).min(sent);
                        while board.pop_acked(1 + ack * 10).is_some() {}
                        board.forget_sacks_below(1 + ack * 10);
                        acked = ack;
                    }
                    3 if id > acked && id < sent => {
                        let end = (id + size).min(sent);
                        let known = count(&board, Whereabouts::Sacked);
                        let mut new = 0;
                        board.sack(1 + id * 10, 1 + end * 10, |_| new += 1);
                        prop_assert_eq!(count(&board, Whereabouts::Sacked), known + new);
                    }
                    4 => drop(board.mark_lost(id)),
                    5 if size == 4 => board.revert_losses(|_| {}),
                    _ => {
                        if let Some(id) = board.next_lost() {
                            board.mark_retransmitted(id, packet(now), 0);
                        }
                    }
                }
                check(&mut board);
            }
        }
    }

    #[test]
    fn a_segment_is_found_by_its_number_also_among_unequal_ones() {
        let mut board = Scoreboard::default();
        let mut seq = 1;
        for len in [10, 3, 10, 10, 7, 10] {
            board.push(Entry { seq, len, ..entry(0, 0) });
            seq += u64::from(len);
        }
        let found = [1, 11, 14, 24, 34, 41, 51].map(|seq| board.id_at_or_after(seq));
        assert_eq!(found, [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(board.id_at_or_after(12), 2);
    }
}
