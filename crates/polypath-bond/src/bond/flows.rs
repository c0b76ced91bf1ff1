//! Datagram flows.

use super::paths::Paths;
use super::steering::Steered;
use super::{Bond, Transmit};
use crate::carried_bytes::CarriedBytes;
use crate::codec::{Control, FlowConfig, FlowId, FragmentFrame, MAX_DATAGRAM, PathList};
use crate::error::{OpenError, ProtocolError, SendDatagramError};
use crate::event::Event;
use crate::flow::{Arrived, FlowCounters, MAX_AUTO_RESEQUENCE, PathWaits, Piece, Source};
use crate::path::{Path, Payload};
use bytes::{Bytes, BytesMut};
use polypath_core::congestion::Congestion;
use polypath_core::estimator::RttEstimator;
use polypath_units::{PathId, PathSet, Timestamp};
use std::time::Duration;

/// How long the fragments of a datagram may take to leave their sender: as long as the largest one
/// does at 256 kbit/s.
const FRAGMENTS_LEAVE_WITHIN: Duration = Duration::from_millis(2_000);
/// The longest RTT of a path that the rest of a datagram is waited for.
const MAX_FRAGMENT_RTT: Duration = Duration::from_secs(1);

/// How many round trips of the slowest path a datagram waits to be sent: what fills a path may
/// double in the second.
const PATIENT_ROUNDS: u32 = 2;
/// Within these bounds.
const LEAST_PATIENCE: Duration = Duration::from_millis(50);
const MOST_PATIENCE: Duration = Duration::from_millis(500);

/// How long a datagram is waited for that is sent again, in round trips: one and an eighth until
/// its sender knows that it is lost, half of one for its way, less half of one for that of the
/// datagram that showed that it is missing, and some for queues.
const ROUNDS_OF_REPETITION: f64 = 2.5;
/// And in time: its acknowledgement may be delayed, and timers be late.
const DELAYS_OF_REPETITION: Duration = Duration::from_millis(10);

impl Bond {
    /// Opens a datagram flow, which carries datagrams both ways.
    ///
    /// # Errors
    /// When the bond is closing, or too many flows of this side are open.
    pub fn open_flow(&mut self, config: FlowConfig) -> Result<FlowId, OpenError> {
        if !self.lifecycle.is_open() {
            return Err(OpenError::Closed);
        }
        let flow = self.flows.open(config).ok_or(OpenError::LimitReached)?;
        self.tell(Control::FlowOpen { flow, config });
        Ok(flow)
    }

    /// Closes a flow; datagrams that wait are dropped.
    pub fn close_flow(&mut self, flow: FlowId) {
        if self.flows.close(flow) {
            self.tell(Control::FlowClose { flow });
        }
    }

    pub(super) fn on_flow_open(
        &mut self,
        flow: FlowId,
        config: FlowConfig,
        now: Timestamp,
    ) -> Result<(), ProtocolError> {
        if self.flows.on_open(flow, config)? {
            self.events.push_back(Event::FlowOpened(flow));
            for early in self.flows.take_early(flow) {
                self.on_flow_datagram(early, now)?;
            }
        }
        Ok(())
    }

    /// Makes room for a flow of the peer that a stream has named and whose opening message may not
    /// have arrived. Returns false if the peer may not open it, or it was closed.
    pub fn expect_flow(&mut self, flow: FlowId) -> bool {
        self.flows.expect(flow)
    }

    pub(super) fn on_flow_close(&mut self, flow: FlowId) {
        if self.flows.on_close(flow) {
            self.events.push_back(Event::FlowClosed(flow));
        }
    }

    /// The longest datagram that a flow carries, whatever its paths carry in one packet.
    pub fn max_datagram_size(&self) -> usize {
        MAX_DATAGRAM.min(usize::try_from(self.config.flow_buffer).unwrap_or(usize::MAX))
    }

    /// Queues a datagram.
    ///
    /// # Errors
    /// When it is too long, the queue is full, or there is no such flow.
    pub fn send_datagram(
        &mut self,
        id: FlowId,
        data: &Bytes,
        now: Timestamp,
    ) -> Result<(), SendDatagramError> {
        let max = self.max_datagram_size();
        let flow = self.flows.sender(id).ok_or(SendDatagramError::UnknownFlow(id))?;
        if data.len() > max {
            return Err(SendDatagramError::TooLarge { max });
        }
        let copies = if flow.is_redundant() { self.copy_paths(id) } else { PathSet::EMPTY };
        let (known, congestion) = (&self.paths, &self.congestion);
        let patience = |paths: &PathList| patience(known, congestion, paths);
        let queued = self.flows.push(id, data, copies, patience, now);
        if queued { Ok(()) } else { Err(SendDatagramError::QueueFull(id)) }
    }

    /// The next datagram of a flow, if one has arrived.
    pub fn recv_datagram(&mut self, id: FlowId) -> Option<CarriedBytes> {
        self.flows.read(id)
    }

    /// What became of a flow's datagrams.
    pub fn flow_counters(&self, id: FlowId) -> Option<FlowCounters> {
        self.flows.counters(id)
    }

    pub(super) fn on_flow_datagram(
        &mut self,
        arrived: Arrived,
        now: Timestamp,
    ) -> Result<(), ProtocolError> {
        let FragmentFrame { flow, ref data, .. } = arrived.fragment;
        let admitted = self.limits.admits_datagram(data.len() as u64, now);
        let (paths, congestion) = (&self.paths, &self.congestion);
        if self.flows.on_datagram(arrived, admitted, || waits(paths, congestion), now)? {
            self.events.push_back(Event::FlowReadable(flow));
        }
        Ok(())
    }

    /// Releases what has waited for order long enough, and gives up what has waited for the rest.
    pub(super) fn release_flows(&mut self, now: Timestamp) {
        let (waits, events) = (waits(&self.paths, &self.congestion), &mut self.events);
        self.flows.release(waits, now, |id| events.push_back(Event::FlowReadable(id)));
    }

    pub(super) fn next_flow_timer(&self) -> Option<Timestamp> {
        self.flows.next_timer(|| waits(&self.paths, &self.congestion))
    }

    /// The next datagram of any flow, in turn.
    pub(super) fn poll_flows(&mut self, now: Timestamp) -> Option<Transmit> {
        let waiting = self.flows.backlog().for_scheduler();
        let mut next = self.flows.backlog().next(None);
        while let Some(id) = next {
            if let Some(transmit) = self.poll_flow(id, waiting, now) {
                self.flows.on_served(id);
                return Some(transmit);
            }
            next = self.flows.backlog().next(Some(id));
        }
        None
    }

    /// The next datagram of a flow, where `waiting` bytes wait for the scheduler in all.
    fn poll_flow(&mut self, id: FlowId, waiting: u64, now: Timestamp) -> Option<Transmit> {
        let Steered { path, source } = self.steer(id, waiting, now)?;
        let transmit = self.send_from(id, path, source)?;
        self.on_steered(id, path, transmit.payload.len);
        self.copy_on_another(id, path, &transmit.payload.pieces, now);
        Some(transmit)
    }

    /// A payload on `path` with what it is to carry of a flow.
    fn send_from(&mut self, id: FlowId, path: PathId, source: Source) -> Option<Transmit> {
        let room = self.paths.get(path)?.max_datagram;
        let skip = match source {
            Source::Shared { skip } => skip,
            Source::Copies => 0,
        };
        let (data, pieces) = self.flows.with_sender(id, |sender| {
            let queue = sender.queue_mut(path, source);
            let ahead = if skip > 0 { queue.cut_ahead(id, room, skip) } else { None };
            let first = ahead.or_else(|| queue.cut(id, room))?;
            Some(fill(first, room, |left| match skip {
                0 => queue.cut_whole(id, left, 0).or_else(|| queue.cut_behind(id, left, room)),
                _ => queue.cut_whole(id, left, skip),
            }))
        })??;
        Some(self.commit(path, data, Payload { datagram: true, pieces, ..Payload::default() }))
    }
}

/// A payload of `room` bytes at most: behind the first piece go whole datagrams that wait, and
/// parts of those that no payload carries. Small ones, and the ends of large ones, would have a
/// packet each, whose headers are as long as they. `next` takes what is carried in so many bytes.
fn fill(
    first: Piece,
    room: u64,
    mut next: impl FnMut(u64) -> Option<Piece>,
) -> (Bytes, Vec<Piece>) {
    let (mut data, mut pieces) = (BytesMut::new(), Vec::new());
    let (mut left, mut upcoming) = (room, Some(first));
    while let Some(piece) = upcoming {
        let frame = piece.frame();
        // With the length that it needs where another follows.
        let size = frame.encoded_size(false);
        data.reserve(size);
        let rest = left.checked_sub(size as u64);
        upcoming = rest.and_then(&mut next);
        left = rest.unwrap_or(0);
        frame.encode(&mut data, upcoming.is_none());
        pieces.push(piece);
    }
    (data.freeze(), pieces)
}

/// How long datagrams of a flow that may take `allowed` may wait to be sent; there is no bound
/// while none of these paths works, because they wait until one does.
fn patience(paths: &Paths, congestion: &Congestion, allowed: &PathList) -> Option<Duration> {
    let usable = paths.active_among(allowed);
    if usable.is_empty() {
        return None;
    }
    let usable = paths.working().filter(|path| usable.contains(path.id));
    let known = usable.filter_map(|path| KnownRtt::of(path, congestion));
    let slowest = known.map(|rtt| rtt.smoothed).max().unwrap_or_default();
    Some((slowest * PATIENT_ROUNDS).clamp(LEAST_PATIENCE, MOST_PATIENCE))
}

fn waits(paths: &Paths, congestion: &Congestion) -> PathWaits {
    let known = paths.working().filter_map(|path| KnownRtt::of(path, congestion));
    let all = known.reduce(KnownRtt::spanning);
    let apart = all.map_or(Duration::ZERO, |rtt| rtt.longest.saturating_sub(rtt.least));
    let slowest = all.map_or(Duration::ZERO, |rtt| rtt.smoothed);
    let longest = all.map_or(MAX_FRAGMENT_RTT, |rtt| rtt.longest.min(MAX_FRAGMENT_RTT));
    PathWaits {
        again: slowest.mul_f64(ROUNDS_OF_REPETITION) + DELAYS_OF_REPETITION,
        order: slowest.max(apart / 2).min(MAX_AUTO_RESEQUENCE),
        rest: longest + FRAGMENTS_LEAVE_WITHIN,
    }
}

/// What is known of a path's round trips.
#[derive(Clone, Copy)]
struct KnownRtt {
    least: Duration,
    smoothed: Duration,
    /// What a packet and its acknowledgement take at most.
    longest: Duration,
}

impl KnownRtt {
    /// The least of two paths, and else that of the slower one.
    fn spanning(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            smoothed: self.smoothed.max(other.smoothed),
            longest: self.longest.max(other.longest),
        }
    }

    /// By what was measured, and before that by the set-up of the path as by a first sample
    /// (RFC 6298, section 2.2): this side may have had nothing to send on it.
    fn of(path: &Path, congestion: &Congestion) -> Option<Self> {
        let measured = |rtt: &RttEstimator| {
            let (least, smoothed) = (rtt.min()?, rtt.srtt()?);
            Some(Self { least, smoothed, longest: smoothed + 4 * rtt.rttvar() })
        };
        let of_setup = |rtt: Duration| Self { least: rtt, smoothed: rtt, longest: rtt * 3 };
        congestion.rtt(path.id).and_then(measured).or_else(|| path.first_rtt.map(of_setup))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bond::fixtures::{OVERHEAD, hub, settings};
    use crate::codec::{DatagramFrame, FlowMode, Frame, Frames, Side};
    use crate::config::BondConfig;

    const FLOW: FlowId = FlowId::new(Side::Edge, 0);

    fn arrive(bond: &mut Bond, frame: &Frame, now: Timestamp) {
        let mut datagram = BytesMut::new();
        frame.encode(&mut datagram, true);
        bond.on_datagram(PathId::default(), datagram.freeze(), now);
    }

    /// A datagram of 160 bytes takes 165 of the 1,200 of a payload, the last one two less.
    #[test]
    fn small_datagrams_that_wait_share_a_payload() {
        for (mode, paths) in [(FlowMode::Aggregate, 1), (FlowMode::Redundant, 2)] {
            let mut bond = hub(BondConfig::default(), None);
            bond.add_path(PathId::new(1).unwrap(), settings("b", None), Timestamp::ZERO);
            let flow = bond.open_flow(FlowConfig::of(mode)).unwrap();
            while bond.poll_transmit(Timestamp::ZERO).is_some() {}
            for n in 0..10 {
                bond.send_datagram(flow, &Bytes::from(vec![n; 160]), Timestamp::ZERO).unwrap();
            }
            let mut payloads = Vec::new();
            while let Some(transmit) = bond.poll_transmit(Timestamp::ZERO) {
                assert!(transmit.datagram.len() <= 1_200, "{}", transmit.datagram.len());
                let frames = Frames::new(transmit.datagram).map(Result::unwrap);
                let data = frames.map(|frame| match frame {
                    Frame::Datagram(whole) => whole.data[0],
                    other => panic!("{other:?}"),
                });
                payloads.push(data.collect::<Vec<_>>());
            }
            payloads.sort();
            let expected: Vec<Vec<u8>> = vec![(0..7).collect(), (7..10).collect()];
            assert_eq!(
                payloads,
                expected.iter().flat_map(|p| vec![p.clone(); paths]).collect::<Vec<_>>()
            );
        }
    }

    /// 1,500 bytes take 300 more than a payload; each of the parts has a header of 9 bytes at most.
    #[test]
    fn what_has_to_be_cut_fills_payloads() {
        let mut bond = hub(BondConfig::default(), None);
        let flow = bond.open_flow(FlowConfig::of(FlowMode::Aggregate)).unwrap();
        while bond.poll_transmit(Timestamp::ZERO).is_some() {}
        for n in 0..4 {
            bond.send_datagram(flow, &Bytes::from(vec![n; 1_500]), Timestamp::ZERO).unwrap();
        }
        let (mut sizes, mut parts) = (Vec::new(), Vec::new());
        while let Some(transmit) = bond.poll_transmit(Timestamp::ZERO) {
            sizes.push(transmit.datagram.len());
            parts.extend(Frames::new(transmit.datagram).map(|frame| match frame.unwrap() {
                Frame::Fragment(part) => (part.data[0], part.offset, part.data.len()),
                other => panic!("{other:?}"),
            }));
        }
        let (last, full) = sizes.split_last().unwrap();
        assert!(full.iter().all(|&size| size == 1_200) && full.len() == 5, "{sizes:?}");
        assert!(*last <= 6_000 + 9 * 9 - 5 * 1_200, "{sizes:?}");
        for n in 0..4 {
            let mut of_one: Vec<_> = parts.iter().filter(|part| part.0 == n).collect();
            of_one.sort();
            let covered = of_one.iter().fold(0, |end, (_, offset, len)| {
                assert_eq!(*offset, end);
                offset + len
            });
            assert_eq!(covered, 1_500);
        }
    }

    /// Datagrams 0 and 2 arrive over a hub's measured paths of 10 and 200 ms, the second before the
    /// opening too if it is late: which are there at once.
    fn delivered(mode: FlowMode, opening_is_late: bool) -> Vec<Bytes> {
        let mut bond = hub(BondConfig::default(), None);
        let far = PathId::new(1).unwrap();
        bond.add_path(far, settings("b", None), Timestamp::ZERO);
        for (path, rtt) in [(PathId::default(), 10), (far, 200)] {
            bond.on_packet_sent(path, 0, OVERHEAD, Payload::default(), Timestamp::ZERO);
            bond.on_packet_acked(path, 0, Timestamp::from_millis(rtt));
            bond.on_acks_end(path, Timestamp::from_millis(rtt));
        }
        let datagram = |seq| {
            let data = Bytes::from_static(&[b"0", b"1", b"2"][seq as usize][..]);
            Frame::Datagram(DatagramFrame { flow: FLOW, seq, data })
        };
        let message = Control::FlowOpen { flow: FLOW, config: FlowConfig::of(mode) };
        let mut frames = [Frame::Control { seq: 0, message }, datagram(0), datagram(2)];
        if opening_is_late {
            frames.rotate_left(1);
        }
        let now = Timestamp::from_millis(300);
        frames.iter().for_each(|frame| arrive(&mut bond, frame, now));
        core::iter::from_fn(|| bond.recv_datagram(FLOW)).map(|datagram| datagram.data).collect()
    }

    #[test]
    fn a_datagram_is_marked_as_its_packet_was() {
        let mut bond = hub(BondConfig::default(), None);
        let config = FlowConfig::of(FlowMode::Redundant);
        let message = Control::FlowOpen { flow: FLOW, config };
        arrive(&mut bond, &Frame::Control { seq: 0, message }, Timestamp::ZERO);
        for (seq, is_marked) in [(0, true), (1, false)] {
            let mut data = BytesMut::new();
            let datagram = DatagramFrame { flow: FLOW, seq, data: Bytes::from_static(b"x") };
            Frame::Datagram(datagram).encode(&mut data, true);
            let carried = CarriedBytes { data: data.freeze(), is_marked };
            bond.on_datagram(PathId::default(), carried, Timestamp::ZERO);
            assert_eq!(bond.recv_datagram(FLOW).map(|whole| whole.is_marked), Some(is_marked));
        }
    }

    /// 100 ms count as a first sample: 300 at most, half of what they are apart, and two and a half
    /// of them until what was lost comes again.
    #[test]
    fn a_path_that_has_brought_no_rtt_is_waited_for_by_that_of_its_setup() {
        let waits_of = |setup| {
            let bond = hub(BondConfig::default(), setup);
            waits(&bond.paths, &bond.congestion)
        };
        let known = waits_of(Some(Duration::from_millis(100)));
        let in_ms = [known.order, known.again, known.rest].map(|wait| wait.as_millis());
        assert_eq!(in_ms, [100, 260, 2_300]);
        assert_eq!(waits_of(None).order, Duration::ZERO);
    }

    #[test]
    fn only_a_flow_that_is_spread_waits_for_order_unasked() {
        for late in [false, true] {
            for mode in [FlowMode::Redundant, FlowMode::Best, FlowMode::SmallestDelay] {
                assert_eq!(delivered(mode, late), [&b"0"[..], b"2"], "{mode:?} {late}");
            }
            for mode in [FlowMode::Aggregate, FlowMode::PriorityBased, FlowMode::LoadBalancing] {
                assert_eq!(delivered(mode, late), [&b"0"[..]], "{mode:?} {late}");
            }
        }
    }
}
