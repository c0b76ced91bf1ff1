//! What a link is like.

use crate::blackout::Blackout;
use crate::loss::Loss;
use crate::rate::Rate;
use polypath_units::Timestamp;
use std::time::Duration;

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// The rate of the server, in bits of packets as given to the link (no framing is added).
    pub rate: Rate,
    /// One-way propagation delay.
    pub delay: Duration,
    /// Each packet's delay is uniform in [`delay` - `jitter`, `delay` + `jitter`], from zero
    /// if the jitter is larger.
    pub jitter: Duration,
    /// Whether jitter may reorder packets. If not, a packet is delivered no earlier than the one
    /// before it, which raises the mean delay when packets are closer than the jitter.
    pub reorder: bool,
    /// The drop-tail queue.
    pub queue: QueueLimit,
    /// Random loss.
    pub loss: Loss,
    /// Larger packets are dropped; `None` takes every size.
    pub mtu: Option<u32>,
    /// Silent outages, in any order.
    pub blackouts: Vec<Blackout>,
}

impl LinkConfig {
    /// A link with a queue of one BDP, without jitter, loss, MTU and outages.
    pub fn new(rate: impl Into<Rate>, delay: Duration) -> Self {
        Self {
            rate: rate.into(),
            delay,
            jitter: Duration::ZERO,
            reorder: false,
            queue: QueueLimit::Bdp { multiple: 1.0, rtt: None },
            loss: Loss::None,
            mtu: None,
            blackouts: Vec::new(),
        }
    }

    /// Checks what the types leave open.
    ///
    /// # Errors
    /// The first setting that is wrong, and what is allowed.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.loss.check()?;
        if let QueueLimit::Bdp { multiple, .. } = self.queue
            && !(multiple.is_finite() && multiple >= 0.0)
        {
            return Err(ConfigError::QueueMultiple { given: multiple });
        }
        if let Some(&Blackout { from, to }) = self.blackouts.iter().find(|b| b.from >= b.to) {
            return Err(ConfigError::Blackout { from, to });
        }
        match &self.rate {
            Rate::Schedule { steps, .. } => {
                let wrong = steps.windows(2).find(|pair| pair[0].at >= pair[1].at);
                wrong.map_or(Ok(()), |pair| Err(ConfigError::Schedule { at: pair[1].at }))
            }
            Rate::Constant(_) | Rate::Trace { .. } => Ok(()),
        }
    }
}

/// A setting of a link that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A probability outside 0 to 1.
    #[error("{name} is {given}; a probability from 0 to 1 is allowed")]
    Probability {
        /// Which one.
        name: &'static str,
        /// What was given.
        given: f64,
    },
    /// A negative or infinite number of BDPs.
    #[error("a queue of {given} bdp; a finite number from 0 is allowed")]
    QueueMultiple {
        /// What was given.
        given: f64,
    },
    /// An outage that ends before it begins.
    #[error("a blackout from {from} to {to}; it must end after it begins")]
    Blackout {
        /// Its start.
        from: Timestamp,
        /// Its end.
        to: Timestamp,
    },
    /// Rate steps that are not in order.
    #[error("the rate step at {at} is not later than the one before it; times must ascend")]
    Schedule {
        /// The step.
        at: Timestamp,
    },
}

/// How much may wait behind the packet in service.
///
/// A packet that finds the queue empty is always taken, so that no limit makes a link useless.
/// Every other one is taken if it fits with those that wait behind the packet in service.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueLimit {
    /// This many bytes.
    Bytes(u64),
    /// This many packets of any size.
    Packets(u64),
    /// A multiple of the bandwidth-delay product: [`Rate::reference`] (the highest rate of a
    /// schedule, the mean rate of a trace) times a round-trip time.
    Bdp {
        /// How many BDPs.
        multiple: f64,
        /// The round-trip time; twice the delay if not given.
        rtt: Option<Duration>,
    },
}

/// The longest time that a [`Timestamp`] can tell, 584 years.
const LONGEST: Duration = Duration::from_nanos(u64::MAX);

/// A limit in both units, of which one is infinite.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) bytes: u64,
    pub(crate) packets: u64,
}

impl Room {
    pub(crate) fn of(config: &LinkConfig) -> Self {
        match config.queue {
            QueueLimit::Bytes(bytes) => Self { bytes, packets: u64::MAX },
            QueueLimit::Packets(packets) => Self { bytes: u64::MAX, packets },
            QueueLimit::Bdp { multiple, rtt } => {
                let rtt = rtt.unwrap_or(config.delay.saturating_mul(2));
                let bdp = config.rate.reference().bytes_in(rtt.min(LONGEST));
                Self { bytes: (bdp as f64 * multiple).round() as u64, packets: u64::MAX }
            }
        }
    }
}
