//! The settings of a link.

use crate::blackout::Blackout;
use crate::config_error::ConfigError;
use crate::loss::Loss;
use crate::queue::{Pipe, QueueConfig, QueueLimit};
use crate::rate::Rate;
use crate::recovery::Recovery;
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
    /// Whether jitter, and [`Recovery`] without order, may reorder packets. If not, a packet is
    /// delivered no earlier than the one before it, which raises the mean delay when packets are
    /// closer than the jitter.
    pub reorder: bool,
    /// The queue discipline.
    pub queue: QueueConfig,
    /// Loss on the line.
    pub loss: Loss,
    /// Retransmission on the radio layer; `None` if every packet is received at once.
    pub recovery: Option<Recovery>,
    /// Larger packets are dropped; `None` takes every size.
    pub mtu: Option<u32>,
    /// Silent outages, in any order.
    pub blackouts: Vec<Blackout>,
}

impl LinkConfig {
    /// A link with a drop-tail queue of one BDP, without jitter, loss, recovery, MTU and
    /// outages.
    pub fn new(rate: impl Into<Rate>, delay: Duration) -> Self {
        Self {
            rate: rate.into(),
            delay,
            jitter: Duration::ZERO,
            reorder: false,
            queue: QueueLimit::Bdp { multiple: 1.0, rtt: None }.into(),
            loss: Loss::None,
            recovery: None,
            mtu: None,
            blackouts: Vec::new(),
        }
    }

    /// What the queue is in front of.
    pub(crate) const fn pipe(&self) -> Pipe<'_> {
        Pipe { rate: &self.rate, delay: self.delay }
    }

    /// Checks what the types cannot express.
    ///
    /// # Errors
    /// The first setting that is wrong, and what is allowed.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.loss.check()?;
        self.queue.check()?;
        self.recovery.map_or(Ok(()), |recovery| recovery.check())?;
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

impl QueueLimit {
    /// How many packets of `bytes` bytes may wait in a queue of this limit on `link`.
    pub fn packets(self, bytes: u32, link: &LinkConfig) -> u64 {
        self.packets_before(link.pipe(), bytes)
    }
}
