//! Datagram flows.

use super::{Bond, Phase, Transmit};
use crate::codec::{
    Control, DatagramFrame, FlowId, FlowMode, datagram_header_size, encode_datagram_header,
};
use crate::error::{OpenError, ProtocolError, SendDatagramError};
use crate::event::Event;
use crate::flow::{FlowConfig, FlowCounters, RecvFlow, SendFlow};
use crate::path::Payload;
use bytes::{Bytes, BytesMut};
use polypath_core::scheduler::Pick;
use polypath_units::{PathId, PathSet, Timestamp};
use std::time::Duration;

/// The longest automatic wait for order.
const MAX_AUTO_RESEQUENCE: Duration = Duration::from_millis(250);

/// The longest wait for order of a flow, `None` for that of the paths. Only where the scheduler spreads a
/// flow is order lost all the time: in other modes there is no wait that was not asked for.
fn wait_for_order(mode: FlowMode, asked: Option<Duration>) -> Option<Duration> {
    asked.or((mode != FlowMode::Aggregate).then_some(Duration::ZERO))
}

impl Bond {
    /// Opens a datagram flow, which carries datagrams both ways.
    ///
    /// # Errors
    /// When the bond is closing, or too many flows of this side are open.
    pub fn open_flow(&mut self, config: FlowConfig) -> Result<FlowId, OpenError> {
        if self.phase != Phase::Open {
            return Err(OpenError::Closed);
        }
        if self.opened_flows >= self.closed_flows.limit(self.side) {
            return Err(OpenError::LimitReached);
        }
        let flow = FlowId::new(self.side, self.opened_flows);
        self.opened_flows += 1;
        self.add_flow(flow, config.mode, config.resequence);
        let FlowConfig { mode, resequence } = config;
        self.tell(Control::FlowOpen { flow, mode, resequence });
        Ok(flow)
    }

    fn add_flow(&mut self, flow: FlowId, mode: FlowMode, resequence: Option<Duration>) {
        let limit = self.config.flow_buffer;
        self.send_flows.insert(flow, SendFlow::new(mode, limit));
        self.recv_flows.insert(flow, RecvFlow::new(wait_for_order(mode, resequence), limit));
    }

    fn remove_recv_flow(&mut self, flow: FlowId) {
        self.flow_cost -= self.recv_flows.remove(&flow).map_or(0, |flow| flow.cost());
    }

    /// Closes a flow; datagrams that wait are dropped.
    pub fn close_flow(&mut self, flow: FlowId) {
        if self.send_flows.remove(&flow).is_some() {
            self.remove_recv_flow(flow);
            // Its opener may use another number when this message is acknowledged.
            if flow.initiator() != self.side {
                self.closed_flows.insert(flow);
            }
            self.tell(Control::FlowClose { flow });
        }
    }

    pub(super) fn on_flow_open(
        &mut self,
        flow: FlowId,
        mode: FlowMode,
        bound: Option<Duration>,
        now: Timestamp,
    ) -> Result<(), ProtocolError> {
        let side = flow.initiator();
        if side == self.side || flow.index() >= self.closed_flows.limit(side) {
            return Err(ProtocolError::FlowLimit(flow));
        }
        if !self.expect_flow(flow) {
            return Ok(());
        }
        if let Some(send) = self.send_flows.get_mut(&flow) {
            send.mode = mode;
        }
        if let Some(recv) = self.recv_flows.get_mut(&flow) {
            recv.resequence = wait_for_order(mode, bound);
        }
        self.events.push_back(Event::FlowOpened(flow));
        for early in self.early_flows.take(flow) {
            self.on_flow_datagram(early, now);
        }
        Ok(())
    }

    /// Makes room for a flow of the peer that a stream has named and whose opening may still be on
    /// its way. Returns false if the peer may not open it, or it was closed.
    pub fn expect_flow(&mut self, flow: FlowId) -> bool {
        let side = flow.initiator();
        let admitted = side != self.side
            && flow.index() < self.closed_flows.limit(side)
            && !self.closed_flows.contains(flow);
        if admitted && !self.send_flows.contains_key(&flow) {
            self.add_flow(flow, FlowMode::Aggregate, None);
        }
        admitted
    }

    pub(super) fn on_flow_close(&mut self, flow: FlowId) {
        // The close may overtake the opening; a number never given closes nothing.
        let given = flow.initiator() != self.side || flow.index() < self.opened_flows;
        if given && flow.index() < self.closed_flows.limit(flow.initiator()) {
            self.closed_flows.insert(flow);
        }
        self.remove_recv_flow(flow);
        if self.send_flows.remove(&flow).is_some() {
            self.events.push_back(Event::FlowClosed(flow));
        }
    }

    /// The longest datagram that every working path carries on any flow now.
    pub fn max_datagram_size(&self) -> usize {
        let paths = self.paths.values().filter(|path| !path.is_failed());
        let smallest = paths.map(|path| path.max_datagram as usize).min().unwrap_or(0);
        smallest.saturating_sub(datagram_header_size(FlowId(1 << 20), 1 << 29, None))
    }

    /// Queues a datagram.
    ///
    /// # Errors
    /// When it is too long, the queue is full, or there is no such flow.
    pub fn send_datagram(&mut self, id: FlowId, data: &Bytes) -> Result<(), SendDatagramError> {
        let max = self.max_datagram_size();
        let active = self.active_paths();
        let flow = self.send_flows.get_mut(&id).ok_or(SendDatagramError::UnknownFlow(id))?;
        if data.len() > max && max > 0 {
            return Err(SendDatagramError::TooLarge { max });
        }
        if flow.push(data, active) { Ok(()) } else { Err(SendDatagramError::QueueFull(id)) }
    }

    /// The next datagram of a flow, if one has arrived.
    pub fn recv_datagram(&mut self, id: FlowId) -> Option<Bytes> {
        let data = self.recv_flows.get_mut(&id)?.pop()?;
        self.flow_cost -= RecvFlow::cost_of(&data);
        Some(data)
    }

    /// What became of a flow's datagrams.
    pub fn flow_counters(&self, id: FlowId) -> Option<FlowCounters> {
        let (send, recv) = (self.send_flows.get(&id)?, self.recv_flows.get(&id)?);
        let dropped = recv.counters.dropped + send.dropped;
        Some(FlowCounters { sent: send.sent, dropped, ..recv.counters })
    }

    /// How long to wait for order: as the flow says, or as much as the paths' delays differ.
    fn resequence_bound(&self, flow: &RecvFlow) -> Duration {
        flow.resequence.unwrap_or_else(|| {
            let rtts = || {
                let active = self.paths.values().filter(|path| !path.is_failed());
                active.filter_map(|path| self.congestion.rtt(path.id))
            };
            let slowest = rtts().filter_map(|rtt| Some(rtt.srtt()? + 4 * rtt.rttvar())).max();
            let fastest = rtts().filter_map(|rtt| rtt.min()).min();
            let apart = slowest.unwrap_or_default().saturating_sub(fastest.unwrap_or_default());
            (apart / 2).min(MAX_AUTO_RESEQUENCE)
        })
    }

    pub(super) fn on_flow_datagram(&mut self, datagram: DatagramFrame, now: Timestamp) {
        let DatagramFrame { flow: id, seq, data } = datagram;
        let admitted = self.admits_datagram(data.len() as u64, now);
        let Some(flow) = self.recv_flows.get(&id) else {
            if id.initiator() != self.side && !self.closed_flows.contains(id) {
                self.early_flows.push(DatagramFrame { flow: id, seq, data });
            }
            return;
        };
        let bound = self.resequence_bound(flow);
        let room = self.config.receive_buffer.saturating_sub(self.flow_cost);
        let Some(flow) = self.recv_flows.get_mut(&id) else { return };
        if !admitted {
            flow.counters.dropped += 1;
            return;
        }
        let (was_ready, cost) = (flow.has_ready(), flow.cost());
        flow.insert(seq, data, room, bound, now);
        self.flow_cost = self.flow_cost - cost + flow.cost();
        if !was_ready && flow.has_ready() {
            self.events.push_back(Event::FlowReadable(id));
        }
    }

    /// Releases what has waited for order long enough.
    pub(super) fn release_flows(&mut self, now: Timestamp) {
        let bounds: Vec<_> =
            self.recv_flows.iter().map(|(&id, flow)| (id, self.resequence_bound(flow))).collect();
        for (id, bound) in bounds {
            let Some(flow) = self.recv_flows.get_mut(&id) else { continue };
            let was_ready = flow.has_ready();
            flow.release(bound, now);
            if !was_ready && flow.has_ready() {
                self.events.push_back(Event::FlowReadable(id));
            }
        }
    }

    pub(super) fn next_flow_timer(&self) -> Option<Timestamp> {
        let timer = |flow: &RecvFlow| flow.next_timer(self.resequence_bound(flow));
        self.recv_flows.values().filter_map(timer).min()
    }

    pub(super) fn flows_wait(&self) -> bool {
        self.send_flows.values().any(SendFlow::has_waiting)
    }

    /// The next datagram of any flow, in turn.
    pub(super) fn poll_flows(&mut self, now: Timestamp) -> Option<Transmit> {
        let start = self.flow_turn.unwrap_or(FlowId(0));
        let after = self.send_flows.range(start..);
        let ids: Vec<FlowId> =
            after.chain(self.send_flows.range(..start)).map(|(&id, _)| id).collect();
        for id in ids {
            if let Some(transmit) = self.poll_flow(id, now) {
                self.flow_turn = Some(FlowId(id.0 + 1));
                return Some(transmit);
            }
        }
        None
    }

    fn poll_flow(&mut self, id: FlowId, now: Timestamp) -> Option<Transmit> {
        if self.send_flows.get(&id)?.mode == FlowMode::Redundant {
            return self.poll_redundant(id);
        }
        let len = self.send_flows.get(&id)?.peek()?.data.len() as u64;
        let path = match self.send_flows.get(&id)?.mode {
            FlowMode::Best => self.stick(id)?,
            _ => match self.scheduler.pick(&self.views, &self.queue_view(len, None), now) {
                // Datagrams have no order that sending ahead could keep.
                Pick::Send(path) | Pick::Ahead { path, .. } => path,
                Pick::Duplicate(paths) => paths.iter().next()?,
                Pick::Wait(until) => {
                    self.wake_at(until);
                    return None;
                }
            },
        };
        let queued = self.send_flows.get_mut(&id)?.pop()?;
        Some(self.build_datagram(id, queued.seq, &queued.data, path))
    }

    /// The path of a `best` flow, if it has room now.
    fn stick(&mut self, id: FlowId) -> Option<PathId> {
        let active = self.active_paths();
        let best = self.fastest_path(PathSet::EMPTY);
        let path = self.send_flows.get_mut(&id)?.stick(active, best)?;
        self.has_room(path).then_some(path)
    }

    fn poll_redundant(&mut self, id: FlowId) -> Option<Transmit> {
        let flow = self.send_flows.get(&id)?;
        let open = self.views.iter().map(|view| view.id).filter(|&path| self.has_room(path));
        let path = open.into_iter().find(|&path| flow.peek_copy(path).is_some())?;
        let queued = self.send_flows.get_mut(&id)?.pop_copy(path)?;
        Some(self.build_datagram(id, queued.seq, &queued.data, path))
    }

    /// Whether a path takes a datagram now; one that pacing holds back is waited for.
    fn has_room(&self, path: PathId) -> bool {
        self.views.iter().any(|view| view.id == path && view.available)
    }

    fn build_datagram(&mut self, id: FlowId, seq: u64, data: &Bytes, path: PathId) -> Transmit {
        let mut buf = BytesMut::with_capacity(data.len() + 32);
        encode_datagram_header(&mut buf, id, seq, None);
        buf.extend_from_slice(data);
        let payload = Payload { datagram: true, ..Payload::default() };
        self.commit(path, buf.freeze(), payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bond::fixtures::{OVERHEAD, hub, settings};
    use crate::codec::{Frame, Side};
    use crate::config::BondConfig;

    const FLOW: FlowId = FlowId::new(Side::Edge, 0);

    fn arrive(bond: &mut Bond, frame: &Frame, now: Timestamp) {
        let mut datagram = BytesMut::new();
        frame.encode(&mut datagram, true);
        bond.on_datagram(PathId::default(), datagram.freeze(), now);
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
        let message = Control::FlowOpen { flow: FLOW, mode, resequence: None };
        let mut frames = [Frame::Control { seq: 0, message }, datagram(0), datagram(2)];
        if opening_is_late {
            frames.rotate_left(1);
        }
        let now = Timestamp::from_millis(300);
        frames.iter().for_each(|frame| arrive(&mut bond, frame, now));
        core::iter::from_fn(|| bond.recv_datagram(FLOW)).collect()
    }

    #[test]
    fn only_an_aggregate_flow_waits_for_order_unasked() {
        for late in [false, true] {
            for mode in [FlowMode::Redundant, FlowMode::Best] {
                assert_eq!(delivered(mode, late), [&b"0"[..], b"2"], "{mode:?} {late}");
            }
            assert_eq!(delivered(FlowMode::Aggregate, late), [&b"0"[..]]);
        }
    }
}
