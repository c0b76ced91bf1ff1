//! S1's model of one TCP connection whose segments are dealt to `n` links in turn.
//!
//! A round begins with an ACK of new data. Its `C` segments go to the links one after the other;
//! segment `j` arrives after `D_j`, and the first new ACK, which acknowledges `A` segments, begins
//! the next round:
//!
//! ```text
//! C_i+1 = A_i+1 + 1      in slow start (i < I_s),  + 1 / w_i  afterwards            (15, 16)
//! D_j   = ceil(j / n) s / b + d      of the link of segment j                       (3)
//! rate  = E / sum of E(T_i)          until E bytes are sent                         (17-19)
//! ```
//!
//! Source: S1 (Sustainability 10(5), 1337, 2018), equations 1 to 24, with the errors in print
//! corrected that `docs/algorithms/models.md` lists; [`StripingOptions`] has the printed forms as
//! well. The expected values are in `arrivals`, in closed forms that need no factorials. The model
//! has no loss and no queue from one round to the next; the cost of several links in turn is the
//! waiting for the segment that is late.

mod arrivals;
mod asymmetry;
mod rounds;

pub use asymmetry::mean_difference;

use super::error::{ModelError, positive};
use arrivals::Arrivals;
use polypath_units::Bandwidth;
use rounds::Rounds;
use std::time::Duration;

/// The most links that the model takes.
const MOST_LINKS: usize = 64;

/// A link that segments are dealt to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StripedLink {
    /// Its rate.
    pub rate: Bandwidth,
    /// Its propagation delay there and back, `d`.
    pub delay: Duration,
}

/// What is sent. The defaults are those of S1's table 2, of 1 MB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StripedTransfer {
    /// Bytes to send, `E`.
    pub bytes: u64,
    /// Size of a segment in bytes, `s`.
    pub segment_bytes: u32,
    /// Initial congestion window in bytes, `W_I`.
    pub initial_window_bytes: u32,
    /// Slow-start threshold in bytes, `W_s`.
    pub threshold_bytes: u32,
}

impl Default for StripedTransfer {
    fn default() -> Self {
        Self {
            bytes: 1_000_000,
            segment_bytes: 536,
            initial_window_bytes: 536,
            threshold_bytes: 65_535,
        }
    }
}

/// An equation as it should be, or as it is in print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// With the error corrected.
    #[default]
    Corrected,
    /// As printed.
    Printed,
}

/// What becomes of a fraction of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounding {
    /// It waits: whole segments are sent.
    #[default]
    Floor,
    /// It waits, and of a whole number that binary arithmetic has a little below, as 2.9999999
    /// instead of 3, so does the last segment: what a program does that takes the floor.
    BinaryFloor,
    /// The nearest whole number is sent.
    Nearest,
    /// It is sent; harmonic numbers are interpolated by the digamma function.
    Real,
}

/// How a single link is treated, on which segments cannot overtake each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SingleLink {
    /// That they arrive in order.
    #[default]
    InOrder,
    /// That they arrive in random order, as with several links. It exceeds the rate of the link.
    Permutation,
}

/// To which link the first segment of a round goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// To any: the mean over all.
    #[default]
    Mean,
    /// To the one behind that of the last segment before (equation 2).
    Exact,
}

/// Choices that S1 leaves open, and its printed forms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StripingOptions {
    /// Segments for each delayed ACK, `m_ACK`; at least 1.
    pub segments_per_ack: u32,
    /// Equation 3: printed, a segment waits for one too many where `j` is a multiple of `n`.
    pub delay: Reading,
    /// Equations 9 and 11: printed, a factorial is missing.
    pub acknowledged: Reading,
    /// Of `C`.
    pub rounding: Rounding,
    /// With `n` = 1.
    pub single_link: SingleLink,
    /// Of the rounds.
    pub phase: Phase,
    /// How long an ACK waits for a second segment that does not come (rounds of one segment).
    pub delayed_ack_timeout: Duration,
}

impl Default for StripingOptions {
    fn default() -> Self {
        Self {
            segments_per_ack: 2,
            delay: Reading::default(),
            acknowledged: Reading::default(),
            rounding: Rounding::default(),
            single_link: SingleLink::default(),
            phase: Phase::default(),
            delayed_ack_timeout: Duration::ZERO,
        }
    }
}

/// What the model says of a transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StripedPrediction {
    /// Throughput in bytes/s.
    pub bytes_per_sec: f64,
    /// How long the transfer lasts, in seconds.
    pub seconds: f64,
    /// Its rounds.
    pub rounds: u64,
}

/// The throughput of one TCP connection whose segments are dealt to `links` in turn.
///
/// # Errors
/// No link or more than 64, a rate of 0, an empty transfer or segment, segments for each ACK of 0.
pub fn striped_throughput(
    links: &[StripedLink],
    transfer: &StripedTransfer,
    options: &StripingOptions,
) -> Result<StripedPrediction, ModelError> {
    let positive_count = |what, count: u32| positive(what, f64::from(count));
    let segment = positive_count("the size of a segment in bytes", transfer.segment_bytes)?;
    positive("the size of the transfer in bytes", transfer.bytes as f64)?;
    positive_count("the initial window in bytes", transfer.initial_window_bytes)?;
    positive_count("the number of segments for each ACK", options.segments_per_ack)?;
    let arrivals = Arrivals::new(links, segment, options)?;
    Ok(Rounds::new(transfer, options, &arrivals).run())
}

#[cfg(test)]
mod tests;
