//! The settings of a link.

use crate::blackout::Blackout;
use crate::loss::Loss;
use crate::queue::{QueueConfig, QueueLimit};
use crate::rate::Rate;
use crate::recovery::Recovery;
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

/// A setting of a link that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
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
    /// Retransmissions that fail too often ever to end.
    #[error("retransmission_error is {given}; a probability from 0 to 0.99 is allowed")]
    RetransmissionError {
        /// What was given.
        given: f64,
    },
    /// A negative or infinite number of BDPs.
    #[error("a queue of {given} bdp; a finite number from 0 is allowed")]
    QueueMultiple {
        /// What was given.
        given: f64,
    },
    /// A parameter of a queue discipline.
    #[error("{queue} queue: {parameter} is {given}; {allowed}")]
    Queue {
        /// The discipline.
        queue: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// What was given.
        given: String,
        /// What is allowed.
        allowed: &'static str,
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
