//! Which queue a link has.

use super::{
    CoDelConfig, FqCoDelConfig, HtbConfig, Pipe, PriorityConfig, RedConfig, TokenBucketConfig,
};
use crate::config_error::ConfigError;
use std::time::Duration;

/// The queue discipline of a link.
#[derive(Clone, Debug, PartialEq)]
pub enum QueueConfig {
    /// One queue, with or without active management.
    Leaf(LeafQueue),
    /// Bands in strict priority.
    Priority(PriorityConfig),
    /// A shaper: one queue behind a token bucket.
    TokenBucket(TokenBucketConfig),
    /// Classes that share the link and borrow from each other.
    Htb(HtbConfig),
}

/// A queue that classful disciplines can hold.
#[derive(Clone, Debug, PartialEq)]
pub enum LeafQueue {
    /// First in, first out; what does not fit is dropped.
    DropTail(QueueLimit),
    /// Random early detection.
    Red(RedConfig),
    /// Controlled delay.
    CoDel(CoDelConfig),
    /// Flow queues with controlled delay.
    FqCoDel(FqCoDelConfig),
}

/// How much may wait behind the packet in service.
///
/// A packet that finds the queue and the server empty is always taken, so that no limit makes a
/// link useless. Every other one is taken if it fits with those that wait behind the packet in
/// service.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueLimit {
    /// This many bytes.
    Bytes(u64),
    /// This many packets of any size.
    Packets(u64),
    /// A multiple of the bandwidth-delay product: [`Rate::reference`](crate::Rate::reference)
    /// (the highest rate of a schedule, the mean rate of a trace) times a round-trip time.
    Bdp {
        /// How many BDPs.
        multiple: f64,
        /// The round-trip time; twice the delay if not given.
        rtt: Option<Duration>,
    },
}

impl QueueConfig {
    /// Sets the round-trip time of limits in BDP that have none of their own.
    pub fn set_rtt(&mut self, rtt: Duration) {
        match self {
            Self::Leaf(leaf) => leaf.set_rtt(rtt),
            Self::Priority(config) => config.bands.iter_mut().for_each(|band| band.set_rtt(rtt)),
            Self::TokenBucket(config) => config.queue.set_rtt(rtt),
            Self::Htb(config) => config.for_each_queue(&mut |queue| queue.set_rtt(rtt)),
        }
    }

    /// Checks what the types cannot express.
    ///
    /// # Errors
    /// The first parameter that is wrong, and what is allowed.
    pub fn check(&self) -> Result<(), ConfigError> {
        match self {
            Self::Leaf(leaf) => leaf.check(),
            Self::Priority(config) => config.check(),
            Self::TokenBucket(config) => config.check(),
            Self::Htb(config) => config.check(),
        }
    }
}

impl LeafQueue {
    /// How much may wait in it.
    pub const fn limit(&self) -> QueueLimit {
        match self {
            Self::DropTail(limit) => *limit,
            Self::Red(config) => config.limit,
            Self::CoDel(config) => config.limit,
            Self::FqCoDel(config) => config.limit,
        }
    }

    fn set_rtt(&mut self, given: Duration) {
        let limit = match self {
            Self::DropTail(limit) => limit,
            Self::Red(config) => &mut config.limit,
            Self::CoDel(config) => &mut config.limit,
            Self::FqCoDel(config) => &mut config.limit,
        };
        if let QueueLimit::Bdp { rtt, .. } = limit {
            rtt.get_or_insert(given);
        }
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        match self {
            Self::DropTail(limit) => limit.check(),
            Self::Red(config) => config.check(),
            Self::CoDel(config) => config.check(),
            Self::FqCoDel(config) => config.check(),
        }
    }
}

impl QueueLimit {
    /// How many packets of `bytes` bytes may wait in a queue of this limit in front of `pipe`.
    pub(crate) fn packets_before(self, pipe: Pipe<'_>, bytes: u32) -> u64 {
        let room = Room::of(self, pipe);
        room.packets.min(room.bytes / u64::from(bytes.max(1)))
    }

    pub(super) fn check(self) -> Result<(), ConfigError> {
        match self {
            Self::Bdp { multiple, .. } if !(multiple.is_finite() && multiple >= 0.0) => {
                Err(ConfigError::QueueMultiple { given: multiple })
            }
            _ => Ok(()),
        }
    }
}

impl<T: Into<LeafQueue>> From<T> for QueueConfig {
    fn from(queue: T) -> Self {
        Self::Leaf(queue.into())
    }
}

impl From<QueueLimit> for LeafQueue {
    fn from(limit: QueueLimit) -> Self {
        Self::DropTail(limit)
    }
}

impl From<RedConfig> for LeafQueue {
    fn from(config: RedConfig) -> Self {
        Self::Red(config)
    }
}

impl From<CoDelConfig> for LeafQueue {
    fn from(config: CoDelConfig) -> Self {
        Self::CoDel(config)
    }
}

impl From<FqCoDelConfig> for LeafQueue {
    fn from(config: FqCoDelConfig) -> Self {
        Self::FqCoDel(config)
    }
}

impl From<PriorityConfig> for QueueConfig {
    fn from(config: PriorityConfig) -> Self {
        Self::Priority(config)
    }
}

impl From<TokenBucketConfig> for QueueConfig {
    fn from(config: TokenBucketConfig) -> Self {
        Self::TokenBucket(config)
    }
}

impl From<HtbConfig> for QueueConfig {
    fn from(config: HtbConfig) -> Self {
        Self::Htb(config)
    }
}

/// The longest time that a [`Timestamp`](polypath_units::Timestamp) can express, 584 years.
const LONGEST: Duration = Duration::from_nanos(u64::MAX);

/// A limit in both units, of which one is infinite.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    bytes: u64,
    packets: u64,
}

impl Room {
    pub(super) fn of(limit: QueueLimit, pipe: Pipe<'_>) -> Self {
        match limit {
            QueueLimit::Bytes(bytes) => Self { bytes, packets: u64::MAX },
            QueueLimit::Packets(packets) => Self { bytes: u64::MAX, packets },
            QueueLimit::Bdp { multiple, rtt } => {
                let rtt = rtt.unwrap_or(pipe.delay.saturating_mul(2));
                let bdp = pipe.rate().bytes_in(rtt.min(LONGEST));
                Self { bytes: (bdp as f64 * multiple).round() as u64, packets: u64::MAX }
            }
        }
    }

    /// Whether this much may wait.
    pub(super) fn holds(self, packets: usize, bytes: u64) -> bool {
        bytes <= self.bytes && packets as u64 <= self.packets
    }
}
