//! A seeded generator of rates over time.
//!
//! # The model
//!
//! ```text
//! rate(t) = mean x slow(t) x fast(t) x interruption_1(t) x ... / E[interruption_1] ...
//! ```
//!
//! * `slow` and `fast` are [`Fading`]s of mean 1: the power of a Nakagami channel, the mean of
//!   squares of independent autoregressive Gaussian processes. Their values have a gamma
//!   distribution, never below zero and without the heavy tail of a log-normal one.
//! * An [`Interruption`] is a Markov chain of two states: clear, with factor 1, and interrupted,
//!   with a small factor: a blocked line of sight, a tunnel, a handover.
//!
//! All factors are independent, stationary from the start, and step together. Hence mean,
//! variance and autocorrelation have [closed forms](Expected), which the tests hold the generator
//! to and with which [`Model`]s are fitted.
//!
//! Equal seeds give equal rates on every machine: logarithm and cosine are those of `libm`.

mod expected;
mod fading;
mod interruption;
mod model;
mod preset;
mod run;

pub use expected::Expected;
pub use fading::Fading;
pub use interruption::Interruption;
pub use model::{MAX_COMPONENTS, Model, ModelError};
pub use preset::Preset;
pub use run::GenerateError;
