//! Strict priority.

use super::check::require;
use super::leaf::Leaf;
use super::{LeafQueue, Pipe, QueueLimit};
use crate::accounting::Accounting;
use crate::config_error::ConfigError;
use crate::counters::DropReason;
use crate::item::Item;
use crate::packet::Packet;
use crate::rng::Random;
use polypath_units::Timestamp;

/// The parameters of a strict priority queue.
///
/// A packet of class c goes to band c, to the last band if there are not so many. A band sends
/// only while all bands before it are empty.
#[derive(Clone, Debug, PartialEq)]
pub struct PriorityConfig {
    /// The queue of each band, the most urgent one first; at least one, at most 256. The default
    /// is three of 1000 packets each, as many as in Linux.
    pub bands: Vec<LeafQueue>,
}

impl Default for PriorityConfig {
    fn default() -> Self {
        Self { bands: vec![QueueLimit::Packets(1000).into(); 3] }
    }
}

impl PriorityConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let bands = self.bands.len();
        let allowed = "1 to 256 bands are allowed";
        require((1..=256).contains(&bands), ("priority", "number of bands"), bands, allowed)?;
        self.bands.iter().try_for_each(LeafQueue::check)
    }
}

/// A strict priority queue at work.
#[derive(Clone, Debug)]
pub(crate) struct Priority<P> {
    bands: Vec<Leaf<P>>,
}

impl<P: Packet> Priority<P> {
    pub(super) fn new(config: &PriorityConfig, pipe: Pipe<'_>, random: &mut Random) -> Self {
        Self { bands: config.bands.iter().map(|band| Leaf::new(band, pipe, random)).collect() }
    }

    pub(super) fn enqueue(
        &mut self,
        item: Item<P>,
        idle: bool,
        accounting: &mut Accounting<P>,
    ) -> Result<(), DropReason> {
        self.band_of(&item.packet).enqueue(item, idle, accounting)
    }

    pub(super) fn dequeue(
        &mut self,
        now: Timestamp,
        accounting: &mut Accounting<P>,
    ) -> Option<Item<P>> {
        self.bands.iter_mut().find_map(|band| band.dequeue(now, accounting))
    }

    pub(super) fn band_of(&mut self, packet: &P) -> &mut Leaf<P> {
        let last = self.bands.len() - 1;
        &mut self.bands[usize::from(packet.class()).min(last)]
    }

    pub(super) fn drain(&mut self, sink: &mut dyn FnMut(Item<P>)) {
        self.bands.iter_mut().for_each(|band| band.drain(sink));
    }

    pub(super) fn fit(&mut self, pipe: Pipe<'_>) {
        self.bands.iter_mut().for_each(|band| band.fit(pipe));
    }
}
