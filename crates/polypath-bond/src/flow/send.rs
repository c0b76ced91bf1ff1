//! The sending half of a datagram flow.

use crate::codec::FlowMode;
use bytes::Bytes;
use polypath_units::{PathId, PathSet};
use std::collections::{BTreeMap, VecDeque};

/// A datagram that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Queued {
    pub(crate) seq: u64,
    pub(crate) data: Bytes,
}

/// Datagrams of one flow that wait to be sent.
#[derive(Debug)]
pub(crate) struct SendFlow {
    pub(crate) mode: FlowMode,
    next_seq: u64,
    queue: VecDeque<Queued>,
    /// Redundant mode: the copies that each path has still to send.
    copies: BTreeMap<PathId, VecDeque<Queued>>,
    held: u64,
    limit: u64,
    /// Best mode: the path that carries the flow until it fails.
    current: Option<PathId>,
    pub(crate) sent: u64,
    pub(crate) dropped: u64,
}

impl SendFlow {
    pub(crate) fn new(mode: FlowMode, limit: u64) -> Self {
        Self {
            mode,
            next_seq: 0,
            queue: VecDeque::new(),
            copies: BTreeMap::new(),
            held: 0,
            limit,
            current: None,
            sent: 0,
            dropped: 0,
        }
    }

    /// Accepts a datagram, on all of `paths` in redundant mode. Returns false if it was dropped
    /// because the queue is full.
    pub(crate) fn push(&mut self, data: &Bytes, paths: PathSet) -> bool {
        let queued = Queued { seq: self.next_seq, data: data.clone() };
        let len = data.len() as u64;
        let accepted = match self.mode {
            FlowMode::Redundant => self.push_copies(&queued, paths),
            FlowMode::Aggregate | FlowMode::Best if self.held + len > self.limit => false,
            FlowMode::Aggregate | FlowMode::Best => {
                self.held += len;
                self.queue.push_back(queued);
                true
            }
        };
        self.next_seq += u64::from(accepted);
        *(if accepted { &mut self.sent } else { &mut self.dropped }) += 1;
        accepted
    }

    /// A path that lags drops its own oldest copies: the others carry the datagram in time.
    fn push_copies(&mut self, queued: &Queued, paths: PathSet) -> bool {
        for path in paths.iter() {
            let copies = self.copies.entry(path).or_default();
            copies.push_back(queued.clone());
            let mut held: u64 = copies.iter().map(|copy| copy.data.len() as u64).sum();
            while held > self.limit {
                held -= copies.pop_front().map_or(held, |copy| copy.data.len() as u64);
            }
        }
        !paths.is_empty()
    }

    /// The next datagram of the shared queue.
    pub(crate) fn peek(&self) -> Option<&Queued> {
        self.queue.front()
    }

    pub(crate) fn pop(&mut self) -> Option<Queued> {
        let queued = self.queue.pop_front()?;
        self.held -= queued.data.len() as u64;
        Some(queued)
    }

    /// The next copy that `path` has to send.
    pub(crate) fn peek_copy(&self, path: PathId) -> Option<&Queued> {
        self.copies.get(&path)?.front()
    }

    pub(crate) fn pop_copy(&mut self, path: PathId) -> Option<Queued> {
        self.copies.get_mut(&path)?.pop_front()
    }

    pub(crate) fn has_waiting(&self) -> bool {
        !self.queue.is_empty() || self.copies.values().any(|copies| !copies.is_empty())
    }

    /// Best mode: stays on the present path while it is one of `usable`, else moves to `best`.
    pub(crate) fn stick(&mut self, usable: PathSet, best: Option<PathId>) -> Option<PathId> {
        if !self.current.is_some_and(|path| usable.contains(path)) {
            self.current = best;
        }
        self.current
    }

    /// A path is gone or failed: its copies are for nobody.
    pub(crate) fn forget_path(&mut self, path: PathId) {
        self.copies.remove(&path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lagging_path_drops_its_own_copies_only() {
        let paths = [PathId::new(0).unwrap(), PathId::new(1).unwrap()];
        let mut flow = SendFlow::new(FlowMode::Redundant, 250);
        for n in 0..4 {
            assert!(flow.push(&Bytes::from(vec![n; 100]), paths.into_iter().collect()));
            assert_eq!(flow.pop_copy(paths[0]).map(|copy| copy.seq), Some(u64::from(n)));
        }
        assert_eq!(flow.peek_copy(paths[1]).map(|copy| copy.seq), Some(2));
    }

    #[test]
    fn a_full_queue_refuses() {
        let mut flow = SendFlow::new(FlowMode::Aggregate, 250);
        let data = Bytes::from(vec![0; 100]);
        let accepted: Vec<_> = (0..3).map(|_| flow.push(&data, PathSet::EMPTY)).collect();
        assert_eq!(accepted, [true, true, false]);
        assert_eq!((flow.sent, flow.dropped), (2, 1));
    }
}
