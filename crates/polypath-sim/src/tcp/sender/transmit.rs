//! What leaves next.

use super::backlog::Chunk;
use super::{Forced, Frto, Phase, Sender};
use crate::tcp::log::TcpEvent;
use crate::tcp::scoreboard::{Entry, Whereabouts};
use crate::tcp::segment::{Flags, Outgoing};
use polypath_core::congestion::Congestion;
use polypath_units::Timestamp;

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
            self.pacer.release();
            self.note_idle(congestion);
            return None;
        }
        if self.pacer.holds(now) {
            return None;
        }
        let room = self.room(congestion);
        let frto = self.episode.frto();
        if self.board.lost_segments() > 0 && frto == Frto::Off {
            return self.send_lost(now, room, congestion);
        }
        if frto == Frto::Await {
            return None;
        }
        self.send_new_data(now, room, congestion)
    }

    /// Whether something waits to be sent.
    #[inline]
    pub(super) fn wants_to_send(&self) -> bool {
        !self.backlog.is_empty() || self.board.lost_segments() > 0
    }

    /// Whether there is new data, or a FIN, and the peer's window is open.
    pub(super) fn can_send_new_data(&self) -> bool {
        !self.backlog.is_empty() && self.peer_window.usable(self.nxt) > 0
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
        if self.episode.phase() == Phase::Disorder {
            if !self.config.limited_transmit {
                in_flight += self.board.sacked().bytes();
            } else if !self.options.sack {
                let most = self.config.dupack_threshold.saturating_sub(1);
                let early = self.duplicate_acks.count().min(most);
                window += u64::from(early) * u64::from(self.options.mss);
            }
        }
        window.saturating_sub(in_flight)
    }

    /// Whether one more segment may leave now: for a layer above that has data.
    pub(in crate::tcp) fn can_send(&self, now: Timestamp, congestion: &Congestion) -> bool {
        let mss = u64::from(self.options.mss);
        !self.wants_to_send()
            && self.episode.frto() != Frto::Await
            && self.forced.is_none()
            && !self.backlog.is_closed()
            && now >= self.pacer.ready_at()
            && self.room(congestion) >= mss
            && self.peer_window.usable(self.nxt) >= mss
    }

    /// Takes one segment of `len` bytes.
    pub(in crate::tcp) fn send_tagged(&mut self, len: u32, tag: u64) {
        self.backlog.push(len, tag);
    }

    /// Adds up to `len` bytes to the last segment, if it waits, is not full, and the data that
    /// begins with `tag` continues it. Returns how many it took.
    pub(in crate::tcp) fn lengthen_tagged(&mut self, len: u32, tag: u64) -> u32 {
        self.backlog.lengthen(len, tag, self.options.mss)
    }

    /// Bytes of the layer above that are not acknowledged; segments not sent yet count as full
    /// ones.
    pub(in crate::tcp) fn buffered(&self) -> u64 {
        self.backlog.segments() * u64::from(self.options.mss) + (self.nxt - self.una)
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

    /// What fits into the window, else a segment below it that must be answered.
    fn send_window_probe(
        &mut self,
        now: Timestamp,
        congestion: &mut Congestion,
    ) -> Option<Outgoing> {
        self.stats.window_probes += 1;
        self.record(now, || TcpEvent::WindowProbe);
        let (usable, unsent) = (self.peer_window.usable(self.nxt), self.backlog.unsent());
        if usable > 0 && unsent > 0 {
            let len = unsent.min(u64::from(self.options.mss)).min(usable) as u32;
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

    pub(super) fn send_again(
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
        self.episode.on_retransmission(now);
        self.stats.retransmissions += 1;
        self.on_sent_again(now, id);
        Some(self.emit(now, &entry, congestion))
    }

    pub(super) fn send_new_data(
        &mut self,
        now: Timestamp,
        room: u64,
        congestion: &mut Congestion,
    ) -> Option<Outgoing> {
        let chunk = self.backlog.next(self.options.mss)?;
        let Some(chunk) = self.fit(chunk) else {
            if self.board.is_empty() {
                self.persist(now);
            }
            return None;
        };
        if self.config.nagle && self.backlog.holds(chunk, self.options.mss, self.una) {
            self.note_idle(congestion);
            return None;
        }
        if u64::from(chunk.len) > room {
            return None;
        }
        Some(self.send_chunk(now, chunk, congestion))
    }

    /// Cuts data to the peer's window unless that would make it a silly segment (RFC 9293
    /// section 3.8.6.2.1).
    fn fit(&self, chunk: Chunk) -> Option<Chunk> {
        let usable = self.peer_window.usable(self.nxt);
        if u64::from(chunk.len) <= usable {
            return Some(chunk);
        }
        if self.peer_window.is_worthwhile(usable) { self.backlog.cut(usable as u32) } else { None }
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
        self.nxt = entry.end();
        self.backlog.take(chunk, self.options.mss, self.nxt);
        self.board.push(entry);
        self.on_new_data_sent(now, first);
        self.emit(now, &entry, congestion)
    }

    /// The segment of an entry, on its way.
    #[inline]
    fn emit(&mut self, now: Timestamp, entry: &Entry, congestion: &Congestion) -> Outgoing {
        let retransmission = entry.is_retransmitted();
        self.stats.segments_sent += 1;
        self.stats.bytes_sent += u64::from(entry.len);
        self.episode.on_sent(u64::from(entry.len));
        self.pacer.on_sent(now, entry.len, congestion, self.path);
        let (seq, len) = (entry.seq, entry.len);
        self.log.record_segment(now, || TcpEvent::Sent { seq, len, retransmission });
        let push = len > 0 && self.backlog.unsent() == 0 && entry.end() == self.nxt;
        let ect = self.options.ecn && !retransmission && len > 0;
        let cwr = ect && core::mem::take(&mut self.cwr_flag);
        let flags = Flags::ACK
            .with_if(Flags::FIN, entry.fin)
            .with_if(Flags::PSH, push)
            .with_if(Flags::CWR, cwr);
        Outgoing { seq, tag: entry.tag, len, flags, ect }
    }
}
