//! The pacing rate, and what leaves at once at that rate.

use crate::congestion::Subflow;

/// How much slower than the estimate to send, so that no queue builds up from estimates that are a
/// little too high (`BBRPacingMarginPercent`).
pub(crate) const MARGIN: f64 = 0.01;

/// A pacing rate is at least this, in bytes/s, so that a sender never stops for good.
const SLOWEST: f64 = 1.0;
/// A send quantum is this much time at the pacing rate, in seconds.
const QUANTUM_SECS: f64 = 1.0 / 1024.0;
const QUANTUM_MAX_BYTES: f64 = 65_536.0;
const QUANTUM_MAX_SEGMENTS: f64 = 127.0;
/// Below this rate (1.2 Mbit/s) a quantum may be a single segment; in bytes/s.
const SLOW: f64 = 150_000.0;

/// The pacing rate in bytes/s, once an RTT was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Pacing(Option<f64>);

impl Pacing {
    /// Bytes/s; `None` before the first RTT sample.
    pub(crate) const fn rate(self) -> Option<f64> {
        self.0
    }

    /// Sets the rate in bytes/s. Before the pipe was full once it only rises, from `initial_gain`
    /// windows an RTT on (`bbr_set_pacing_rate`).
    pub(crate) fn set(&mut self, rate: f64, initial_gain: f64, subflow: &Subflow, full: bool) {
        let initial = || Some(initial_gain * subflow.cwnd / subflow.srtt_secs()?);
        self.0 = match self.0.or_else(initial) {
            Some(present) if !full => Some(rate.max(present)),
            Some(_) => Some(rate.max(SLOWEST)),
            None => None,
        };
    }

    /// The send quantum of version 1 in segments (`bbr_tso_segs_goal`).
    pub(crate) fn quantum(self, mss: u64) -> f64 {
        let rate = self.0.unwrap_or(0.0);
        let least = if rate < SLOW { 1.0 } else { 2.0 };
        let bytes = (rate * QUANTUM_SECS).min(QUANTUM_MAX_BYTES);
        (bytes / mss as f64).floor().max(least).min(QUANTUM_MAX_SEGMENTS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantum_is_a_millisecond_of_pacing_within_limits() {
        for (rate, segments) in [(140_000.0, 1.0), (160_000.0, 2.0), (12.375e6, 8.0), (1e9, 43.0)] {
            assert_eq!(Pacing(Some(rate)).quantum(1_500), segments, "at {rate} bytes/s");
        }
        assert_eq!(Pacing(Some(1e9)).quantum(100), 127.0);
    }
}
