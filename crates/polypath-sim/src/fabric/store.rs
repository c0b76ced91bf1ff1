//! Where packets are kept while links pass their tickets on.

use super::{Packet, Ticket};
use polypath_units::Timestamp;

/// Packets by handle. A handle is free again once its packet is taken.
#[derive(Debug, Default)]
pub(super) struct Store {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot {
    packet: Option<Packet>,
    /// The place in the list of hops.
    hop: u32,
    sent_at: Timestamp,
}

impl Store {
    /// Keeps a packet that was sent now and stands before hop `hop`.
    pub(super) fn put(&mut self, packet: Packet, hop: u32, now: Timestamp) -> u32 {
        let slot = Slot { packet: Some(packet), hop, sent_at: now };
        match self.free.pop() {
            Some(handle) => {
                self.slots[handle as usize] = slot;
                handle
            }
            None => {
                self.slots.push(slot);
                (self.slots.len() - 1) as u32
            }
        }
    }

    /// The packet has passed a hop: the next one.
    pub(super) fn advance(&mut self, handle: u32) -> u32 {
        let slot = &mut self.slots[handle as usize];
        slot.hop += 1;
        slot.hop
    }

    /// The size of a packet.
    pub(super) fn bytes(&self, handle: u32) -> u32 {
        self.slots[handle as usize].packet.as_ref().map_or(0, |packet| packet.bytes)
    }

    /// When a packet was sent.
    pub(super) fn sent_at(&self, handle: u32) -> Timestamp {
        self.slots[handle as usize].sent_at
    }

    /// Gives the packet up. `None` only for a handle that was given up before.
    pub(super) fn take(&mut self, ticket: Ticket) -> Option<Packet> {
        let mut packet = self.slots[ticket.handle as usize].packet.take()?;
        packet.ecn = ticket.ecn;
        self.free.push(ticket.handle);
        Some(packet)
    }

    /// How many packets are kept.
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
