//! Round-trip times and the retransmission timeout (RFC 6298).

use super::order::seconds;

/// Limits of the timeout, in seconds.
const LONGEST_TIMEOUT: f64 = 120.0;
const LONGEST_BACK_OFF: f64 = 65_536.0;
/// How far it is above the smoothed round-trip time at least.
const LEAST_VARIATION: f64 = 0.2;

/// In seconds.
#[derive(Debug)]
pub(super) struct Timing {
    pub(super) srtt: f64,
    variation: f64,
    /// The factor by which the timeout is longer because nothing came back.
    back_off: f64,
}

impl Timing {
    /// The handshake took so many nanoseconds.
    pub(super) fn new(handshake: u64) -> Self {
        let srtt = seconds(handshake);
        Self { srtt, variation: srtt / 2.0, back_off: 1.0 }
    }

    /// A segment was acknowledged after so many nanoseconds.
    #[inline]
    pub(super) fn sample(&mut self, nanos: u64) {
        let rtt = seconds(nanos);
        self.variation = (3.0 * self.variation + (self.srtt - rtt).abs()) / 4.0;
        self.srtt = (7.0 * self.srtt + rtt) / 8.0;
    }

    /// Nothing came back.
    pub(super) fn back_off(&mut self) {
        self.back_off = (2.0 * self.back_off).min(LONGEST_BACK_OFF);
    }

    /// Something came back.
    #[inline]
    pub(super) const fn forget_back_off(&mut self) {
        self.back_off = 1.0;
    }

    pub(super) fn has_backed_off(&self) -> bool {
        self.back_off > 1.0
    }

    /// In nanoseconds.
    #[inline]
    pub(super) fn timeout(&self) -> u64 {
        let single = self.srtt + (4.0 * self.variation).max(LEAST_VARIATION);
        ((single * self.back_off).min(LONGEST_TIMEOUT) * 1e9) as i64 as u64
    }
}
