//! Standard slow start.
//!
//! Source: RFC 5681 section 3.1 with the byte counting of RFC 3465:
//!
//! ```text
//! w += min(acked, L * MSS)      until w reaches ssthresh
//! ```
//!
//! Deviation: L is unlimited by default, because every Polypath sender paces; RFC 5681 has L = 1,
//! RFC 3465 has L = 2. The initial threshold is infinite, so that only loss ends it.

use super::{Growth, SlowStart};
use crate::congestion::{Ack, Subflow};
use crate::registry::{Description, Kind, Values, parameters};
use polypath_units::PathId;

parameters! {
    /// The parameters of [`Standard`].
    pub struct StandardParameters {
        /// The limit L in segments; 0: none.
        pub burst_limit: f64 = 0.0, "burst_limit", "segments",
            "L: largest growth for one ACK; 0 = no limit, for paced senders";
    }
}

/// Doubling every round until loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standard {
    parameters: StandardParameters,
}

/// Growth in bytes for `ack` with at most `burst_limit` segments; 0 = no limit.
pub(super) fn counted_bytes(ack: &Ack, burst_limit: f64) -> f64 {
    let acked = ack.acked_bytes as f64;
    if burst_limit > 0.0 { acked.min(burst_limit * ack.mss as f64) } else { acked }
}

impl Standard {
    /// The registry row.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::SlowStart,
        name: "standard",
        purpose: "doubling every round until loss",
        source: "RFC 5681 section 3.1; RFC 3465 section 2.2",
        parameters: StandardParameters::PARAMETERS,
    };

    /// Slow start with this limit.
    pub const fn new(parameters: StandardParameters) -> Self {
        Self { parameters }
    }

    /// An instance for the registry.
    pub fn build(values: &Values) -> Box<dyn SlowStart> {
        Box::new(Self::new(StandardParameters::of(values)))
    }
}

impl SlowStart for Standard {
    fn on_ack(&mut self, _subflow: PathId, ack: &Ack, _subflows: &[Subflow]) -> Growth {
        Growth::Grow(counted_bytes(ack, self.parameters.burst_limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{ack, path};

    #[test]
    fn the_limit_is_in_segments_for_each_ack() {
        let grow = |burst_limit| {
            let mut standard = Standard::new(StandardParameters { burst_limit });
            standard.on_ack(path(0), &ack(10_000, 1_000), &[])
        };
        assert_eq!(grow(1.0), Growth::Grow(1_000.0));
        assert_eq!(grow(2.0), Growth::Grow(2_000.0));
        assert_eq!(grow(0.0), Growth::Grow(10_000.0));
    }
}
