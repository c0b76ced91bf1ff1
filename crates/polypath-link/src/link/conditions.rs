//! What most packets need of a link, and what few packets need.

use crate::blackout::Outages;
use crate::config::LinkConfig;
use crate::loss::{Loss, LossProcess};
use crate::rate::Work;
use crate::recovery::RecoveryProcess;
use crate::rng::Random;
use polypath_units::Timestamp;
use std::time::Duration;

/// What the settings and outages mean for most packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conditions {
    /// The shortest delay.
    pub(super) min_delay: Duration,
    pub(super) mtu: u32,
    pub(super) down: bool,
    pub(super) reorder: bool,
    /// No packet is lost or sent again, and all have the shortest delay.
    pub(super) is_plain: bool,
}

impl Conditions {
    pub(super) fn new(config: &LinkConfig, down: bool) -> Self {
        Self {
            min_delay: config.delay.saturating_sub(config.jitter),
            mtu: config.mtu.unwrap_or(u32::MAX),
            down,
            reorder: config.reorder,
            is_plain: config.jitter.is_zero()
                && config.loss == Loss::None
                && config.recovery.is_none(),
        }
    }
}

/// What few packets touch, behind a pointer so that what all packets touch stays in the cache.
#[derive(Clone, Debug)]
pub(super) struct ColdState {
    pub(super) config: LinkConfig,
    /// Switched off with [`Link::set_down`](super::Link::set_down).
    pub(super) switched_off: bool,
    pub(super) outages: Outages,
    /// A packet in service that would never be done: since when it is served, and its work.
    pub(super) stalled: (Timestamp, Work),
    pub(super) loss: LossProcess,
    pub(super) recovery: RecoveryProcess,
    pub(super) jitter: Random,
    /// For queues that draw random numbers.
    pub(super) random: Random,
}

impl ColdState {
    pub(super) fn is_down(&self) -> bool {
        self.switched_off || self.outages.is_down()
    }

    /// When a packet whose first transmission ends at `departure` sets out on the shortest delay:
    /// once it has been received, with its share of the jitter.
    pub(super) fn sets_out(&mut self, departure: Timestamp) -> Timestamp {
        let recovery = self.config.recovery.as_ref();
        self.recovery.received(recovery, departure) + self.extra_delay()
    }

    /// By how much the delay of the next packet exceeds the shortest one.
    fn extra_delay(&mut self) -> Duration {
        let LinkConfig { delay, jitter, .. } = self.config;
        if jitter.is_zero() {
            return Duration::ZERO;
        }
        let shortest = delay.saturating_sub(jitter);
        self.jitter.up_to(delay.saturating_add(jitter) - shortest)
    }
}
