//! What leaves next.

use super::{Fin, Forced, Frto, Phase, Sender, TailProbe};
use crate::tcp::log::TcpEvent;
use crate::tcp::scoreboard::{Entry, Whereabouts};
use crate::tcp::segment::{Flags, Outgoing};
use polypath_core::congestion::Congestion;
use polypath_units::Timestamp;

/// Data that may leave now.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    len: u32,
    tag: u64,
    fin: bool,
}

impl Sender {
    /// The next segment, without what the receiving half puts into it.
    #[inline]
    pub(in crate::tcp) fn poll(
        &mut self,
        now: Timestamp,
        congestion: &mut Congestion,
    ) -> Option<Outgoing> {
        if let Some(forced) = self.forced.take()
            && let Some(segment) = self.send_forced(now, forced, congestion)
        {
            return Some(segment);
        }
        if !self.wants_to_send() {
            self.held_by_pacing = false;
            self.note_idle(congestion);
            return None;
        }
        self.held_by_pacing = now < self.pacer.ready_at();
        if self.held_by_pacing {
            return None;
        }
        let room = self.room(congestion);
        if self.board.lost_segments() > 0 && self.frto == Frto::Off {
            return self.send_lost(now, room, congestion);
        }
        if self.frto == Frto::Await {
            return None;
        }
        self.send_new_data(now, room, congestion)
    }

    /// Whether something waits to be sent.
    #[inline]
    pub(super) fn wants_to_send(&self) -> bool {
        self.has_new_data() || self.board.lost_segments() > 0
    }

    /// Whether there is data, or a FIN, that was never sent.
    #[inline]
    pub(super) fn has_new_data(&self) -> bool {
        self.unsent > 0 || self.fin == Fin::Wanted || !self.tagged.is_empty()
    }

    /// A layer above that attaches tags chooses the path itself, and tells this itself.
    fn note_idle(&self, congestion: &mut Congestion) {
        if !self.config.segment_reports && !self.board.is_empty() {
            congestion.set_app_limited(self.path);
        }
    }

    /// Bytes that the window leaves. Without SACK each of the first duplicate ACKs tells that a
    /// segment left the network (RFC 3042); with SACK the flight tells it.
    fn room(&self, congestion: &Congestion) -> u64 {
        let mut window = self.window(congestion);
        let mut in_flight = self.board.bytes_in_flight();
        if self.phase == Phase::Disorder {
            if !self.config.limited_transmit {
                in_flight += self.board.sacked().bytes();
            } else if !self.sack {
                let early = self.duplicate_acks.min(self.config.dup_thresh.saturating_sub(1));
                window += u64::from(early) * u64::from(self.mss);
            }
        }
        window.saturating_sub(in_flight)
    }

    /// Whether one more segment may leave now: for a layer above that has data.
    pub(in crate::tcp) fn can_send(&self, now: Timestamp, congestion: &Congestion) -> bool {
        !self.wants_to_send()
            && self.frto != Frto::Await
            && self.forced.is_none()
            && self.fin == Fin::None
            && now >= self.pacer.ready_at()
            && self.room(congestion) >= u64::from(self.mss)
            && self.edge >= self.nxt + u64::from(self.mss)
    }

    /// Takes one segment of `len` bytes.
    pub(in crate::tcp) fn send_tagged(&mut self, len: u32, tag: u64) {
        self.tagged.push_back((len, tag));
    }

    /// Adds up to `len` bytes to the last segment, if it waits, is not full, and the data that begins
    /// with `tag` continues it. Returns how many it took.
    pub(in crate::tcp) fn lengthen_tagged(&mut self, len: u32, tag: u64) -> u32 {
        let Some((last, first)) = self.tagged.back_mut() else { return 0 };
        if *first + u64::from(*last) != tag {
            return 0;
        }
        let taken = len.min(self.mss.saturating_sub(*last));
        *last += taken;
        taken
    }

    /// Bytes of the layer above that are not acknowledged; segments not sent yet count as full ones.
    pub(in crate::tcp) fn buffered(&self) -> u64 {
        self.tagged.len() as u64 * u64::from(self.mss) + (self.nxt - self.una)
    }

    fn send_forced(
        &mut self,
        now: Timestamp,
        forced: Forced,
        congestion: &mut Congestion,
    ) -> Option<Outgoing> {
        match forced {
            Forced::Again(id) => {
                let lost = self.board.get(id).is_some_and(|e| e.whereabouts == Whereabouts::Lost);
                if lost { self.send_again(now, id, congestion) } else { None }
            }
            Forced::TailProbe => self.send_tail_probe(now, congestion),
            Forced::WindowProbe => self.send_window_probe(now, congestion),
        }
    }

    /// New data if there is some, else the last segment again (RFC 8985 section 7.3).
    fn send_tail_probe(&mut self, now: Timestamp, congestion: &mut Congestion) -> Option<Outgoing> {
        let last = self.board.next_id().checked_sub(1)?;
        self.board.get(last)?;
        let new = self.send_new_data(now, u64::from(self.mss), congestion);
        let retransmission = new.is_none();
        let segment = new.or_else(|| self.send_again(now, last, congestion))?;
        self.stats.tail_loss_probes += 1;
        self.tail_probe = Some(TailProbe { until: self.nxt, retransmission });
        self.restart_timer(now);
        self.record(now, || TcpEvent::TailLossProbe);
        Some(segment)
    }

    /// What fits into the window, else a segment below it that must be answered.
    fn send_window_probe(
        &mut self,
        now: Timestamp,
        congestion: &mut Congestion,
    ) -> Option<Outgoing> {
        self.stats.window_probes += 1;
        self.record(now, || TcpEvent::WindowProbe);
        let usable = self.edge.saturating_sub(self.nxt);
        if usable > 0 && self.unsent > 0 {
            let len = self.unsent.min(u64::from(self.mss)).min(usable) as u32;
            return Some(self.send_chunk(now, Chunk { len, tag: 0, fin: false }, congestion));
        }
        Some(Outgoing::empty(self.una - 1, Flags::ACK))
    }

    fn send_lost(
        &mut self,
        now: Timestamp,
        room: u64,
        congestion: &mut Congestion,
    ) -> Option<Outgoing> {
        let id = self.board.next_lost()?;
        let len = self.board.get(id)?.len;
        if u64::from(len) > room { None } else { self.send_again(now, id, congestion) }
    }

    fn send_again(
        &mut self,
        now: Timestamp,
        id: u64,
        congestion: &mut Congestion,
    ) -> Option<Outgoing> {
        let before = *self.board.get(id).filter(|e| e.whereabouts != Whereabouts::Sacked)?;
        if before.whereabouts == Whereabouts::InFlight {
            congestion.on_packet_discarded(self.path, &before.packet);
        }
        let packet = congestion.on_sent(self.path, now, u64::from(before.len));
        let entry = self.board.mark_retransmitted(id, packet, self.stats.segments_sent as u32)?;
        self.undo.on_retransmission(now);
        self.stats.retransmissions += 1;
        self.on_sent_again(now, id);
        Some(self.emit(now, &entry, congestion))
    }

    fn send_new_data(
        &mut self,
        now: Timestamp,
        room: u64,
        congestion: &mut Congestion,
    ) -> Option<Outgoing> {
        let chunk = self.next_chunk()?;
        let usable = self.edge.saturating_sub(self.nxt);
        let Some(chunk) = self.fit(chunk, usable) else {
            if self.board.is_empty() {
                self.persist(now);
            }
            return None;
        };
        if self.nagle_holds(chunk) {
            self.note_idle(congestion);
            return None;
        }
        if u64::from(chunk.len) > room {
            return None;
        }
        Some(self.send_chunk(now, chunk, congestion))
    }

    fn next_chunk(&self) -> Option<Chunk> {
        if let Some(&(len, tag)) = self.tagged.front() {
            return Some(Chunk { len, tag, fin: false });
        }
        let len = self.unsent.min(u64::from(self.mss)) as u32;
        let fin = self.fin == Fin::Wanted && u64::from(len) == self.unsent;
        (len > 0 || fin).then_some(Chunk { len, tag: 0, fin })
    }

    /// Cuts data to the peer's window unless that would make it a silly segment (RFC 9293
    /// section 3.8.6.2.1).
    fn fit(&self, chunk: Chunk, usable: u64) -> Option<Chunk> {
        if u64::from(chunk.len) <= usable {
            return Some(chunk);
        }
        let worthwhile = usable > 0 && usable >= u64::from(self.max_window / 2);
        (worthwhile && self.tagged.is_empty()).then_some(Chunk {
            len: usable as u32,
            tag: 0,
            fin: false,
        })
    }

    /// One small segment in flight at most, unless it is the last (Minshall).
    fn nagle_holds(&self, chunk: Chunk) -> bool {
        self.config.nagle
            && chunk.len < self.mss
            && !chunk.fin
            && self.tagged.len() <= 1
            && self.small_end > self.una
    }

    #[inline]
    fn send_chunk(
        &mut self,
        now: Timestamp,
        chunk: Chunk,
        congestion: &mut Congestion,
    ) -> Outgoing {
        let first = self.board.is_empty();
        let packet = congestion.on_sent(self.path, now, u64::from(chunk.len));
        let entry = Entry {
            seq: self.nxt,
            tag: chunk.tag,
            packet,
            len: chunk.len,
            order: self.stats.segments_sent as u32,
            whereabouts: Whereabouts::InFlight,
            fin: chunk.fin,
            retransmissions: 0,
        };
        self.take_chunk(chunk);
        self.nxt = entry.end();
        if chunk.len < self.mss {
            self.small_end = self.nxt;
        }
        self.board.push(entry);
        self.on_new_data_sent(now, first);
        self.emit(now, &entry, congestion)
    }

    fn take_chunk(&mut self, chunk: Chunk) {
        if self.tagged.pop_front().is_none() {
            self.unsent -= u64::from(chunk.len);
        }
        if chunk.fin {
            self.fin = Fin::Sent;
        }
    }

    /// The segment of an entry, on its way.
    #[inline]
    fn emit(&mut self, now: Timestamp, entry: &Entry, congestion: &Congestion) -> Outgoing {
        let retransmission = entry.is_retransmitted();
        self.stats.segments_sent += 1;
        self.stats.bytes_sent += u64::from(entry.len);
        if let Some(prr) = &mut self.prr {
            prr.on_sent(u64::from(entry.len));
        }
        self.pacer.on_sent(now, entry.len, congestion, self.path);
        let (seq, len) = (entry.seq, entry.len);
        self.log.record_segment(now, || TcpEvent::Sent { seq, len, retransmission });
        let push = len > 0 && self.unsent == 0 && entry.end() == self.nxt;
        let cwr = self.ecn && !retransmission && len > 0 && core::mem::take(&mut self.cwr_flag);
        let flags = Flags::ACK
            .with_if(Flags::FIN, entry.fin)
            .with_if(Flags::PSH, push)
            .with_if(Flags::CWR, cwr);
        let ect = self.ecn && !retransmission && len > 0;
        Outgoing { seq, tag: entry.tag, len, flags, ect }
    }
}
