//! All datagram flows of a bond, in both directions.

use super::backlog::{Backlog, Waiting};
use super::early::{ClosedFlows, EarlyFlows};
use super::{Arrived, FlowCounters, Piece, Queued, RecvFlow, SendFlow, SendRoom};
use crate::carried_bytes::CarriedBytes;
use crate::codec::{FlowConfig, FlowId, PathList, Side};
use crate::error::ProtocolError;
use bytes::Bytes;
use polypath_units::{PathId, PathSet, Timestamp};
use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::time::Duration;

/// What the paths show of how long it is worth waiting.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PathWaits {
    /// For order while a path has not shown yet how late its datagrams come.
    pub(crate) order: Duration,
    /// For the rest of a datagram, beside what order is worth.
    pub(crate) rest: Duration,
    /// For a datagram that has been lost, where those are sent again.
    pub(crate) again: Duration,
}

/// How much may wait, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffers {
    /// Of one flow, to be sent and to be read, however much waits of others.
    pub(crate) flow: u64,
    /// Over all flows, to be sent, beside what each may have alone.
    pub(crate) send: u64,
    /// What arrived datagrams may cost, over all flows.
    pub(crate) receive: u64,
}

impl Buffers {
    /// What one flow may have where `used` bytes of a `buffer` are in use: as much as is free. So
    /// one that is alone has half of it, and two have a third each; those that have little find
    /// room whatever the others do (Choudhury and Hahne, Dynamic Queue Length Thresholds for
    /// Shared-Memory Packet Switches, ToN 6(2), 1998).
    fn share(&self, buffer: u64, used: u64) -> u64 {
        buffer.saturating_sub(used).max(self.flow)
    }
}

/// Both halves of a flow that is open.
#[derive(Debug)]
struct Halves {
    send: SendFlow,
    recv: RecvFlow,
}

/// The flows of one side of a bond: which numbers are in use, what waits to be sent and to be read.
#[derive(Debug)]
pub(crate) struct Flows {
    side: Side,
    buffers: Buffers,
    open: BTreeMap<FlowId, Halves>,
    /// What arrived datagrams cost, over all flows: the sum of [`RecvFlow::cost`].
    cost: u64,
    /// Flows that this side has opened.
    opened: u64,
    /// Flows that are over: their numbers are not used again.
    closed: ClosedFlows,
    /// Datagrams of flows whose opening message has not arrived.
    early: EarlyFlows,
    /// What waits to be sent of those that are open.
    backlog: Backlog,
}

impl Flows {
    pub(crate) fn new(side: Side, buffers: Buffers) -> Self {
        Self {
            side,
            buffers,
            open: BTreeMap::new(),
            cost: 0,
            opened: 0,
            closed: ClosedFlows::default(),
            early: EarlyFlows::default(),
            backlog: Backlog::default(),
        }
    }

    /// Opens a flow of this side; `None` while too many are open.
    pub(crate) fn open(&mut self, config: FlowConfig) -> Option<FlowId> {
        if self.opened >= self.closed.limit(self.side) {
            return None;
        }
        let flow = FlowId::new(self.side, self.opened);
        self.opened += 1;
        self.add(flow, config);
        Some(flow)
    }

    fn add(&mut self, flow: FlowId, config: FlowConfig) {
        let (send, recv) = (SendFlow::new(config), RecvFlow::new(&config));
        self.open.insert(flow, Halves { send, recv });
    }

    fn remove(&mut self, flow: FlowId) -> bool {
        let Some(Halves { send, recv }) = self.open.remove(&flow) else { return false };
        self.cost -= recv.cost();
        self.backlog.change(flow, send.backlog(), Waiting::default());
        true
    }

    /// Closes a flow, and says whether it was open. A number of this side is in use until
    /// [`Self::on_close_acked`].
    pub(crate) fn close(&mut self, flow: FlowId) -> bool {
        let was_open = self.remove(flow);
        if was_open && flow.initiator() != self.side {
            self.closed.insert(flow);
        }
        was_open
    }

    /// The peer knows that the flow is over.
    pub(crate) fn on_close_acked(&mut self, flow: FlowId) {
        self.closed.insert(flow);
    }

    /// The peer's opening message. Returns whether it opens the flow, and does not come after its
    /// end.
    ///
    /// # Errors
    /// When the peer may not open a flow of this number.
    pub(crate) fn on_open(
        &mut self,
        flow: FlowId,
        config: FlowConfig,
    ) -> Result<bool, ProtocolError> {
        if !self.peer_may_open(flow) {
            return Err(ProtocolError::FlowLimit(flow));
        }
        if !self.expect(flow) {
            return Ok(false);
        }
        self.with_sender(flow, |sender| sender.config = config);
        if let Some(Halves { recv, .. }) = self.open.get_mut(&flow) {
            recv.configure(&config);
        }
        Ok(true)
    }

    /// Makes room for a flow of the peer whose opening message may not have arrived. Returns false
    /// if the peer may not open it, or it was closed.
    pub(crate) fn expect(&mut self, flow: FlowId) -> bool {
        let admitted = self.peer_may_open(flow) && !self.closed.contains(flow);
        if admitted && !self.open.contains_key(&flow) {
            self.add(flow, FlowConfig::default());
        }
        admitted
    }

    fn peer_may_open(&self, flow: FlowId) -> bool {
        let side = flow.initiator();
        side != self.side && flow.index() < self.closed.limit(side)
    }

    /// The datagrams of a flow that came before its opening message, in the order of their arrival.
    pub(crate) fn take_early(&mut self, flow: FlowId) -> Vec<Arrived> {
        self.early.take(flow)
    }

    /// The peer's closing message. Returns whether the flow was open.
    pub(crate) fn on_close(&mut self, flow: FlowId) -> bool {
        // The close may overtake the opening; a number never given closes nothing.
        let given = flow.initiator() != self.side || flow.index() < self.opened;
        if given && flow.index() < self.closed.limit(flow.initiator()) {
            self.closed.insert(flow);
        }
        self.remove(flow)
    }

    /// The sending half of a flow that is open.
    pub(crate) fn sender(&self, flow: FlowId) -> Option<&SendFlow> {
        self.open.get(&flow).map(|halves| &halves.send)
    }

    /// Does something with the sending half of a flow, if that is open.
    pub(crate) fn with_sender<R>(
        &mut self,
        flow: FlowId,
        act: impl FnOnce(&mut SendFlow) -> R,
    ) -> Option<R> {
        let Halves { send, .. } = self.open.get_mut(&flow)?;
        let before = send.backlog();
        let result = act(send);
        self.backlog.change(flow, before, send.backlog());
        Some(result)
    }

    /// Queues a datagram, on all of `paths` in redundant mode. False if there is no room for it.
    /// `patience` says how long those of a flow with such paths may wait, if that has a bound.
    pub(crate) fn push(
        &mut self,
        flow: FlowId,
        data: &Bytes,
        paths: PathSet,
        patience: impl FnOnce(&PathList) -> Option<Duration>,
        now: Timestamp,
    ) -> bool {
        let (buffers, used) = (self.buffers, self.backlog.bytes());
        let push = |sender: &mut SendFlow| {
            let bytes = match sender.is_redundant() {
                true => buffers.flow,
                false => buffers.share(buffers.send, used),
            };
            // Where nothing waits there is nothing to be impatient about.
            let patience = sender.peek().and_then(|_| patience(&sender.config.paths));
            sender.push(data, paths, &SendRoom { bytes, patience }, now)
        };
        self.with_sender(flow, push).unwrap_or(false)
    }

    /// Whether what is lost of a flow is sent again.
    pub(crate) fn resends(&self, flow: FlowId) -> bool {
        self.sender(flow).is_some_and(|sender| sender.config.resend)
    }

    /// What a packet on `path` held is lost with it.
    pub(crate) fn on_lost(&mut self, path: PathId, pieces: &[Piece], now: Timestamp) {
        for Piece { flow, queued } in pieces {
            self.with_sender(*flow, |sender| sender.on_lost(path, queued, now));
        }
    }

    /// What a path was given of a datagram does not fit it any more.
    pub(crate) fn put_back(&mut self, flow: FlowId, path: PathId, queued: Queued) {
        self.with_sender(flow, |sender| sender.put_back(path, queued));
    }

    /// What waits to be sent.
    pub(crate) fn backlog(&self) -> &Backlog {
        &self.backlog
    }

    /// A datagram of the flow is sent.
    pub(crate) fn on_served(&mut self, flow: FlowId) {
        self.backlog.on_served(flow);
    }

    /// A path is gone or failed.
    pub(crate) fn forget_path(&mut self, path: PathId) {
        for (&flow, Halves { send, recv }) in &mut self.open {
            let before = send.backlog();
            send.forget_path(path);
            self.backlog.change(flow, before, send.backlog());
            recv.forget_path(path);
        }
    }

    /// A datagram, or a part of one, arrived; it is dropped unless `admitted`. Returns whether
    /// there is something to read now and there was not before.
    ///
    /// # Errors
    /// When it does not belong to the parts that arrived before.
    pub(crate) fn on_datagram(
        &mut self,
        arrived: Arrived,
        admitted: bool,
        paths: impl Fn() -> PathWaits,
        now: Timestamp,
    ) -> Result<bool, ProtocolError> {
        let id = arrived.fragment.flow;
        let Some(halves) = self.open.get(&id) else {
            if id.initiator() != self.side && !self.closed.contains(id) {
                self.early.push(arrived);
            }
            return Ok(false);
        };
        let need = halves.recv.need(&arrived.fragment)?;
        let share = self.buffers.share(self.buffers.receive, self.cost);
        let has_room = admitted && self.make_room(id, need, share);
        let Some(Halves { recv: flow, .. }) = self.open.get_mut(&id) else { return Ok(false) };
        let (was_ready, cost) = (flow.has_ready(), flow.cost());
        if has_room {
            flow.insert(arrived, paths, share, now);
        } else {
            flow.drop_arrived(&arrived.fragment);
        }
        self.cost = self.cost - cost + flow.cost();
        Ok(!was_ready && flow.has_ready())
    }

    /// Whether what arrived for a flow may cost `need` more. Datagrams of which parts are missing
    /// make room, the oldest first: the flow's own, where it has reached its limit, and otherwise
    /// those of the flow that has most of them. So no flow loses what is less than its share.
    fn make_room(&mut self, id: FlowId, need: u64, own_share: u64) -> bool {
        if need == 0 {
            return true;
        }
        let Some(flow) = self.open.get(&id).map(|halves| &halves.recv) else { return false };
        if !flow.may_fit(need, own_share) || !self.may_fit(need) {
            return false;
        }
        let fits = |halves: &Halves| halves.recv.fits(need, own_share);
        let is_full = |flows: &Self| flows.open.get(&id).is_some_and(|halves| !fits(halves));
        while is_full(self) && self.give_up_oldest(id) {}
        while self.cost + need > self.buffers.receive {
            let share = |(flow, halves): &(&FlowId, &Halves)| {
                let wants = if **flow == id { need } else { 0 };
                halves.recv.partial_cost() + wants
            };
            match self.open.iter().max_by_key(share).map(|(&flow, _)| flow) {
                Some(most) if self.give_up_oldest(most) => {}
                _ => return false,
            }
        }
        true
    }

    /// Whether the receive buffer has room for `need` once all incomplete datagrams are given up,
    /// which are looked at only where it would be full with them.
    fn may_fit(&self, need: u64) -> bool {
        let partial = || self.open.values().map(|halves| halves.recv.partial_cost()).sum::<u64>();
        let with_all = self.cost + need;
        let buffer = self.buffers.receive;
        with_all <= buffer || with_all - partial() <= buffer
    }

    /// Gives up the oldest incomplete datagram of a flow; false if it has none.
    fn give_up_oldest(&mut self, id: FlowId) -> bool {
        let Some(Halves { recv: flow, .. }) = self.open.get_mut(&id) else { return false };
        let cost = flow.cost();
        let given_up = flow.give_up_oldest();
        self.cost -= cost - flow.cost();
        given_up
    }

    /// What the datagrams that arrived cost, over all flows: at most the receive buffer.
    pub(crate) fn cost(&self) -> u64 {
        self.cost
    }

    /// The next datagram of a flow to be read.
    pub(crate) fn read(&mut self, flow: FlowId) -> Option<CarriedBytes> {
        let datagram = self.open.get_mut(&flow)?.recv.pop()?;
        self.cost -= RecvFlow::cost_of(&datagram);
        Some(datagram)
    }

    /// Releases what has waited for order long enough, and gives up what has waited for the rest of
    /// it. `on_ready` gets the flows that have something to read now and had nothing before.
    pub(crate) fn release(
        &mut self,
        paths: PathWaits,
        now: Timestamp,
        mut on_ready: impl FnMut(FlowId),
    ) {
        for (&id, Halves { recv: flow, .. }) in &mut self.open {
            let (was_ready, cost) = (flow.has_ready(), flow.cost());
            flow.release(|| paths, now);
            flow.expire(&paths, now);
            self.cost -= cost - flow.cost();
            if !was_ready && flow.has_ready() {
                on_ready(id);
            }
        }
    }

    /// When [`Self::release`] would find something.
    pub(crate) fn next_timer(&self, paths: impl FnOnce() -> PathWaits) -> Option<Timestamp> {
        let paths = LazyCell::new(paths);
        let flows = self.open.values().map(|halves| &halves.recv).filter(|flow| flow.is_waiting());
        flows.filter_map(|flow| flow.next_timer(&paths)).min()
    }

    /// What became of a flow's datagrams.
    pub(crate) fn counters(&self, flow: FlowId) -> Option<FlowCounters> {
        let Halves { send, recv } = self.open.get(&flow)?;
        let dropped = recv.counters.dropped + send.dropped;
        Some(FlowCounters { sent: send.sent, dropped, ..recv.counted() })
    }
}
