//! Tasks that wait for a stream or flow.

use polypath_bond::{BondKey, FlowId, StreamId};
use std::collections::BTreeMap;
use std::task::{Context, Waker};

/// At most one waiting task for each direction of a stream and for each flow.
#[derive(Debug, Default)]
pub(super) struct Wakers {
    readers: BTreeMap<(BondKey, StreamId), Waker>,
    writers: BTreeMap<(BondKey, StreamId), Waker>,
    flows: BTreeMap<(BondKey, FlowId), Waker>,
}

impl Wakers {
    pub(super) fn await_reading(&mut self, bond: BondKey, id: StreamId, cx: &Context<'_>) {
        self.readers.insert((bond, id), cx.waker().clone());
    }

    pub(super) fn await_writing(&mut self, bond: BondKey, id: StreamId, cx: &Context<'_>) {
        self.writers.insert((bond, id), cx.waker().clone());
    }

    pub(super) fn await_datagram(&mut self, bond: BondKey, id: FlowId, cx: &Context<'_>) {
        self.flows.insert((bond, id), cx.waker().clone());
    }

    pub(super) fn wake_reader(&mut self, bond: BondKey, id: StreamId) {
        self.readers.remove(&(bond, id)).into_iter().for_each(Waker::wake);
    }

    pub(super) fn wake_writer(&mut self, bond: BondKey, id: StreamId) {
        self.writers.remove(&(bond, id)).into_iter().for_each(Waker::wake);
    }

    pub(super) fn wake_flow(&mut self, bond: BondKey, id: FlowId) {
        self.flows.remove(&(bond, id)).into_iter().for_each(Waker::wake);
    }

    /// Wakes all who wait for anything of a bond.
    pub(super) fn wake_bond(&mut self, bond: BondKey) {
        let streams = (bond, StreamId(0))..(BondKey(bond.0 + 1), StreamId(0));
        for waiting in [&mut self.readers, &mut self.writers] {
            let keys: Vec<_> = waiting.range(streams.clone()).map(|(key, _)| *key).collect();
            keys.iter().filter_map(|key| waiting.remove(key)).for_each(Waker::wake);
        }
        let flows = (bond, FlowId(0))..(BondKey(bond.0 + 1), FlowId(0));
        let keys: Vec<_> = self.flows.range(flows).map(|(key, _)| *key).collect();
        keys.iter().filter_map(|key| self.flows.remove(key)).for_each(Waker::wake);
    }
}
