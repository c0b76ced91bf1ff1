//! Which subflow sends what.

use super::chunks::Chunk;
use super::connection::{Connection, Subflow};
use super::log::PathEvent;
use polypath_core::congestion::Congestion;
use polypath_core::scheduler::{PathView, Pick, QueueView, has_room_beside};
use polypath_units::{PathId, PathSet, Timestamp};
use std::time::Duration;

/// A holder with so small a window, in segments, is not worth waiting for.
const SMALL_WINDOW: f64 = 4.0;
/// One with so many times the RTT neither.
const MUCH_SLOWER: u32 = 4;

fn view(subflow: &Subflow, congestion: &Congestion, now: Timestamp) -> PathView {
    let tcp = &subflow.tcp;
    PathView {
        mss: tcp.mss().into(),
        available: !subflow.failed && tcp.can_send(now, congestion),
        paced_until: tcp.next_departure(),
        failed: subflow.failed,
        backup: subflow.backup,
        ..congestion.view(subflow.path, now)
    }
}

impl Connection {
    /// Puts segments on subflows as long as the scheduler says where.
    pub(super) fn schedule(&mut self, now: Timestamp) {
        loop {
            let again = self.chunks.next_again();
            if again.is_none() && self.unsent == 0 {
                return self.rest(now);
            }
            self.look(now);
            if again.is_none() && self.is_window_full() {
                self.retransmit_opportunistically(now);
                return self.rest(now);
            }
            let is_lost = again.is_some_and(|chunk| !chunk.is_new());
            let sent = self.offer(again, now) || is_lost && self.offer_beside(now);
            if !sent {
                return self.rest(now);
            }
        }
    }

    /// What is lost waits for a subflow: others need not be idle meanwhile, and carry new data.
    fn offer_beside(&mut self, now: Timestamp) -> bool {
        let (una, left_behind) = (self.chunks.una(), self.chunks.reserved_after(0).ok());
        let taken = self.chunks.next() - una - self.chunks.reserved();
        let is_there = left_behind.is_some() || (self.unsent > 0 && !self.is_window_full());
        let has_room = has_room_beside(self.edge.saturating_sub(una), taken);
        is_there && has_room && self.offer(left_behind, now)
    }

    /// Puts a chunk again, or new data, where the scheduler says. Returns whether it does.
    fn offer(&mut self, again: Option<Chunk>, now: Timestamp) -> bool {
        let sent_on = again.map_or(PathSet::EMPTY, |chunk| self.mask(&chunk));
        let queue = self.queue_view(again, sent_on);
        self.blocked = false;
        match self.scheduler.pick(&self.views, &queue, now) {
            Pick::Send(path) => self.send(path, again, now),
            Pick::Ahead { path, skip } => return self.send_ahead(path, skip, now),
            Pick::Duplicate(paths) => self.send_copies(paths, again, now),
            Pick::Wait(until) => {
                self.wake = self.wake.min(until);
                return false;
            }
        }
        true
    }

    /// Whether the peer's window has no room for the next segment of new data.
    pub(super) fn is_window_full(&self) -> bool {
        self.edge < self.chunks.next() + self.mss().min(self.unsent)
    }

    /// Shows the scheduler the subflows.
    fn look(&mut self, now: Timestamp) {
        self.views.clear();
        let established = self.subflows.iter().filter(|subflow| subflow.established);
        self.views.extend(established.map(|subflow| view(subflow, &self.congestion, now)));
    }

    /// The subflows that a chunk must avoid. Where it has been on all that work it may use any.
    fn mask(&mut self, chunk: &Chunk) -> PathSet {
        let mut working = self.views.iter().filter(|view| !view.failed);
        if working.all(|view| chunk.sent_on.contains(view.id)) {
            self.chunks.clear_mask(chunk.dsn);
            return PathSet::EMPTY;
        }
        chunk.sent_on
    }

    fn queue_view(&self, again: Option<Chunk>, sent_on: PathSet) -> QueueView {
        let room = self.edge.saturating_sub(self.chunks.next());
        let new = self.mss().min(self.unsent).min(room);
        QueueView {
            segment: again.map_or(new, |chunk| chunk.len.into()),
            unsent: self.unsent + self.chunks.reserved(),
            send_window: room + self.chunks.reserved(),
            window: self.edge.saturating_sub(self.chunks.una()),
            outstanding: self.chunks.outstanding(),
            sent_on,
            reinjection: again.is_some_and(|chunk| !chunk.is_new()),
            to_reinject: self.chunks.to_reinject(),
            blocked_since_last: self.blocked,
        }
    }

    /// Leaves new data behind and sends on a subflow what follows it. Returns whether there was
    /// any.
    fn send_ahead(&mut self, path: PathId, skip: u64, now: Timestamp) -> bool {
        let mut left = match self.chunks.reserved_after(skip) {
            Ok(chunk) => {
                self.send(path, Some(chunk), now);
                return true;
            }
            Err(left) => left,
        };
        while left > 0 && self.unsent > 0 && !self.is_window_full() {
            let len = self.mss().min(self.unsent);
            self.chunks.reserve(len as u32);
            self.unsent -= len;
            left = left.saturating_sub(len);
        }
        let is_there = left == 0 && self.unsent > 0 && !self.is_window_full();
        if is_there {
            self.send(path, None, now);
        }
        is_there
    }

    fn send_copies(&mut self, paths: PathSet, again: Option<Chunk>, now: Timestamp) {
        let mut paths = paths.iter();
        let Some(first) = paths.next() else { return };
        let dsn = again.map_or(self.chunks.next(), |chunk| chunk.dsn);
        self.send(first, again, now);
        let Some(chunk) = self.chunks.at(dsn) else { return };
        paths.for_each(|path| self.send(path, Some(chunk), now));
    }

    /// Puts new data, or a chunk again, on a subflow.
    pub(super) fn send(&mut self, path: PathId, again: Option<Chunk>, now: Timestamp) {
        let index = path.index();
        match again {
            Some(chunk) => {
                self.subflows[index].tcp.send_new(now, chunk.len, chunk.dsn);
                self.on_sent_again(chunk, path, now);
            }
            None => {
                self.put_new(index, self.new_data(), now);
            }
        }
        self.transmit(index, now);
    }

    /// Bytes of new data that the peer has room for.
    pub(super) fn new_data(&self) -> u64 {
        self.unsent.min(self.edge.saturating_sub(self.chunks.next()))
    }

    /// Hands a segment of new data, of `most` bytes if they fit into one, to a subflow; returns its
    /// length.
    pub(super) fn put_new(&mut self, index: usize, most: u64, now: Timestamp) -> u32 {
        let Subflow { tcp, path, .. } = &mut self.subflows[index];
        let len = most.min(tcp.mss().into()) as u32;
        tcp.send_new(now, len, self.chunks.next());
        self.chunks.push(len, *path, now);
        self.unsent -= u64::from(len);
        len
    }

    fn on_sent_again(&mut self, chunk: Chunk, path: PathId, now: Timestamp) {
        let Chunk { dsn, len, .. } = chunk;
        self.chunks.on_sent_again(dsn, path, now);
        if !chunk.is_new() {
            self.reinjected_bytes += u64::from(len);
            self.log.record(now, path, PathEvent::Reinjected { dsn, len });
        }
    }

    /// Nothing more is sent now: subflows with room are limited by the application, the window or
    /// the scheduler, not by the network; those that pacing holds back are looked at again.
    fn rest(&mut self, now: Timestamp) {
        for view in &self.views {
            let waits = self.unsent > 0 || self.chunks.next_again().is_some();
            if view.available {
                self.congestion.set_app_limited(view.id);
            } else if waits && view.paced_until > now && view.room() >= view.mss {
                self.wake = self.wake.min(view.paced_until);
            }
        }
    }

    /// The window is full and the fastest subflow idle: sends the oldest data on it as well, and
    /// slows down the subflow that holds it (`docs/algorithms/opportunistic_retransmission.md`).
    fn retransmit_opportunistically(&mut self, now: Timestamp) {
        let open = self.views.iter().filter(|view| view.available && view.srtt.is_some());
        let Some(&fast) = open.min_by_key(|view| view.srtt) else { return };
        let Some(oldest) = self.chunks.oldest() else { return };
        self.blocked = true;
        if self.config.composition.penalisation
            && let Some(slow) = self.congestion.penalise_slower(fast.id, oldest.sent_on, now)
        {
            self.log.record(now, slow, PathEvent::Penalised);
        }
        let holds = |view: &&PathView| oldest.sent_on.contains(view.id);
        let holders: Vec<_> = self.views.iter().filter(holds).copied().collect();
        let again = !oldest.sent_on.contains(fast.id) && is_worth_sending_again(&fast, &holders);
        if self.config.composition.opportunistic_retransmission && again {
            self.send(fast.id, Some(oldest), now);
        }
    }
}

/// Whether the oldest data, which these subflows hold, is to be sent on the fast one as well.
fn is_worth_sending_again(fast: &PathView, holders: &[PathView]) -> bool {
    let srtt = |view: &PathView| view.srtt.unwrap_or(Duration::MAX);
    let small = |view: &PathView| view.cwnd as f64 <= SMALL_WINDOW * view.mss as f64;
    let slow = |view: &PathView| srtt(view) > srtt(fast).saturating_mul(MUCH_SLOWER);
    !holders.is_empty() && (holders.iter().any(small) || holders.iter().all(slow))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A subflow of so many milliseconds and segments.
    fn holder(srtt_ms: u64, segments: u64) -> PathView {
        PathView {
            id: PathId::default(),
            srtt: Some(Duration::from_millis(srtt_ms)),
            rtt_var: Duration::ZERO,
            min_rtt: None,
            cwnd: 1_000 * segments,
            in_flight: 0,
            mss: 1_000,
            rate: 0.0,
            in_slow_start: false,
            ssthresh: f64::INFINITY,
            available: true,
            paced_until: Timestamp::ZERO,
            failed: false,
            backup: false,
            weight: 0.0,
            loss: 0.0,
        }
    }

    /// The part about sending again; that about windows is tested with
    /// `Congestion::penalise_slower`.
    #[test]
    fn t_orp_1() {
        let fast = holder(10, 10);
        for (srtt, window, again) in [(100, 40, true), (30, 40, false), (30, 4, true)] {
            let worth = is_worth_sending_again(&fast, &[holder(srtt, window)]);
            assert_eq!(worth, again, "{srtt} ms, {window} segments");
        }
        assert!(!is_worth_sending_again(&fast, &[]), "one subflow");
    }
}
