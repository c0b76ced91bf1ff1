//! CoDel: controlled delay (Nichols and Jacobson, ACM Queue 10(5), 2012; RFC 8289).

use super::check::require;
use super::config::Room;
use super::fifo::Fifo;
use super::leaf::has_room;
use super::{Pipe, QueueLimit};
use crate::accounting::Accounting;
use crate::config_error::ConfigError;
use crate::counters::DropReason;
use crate::item::Item;
use crate::packet::Packet;
use polypath_units::Timestamp;
use std::time::Duration;

/// The parameters of CoDel.
#[derive(Clone, Debug, PartialEq)]
pub struct CoDelConfig {
    /// The standing delay that is acceptable (TARGET of RFC 8289: 5 ms).
    pub target: Duration,
    /// How long the delay may stay above the target: a worst-case round-trip time (INTERVAL:
    /// 100 ms).
    pub interval: Duration,
    /// The most that may wait (1000 packets, as in Linux).
    pub limit: QueueLimit,
    /// Whether ECN-capable packets are marked instead of dropped. Off by default.
    pub ecn: bool,
}

impl Default for CoDelConfig {
    fn default() -> Self {
        Self {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            limit: QueueLimit::Packets(1000),
            ecn: false,
        }
    }
}

impl CoDelConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.limit.check()?;
        check_law("codel", self.target, self.interval)
    }
}

pub(super) fn check_law(
    queue: &'static str,
    target: Duration,
    interval: Duration,
) -> Result<(), ConfigError> {
    let (given, allowed) = (format!("{interval:?}"), "a time above zero is allowed");
    require(!interval.is_zero(), (queue, "interval"), given, allowed)?;
    let (given, allowed) = (format!("{target:?}"), "a time up to the interval is allowed");
    require(target <= interval, (queue, "target"), given, allowed)
}

/// The parameters of [`Law`].
#[derive(Clone, Copy, Debug)]
pub(super) struct LawConfig {
    pub(super) target: Duration,
    pub(super) interval: Duration,
    pub(super) ecn: bool,
}

/// The state of CoDel for one queue, under the names of the pseudocode of RFC 8289.
#[derive(Clone, Debug, Default)]
pub(super) struct Law {
    /// When the delay will have been above the target for an interval; `None` while it is below.
    first_above: Option<Timestamp>,
    dropping: bool,
    drop_next: Timestamp,
    /// Drops since the dropping state was entered, and what it was then.
    count: u32,
    last_count: u32,
}

impl Law {
    /// The next packet to send, after the drops that the law demands (`dequeue` of the RFC).
    /// `max_packet` is the largest packet that the queue has seen.
    pub(super) fn dequeue<P: Packet>(
        &mut self,
        config: LawConfig,
        (now, max_packet): (Timestamp, u32),
        fifo: &mut Fifo<P>,
        accounting: &mut Accounting<P>,
    ) -> Option<Item<P>> {
        let mut item = fifo.pop();
        let mut high = self.is_high(config, (now, max_packet), item.as_ref(), fifo);
        self.dropping &= high;
        if !high {
            return item;
        }
        if !self.dropping {
            self.enter(config, now);
            if !punish(&mut item, config, accounting) {
                item = fifo.pop();
                self.is_high(config, (now, max_packet), item.as_ref(), fifo);
            }
            return item;
        }
        while self.dropping && now >= self.drop_next {
            self.count = self.count.saturating_add(1);
            if punish(&mut item, config, accounting) {
                self.drop_next = self.after(self.drop_next, config.interval);
                break;
            }
            item = fifo.pop();
            high = self.is_high(config, (now, max_packet), item.as_ref(), fifo);
            self.dropping = high;
            if high {
                self.drop_next = self.after(self.drop_next, config.interval);
            }
        }
        item
    }

    /// Whether the delay has been above the target for an interval (`dodequeue`).
    fn is_high<P>(
        &mut self,
        config: LawConfig,
        (now, max_packet): (Timestamp, u32),
        item: Option<&Item<P>>,
        rest: &Fifo<P>,
    ) -> bool {
        let above = item.is_some_and(|item| now.since(item.entered) >= config.target)
            && rest.bytes() > u64::from(max_packet);
        if !above {
            self.first_above = None;
            return false;
        }
        let Some(since) = self.first_above else {
            self.first_above = Some(now + config.interval);
            return false;
        };
        now >= since
    }

    /// Enters the dropping state. The drop rate of the last time is a good start if that was not
    /// long ago.
    fn enter(&mut self, config: LawConfig, now: Timestamp) {
        self.dropping = true;
        let delta = self.count - self.last_count;
        let recent = now.since(self.drop_next) < config.interval.saturating_mul(16);
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.drop_next = self.after(now, config.interval);
        self.last_count = self.count;
    }

    /// `control_law`: the square root makes throughput, hence the queue, fall linearly in time.
    fn after(&self, at: Timestamp, interval: Duration) -> Timestamp {
        let nanos = interval.as_nanos() as f64 / f64::from(self.count).sqrt();
        at + Duration::from_nanos(nanos as u64)
    }
}

/// Marks the packet, or drops it. Returns whether it is still there.
fn punish<P: Packet>(
    item: &mut Option<Item<P>>,
    config: LawConfig,
    accounting: &mut Accounting<P>,
) -> bool {
    if item.as_mut().is_some_and(|item| accounting.mark(item, config.ecn)) {
        return true;
    }
    if let Some(item) = item.take() {
        accounting.drop_waiting(DropReason::Aqm, item);
    }
    false
}

/// One queue under CoDel.
#[derive(Clone, Debug)]
pub(crate) struct CoDel<P> {
    config: CoDelConfig,
    room: Room,
    max_packet: u32,
    law: Law,
    pub(super) fifo: Fifo<P>,
}

impl<P: Packet> CoDel<P> {
    pub(super) fn new(config: &CoDelConfig, pipe: Pipe<'_>) -> Self {
        Self {
            config: config.clone(),
            room: Room::of(config.limit, pipe),
            max_packet: 0,
            law: Law::default(),
            fifo: Fifo::new(),
        }
    }

    pub(super) fn fit(&mut self, pipe: Pipe<'_>) {
        self.room = Room::of(self.config.limit, pipe);
    }

    pub(super) fn enqueue(
        &mut self,
        item: Item<P>,
        idle: bool,
        accounting: &mut Accounting<P>,
    ) -> Result<(), DropReason> {
        if !has_room(&self.fifo, self.room, item.bytes, idle) {
            return Err(accounting.drop_waiting(DropReason::QueueFull, item));
        }
        self.adopt(item);
        Ok(())
    }

    pub(super) fn adopt(&mut self, item: Item<P>) {
        self.max_packet = self.max_packet.max(item.bytes);
        self.fifo.push(item);
    }

    pub(super) fn dequeue(
        &mut self,
        now: Timestamp,
        accounting: &mut Accounting<P>,
    ) -> Option<Item<P>> {
        let CoDelConfig { target, interval, ecn, .. } = self.config;
        let config = LawConfig { target, interval, ecn };
        self.law.dequeue(config, (now, self.max_packet), &mut self.fifo, accounting)
    }
}
