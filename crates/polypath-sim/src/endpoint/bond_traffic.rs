//! What a simulated bond carries.

use super::bond_datagrams::BondDatagrams;
use super::bond_stream::BondStream;
use polypath_bond::{Bond, Event};
use polypath_units::Timestamp;

/// The stream of each direction, and its datagrams.
#[derive(Debug, Default)]
pub(super) struct BondTraffic {
    pub(super) stream: BondStream,
    pub(super) datagrams: BondDatagrams,
}

impl BondTraffic {
    /// Payload bytes that came.
    pub(super) const fn delivered(&self) -> u64 {
        self.stream.delivered() + self.datagrams.delivered()
    }

    /// Hands over what is to be sent and takes what there is.
    pub(super) fn drive(&mut self, bond: &mut Bond, now: Timestamp) {
        while let Some(event) = bond.poll_event() {
            match event {
                Event::FlowOpened(id) => self.datagrams.on_opened(id),
                event => self.stream.on_event(&event, now),
            }
        }
        self.stream.drive(bond, now);
        self.datagrams.drive(bond);
    }
}
