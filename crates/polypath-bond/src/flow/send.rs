//! The sending half of a datagram flow.

use super::allowance::CopyAllowance;
use super::backlog::Waiting;
use super::queue::Queue;
use super::{Piece, Queued, Shares};
use crate::codec::{FlowConfig, FlowMode};
use bytes::Bytes;
use polypath_units::{PathId, PathSet, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;

/// How often a datagram is sent again. By then it is late for whoever it was urgent for, and others
/// ask for it themselves.
const MAX_LOSSES: u8 = 3;

/// How much of a flow may wait to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendRoom {
    pub(crate) bytes: u64,
    /// For so long, if there is a bound. What comes while another waits for longer has been sent
    /// too fast, and its loss tells it who sends it.
    pub(crate) patience: Option<Duration>,
}

/// What of a flow a path carries next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// What any path may carry, behind about so many bytes of it.
    Shared { skip: u64 },
    /// The copies that are for this path.
    Copies,
}

/// Datagrams of one flow that wait to be sent.
#[derive(Debug)]
pub(crate) struct SendFlow {
    pub(crate) config: FlowConfig,
    next_seq: u64,
    queue: Queue,
    /// The copies that each path has still to send.
    copies: BTreeMap<PathId, Queue>,
    /// Mode `smallest_delay`: how many bytes of copies may leave.
    allowance: CopyAllowance,
    /// Where one path carries the flow: that path.
    current: Option<PathId>,
    /// Mode `load_balancing`: what each path has had of it.
    pub(crate) shares: Shares,
    pub(crate) sent: u64,
    pub(crate) dropped: u64,
}

impl SendFlow {
    pub(crate) fn new(config: FlowConfig) -> Self {
        Self {
            config,
            next_seq: 0,
            queue: Queue::default(),
            copies: BTreeMap::new(),
            allowance: CopyAllowance::default(),
            current: None,
            shares: Shares::default(),
            sent: 0,
            dropped: 0,
        }
    }

    pub(crate) fn is_redundant(&self) -> bool {
        self.config.mode == FlowMode::Redundant
    }

    /// Accepts a datagram, on all of `paths` in redundant mode. Returns false if it was dropped
    /// because there is no room for it.
    pub(crate) fn push(
        &mut self,
        data: &Bytes,
        paths: PathSet,
        room: &SendRoom,
        now: Timestamp,
    ) -> bool {
        let queued = Queued::new(self.next_seq, data.clone(), now);
        let accepted = match self.is_redundant() {
            true => self.push_copies(&queued, paths, room),
            false => self.push_shared(queued, room, now),
        };
        self.next_seq += u64::from(accepted);
        *(if accepted { &mut self.sent } else { &mut self.dropped }) += 1;
        accepted
    }

    /// The last ones are dropped: a number that has been given is waited for.
    fn push_shared(&mut self, queued: Queued, room: &SendRoom, now: Timestamp) -> bool {
        let is_late = room.patience.is_some_and(|patience| self.queue.is_late(patience, now));
        let has_room = !is_late && self.queue.bytes() + queued.remaining() <= room.bytes;
        if has_room {
            self.queue.push(queued);
        }
        has_room
    }

    /// A path that lags drops its own oldest copies: the others carry the datagram in time.
    fn push_copies(&mut self, queued: &Queued, paths: PathSet, room: &SendRoom) -> bool {
        for path in paths.iter() {
            let copies = self.copies.entry(path).or_default();
            copies.push(queued.clone());
            copies.shorten(room.bytes);
        }
        !paths.is_empty()
    }

    /// What a packet on `path` held, which is lost: to be sent again, where that is wanted.
    pub(crate) fn on_lost(&mut self, path: PathId, queued: &Queued, now: Timestamp) {
        let is_only = !self.is_redundant() && !queued.is_spare;
        if self.config.resend && queued.losses < MAX_LOSSES && is_only {
            self.queue.insert(queued.lost(path, now));
        }
    }

    /// The next datagram of the shared queue.
    pub(crate) fn peek(&self) -> Option<&Queued> {
        self.queue.front()
    }

    /// Bytes of the shared queue.
    pub(crate) fn waiting(&self) -> u64 {
        self.queue.bytes()
    }

    /// Whether a second path may carry some of what has just been cut of the shared queue: where
    /// copies have a share, and nothing waits that has not been sent at all.
    pub(crate) fn may_copy(&self, pieces: &[Piece]) -> bool {
        self.config.mode == FlowMode::SmallestDelay
            && self.config.copy_share > 0
            && self.queue.is_empty()
            && pieces.iter().any(|piece| piece.queued.is_new())
    }

    /// A second path is to carry `queued`, of which this [may be](Self::may_copy), with `overhead`
    /// for its packet: as long as copies have not had their share of `rate`, in bytes per second.
    pub(crate) fn copy(
        &mut self,
        queued: &Queued,
        path: PathId,
        overhead: u64,
        rate: f64,
        now: Timestamp,
    ) {
        let rate = rate * f64::from(self.config.copy_share) / 1e6;
        if queued.is_new() && self.allowance.take(queued.remaining() + overhead, rate, now) {
            self.copies.entry(path).or_default().push(queued.spare());
        }
    }

    /// Whether `path` has a copy to send.
    pub(crate) fn has_copy(&self, path: PathId) -> bool {
        self.copies.get(&path).is_some_and(|copies| !copies.is_empty())
    }

    /// What `path` takes datagrams from.
    pub(crate) fn queue_mut(&mut self, path: PathId, source: Source) -> &mut Queue {
        match source {
            Source::Copies => self.copies.entry(path).or_default(),
            Source::Shared { .. } => &mut self.queue,
        }
    }

    /// What `path` was given does not fit it any more. A copy is for nobody then but in redundant
    /// mode, where it may be the only one.
    pub(crate) fn put_back(&mut self, path: PathId, queued: Queued) {
        match self.is_redundant() {
            true => self.copies.entry(path).or_default().put_back(queued),
            false if queued.is_spare => {}
            false => self.queue.put_back(queued),
        }
    }

    pub(crate) fn has_waiting(&self) -> bool {
        !self.queue.is_empty() || self.copies.values().any(|copies| !copies.is_empty())
    }

    /// What waits of the flow.
    pub(super) fn backlog(&self) -> Waiting {
        let FlowConfig { mode, paths, .. } = &self.config;
        let (any, bytes) = (self.has_waiting(), self.waiting());
        let is_scheduled = *mode == FlowMode::Aggregate && paths.is_all();
        Waiting { any, bytes, for_scheduler: if is_scheduled { bytes } else { 0 } }
    }

    /// The path that carries the flow, where one does.
    pub(crate) fn current(&self) -> Option<PathId> {
        self.current
    }

    /// This path carries the flow from now on.
    pub(crate) fn stay_on(&mut self, path: PathId) {
        self.current = Some(path);
    }

    /// A path is gone or failed: its copies are for nobody.
    pub(crate) fn forget_path(&mut self, path: PathId) {
        self.copies.remove(&path);
        self.shares.forget_path(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::FlowId;

    const FLOW: FlowId = FlowId(0);
    const SHARED: Source = Source::Shared { skip: 0 };

    /// Where 250 bytes may wait.
    fn push(flow: &mut SendFlow, data: &[u8], paths: &[PathId]) -> bool {
        let paths = paths.iter().copied().collect();
        let room = SendRoom { bytes: 250, patience: None };
        flow.push(&Bytes::copy_from_slice(data), paths, &room, Timestamp::ZERO)
    }

    #[test]
    fn a_lagging_path_drops_its_own_copies_only() {
        let paths = [PathId::new(0).unwrap(), PathId::new(1).unwrap()];
        let mut flow = SendFlow::new(FlowConfig::of(FlowMode::Redundant));
        for n in 0..4 {
            assert!(push(&mut flow, &[n; 100], &paths));
            let copy = flow.queue_mut(paths[0], Source::Copies).cut(FLOW, 1_200);
            assert_eq!(copy.map(|copy| copy.queued.seq), Some(u64::from(n)));
        }
        assert_eq!(flow.queue_mut(paths[1], Source::Copies).front().map(|copy| copy.seq), Some(2));
    }

    #[test]
    fn a_full_queue_refuses() {
        let mut flow = SendFlow::new(FlowConfig::of(FlowMode::Aggregate));
        let accepted: Vec<_> = (0..3).map(|_| push(&mut flow, &[0; 100], &[])).collect();
        assert_eq!(accepted, [true, true, false]);
        assert_eq!((flow.sent, flow.dropped), (2, 1));
    }

    /// The whole takes a payload less its header. What a path did not take after all is cut anew.
    #[test]
    fn a_datagram_is_cut_as_each_payload_allows() {
        let mut flow = SendFlow::new(FlowConfig::of(FlowMode::Aggregate));
        let room = SendRoom { bytes: 3_000, patience: None };
        assert!(flow.push(&vec![7; 3_000].into(), PathSet::EMPTY, &room, Timestamp::ZERO));
        assert!(flow.peek().unwrap().fits(FLOW, 3_003) && !flow.peek().unwrap().fits(FLOW, 3_002));
        let queue = flow.queue_mut(PathId::default(), SHARED);
        let first = queue.cut(FLOW, 1_500).unwrap();
        let mut buf = bytes::BytesMut::new();
        first.frame().encode(&mut buf, true);
        assert_eq!(buf.len(), 1_500);
        queue.put_back(first.queued);
        let (mut sent, mut payloads) = (0, 0);
        while let Some(piece) = queue.cut(FLOW, 1_000) {
            assert_eq!(piece.queued.left.start, if payloads == 0 { 0 } else { sent });
            sent = piece.queued.left.end.max(sent);
            payloads += 1;
        }
        assert_eq!((sent, flow.waiting(), flow.has_waiting()), (3_000, 0, false));
    }

    /// The first one cut, and what is left of the queue in order behind it.
    fn numbers(flow: &mut SendFlow) -> Vec<(u64, usize)> {
        let queue = flow.queue_mut(PathId::default(), SHARED);
        let pieces = std::iter::from_fn(|| queue.cut(FLOW, 1_000));
        pieces.map(|piece| (piece.queued.seq, piece.queued.left.start)).collect()
    }

    /// A flow of which three datagrams of 100 bytes have left, with what their packets held.
    fn sent(config: FlowConfig) -> (SendFlow, Vec<Queued>) {
        let mut flow = SendFlow::new(config);
        let cut = |flow: &mut SendFlow| {
            assert!(push(flow, &[0; 100], &[]));
            flow.queue_mut(PathId::default(), SHARED).cut(FLOW, 1_000).unwrap().queued
        };
        let packets = (0..3).map(|_| cut(&mut flow)).collect();
        (flow, packets)
    }

    #[test]
    fn what_is_lost_is_sent_again_in_its_place_where_that_is_asked_for() {
        for resend in [false, true] {
            let config = FlowConfig { resend, ..FlowConfig::of(FlowMode::Aggregate) };
            let (mut flow, packets) = sent(config);
            assert!(push(&mut flow, &[0; 100], &[]));
            for lost in [2, 0] {
                flow.on_lost(PathId::default(), &packets[lost], Timestamp::ZERO);
            }
            let again = [0, 2, 3].map(|seq| (seq, 0));
            assert_eq!(numbers(&mut flow), if resend { &again[..] } else { &again[2..] });
        }
    }

    #[test]
    fn a_datagram_is_sent_again_three_times() {
        let config = FlowConfig { resend: true, ..FlowConfig::of(FlowMode::Aggregate) };
        let (mut flow, packets) = sent(config);
        let (path, mut packet) = (PathId::new(1).unwrap(), packets[0].clone());
        for _ in 0..3 {
            flow.on_lost(path, &packet, Timestamp::ZERO);
            packet = flow.queue_mut(path, SHARED).cut(FLOW, 1_000).unwrap().queued;
            assert!(packet.lost_on.contains(path));
        }
        flow.on_lost(path, &packet, Timestamp::ZERO);
        assert!(!flow.has_waiting());
    }

    /// What was lost has waited no time: it does not keep others out.
    #[test]
    fn no_more_is_taken_while_the_first_has_waited_for_long() {
        let config = FlowConfig { resend: true, ..FlowConfig::of(FlowMode::Aggregate) };
        let (mut flow, packets) = sent(config);
        let room = SendRoom { bytes: 1_000, patience: Some(Duration::from_millis(50)) };
        let push_at = |flow: &mut SendFlow, ms| {
            flow.push(&[0; 100][..].into(), PathSet::EMPTY, &room, Timestamp::from_millis(ms))
        };
        assert!([0, 50].into_iter().all(|ms| push_at(&mut flow, ms)));
        assert!(!push_at(&mut flow, 51));
        flow.on_lost(PathId::default(), &packets[0], Timestamp::from_millis(51));
        assert!(push_at(&mut flow, 101) && !push_at(&mut flow, 102));
    }

    #[test]
    fn an_empty_datagram_is_one_too() {
        let mut flow = SendFlow::new(FlowConfig::of(FlowMode::Aggregate));
        assert!(push(&mut flow, &[], &[]));
        assert!(
            flow.queue_mut(PathId::default(), SHARED).cut(FLOW, 100).is_some()
                && !flow.has_waiting()
        );
    }
}
