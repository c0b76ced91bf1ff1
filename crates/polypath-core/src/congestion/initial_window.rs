//! What a subflow may send before anything was acknowledged.

use polypath_units::Bandwidth;
use std::time::Duration;

/// How the initial window is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InitialWindow {
    /// That of RFC 6928 section 2: `min(10 MSS, max(2 MSS, 14600 bytes))`.
    #[default]
    Rfc6928,
    /// So many segments.
    Segments(u32),
    /// What this rate brings in the round-trip time that setting up the path took: at least the
    /// window of RFC 6928, at most so many segments; that of RFC 6928 where the time is unknown.
    Rate {
        /// The rate that any path is believed to carry.
        rate: Bandwidth,
        /// The largest window, in segments.
        most: u32,
    },
}

impl InitialWindow {
    /// The window in bytes, of segments of `mss` bytes on a path whose set-up took `rtt`.
    pub fn bytes(self, mss: u64, rtt: Option<Duration>) -> f64 {
        let standard = mss.saturating_mul(10).min(mss.saturating_mul(2).max(14_600)) as f64;
        match self {
            Self::Rfc6928 => standard,
            Self::Segments(count) => mss.saturating_mul(count.into()) as f64,
            Self::Rate { rate, most } => {
                let flight = rtt.map_or(0.0, |rtt| rate.bytes_per_sec() * rtt.as_secs_f64());
                flight.min(mss.saturating_mul(most.into()) as f64).max(standard)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 Mbit/s are 1,250 bytes in a millisecond; 10 and 32 segments of 1,200 bytes are 12,000 and
    /// 38,400.
    #[test]
    fn a_rate_gives_what_it_brings_in_the_rtt_of_the_set_up_within_limits() {
        let window = InitialWindow::Rate { rate: Bandwidth::from_mbit_per_sec(10.0), most: 32 };
        let after = |millis| window.bytes(1_200, Some(Duration::from_millis(millis)));
        assert_eq!(
            [0, 9, 10, 30, 31].map(after),
            [12_000.0, 12_000.0, 12_500.0, 37_500.0, 38_400.0]
        );
        assert_eq!(window.bytes(1_200, None), 12_000.0, "nothing is known of the path");
    }
}
