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
use crate::registry::{Description, Kind, Parameter};
use polypath_units::PathId;

/// Doubling every round until loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standard {
    burst_limit: f64,
}

/// Growth in bytes for `ack` with at most `burst_limit` segments; 0 = no limit.
pub(super) fn counted_bytes(ack: &Ack, burst_limit: f64) -> f64 {
    let acked = ack.acked_bytes as f64;
    if burst_limit > 0.0 { acked.min(burst_limit * ack.mss as f64) } else { acked }
}

impl Standard {
    /// The default of L: no limit.
    pub const DEFAULT_BURST_LIMIT: f64 = 0.0;

    /// The registry row.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::SlowStart,
        name: "standard",
        purpose: "doubling every round until loss",
        source: "RFC 5681 section 3.1; RFC 3465 section 2.2",
        parameters: &[Parameter {
            name: "burst_limit",
            default: Self::DEFAULT_BURST_LIMIT,
            unit: "segments",
            purpose: "L: largest growth for one ACK; 0 = no limit, for paced senders",
        }],
    };

    /// Slow start with limit L = `burst_limit` segments; 0 = no limit.
    pub const fn new(burst_limit: f64) -> Self {
        Self { burst_limit }
    }

    /// An instance for the registry.
    pub fn build() -> Box<dyn SlowStart> {
        Box::new(Self::new(Self::DEFAULT_BURST_LIMIT))
    }
}

impl SlowStart for Standard {
    fn on_ack(&mut self, _subflow: PathId, ack: &Ack, _subflows: &[Subflow]) -> Growth {
        Growth::Grow(counted_bytes(ack, self.burst_limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{ack, path};

    #[test]
    fn the_limit_is_in_segments_for_each_ack() {
        let grow = |limit| Standard::new(limit).on_ack(path(0), &ack(10_000, 1_000), &[]);
        assert_eq!(grow(1.0), Growth::Grow(1_000.0));
        assert_eq!(grow(2.0), Growth::Grow(2_000.0));
        assert_eq!(grow(0.0), Growth::Grow(10_000.0));
    }
}
