//! The datagram flows that a simulated bond carries: one for each direction.

use super::Datagrams;
use bytes::{Bytes, BytesMut};
use polypath_bond::{Bond, FlowConfig, FlowId};
use polypath_units::Timestamp;
use std::collections::VecDeque;

/// A datagram has its number in it, and so many bytes at least.
pub(crate) const NUMBER_BYTES: u64 = 8;

/// What the application at one end has sent and received.
#[derive(Debug, Default)]
pub(super) struct BondDatagrams {
    config: Option<FlowConfig>,
    outgoing: Option<FlowId>,
    incoming: Option<FlowId>,
    unsent: VecDeque<Bytes>,
    /// The numbers of those that the application has not seen.
    arrived: Vec<u64>,
    /// Payload bytes that came.
    delivered: u64,
}

impl Datagrams for BondDatagrams {
    fn open(&mut self, config: FlowConfig) {
        self.config = Some(config);
    }

    fn send(&mut self, number: u64, bytes: u64) {
        let mut data = BytesMut::zeroed(bytes.max(NUMBER_BYTES) as usize);
        data[..NUMBER_BYTES as usize].copy_from_slice(&number.to_be_bytes());
        self.unsent.push_back(data.freeze());
    }

    fn has_arrived(&self) -> bool {
        !self.arrived.is_empty()
    }

    fn take_arrived(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.arrived)
    }
}

impl BondDatagrams {
    /// Payload bytes that came.
    pub(super) const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// The other end has opened its flow.
    pub(super) fn on_opened(&mut self, id: FlowId) {
        self.incoming.get_or_insert(id);
    }

    /// One has come.
    pub(super) fn take(&mut self, data: &Bytes) {
        self.delivered += data.len() as u64;
        self.arrived.extend(data.first_chunk().map(|number| u64::from_be_bytes(*number)));
    }

    /// Sends what is to be sent and, unless a gateway does, `reads` what there is.
    pub(super) fn drive(&mut self, bond: &mut Bond, reads: bool, now: Timestamp) {
        if let Some(config) = self.config
            && self.outgoing.is_none()
        {
            self.outgoing = bond.open_flow(config).ok();
        }
        if let Some(id) = self.outgoing {
            for data in self.unsent.drain(..) {
                // A full queue drops it, as it drops what programs send.
                let _ = bond.send_datagram(id, &data, now);
            }
        }
        if let Some(id) = self.incoming.filter(|_| reads) {
            while let Some(datagram) = bond.recv_datagram(id) {
                self.take(&datagram.data);
            }
        }
    }
}
