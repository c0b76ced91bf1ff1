//! What waits for the server, and in which order it leaves.
//!
//! The packet in service is out of the queue: [`Queue::dequeue`] is called when the server can
//! begin with a packet. The code that drops a packet also counts it.

mod bucket;
mod check;
mod codel;
mod config;
mod fifo;
mod fq_codel;
mod htb;
mod leaf;
mod pipe;
mod priority;
mod red;
mod token_bucket;

pub use codel::CoDelConfig;
pub use config::{LeafQueue, QueueConfig, QueueLimit};
pub use fq_codel::FqCoDelConfig;
pub use htb::{HtbClass, HtbConfig, HtbContent};
pub(crate) use pipe::Pipe;
pub use priority::PriorityConfig;
pub use red::{RedConfig, RedThresholds};
pub use token_bucket::{PeakRate, TokenBucketConfig};

use crate::accounting::Accounting;
use crate::counters::DropReason;
use crate::item::Item;
use crate::packet::Packet;
use crate::rng::Random;
use htb::Htb;
use leaf::Leaf;
use polypath_units::Timestamp;
use priority::Priority;
use token_bucket::TokenBucket;

/// A queue discipline at work.
#[derive(Clone, Debug)]
pub(crate) enum Queue<P> {
    Leaf(Leaf<P>),
    Priority(Box<Priority<P>>),
    TokenBucket(Box<TokenBucket<P>>),
    Htb(Box<Htb<P>>),
}

impl<P: Packet> Queue<P> {
    /// An empty queue in front of `pipe`.
    pub(crate) fn new(
        config: &QueueConfig,
        pipe: Pipe<'_>,
        now: Timestamp,
        random: &mut Random,
    ) -> Self {
        match config {
            QueueConfig::Leaf(leaf) => Self::Leaf(Leaf::new(leaf, pipe, random)),
            QueueConfig::Priority(config) => {
                Self::Priority(Box::new(Priority::new(config, pipe, random)))
            }
            QueueConfig::TokenBucket(config) => {
                Self::TokenBucket(Box::new(TokenBucket::new(config, pipe, now, random)))
            }
            QueueConfig::Htb(config) => Self::Htb(Box::new(Htb::new(config, pipe, now, random))),
        }
    }

    /// Takes a packet that `accounting.waiting` already counts, or drops it. While the server is
    /// `idle`, an empty queue takes every packet, so that no limit makes a link useless.
    #[inline]
    pub(crate) fn enqueue(
        &mut self,
        item: Item<P>,
        idle: bool,
        accounting: &mut Accounting<P>,
    ) -> Result<(), DropReason> {
        match self {
            Self::Leaf(leaf) => leaf.enqueue(item, idle, accounting),
            Self::Priority(queue) => queue.enqueue(item, idle, accounting),
            Self::TokenBucket(queue) => queue.enqueue(item, idle, accounting),
            Self::Htb(queue) => queue.enqueue(item, idle, accounting),
        }
    }

    /// Whether a packet that finds the server idle leaves the queue at once and unchanged.
    pub(crate) fn is_transparent(&self) -> bool {
        matches!(self, Self::Leaf(Leaf::DropTail(_)))
    }

    /// The packet with which the free server begins. Packets dropped meanwhile are counted.
    #[inline]
    pub(crate) fn dequeue(
        &mut self,
        now: Timestamp,
        accounting: &mut Accounting<P>,
    ) -> Option<Item<P>> {
        match self {
            Self::Leaf(leaf) => leaf.dequeue(now, accounting),
            Self::Priority(queue) => queue.dequeue(now, accounting),
            Self::TokenBucket(queue) => queue.dequeue(now, accounting),
            Self::Htb(queue) => queue.dequeue(now, accounting),
        }
    }

    /// Packets in the queue that serves a class, where HTB gives classes queues of their own.
    pub(crate) fn backlog(&self, class: u8) -> Option<usize> {
        match self {
            Self::Htb(queue) => Some(queue.backlog(class)),
            Self::Leaf(_) | Self::Priority(_) | Self::TokenBucket(_) => None,
        }
    }

    /// When packets wait that [`dequeue`](Self::dequeue) did not give just now: the time from
    /// which on it will give one, which is later than now.
    pub(crate) fn release(&self) -> Option<Timestamp> {
        let at = match self {
            Self::Leaf(_) | Self::Priority(_) => None,
            Self::TokenBucket(queue) => queue.release(),
            Self::Htb(queue) => queue.release(),
        };
        at.filter(|&at| at < Timestamp::MAX)
    }

    /// Takes a packet of another queue: no limit, no drop.
    pub(crate) fn adopt(&mut self, item: Item<P>) {
        match self {
            Self::Leaf(leaf) => leaf.adopt(item),
            Self::Priority(queue) => queue.band_of(&item.packet).adopt(item),
            Self::TokenBucket(queue) => queue.adopt(item),
            Self::Htb(queue) => queue.adopt(item),
        }
    }

    /// Empties the queue into `sink`, each flow in its order. Tokens and averages stay.
    pub(crate) fn drain(&mut self, sink: &mut dyn FnMut(Item<P>)) {
        match self {
            Self::Leaf(leaf) => leaf.drain(sink),
            Self::Priority(queue) => queue.drain(sink),
            Self::TokenBucket(queue) => queue.drain(sink),
            Self::Htb(queue) => queue.drain(sink),
        }
    }

    /// Follows a change of the link: limits in BDP, transmission times.
    pub(crate) fn fit(&mut self, pipe: Pipe<'_>) {
        match self {
            Self::Leaf(leaf) => leaf.fit(pipe),
            Self::Priority(queue) => queue.fit(pipe),
            Self::TokenBucket(queue) => queue.fit(pipe),
            Self::Htb(queue) => queue.fit(pipe),
        }
    }
}
