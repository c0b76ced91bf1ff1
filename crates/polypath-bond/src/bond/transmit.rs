//! What is sent next, and where.

use super::views::MIN_DATAGRAM;
use super::{Bond, Transmit, Urgent};
use crate::codec::{AckFrame, Arrival, Frame};
use crate::path::{Path, Payload};
use crate::send::SegmentInfo;
use bytes::BytesMut;
use polypath_core::scheduler::{Pick, has_room_beside};
use polypath_units::{PathId, PathSet, Timestamp};

/// Below this share of the RTT of the path that an acknowledgement takes, another is worth a copy.
const FASTER: f64 = 0.8;

impl Bond {
    /// The next datagram to hand to a carrier. Call until `None`, then see
    /// [`Bond::poll_timeout`]. A datagram must reach [`Bond::on_packet_sent`] before much time
    /// passes: the bond counts it as sent.
    pub fn poll_transmit(&mut self, now: Timestamp) -> Option<Transmit> {
        if self.lifecycle.is_broken() {
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
        let transmit = match self.limits.check_send(now) {
            Ok(()) => self.poll_in_turn(now),
            Err(again) => {
                self.wake_at(again);
                None
            }
        };
        let Some(transmit) = transmit else {
            self.rest();
            return None;
        };
        self.limits.on_sent(transmit.payload.len);
        Some(transmit)
    }

    /// Datagrams of flows go first, because they are worth the most when they are new; but streams have
    /// their turns. What flows send in a turn that streams could not use costs them none.
    fn poll_in_turn(&mut self, now: Timestamp) -> Option<Transmit> {
        if !self.flows.are_waiting() {
            return self.poll_streams(now);
        }
        let contended = self.streams_wait();
        if contended && !self.turns.flows_first() {
            return self.poll_streams(now).or_else(|| self.poll_flows(now));
        }
        let datagram = self.poll_flows(now);
        if let Some(transmit) = datagram.as_ref().filter(|_| contended) {
            self.turns.on_flows(transmit.payload.len);
        }
        datagram.or_else(|| self.poll_streams(now))
    }

    fn streams_wait(&self) -> bool {
        !self.copies.is_empty() || self.chunks.next_reinjection().is_some() || self.may_cut()
    }

    fn poll_streams(&mut self, now: Timestamp) -> Option<Transmit> {
        let transmit = self.poll_copy(now).or_else(|| self.poll_data(now))?;
        self.turns.on_streams(transmit.payload.len);
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
        let is_full = self.acks.is_full();
        let ack = self.take_ack();
        self.hurry(&ack, is_full, path, now);
        let payload = Payload { ack: true, ..Payload::default() };
        Some(self.commit_frame(path, &Frame::Ack(ack), payload, 0))
    }

    /// Of what arrives at a high rate, a faster path than `path` tells as well now and then: so the receive
    /// window moves on earlier. Not of all that arrives, which might fill a path that carries little.
    fn hurry(&mut self, ack: &AckFrame, is_full: bool, path: PathId, now: Timestamp) {
        let Some(fastest) = self.fastest_path(PathSet::EMPTY) else { return };
        let srtt = |id| self.congestion.rtt(id).and_then(|rtt| rtt.srtt());
        let gains = || srtt(fastest).zip(srtt(path)).is_some_and(|(a, b)| a < b.mul_f64(FASTER));
        let copied = is_full && fastest != path && self.acks.wants_hurry(now) && gains();
        if copied {
            self.urgent.push_back(Urgent { frame: Frame::Ack(ack.clone()), avoid: PathSet::EMPTY });
        }
        if copied || fastest == path {
            self.acks.on_hurried(now);
        }
    }

    fn take_ack(&mut self) -> AckFrame {
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
            self.control.on_sent(seq, id, now);
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

    /// Stream data, by the scheduler's choice: what must travel again or was left behind first, then
    /// what has not been cut yet.
    fn poll_data(&mut self, now: Timestamp) -> Option<Transmit> {
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

    /// Where the scheduler wants the next segment, which is `len` long; `queued` if it has been cut.
    fn pick(&mut self, len: u64, queued: Option<&SegmentInfo>, now: Timestamp) -> Pick {
        let full = self.views.iter().map(|view| view.mss).max().unwrap_or(MIN_DATAGRAM);
        let queue = self.queue_view(len.clamp(1, full), queued);
        self.window_blocked = false;
        let pick = self.scheduler.pick(&self.views, &queue, now);
        if let Pick::Wait(until) = pick {
            self.wake_at(until);
            self.wake_when_paced(now);
        }
        pick
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bond::fixtures::{OVERHEAD, hub, settings};
    use crate::codec::{FlowId, FlowMode, Frames, StreamFrame, StreamId};
    use crate::config::BondConfig;
    use crate::flow::FlowConfig;
    use bytes::Bytes;
    use polypath_core::scheduler::{PathView, QueueView, Scheduler};
    use std::collections::BTreeSet;
    use std::time::Duration;

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

    /// A bond with so many bytes to send.
    fn bond(bytes: usize) -> Bond {
        let mut bond = hub(BondConfig::default(), None);
        bond.scheduler = Box::new(HoldsBack::default());
        let id = bond.open_stream().unwrap();
        bond.write(id, &Bytes::from(vec![0; bytes])).unwrap();
        bond
    }

    /// Sends all that goes now, as packets from `number`; the DSNs that they start with.
    fn send(bond: &mut Bond, mut number: u64, now: Timestamp) -> Vec<u64> {
        let mut starts = Vec::new();
        while let Some(Transmit { path, payload, .. }) = bond.poll_transmit(now) {
            starts.extend(payload.chunk.map(|chunk| chunk.dsn));
            let bytes = payload.len + OVERHEAD;
            bond.on_packet_sent(path, number, bytes, payload, now);
            number += 1;
        }
        starts
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

    /// Lost data that waits for a better path holds up neither what was left behind nor what is new.
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

    /// A hub with a path of 100 ms and one of `rtt`, both measured.
    fn far_and(rtt: u64) -> Bond {
        let mut bond = hub(BondConfig::default(), None);
        let near = PathId::new(1).unwrap();
        bond.add_path(near, settings("b", None), Timestamp::ZERO);
        for (path, rtt) in [(PathId::default(), 100), (near, rtt)] {
            bond.on_packet_sent(path, 0, OVERHEAD, Payload::default(), Timestamp::ZERO);
            bond.on_packet_acked(path, 0, Timestamp::from_millis(rtt));
            bond.on_acks_end(path, Timestamp::from_millis(rtt));
        }
        bond
    }

    /// So many segments arrive over the far path: the paths of the acknowledgements.
    fn acknowledged(bond: &mut Bond, segments: u64, millis: u64) -> Vec<u8> {
        let now = Timestamp::from_millis(millis);
        for _ in 0..segments {
            let dsn = bond.acks.data.next();
            let data = Bytes::from_static(&[0; 1_000]);
            let frame = StreamFrame { dsn, id: StreamId(0), offset: dsn, fin: false, data };
            let mut datagram = BytesMut::new();
            Frame::Stream(frame).encode(&mut datagram, true);
            bond.on_datagram(PathId::default(), datagram.freeze(), now);
        }
        // What is left over waits for the delay.
        let later = now + Duration::from_millis(if segments < 8 { 5 } else { 0 });
        let sent = core::iter::from_fn(|| bond.poll_transmit(later));
        sent.filter(|sent| is_ack(&sent.datagram)).map(|sent| sent.path.get()).collect()
    }

    fn is_ack(datagram: &Bytes) -> bool {
        Frames::new(datagram.clone()).any(|frame| matches!(frame, Ok(Frame::Ack(_))))
    }

    #[test]
    fn a_faster_path_tells_as_well_now_and_then() {
        let mut bond = far_and(79);
        assert_eq!(acknowledged(&mut bond, 8, 110), [0, 1]);
        assert_eq!(acknowledged(&mut bond, 8, 114), [0]);
        assert_eq!(acknowledged(&mut bond, 8, 115), [0, 1]);
        assert_eq!(acknowledged(&mut bond, 7, 130), [0], "little arrives");
    }

    #[test]
    fn a_path_that_is_hardly_faster_does_not() {
        assert_eq!(acknowledged(&mut far_and(81), 8, 110), [0]);
    }

    /// Bytes of a stream arrive in order of DSN, until the peer may send no more DSN or `end` is its offset.
    fn arrive(bond: &mut Bond, id: StreamId, end: u64, now: Timestamp) {
        let mut offset = 0;
        while offset < end && bond.acks.data.next() < bond.acks.advertised() {
            let dsn = bond.acks.data.next();
            let len = (bond.acks.advertised() - dsn).min(end - offset).min(1_000);
            let data = Bytes::from(vec![7; len as usize]);
            let mut datagram = BytesMut::new();
            Frame::Stream(StreamFrame { dsn, id, offset, fin: false, data })
                .encode(&mut datagram, true);
            bond.on_datagram(PathId::default(), datagram.freeze(), now);
            offset += len;
        }
    }

    /// The last window that the bond tells by `now`.
    fn told_window(bond: &mut Bond, now: Timestamp) -> Option<u64> {
        let sent: Vec<_> = core::iter::from_fn(|| bond.poll_transmit(now)).collect();
        let frames = sent.into_iter().flat_map(|sent| Frames::new(sent.datagram));
        let windows = frames.filter_map(|frame| match frame {
            Ok(Frame::Ack(ack)) => Some(ack.window),
            _ => None,
        });
        windows.last()
    }

    /// A stream that nobody reads holds 13/16 of the buffer of 1 MiB, more than 3/4. Another has all the
    /// other DSN, and all has been acknowledged: the peer can neither send nor expect anything.
    #[test]
    fn a_peer_without_credit_hears_of_what_a_reader_frees_beside_a_slow_one() {
        let buffer = 1 << 20;
        let mut bond = hub(BondConfig { receive_buffer: buffer, ..BondConfig::default() }, None);
        let slow: Vec<_> = (0..4).map(|n| StreamId(2 * n)).collect();
        let held = buffer / 16 * 13 / 4;
        slow.iter().for_each(|&id| arrive(&mut bond, id, held, Timestamp::from_millis(1)));
        let fast = StreamId(8);
        arrive(&mut bond, fast, buffer, Timestamp::from_millis(1));
        let then = Timestamp::from_millis(100);
        assert_eq!(told_window(&mut bond, then), Some(buffer));
        assert_eq!(told_window(&mut bond, Timestamp::from_millis(200)), None);

        let now = Timestamp::from_millis(300);
        while bond.read(fast, usize::MAX, now).is_ok() {}
        let free = buffer - 4 * held;
        assert_eq!(told_window(&mut bond, now), Some(buffer + free));
    }

    /// A bond with 1,000,000 bytes of a stream to send, and a flow.
    fn stream_and_flow() -> (Bond, FlowId) {
        let mut bond = hub(BondConfig::default(), None);
        let id = bond.open_stream().unwrap();
        bond.write(id, &Bytes::from(vec![0; 1_000_000])).unwrap();
        let config = FlowConfig { mode: FlowMode::Aggregate, resequence: None };
        let flow = bond.open_flow(config).unwrap();
        (bond, flow)
    }

    /// Sends until all of the stream is sent, in rounds of 10 ms after which all is acknowledged. `queue`
    /// is called before each datagram. Which were of the flow, and their lengths.
    fn send_all(bond: &mut Bond, mut queue: impl FnMut(&mut Bond, usize)) -> Vec<(bool, u64)> {
        let (mut now, mut number, mut sent) = (Timestamp::ZERO, 0, Vec::new());
        while bond.send.unsent() > 0 {
            // Pacing lets two datagrams or more go in a round: 2,100 of them take 11 s.
            assert!(now < Timestamp::from_millis(30_000), "the stream has starved");
            let first = number;
            loop {
                queue(bond, sent.len());
                let Some(Transmit { path, payload, .. }) = bond.poll_transmit(now) else { break };
                if payload.is_data() {
                    sent.push((payload.datagram, payload.len));
                }
                let bytes = payload.len + OVERHEAD;
                bond.on_packet_sent(path, number, bytes, payload, now);
                number += 1;
            }
            now += Duration::from_millis(10);
            (first..number).for_each(|n| bond.on_packet_acked(PathId::default(), n, now));
            bond.on_acks_end(PathId::default(), now);
        }
        sent
    }

    /// A flow with more than the path carries may be 64 KiB ahead, and a datagram of each.
    #[test]
    fn a_flow_that_is_never_done_leaves_half_to_a_stream() {
        let (mut bond, flow) = stream_and_flow();
        let data = Bytes::from_static(&[1; 700]);
        let sent = send_all(&mut bond, |bond, _| while bond.send_datagram(flow, &data).is_ok() {});
        let sum = |of| -> u64 { sent.iter().filter(|sent| sent.0 == of).map(|sent| sent.1).sum() };
        let (flow, stream) = (sum(true), sum(false));
        assert!(
            stream > 1_000_000 && flow.abs_diff(stream) <= (64 << 10) + 2_400,
            "{flow} {stream}"
        );
    }

    /// A datagram of 700 bytes for two of 1,200.
    #[test]
    fn a_small_flow_waits_for_no_stream() {
        let (mut bond, flow) = stream_and_flow();
        let mut queued = Vec::new();
        let sent = send_all(&mut bond, |bond, sent| {
            if sent % 3 == 0 && queued.last() != Some(&sent) {
                bond.send_datagram(flow, &Bytes::from_static(&[1; 700])).unwrap();
                queued.push(sent);
            }
        });
        let of_flow: Vec<_> = (0..sent.len()).filter(|&n| sent[n].0).collect();
        assert_eq!(of_flow, queued[..of_flow.len()], "each went next");
        assert!(of_flow.len() >= queued.len() - 1 && queued.len() > 300);
    }
}
