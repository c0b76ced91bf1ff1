//! ProbeRTT: with little in flight long enough to see the propagation time.

use crate::congestion::Ack;
use polypath_units::Timestamp;
use std::time::Duration;

/// How far ProbeRTT has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ProbeRtt {
    /// More than wanted is in flight.
    Draining,
    /// It is not until `until`, and until what was sent after `delivered` bytes were delivered is
    /// acknowledged.
    Measuring {
        /// The earliest end.
        until: Timestamp,
        /// Total bytes delivered at the beginning.
        delivered: u64,
    },
}

impl ProbeRtt {
    /// The stage after an ACK, where no more than `floor` bytes shall be in flight for `duration`;
    /// `None`: it is over.
    pub(crate) fn on_ack(self, ack: &Ack, floor: f64, duration: Duration) -> Option<Self> {
        match self {
            Self::Draining if ack.bytes_in_flight as f64 <= floor => {
                Some(Self::Measuring { until: ack.now + duration, delivered: ack.delivered })
            }
            Self::Measuring { until, delivered }
                if ack.now > until && ack.prior_delivered >= delivered =>
            {
                None
            }
            stage => Some(stage),
        }
    }
}
