//! Bandwidth of a path from the stream of its acknowledgements: the estimators of the Westwood
//! family.
//!
//! Each is a state machine that takes ACKs, live or from a recording, and has an estimate after
//! each of them; [`estimates`] makes a series to plot. None looks at anything but the trace.
//!
//! | estimator | one sample for each | filter |
//! | --- | --- | --- |
//! | [`WestwoodEstimator`] | ACK, or round trip | [`BandwidthFilter`]: fixed pole, Tustin, none |
//! | [`WestwoodPlusEstimator`] | round trip | two fixed poles in a row |
//! | [`AdaptiveEstimator`] | round trip | a pole that moves with the noise (ABSE, CABE) |

mod adaptive;
mod counting;
mod filter;
mod interval;
#[cfg(test)]
mod tests;
mod westwood;
mod westwood_plus;

pub use adaptive::{AdaptiveEstimator, AdaptiveParameters};
pub use counting::DuplicateAckCounter;
pub use filter::BandwidthFilter;
pub use westwood::WestwoodEstimator;
pub use westwood_plus::{WestwoodPlusEstimator, WestwoodPlusFilter};

use polypath_units::Timestamp;
use std::time::Duration;

/// One acknowledgement of a recorded trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckRecord {
    /// When it arrived. A time before that of the last record counts as the same time.
    pub at: Timestamp,
    /// Bytes newly acknowledged, selectively or not. Of a trace without selective acknowledgements
    /// [`DuplicateAckCounter`] makes them.
    pub acked_bytes: u64,
    /// The RTT sample that it gave.
    pub rtt: Option<Duration>,
}

/// An estimator of the bandwidth that a path gives to a sender.
pub trait BandwidthEstimator: core::fmt::Debug {
    /// An acknowledgement arrived. The first one starts the clock: over what time its bytes
    /// came is not known, so that they do not count.
    fn on_ack(&mut self, ack: &AckRecord);

    /// The estimate in bytes/s; `None` before the first sample.
    fn bytes_per_sec(&self) -> Option<f64>;

    /// How much of the estimate, 0 to 1, still stems from what the filter started from: zero, or
    /// the first sample, and in both cases far too little.
    fn start_share(&self) -> f64;
}

/// The estimate after each acknowledgement of `trace`, in bytes/s.
pub fn estimates<'a>(
    estimator: &'a mut dyn BandwidthEstimator,
    trace: impl IntoIterator<Item = AckRecord> + 'a,
) -> impl Iterator<Item = (Timestamp, Option<f64>)> + 'a {
    trace.into_iter().map(|ack| {
        estimator.on_ack(&ack);
        (ack.at, estimator.bytes_per_sec())
    })
}
