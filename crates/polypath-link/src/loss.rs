//! Packet loss.

use crate::config_error::ConfigError;
use crate::rng::Random;
use core::num::NonZeroU64;

/// How packets are lost on the line, after they have used the rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Loss {
    /// Nothing is lost.
    #[default]
    None,
    /// Each packet is lost with this probability, independent of the others.
    Bernoulli(f64),
    /// Exactly every n-th packet is lost, counted from the last loss or the link's start: what
    /// response functions are derived for (Mathis 1997; RFC 9438 section 5.1).
    Periodic {
        /// n.
        every: NonZeroU64,
    },
    /// Losses in bursts: a two-state Markov chain (Gilbert 1960, Elliott 1963) that may change
    /// its state before each packet and starts in the good state.
    GilbertElliott {
        /// Probability of going from good to bad.
        good_to_bad: f64,
        /// Probability of going from bad to good; the mean burst is its inverse, in packets.
        bad_to_good: f64,
        /// Probability of loss in the good state (often 0).
        loss_good: f64,
        /// Probability of loss in the bad state (often 1).
        loss_bad: f64,
    },
}

impl Loss {
    /// The long-run share of packets that are lost.
    pub fn mean(&self) -> f64 {
        match *self {
            Self::None => 0.0,
            Self::Bernoulli(probability) => probability,
            Self::Periodic { every } => 1.0 / every.get() as f64,
            Self::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                let changes = good_to_bad + bad_to_good;
                let bad = if changes > 0.0 { good_to_bad / changes } else { 0.0 };
                (1.0 - bad) * loss_good + bad * loss_bad
            }
        }
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let check = |name, given: f64| match (0.0..=1.0).contains(&given) {
            true => Ok(()),
            false => Err(ConfigError::Probability { name, given }),
        };
        match *self {
            Self::None | Self::Periodic { .. } => Ok(()),
            Self::Bernoulli(probability) => check("loss", probability),
            Self::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                check("good_to_bad", good_to_bad)?;
                check("bad_to_good", bad_to_good)?;
                check("loss_good", loss_good)?;
                check("loss_bad", loss_bad)
            }
        }
    }
}

/// A loss model at work.
#[derive(Clone, Debug)]
pub(crate) struct LossProcess {
    random: Random,
    bad: bool,
    /// Packets since a periodic loss.
    passed: u64,
}

impl LossProcess {
    pub(crate) fn new(random: Random) -> Self {
        Self { random, bad: false, passed: 0 }
    }

    /// Whether the next packet is lost.
    pub(crate) fn lose(&mut self, loss: &Loss) -> bool {
        match *loss {
            Loss::None => false,
            Loss::Bernoulli(probability) => self.random.chance(probability),
            Loss::Periodic { every } => {
                let lost = self.passed + 1 >= every.get();
                self.passed = if lost { 0 } else { self.passed + 1 };
                lost
            }
            Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                let change = if self.bad { bad_to_good } else { good_to_bad };
                self.bad ^= self.random.chance(change);
                self.random.chance(if self.bad { loss_bad } else { loss_good })
            }
        }
    }
}
