//! Which data of streams is sent next, and where.

use super::{Bond, Transmit};
use crate::send::SegmentInfo;
use polypath_core::scheduler::{Pick, has_room_beside};
use polypath_units::{PathId, PathSet, Timestamp};

impl Bond {
    pub(super) fn streams_wait(&self) -> bool {
        self.selection.wants_copies() || self.chunks.next_reinjection().is_some() || self.may_cut()
    }

    pub(super) fn poll_streams(&mut self, now: Timestamp) -> Option<Transmit> {
        let transmit = self.poll_copy(now).or_else(|| self.poll_suspected_or_data(now))?;
        self.turns.on_streams(transmit.payload.len);
        Some(transmit)
    }

    /// Copies that the scheduler asked for beside the segment that went out.
    fn poll_copy(&mut self, now: Timestamp) -> Option<Transmit> {
        while let Some((path, dsn)) = self.selection.next_copy() {
            if self.chunks.is_on(dsn, path) {
                continue;
            }
            if let Some(transmit) = self.build_copy(path, dsn, now) {
                return Some(transmit);
            }
        }
        None
    }

    /// Stream data, by the scheduler's choice: what must travel again or was left behind first,
    /// then what has not been cut yet.
    pub(super) fn poll_data(&mut self, now: Timestamp) -> Option<Transmit> {
        let Some(queued) = self.chunks.next_reinjection() else {
            return if self.may_cut() { self.send_new(now) } else { self.poll_late_copy(now) };
        };
        match self.pick(queued.len, Some(&queued), now) {
            Pick::Wait(_) if !queued.is_new => self.send_beside(now),
            pick => self.carry_out(&pick, true, now),
        }
    }

    /// What is lost waits for a path: others need not be idle meanwhile, and carry new data.
    fn send_beside(&mut self, now: Timestamp) -> Option<Transmit> {
        let (una, reserved) = (self.chunks.una(), self.chunks.reserved());
        let taken = self.chunks.next_dsn() - una - reserved;
        let has_room = has_room_beside(self.peer.window.saturating_sub(una), taken);
        if !has_room || (reserved == 0 && !self.may_cut()) {
            return None;
        }
        self.send_new(now)
    }

    fn may_cut(&self) -> bool {
        self.send.is_ready() && self.peer.window > self.chunks.next_dsn()
    }

    fn send_new(&mut self, now: Timestamp) -> Option<Transmit> {
        let len = self.chunks.next_reserved().unwrap_or(self.send.unsent());
        let pick = self.pick(len, None, now);
        self.carry_out(&pick, false, now)
    }

    /// Where the scheduler wants the next segment, which is `len` long; `queued` if it has been
    /// cut.
    fn pick(&mut self, len: u64, queued: Option<&SegmentInfo>, now: Timestamp) -> Pick {
        let len = len.clamp(1, self.selection.largest_packet());
        let queue = self.queue_view(len, queued);
        self.selection.pick_for_segment(&queue, now)
    }

    /// Builds what the scheduler has chosen: `queued` if the first that is queued, else new data.
    fn carry_out(&mut self, pick: &Pick, queued: bool, now: Timestamp) -> Option<Transmit> {
        match *pick {
            Pick::Send(path) => self.build_next(path, queued, now),
            Pick::Duplicate(paths) => self.send_duplicates(paths, queued, now),
            Pick::Ahead { path, skip } => self.build_ahead(path, skip, now),
            Pick::Wait(_) => None,
        }
    }

    fn build_next(&mut self, path: PathId, queued: bool, now: Timestamp) -> Option<Transmit> {
        if queued { self.build_data(path, true, now) } else { self.build_ahead(path, 0, now) }
    }

    fn send_duplicates(
        &mut self,
        paths: PathSet,
        queued: bool,
        now: Timestamp,
    ) -> Option<Transmit> {
        let mut paths = paths.iter();
        let first = self.build_next(paths.next()?, queued, now)?;
        let dsn = first.payload.chunk.map(|chunk| chunk.dsn)?;
        self.selection.order_copies(paths, dsn);
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bond::fixtures::{hub, send_all};
    use crate::bond::selection::PathSelection;
    use crate::config::BondConfig;
    use bytes::Bytes;
    use polypath_core::scheduler::{PathView, QueueView, Scheduler};
    use std::collections::BTreeSet;

    /// Holds back what is lost, and sends of the rest one segment in two ahead of the other.
    #[derive(Debug, Default)]
    struct HoldsBack {
        picks: u64,
    }

    impl Scheduler for HoldsBack {
        fn pick(&mut self, paths: &[PathView], queue: &QueueView, _: Timestamp) -> Pick {
            let Some(path) = paths.iter().find(|path| path.available && !queue.reinjection) else {
                return Pick::Wait(Timestamp::MAX);
            };
            self.picks += 1;
            let skip = queue.segment;
            match self.picks.is_multiple_of(2) && queue.reaches(skip) {
                true => Pick::Ahead { path: path.id, skip },
                false => Pick::Send(path.id),
            }
        }
    }

    /// Sends the end of what waits, wherever that begins.
    #[derive(Debug)]
    struct FromTheEnd;

    impl Scheduler for FromTheEnd {
        fn pick(&mut self, paths: &[PathView], queue: &QueueView, _: Timestamp) -> Pick {
            let Some(path) = paths.iter().find(|path| path.available) else {
                return Pick::Wait(Timestamp::MAX);
            };
            match queue.unsent - queue.segment {
                0 => Pick::Send(path.id),
                skip => Pick::Ahead { path: path.id, skip },
            }
        }
    }

    /// Segments are cut from the front, so that hardly one begins where the scheduler says.
    #[test]
    fn all_is_sent_though_no_segment_begins_behind_what_is_to_be_left() {
        let mut bond = bond(5_000);
        bond.selection = PathSelection::new(Box::new(FromTheEnd));
        let sent = send(&mut bond, 0, Timestamp::ZERO);
        assert_eq!((bond.send.unsent(), bond.chunks.reserved()), (0, 0), "{sent:?}");
        assert!(sent.is_sorted_by(|a, b| a > b), "{sent:?}");
    }

    /// A bond with so many bytes to send, and nothing to say of its own windows.
    fn bond(bytes: usize) -> Bond {
        let mut bond = hub(BondConfig { receive_buffer: 1 << 20, ..BondConfig::default() }, None);
        bond.selection = PathSelection::new(Box::new(HoldsBack::default()));
        let id = bond.open_stream().unwrap();
        bond.write(id, &Bytes::from(vec![0; bytes])).unwrap();
        bond
    }

    /// Sends all that goes now, as packets from `number`; the DSNs that they start with.
    fn send(bond: &mut Bond, mut number: u64, now: Timestamp) -> Vec<u64> {
        send_all(bond, &mut number, now).into_iter().filter_map(|(_, start)| start).collect()
    }

    /// Of `sent` packets the first is lost, the others are acknowledged. When.
    fn lose_first(bond: &mut Bond, sent: usize) -> Timestamp {
        let now = Timestamp::from_millis(20);
        (1..sent as u64).for_each(|n| bond.on_packet_acked(PathId::default(), n, now));
        bond.on_acks_end(PathId::default(), now);
        bond.on_packet_lost(PathId::default(), 0, now);
        bond.on_losses_end(PathId::default(), Timestamp::ZERO, now);
        let lost = bond.chunks.next_reinjection().unwrap();
        assert_eq!((lost.dsn, lost.is_new), (0, false));
        now
    }

    /// Lost data that waits for a better path holds up neither what was left behind nor what is
    /// new.
    #[test]
    fn new_data_is_sent_while_what_is_lost_waits() {
        let mut bond = bond(1_000_000);
        let before = send(&mut bond, 0, Timestamp::ZERO);
        let now = lose_first(&mut bond, before.len());
        let after = send(&mut bond, before.len() as u64, now);
        let furthest = before.iter().max().unwrap();
        assert!(after.iter().any(|dsn| dsn < furthest), "left behind: {before:?} {after:?}");
        assert!(after.iter().any(|dsn| dsn > furthest), "new: {before:?} {after:?}");
        let once: BTreeSet<_> = before.iter().chain(&after).collect();
        assert_eq!(once.len(), before.len() + after.len(), "{before:?} {after:?}");
        assert_eq!(bond.chunks.next_reinjection().unwrap().dsn, 0);
    }

    /// Behind the hole it would stay in the receive window: half of that is kept free.
    #[test]
    fn new_data_waits_for_what_is_lost_where_it_would_fill_the_window() {
        let mut bond = bond(1_000_000);
        let before = send(&mut bond, 0, Timestamp::ZERO);
        let now = lose_first(&mut bond, before.len());
        let taken = bond.chunks.next_dsn() - bond.chunks.reserved();
        bond.peer.window = 2 * taken - 1;
        assert_eq!(send(&mut bond, before.len() as u64, now), []);
        bond.peer.window = 2 * taken;
        assert_ne!(send(&mut bond, before.len() as u64, now), []);
    }

    /// Once nothing else is left, only the lost data is, and it waits.
    #[test]
    fn what_is_lost_waits_alone_in_the_end() {
        let mut bond = bond(3_000);
        let sent = send(&mut bond, 0, Timestamp::ZERO);
        assert_eq!(bond.chunks.reserved(), 0);
        let now = lose_first(&mut bond, sent.len());
        assert_eq!(send(&mut bond, sent.len() as u64, now), []);
        assert_eq!(bond.chunks.next_reinjection().unwrap().dsn, 0);
    }
}
