//! The sending half of a datagram flow.

use super::queue::Queue;
use super::{Queued, Shares};
use crate::codec::{FlowConfig, FlowMode};
use bytes::Bytes;
use polypath_units::{PathId, PathSet};
use std::collections::BTreeMap;

/// Datagrams of one flow that wait to be sent.
#[derive(Debug)]
pub(crate) struct SendFlow {
    pub(crate) config: FlowConfig,
    next_seq: u64,
    queue: Queue,
    /// Redundant mode: the copies that each path has still to send.
    copies: BTreeMap<PathId, Queue>,
    limit: u64,
    /// Where one path carries the flow: that path.
    current: Option<PathId>,
    /// Mode `load_balancing`: what each path has had of it.
    pub(crate) shares: Shares,
    pub(crate) sent: u64,
    pub(crate) dropped: u64,
}

impl SendFlow {
    pub(crate) fn new(config: FlowConfig, limit: u64) -> Self {
        Self {
            config,
            next_seq: 0,
            queue: Queue::default(),
            copies: BTreeMap::new(),
            limit,
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
    /// because the queue is full.
    pub(crate) fn push(&mut self, data: &Bytes, paths: PathSet) -> bool {
        let queued = Queued::new(self.next_seq, data.clone());
        let accepted = match self.is_redundant() {
            true => self.push_copies(&queued, paths),
            false => self.push_shared(queued),
        };
        self.next_seq += u64::from(accepted);
        *(if accepted { &mut self.sent } else { &mut self.dropped }) += 1;
        accepted
    }

    fn push_shared(&mut self, queued: Queued) -> bool {
        let has_room = self.queue.bytes() + queued.remaining() <= self.limit;
        if has_room {
            self.queue.push(queued);
        }
        has_room
    }

    /// A path that lags drops its own oldest copies: the others carry the datagram in time.
    fn push_copies(&mut self, queued: &Queued, paths: PathSet) -> bool {
        for path in paths.iter() {
            let copies = self.copies.entry(path).or_default();
            copies.push(queued.clone());
            copies.shorten(self.limit);
        }
        !paths.is_empty()
    }

    /// The next datagram of the shared queue.
    pub(crate) fn peek(&self) -> Option<&Queued> {
        self.queue.front()
    }

    /// Bytes of the shared queue.
    pub(crate) fn waiting(&self) -> u64 {
        self.queue.bytes()
    }

    /// Redundant mode: whether `path` has a copy to send.
    pub(crate) fn has_copy(&self, path: PathId) -> bool {
        self.copies.get(&path).is_some_and(|copies| !copies.is_empty())
    }

    /// What `path` takes datagrams from: its own copies in redundant mode, else what waits for any.
    pub(crate) fn queue_mut(&mut self, path: PathId) -> &mut Queue {
        if self.is_redundant() { self.copies.entry(path).or_default() } else { &mut self.queue }
    }

    pub(crate) fn has_waiting(&self) -> bool {
        !self.queue.is_empty() || self.copies.values().any(|copies| !copies.is_empty())
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

    #[test]
    fn a_lagging_path_drops_its_own_copies_only() {
        let paths = [PathId::new(0).unwrap(), PathId::new(1).unwrap()];
        let mut flow = SendFlow::new(FlowConfig::of(FlowMode::Redundant), 250);
        for n in 0..4 {
            assert!(flow.push(&Bytes::from(vec![n; 100]), paths.into_iter().collect()));
            let copy = flow.queue_mut(paths[0]).cut(FLOW, 1_200);
            assert_eq!(copy.map(|copy| copy.queued.seq), Some(u64::from(n)));
        }
        assert_eq!(flow.queue_mut(paths[1]).front().map(|copy| copy.seq), Some(2));
    }

    #[test]
    fn a_full_queue_refuses() {
        let mut flow = SendFlow::new(FlowConfig::of(FlowMode::Aggregate), 250);
        let data = Bytes::from(vec![0; 100]);
        let accepted: Vec<_> = (0..3).map(|_| flow.push(&data, PathSet::EMPTY)).collect();
        assert_eq!(accepted, [true, true, false]);
        assert_eq!((flow.sent, flow.dropped), (2, 1));
    }

    /// The whole takes a payload less its header. What a path did not take after all is cut anew.
    #[test]
    fn a_datagram_is_cut_as_each_payload_allows() {
        let mut flow = SendFlow::new(FlowConfig::of(FlowMode::Aggregate), 10_000);
        assert!(flow.push(&Bytes::from(vec![7; 3_000]), PathSet::EMPTY));
        assert!(flow.peek().unwrap().fits(FLOW, 3_003) && !flow.peek().unwrap().fits(FLOW, 3_002));
        let queue = flow.queue_mut(PathId::default());
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

    #[test]
    fn an_empty_datagram_is_one_too() {
        let mut flow = SendFlow::new(FlowConfig::of(FlowMode::Aggregate), 10_000);
        assert!(flow.push(&Bytes::new(), PathSet::EMPTY));
        assert!(flow.queue_mut(PathId::default()).cut(FLOW, 100).is_some() && !flow.has_waiting());
    }
}
