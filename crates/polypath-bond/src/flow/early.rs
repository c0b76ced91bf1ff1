//! What is remembered of flows that are not open: those that are over, and datagrams of those whose
//! opening message has not arrived.

use super::Arrived;
use crate::codec::{FlowId, MAX_FLOWS, Side};
use crate::ranges::RangeSet;
use std::collections::VecDeque;

/// Bytes of datagrams kept for flows that are not open yet.
const MAX_EARLY: usize = 64 << 10;
/// What one kept datagram costs beside its bytes.
const COST: usize = 64;

/// Datagrams that came before the message that opens their flow; the oldest make room.
#[derive(Debug, Default)]
pub(crate) struct EarlyFlows {
    datagrams: VecDeque<Arrived>,
    cost: usize,
}

impl EarlyFlows {
    pub(crate) fn push(&mut self, arrived: Arrived) {
        self.cost += cost(&arrived);
        self.datagrams.push_back(arrived);
        while self.cost > MAX_EARLY {
            let Some(oldest) = self.datagrams.pop_front() else { return };
            self.cost -= cost(&oldest);
        }
    }

    /// Takes the datagrams of a flow, in the order of their arrival.
    pub(crate) fn take(&mut self, flow: FlowId) -> Vec<Arrived> {
        let all = std::mem::take(&mut self.datagrams).into_iter();
        let (taken, kept): (Vec<_>, Vec<_>) =
            all.partition(|arrived| arrived.fragment.flow == flow);
        self.cost = kept.iter().map(cost).sum();
        self.datagrams = kept.into();
        taken
    }
}

fn cost(arrived: &Arrived) -> usize {
    arrived.fragment.data.len() + COST
}

/// The numbers of flows that are over, of each side. Numbers are given in order, and only
/// [`MAX_FLOWS`] are open at once, so the holes are few.
#[derive(Debug, Default)]
pub(crate) struct ClosedFlows {
    edge: Numbers,
    hub: Numbers,
}

#[derive(Debug, Default)]
struct Numbers {
    closed: RangeSet,
    count: u64,
}

impl ClosedFlows {
    fn of(&self, side: Side) -> &Numbers {
        if side == Side::Edge { &self.edge } else { &self.hub }
    }

    pub(crate) fn insert(&mut self, flow: FlowId) {
        let numbers = if flow.initiator() == Side::Edge { &mut self.edge } else { &mut self.hub };
        numbers.count += numbers.closed.insert(flow.index()..flow.index() + 1, |_| ());
    }

    pub(crate) fn contains(&self, flow: FlowId) -> bool {
        self.of(flow.initiator()).closed.contains(flow.index())
    }

    /// The lowest number that may not be opened now.
    pub(crate) fn limit(&self, side: Side) -> u64 {
        self.of(side).count + MAX_FLOWS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::DatagramFrame;
    use bytes::Bytes;
    use polypath_units::PathId;

    #[test]
    fn early_datagrams_are_bounded_and_given_out_once() {
        let mut early = EarlyFlows::default();
        for seq in 0..1_000 {
            let flow = FlowId(seq % 2);
            let whole = DatagramFrame { flow, seq, data: Bytes::from(vec![0; 1_000]) };
            let (path, fragment) = (PathId::default(), whole.into());
            early.push(Arrived { path, fragment, is_marked: false });
        }
        assert!(early.cost <= MAX_EARLY);
        let taken = early.take(FlowId(1));
        assert_eq!(taken.last().map(|arrived| arrived.fragment.seq), Some(999));
        assert!(early.take(FlowId(1)).is_empty() && !early.take(FlowId(0)).is_empty());
        assert_eq!(early.cost, 0);
    }

    #[test]
    fn a_number_is_free_once_another_is_over() {
        let mut closed = ClosedFlows::default();
        assert_eq!(closed.limit(Side::Edge), MAX_FLOWS);
        closed.insert(FlowId::new(Side::Edge, 3));
        closed.insert(FlowId::new(Side::Edge, 3));
        assert_eq!(closed.limit(Side::Edge), MAX_FLOWS + 1);
        assert!(closed.contains(FlowId::new(Side::Edge, 3)));
        assert!(!closed.contains(FlowId::new(Side::Hub, 3)));
    }
}
