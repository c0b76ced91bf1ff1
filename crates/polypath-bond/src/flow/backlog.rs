//! What waits to be sent, over all flows.

use crate::codec::FlowId;
use std::collections::BTreeSet;
use std::ops::Bound::{Excluded, Unbounded};

/// What waits of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// Whether anything does: a datagram may be empty.
    pub(super) any: bool,
    /// Bytes that are not copies.
    pub(super) bytes: u64,
    /// Bytes of these that wait for the scheduler to choose among all paths.
    pub(super) for_scheduler: u64,
}

/// The sums over all flows, and which of them have something to send: a bond with hundreds of
/// flows asks for both with each packet.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    flows: BTreeSet<FlowId>,
    bytes: u64,
    for_scheduler: u64,
    /// The flow of this number, or the next, is served first next time.
    turn: u64,
}

impl Backlog {
    /// What waited of a flow until now, and what waits of it now.
    pub(super) fn change(&mut self, flow: FlowId, before: Waiting, now: Waiting) {
        self.bytes = self.bytes - before.bytes + now.bytes;
        self.for_scheduler = self.for_scheduler - before.for_scheduler + now.for_scheduler;
        match (before.any, now.any) {
            (false, true) => drop(self.flows.insert(flow)),
            (true, false) => drop(self.flows.remove(&flow)),
            _ => {}
        }
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// Bytes that wait and are not copies.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes that wait for the scheduler to choose among all paths.
    pub(crate) fn for_scheduler(&self) -> u64 {
        self.for_scheduler
    }

    /// The flow of which something waits that is to be served after this one, or first of all;
    /// `None` after the last one.
    pub(crate) fn next(&self, after: Option<FlowId>) -> Option<FlowId> {
        let turn = FlowId(self.turn);
        let first = || self.flows.range(..turn).next().copied();
        match after {
            None => self.flows.range(turn..).next().copied().or_else(first),
            Some(flow) if flow < turn => {
                self.flows.range((Excluded(flow), Excluded(turn))).next().copied()
            }
            Some(flow) => {
                self.flows.range((Excluded(flow), Unbounded)).next().copied().or_else(first)
            }
        }
    }

    /// A datagram of the flow is sent: the turn passes to the next.
    pub(crate) fn on_served(&mut self, flow: FlowId) {
        self.turn = flow.0 + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of which so many bytes wait for the scheduler.
    fn waiting(bytes: u64) -> Waiting {
        Waiting { any: true, bytes, for_scheduler: bytes }
    }

    fn order(backlog: &Backlog) -> Vec<u64> {
        let flows = std::iter::successors(backlog.next(None), |flow| backlog.next(Some(*flow)));
        flows.map(|flow| flow.0).collect()
    }

    #[test]
    fn flows_of_which_something_waits_are_served_in_turn() {
        let mut backlog = Backlog::default();
        assert_eq!(order(&backlog), []);
        for flow in [2, 4, 6, 8] {
            backlog.change(FlowId(flow), Waiting::default(), waiting(0));
        }
        assert_eq!(order(&backlog), [2, 4, 6, 8]);
        for (served, then) in
            [(4, [6, 8, 2, 4]), (8, [2, 4, 6, 8]), (1, [2, 4, 6, 8]), (5, [6, 8, 2, 4])]
        {
            backlog.on_served(FlowId(served));
            assert_eq!(order(&backlog), then);
        }
        backlog.change(FlowId(8), waiting(0), Waiting::default());
        assert_eq!(order(&backlog), [6, 2, 4]);
    }

    #[test]
    fn sums_are_those_of_what_waits() {
        let mut backlog = Backlog::default();
        backlog.change(FlowId(0), Waiting::default(), waiting(100));
        let own_paths = Waiting { for_scheduler: 0, ..waiting(30) };
        backlog.change(FlowId(1), Waiting::default(), own_paths);
        assert_eq!((backlog.bytes(), backlog.for_scheduler()), (130, 100));
        backlog.change(FlowId(0), waiting(100), waiting(60));
        assert_eq!((backlog.bytes(), backlog.for_scheduler()), (90, 60));
        backlog.change(FlowId(0), waiting(60), Waiting::default());
        backlog.change(FlowId(1), own_paths, Waiting::default());
        assert_eq!((backlog.bytes(), backlog.for_scheduler()), (0, 0));
        assert!(backlog.is_empty());
    }
}
