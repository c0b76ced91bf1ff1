//! Datagram flows.

use super::paths::Paths;
use super::{Bond, Transmit};
use crate::codec::{
    Control, DatagramFrame, FlowId, FlowMode, datagram_header_size, encode_datagram_header,
};
use crate::error::{OpenError, ProtocolError, SendDatagramError};
use crate::event::Event;
use crate::flow::{FlowConfig, FlowCounters};
use crate::path::Payload;
use bytes::{Bytes, BytesMut};
use polypath_core::congestion::Congestion;
use polypath_units::{PathId, PathSet, Timestamp};
use std::time::Duration;

/// The longest automatic wait for order.
const MAX_AUTO_RESEQUENCE: Duration = Duration::from_millis(250);

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
        let FlowConfig { mode, resequence } = config;
        self.tell(Control::FlowOpen { flow, mode, resequence });
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
                self.on_flow_datagram(early, now);
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

    /// The longest datagram that every working path carries on any flow now.
    pub fn max_datagram_size(&self) -> usize {
        let smallest = self.paths.working().map(|path| path.max_datagram as usize).min();
        smallest.unwrap_or(0).saturating_sub(datagram_header_size(FlowId(1 << 20), 1 << 29, None))
    }

    /// Queues a datagram.
    ///
    /// # Errors
    /// When it is too long, the queue is full, or there is no such flow.
    pub fn send_datagram(&mut self, id: FlowId, data: &Bytes) -> Result<(), SendDatagramError> {
        let max = self.max_datagram_size();
        let active = self.paths.active();
        let flow = self.flows.sender_mut(id).ok_or(SendDatagramError::UnknownFlow(id))?;
        if data.len() > max && max > 0 {
            return Err(SendDatagramError::TooLarge { max });
        }
        if flow.push(data, active) { Ok(()) } else { Err(SendDatagramError::QueueFull(id)) }
    }

    /// The next datagram of a flow, if one has arrived.
    pub fn recv_datagram(&mut self, id: FlowId) -> Option<Bytes> {
        self.flows.read(id)
    }

    /// What became of a flow's datagrams.
    pub fn flow_counters(&self, id: FlowId) -> Option<FlowCounters> {
        self.flows.counters(id)
    }

    pub(super) fn on_flow_datagram(&mut self, datagram: DatagramFrame, now: Timestamp) {
        let id = datagram.flow;
        let admitted = self.limits.admits_datagram(datagram.data.len() as u64, now);
        let (paths, congestion) = (&self.paths, &self.congestion);
        let wait = || wait_for_order(paths, congestion);
        if self.flows.on_datagram(datagram, admitted, wait, now) {
            self.events.push_back(Event::FlowReadable(id));
        }
    }

    /// Releases what has waited for order long enough.
    pub(super) fn release_flows(&mut self, now: Timestamp) {
        let (paths, congestion, events) = (&self.paths, &self.congestion, &mut self.events);
        let on_ready = |id| events.push_back(Event::FlowReadable(id));
        self.flows.release(|| wait_for_order(paths, congestion), now, on_ready);
    }

    pub(super) fn next_flow_timer(&self) -> Option<Timestamp> {
        self.flows.next_timer(|| wait_for_order(&self.paths, &self.congestion))
    }

    /// The next datagram of any flow, in turn.
    pub(super) fn poll_flows(&mut self, now: Timestamp) -> Option<Transmit> {
        for id in self.flows.in_turn() {
            if let Some(transmit) = self.poll_flow(id, now) {
                self.flows.on_served(id);
                return Some(transmit);
            }
        }
        None
    }

    fn poll_flow(&mut self, id: FlowId, now: Timestamp) -> Option<Transmit> {
        let flow = self.flows.sender(id)?;
        if flow.mode == FlowMode::Redundant {
            return self.poll_redundant(id);
        }
        let len = flow.peek()?.data.len() as u64;
        let path = match flow.mode {
            FlowMode::Best => self.stick(id)?,
            _ => {
                let queue = self.queue_view(len, None);
                self.selection.pick_for_datagram(&queue, now)?
            }
        };
        let queued = self.flows.sender_mut(id)?.pop()?;
        Some(self.build_datagram(id, queued.seq, &queued.data, path))
    }

    /// The path of a `best` flow, if it has room now.
    fn stick(&mut self, id: FlowId) -> Option<PathId> {
        let active = self.paths.active();
        let best = self.paths.fastest(PathSet::EMPTY, &self.congestion);
        let path = self.flows.sender_mut(id)?.stick(active, best)?;
        self.selection.open().any(|view| view.id == path).then_some(path)
    }

    fn poll_redundant(&mut self, id: FlowId) -> Option<Transmit> {
        let flow = self.flows.sender(id)?;
        let has_copy = |path: &PathId| flow.peek_copy(*path).is_some();
        let path = self.selection.open().map(|view| view.id).find(has_copy)?;
        let queued = self.flows.sender_mut(id)?.pop_copy(path)?;
        Some(self.build_datagram(id, queued.seq, &queued.data, path))
    }

    fn build_datagram(&mut self, id: FlowId, seq: u64, data: &Bytes, path: PathId) -> Transmit {
        let mut buf = BytesMut::with_capacity(data.len() + 32);
        encode_datagram_header(&mut buf, id, seq, None);
        buf.extend_from_slice(data);
        let payload = Payload { datagram: true, ..Payload::default() };
        self.commit(path, buf.freeze(), payload)
    }
}

/// How long order is worth waiting for: half of how much the round trips of the working paths
/// differ.
fn wait_for_order(paths: &Paths, congestion: &Congestion) -> Duration {
    let rtts = || paths.working().filter_map(|path| congestion.rtt(path.id));
    let slowest = rtts().filter_map(|rtt| Some(rtt.srtt()? + 4 * rtt.rttvar())).max();
    let fastest = rtts().filter_map(|rtt| rtt.min()).min();
    let apart = slowest.unwrap_or_default().saturating_sub(fastest.unwrap_or_default());
    (apart / 2).min(MAX_AUTO_RESEQUENCE)
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
