//! A token bucket filter: a queue that sends at a rate, after a pause in a burst.

use super::bucket::{Bucket, cost};
use super::check::require;
use super::leaf::Leaf;
use super::{LeafQueue, Pipe, QueueLimit};
use crate::accounting::Accounting;
use crate::config_error::ConfigError;
use crate::counters::DropReason;
use crate::item::Item;
use crate::packet::Packet;
use crate::rng::Random;
use polypath_units::{Bandwidth, Timestamp};

/// The parameters of a token bucket filter.
///
/// In any interval of length t, at most `burst + rate x t` bytes (and, with a peak rate, at most
/// `peak.burst + peak.rate x t`) begin their service; the link's own rate comes after that.
/// Packets larger than a burst can never pass and are dropped on entry, as larger than the MTU.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenBucketConfig {
    /// The sustained rate, above zero.
    pub rate: Bandwidth,
    /// The depth of the bucket in bytes: at least the largest packet.
    pub burst: u32,
    /// A second bucket that bounds the rate of bursts.
    pub peak: Option<PeakRate>,
    /// What waits for tokens. The packet at its head has left it for the shaper.
    pub queue: LeafQueue,
}

/// The second bucket of a token bucket filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeakRate {
    /// Its rate, at least the sustained one.
    pub rate: Bandwidth,
    /// Its depth in bytes: at least the largest packet, usually just that.
    pub burst: u32,
}

impl TokenBucketConfig {
    /// A shaper without peak rate before a queue of 1000 packets.
    pub fn new(rate: Bandwidth, burst: u32) -> Self {
        Self { rate, burst, peak: None, queue: QueueLimit::Packets(1000).into() }
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        const NAME: &str = "token_bucket";
        let (some, from_one) = ("a rate above zero is allowed", "from 1 B on is allowed");
        require(self.rate > Bandwidth::ZERO, (NAME, "rate"), self.rate, some)?;
        require(self.burst > 0, (NAME, "burst"), self.burst, from_one)?;
        if let Some(peak) = self.peak {
            let allowed = "at least the sustained rate is allowed";
            require(peak.rate >= self.rate, (NAME, "peak_rate"), peak.rate, allowed)?;
            require(peak.burst > 0, (NAME, "peak_burst"), peak.burst, from_one)?;
        }
        self.queue.check()
    }
}

/// A token bucket filter at work.
#[derive(Clone, Debug)]
pub(crate) struct TokenBucket<P> {
    /// The sustained and the peak rate.
    buckets: Vec<Bucket>,
    largest: u32,
    /// The next packet: when it may go depends on its size.
    held: Option<Item<P>>,
    queue: Leaf<P>,
}

impl<P: Packet> TokenBucket<P> {
    pub(super) fn new(
        config: &TokenBucketConfig,
        pipe: Pipe<'_>,
        now: Timestamp,
        random: &mut Random,
    ) -> Self {
        let sustained = PeakRate { rate: config.rate, burst: config.burst };
        let rates = || std::iter::once(sustained).chain(config.peak);
        Self {
            buckets: rates()
                .map(|PeakRate { rate, burst }| Bucket::new(rate, burst, now))
                .collect(),
            largest: rates().map(|peak| peak.burst).min().unwrap_or(config.burst),
            held: None,
            queue: Leaf::new(&config.queue, pipe, random),
        }
    }

    pub(super) fn enqueue(
        &mut self,
        item: Item<P>,
        idle: bool,
        accounting: &mut Accounting<P>,
    ) -> Result<(), DropReason> {
        if item.bytes > self.largest {
            return Err(accounting.drop_waiting(DropReason::Mtu, item));
        }
        self.queue.enqueue(item, idle && self.held.is_none(), accounting)
    }

    pub(super) fn dequeue(
        &mut self,
        now: Timestamp,
        accounting: &mut Accounting<P>,
    ) -> Option<Item<P>> {
        self.buckets.iter_mut().for_each(|bucket| bucket.refill(now));
        let item = self.held.take().or_else(|| self.queue.dequeue(now, accounting))?;
        let cost = cost(item.bytes);
        if self.buckets.iter().all(|bucket| bucket.has(cost)) {
            self.buckets.iter_mut().for_each(|bucket| bucket.spend(cost));
            return Some(item);
        }
        self.held = Some(item);
        None
    }

    /// When the packet at the head may go.
    pub(super) fn release(&self) -> Option<Timestamp> {
        let cost = cost(self.held.as_ref()?.bytes);
        self.buckets.iter().map(|bucket| bucket.when(cost)).max()
    }

    /// A packet larger than a burst passes when the bucket is full, and leaves it in debt.
    pub(super) fn adopt(&mut self, item: Item<P>) {
        self.queue.adopt(item);
    }

    pub(super) fn drain(&mut self, sink: &mut dyn FnMut(Item<P>)) {
        self.held.take().into_iter().for_each(&mut *sink);
        self.queue.drain(sink);
    }

    pub(super) fn fit(&mut self, pipe: Pipe<'_>) {
        self.queue.fit(pipe);
    }
}
