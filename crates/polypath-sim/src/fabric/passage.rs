//! What goes through a gateway: from endpoints of its host into a bond, and out of it at the other
//! end.

use super::{EndpointId, Packet};
use std::collections::{BTreeMap, VecDeque};

/// More packets than the queues of a bond and what is under way hold: of more the oldest are lost.
const MOST_CARRIED: usize = 1 << 18;

/// A packet at a gateway.
#[derive(Debug)]
pub(crate) enum Handed {
    /// It is to go through the bond of this end.
    In(EndpointId, Packet),
    /// It has come out, and is for an endpoint of the host.
    Out(Packet),
}

/// Packets at gateways and within bonds. A bond carries the number of a packet and as many bytes as
/// it has.
#[derive(Debug, Default)]
pub(super) struct Passage {
    handed: VecDeque<Handed>,
    carried: BTreeMap<u64, Packet>,
    next: u64,
    strays: u64,
}

impl Passage {
    pub(super) fn hand(&mut self, handed: Handed) {
        self.handed.push_back(handed);
    }

    pub(super) fn take(&mut self) -> Option<Handed> {
        self.handed.pop_front()
    }

    /// Keeps a packet while a bond carries its number.
    pub(super) fn carry(&mut self, packet: Packet) -> u64 {
        let number = self.next;
        self.next += 1;
        self.carried.insert(number, packet);
        if self.carried.len() > MOST_CARRIED {
            self.carried.pop_first();
        }
        number
    }

    /// The packet whose number has come; `None` if it has come before.
    pub(super) fn arrive(&mut self, number: u64) -> Option<Packet> {
        let packet = self.carried.remove(&number);
        self.strays += u64::from(packet.is_none());
        packet
    }

    /// How many packets bonds carry, those included that were lost in one.
    pub(super) fn len(&self) -> usize {
        self.carried.len()
    }

    /// How many came that had come before.
    pub(super) const fn strays(&self) -> u64 {
        self.strays
    }
}
