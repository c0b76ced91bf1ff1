//! What is sent next, and where.

use super::views::MIN_DATAGRAM;
use super::{Bond, Phase, Transmit, Urgent};
use crate::codec::{Arrival, Frame};
use crate::path::{Path, Payload};
use bytes::BytesMut;
use polypath_core::scheduler::Pick;
use polypath_units::{PathId, PathSet, Timestamp};

impl Bond {
    /// The next datagram to hand to a carrier. Call until `None`, then see
    /// [`Bond::poll_timeout`]. A datagram must reach [`Bond::on_packet_sent`] before much time
    /// passes: the bond counts it as sent.
    pub fn poll_transmit(&mut self, now: Timestamp) -> Option<Transmit> {
        if self.phase == Phase::Broken {
            return None;
        }
        self.poll_probe(now)
            .or_else(|| self.poll_keep_alive(now))
            .or_else(|| self.poll_pong())
            .or_else(|| self.poll_urgent())
            .or_else(|| self.poll_ack(now))
            .or_else(|| self.poll_control(now))
            .or_else(|| {
                self.look_at_paths(now);
                self.wake = None;
                self.poll_within_limit(now)
            })
    }

    /// What counts against the limit of the rate.
    fn poll_within_limit(&mut self, now: Timestamp) -> Option<Transmit> {
        if let Some(Err(again)) = self.send_limit.as_mut().map(|limit| limit.check(now)) {
            self.wake_at(again);
            self.rest();
            return None;
        }
        let transmit =
            self.poll_flows(now).or_else(|| self.poll_copy(now)).or_else(|| self.poll_data(now))?;
        if let Some(limit) = &mut self.send_limit {
            limit.take(transmit.payload.len);
        }
        Some(transmit)
    }

    /// A failed path is probed with a datagram of full size: small ones pass where large do not.
    fn poll_probe(&mut self, now: Timestamp) -> Option<Transmit> {
        let path = self.paths.values_mut().find(|path| path.probe.next_at <= now)?;
        let (id, size) = (path.id, path.max_datagram as usize);
        let probe = path.probe.take(now);
        let payload = Payload { probe: Some(probe), ..Payload::default() };
        Some(self.commit_frame(id, &Frame::Ping { id: probe }, payload, size))
    }

    /// An idle path is used now and then, so that NATs keep their state and both ends know that it
    /// works.
    fn poll_keep_alive(&mut self, now: Timestamp) -> Option<Transmit> {
        let interval = self.keep_alive();
        let idle = |path: &&mut Path| path.keep_alive_due().is_some_and(|at| at <= now);
        let path = self.paths.values_mut().find(idle)?;
        path.keep_alive_at = Some(now + interval);
        let (id, ping) = (path.id, path.probe.take_small());
        Some(self.commit_frame(id, &Frame::Ping { id: ping }, Payload::default(), 0))
    }

    fn poll_pong(&mut self) -> Option<Transmit> {
        let path = self.paths.values_mut().find(|path| !path.pongs.is_empty())?;
        let (id, pong) = (path.id, path.pongs.pop_front()?);
        Some(self.commit_frame(id, &Frame::Pong { id: pong }, Payload::default(), 0))
    }

    fn poll_urgent(&mut self) -> Option<Transmit> {
        let Urgent { frame, avoid } = self.urgent.pop_front()?;
        let path = self.fastest_path(avoid)?;
        Some(self.commit_frame(path, &frame, Payload::default(), 0))
    }

    /// The working path of smallest RTT outside `avoid`, a backup only if there is no other; any
    /// working one if all are in `avoid`.
    pub(super) fn fastest_path(&self, avoid: PathSet) -> Option<PathId> {
        let srtt = |id| self.congestion.rtt(id).and_then(|rtt| rtt.srtt());
        let usable = |id: &PathId| !self.paths.get(id).is_none_or(|p| p.is_failed());
        let backup = |id: &PathId| self.paths.get(id).is_some_and(|path| path.backup);
        let key = |id: &PathId| (avoid.contains(*id), backup(id), srtt(*id).is_none(), srtt(*id));
        self.paths.keys().copied().filter(usable).min_by_key(key)
    }

    /// An acknowledgement that is due goes where data has just arrived: that path works. Of
    /// several, over the fastest.
    fn poll_ack(&mut self, now: Timestamp) -> Option<Transmit> {
        if self.acks.due().is_none_or(|due| due > now) {
            return None;
        }
        let silent: PathSet = self.paths.values().filter(|p| !p.acks_owed).map(|p| p.id).collect();
        let path = self.fastest_path(silent)?;
        let ack = self.take_ack();
        let payload = Payload { ack: true, ..Payload::default() };
        Some(self.commit_frame(path, &Frame::Ack(ack), payload, 0))
    }

    fn take_ack(&mut self) -> crate::codec::AckFrame {
        let mut arrivals = Vec::new();
        for path in self.paths.values_mut() {
            if std::mem::take(&mut path.acks_owed) {
                arrivals.push(Arrival { path: path.id, bytes: path.counters.bytes_received });
            }
        }
        self.acks.take(self.recv.window(), arrivals)
    }

    /// Control messages, as many as fit, over the fastest path.
    fn poll_control(&mut self, now: Timestamp) -> Option<Transmit> {
        self.control.peek()?;
        let id = self.fastest_path(PathSet::EMPTY)?;
        let path = self.paths.get(&id)?;
        let room = path.max_datagram as usize;
        if self.congestion.bytes_in_flight(id) + path.committed > self.congestion.window(id) {
            return None;
        }
        let mut buf = BytesMut::new();
        let mut payload = Payload::default();
        while let Some((seq, message)) = self.control.peek() {
            let frame = Frame::Control { seq, message: message.clone() };
            if !buf.is_empty() && buf.len() + frame.encoded_size(false) > room {
                break;
            }
            frame.encode(&mut buf, false);
            payload.control.push(seq);
            self.control.on_sent(seq, now);
        }
        Some(self.commit(id, buf.freeze(), payload))
    }

    /// Copies that the scheduler asked for beside the segment that went out.
    fn poll_copy(&mut self, now: Timestamp) -> Option<Transmit> {
        while let Some((path, dsn)) = self.copies.pop_front() {
            if self.chunks.is_on(dsn, path) {
                continue;
            }
            if let Some(transmit) = self.build_copy(path, dsn, now) {
                return Some(transmit);
            }
        }
        None
    }

    /// Stream data: what must travel again first, then new data, by the scheduler's choice.
    fn poll_data(&mut self, now: Timestamp) -> Option<Transmit> {
        let again = self.chunks.next_reinjection();
        let is_new = again.is_none();
        if is_new && (!self.send.is_ready() || self.peer.window <= self.chunks.next_dsn()) {
            let late = self.poll_late_copy(now);
            if late.is_none() {
                self.rest();
            }
            return late;
        }
        let full = self.views.iter().map(|view| view.mss).max().unwrap_or(MIN_DATAGRAM);
        let segment = again.as_ref().map_or(self.send.unsent(), |s| s.len).clamp(1, full);
        let queue = self.queue_view(segment, again.as_ref());
        self.window_blocked = false;
        match self.scheduler.pick(&self.views, &queue, now) {
            Pick::Send(path) => self.build_data(path, !is_new, now),
            Pick::Ahead { path, skip } => {
                let transmit = self.build_ahead(path, skip, now);
                if transmit.is_none() {
                    self.rest();
                }
                transmit
            }
            Pick::Duplicate(paths) => self.send_duplicates(paths, !is_new, now),
            Pick::Wait(until) => {
                self.wake_at(until);
                self.wake_when_paced(now);
                self.rest();
                None
            }
        }
    }

    fn send_duplicates(&mut self, paths: PathSet, again: bool, now: Timestamp) -> Option<Transmit> {
        let mut paths = paths.iter();
        let first = self.build_data(paths.next()?, again, now)?;
        let dsn = first.payload.chunk.map(|chunk| chunk.dsn)?;
        self.copies.extend(paths.map(|path| (path, dsn)));
        Some(first)
    }

    pub(super) fn wake_at(&mut self, at: Timestamp) {
        if at < Timestamp::MAX {
            self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
        }
    }

    /// Nothing is sent now: paths with room are limited by the application or the scheduler, not
    /// by the network.
    fn rest(&mut self) {
        for view in self.views.iter().filter(|view| view.available) {
            self.congestion.set_app_limited(view.id);
        }
    }

    /// Asks again when pacing lets the first path send.
    pub(super) fn wake_when_paced(&mut self, now: Timestamp) {
        let paced = self.views.iter().filter(|v| v.paced_until > now && v.room() >= v.mss);
        let at = paced.map(|view| view.paced_until).min().unwrap_or(Timestamp::MAX);
        self.wake_at(at);
    }
}
