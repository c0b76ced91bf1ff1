//! Strict priority.

use super::check::require;
use super::leaf::Leaf;
use super::{Item, LeafQueue, QueueLimit};
use crate::books::Books;
use crate::config::{ConfigError, LinkConfig};
use crate::counters::DropReason;
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
    pub(super) fn new(config: &PriorityConfig, link: &LinkConfig, random: &mut Random) -> Self {
        Self { bands: config.bands.iter().map(|band| Leaf::new(band, link, random)).collect() }
    }

    pub(super) fn enqueue(
        &mut self,
        item: Item<P>,
        idle: bool,
        books: &mut Books<P>,
    ) -> Result<(), DropReason> {
        self.band_of(&item.packet).enqueue(item, idle, books)
    }

    pub(super) fn dequeue(&mut self, now: Timestamp, books: &mut Books<P>) -> Option<Item<P>> {
        self.bands.iter_mut().find_map(|band| band.dequeue(now, books))
    }

    pub(super) fn band_of(&mut self, packet: &P) -> &mut Leaf<P> {
        let last = self.bands.len() - 1;
        &mut self.bands[usize::from(packet.class()).min(last)]
    }

    pub(super) fn drain(&mut self, sink: &mut dyn FnMut(Item<P>)) {
        self.bands.iter_mut().for_each(|band| band.drain(sink));
    }

    pub(super) fn fit(&mut self, link: &LinkConfig) {
        self.bands.iter_mut().for_each(|band| band.fit(link));
    }
}
