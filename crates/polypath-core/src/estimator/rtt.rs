//! Round-trip time and retransmission timeout (RFC 6298 section 2).
//!
//! ```text
//! first sample R:  srtt = R                      rttvar = R/2
//! later:           rttvar = 3/4 rttvar + 1/4 |srtt - R|,  then  srtt = 7/8 srtt + 1/8 R
//! rto            = max(RTO_MIN, srtt + max(G, 4 rttvar)), doubled on each expiry up to 60 s
//! ```
//!
//! Deviation: RTO_MIN is a parameter and 200 ms by default, as in Linux; RFC 6298 (2.4) says 1 s.
//! Karn's rule is the caller's: it must not give samples of retransmitted segments.

use std::time::Duration;

/// Clock granularity G of RFC 6298.
const GRANULARITY: Duration = Duration::from_millis(1);
/// The RTO before any sample, RFC 6298 (2.1).
const RTO_INITIAL: Duration = Duration::from_secs(1);
/// The largest RTO, RFC 6298 (2.5).
const RTO_MAX: Duration = Duration::from_secs(60);
/// Samples are no shorter than this, so that nothing divides by an RTT of zero.
const SHORTEST: Duration = Duration::from_micros(1);

/// The RTT estimator of one path.
#[derive(Clone, Debug, PartialEq)]
pub struct RttEstimator {
    bounds: RtoBounds,
    smoothed: Option<Smoothed>,
    back_off: u32,
}

/// Limits of the retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoBounds {
    /// RTO_MIN: the smallest timeout.
    pub min: Duration,
    /// The smallest value of the term `4 rttvar`; never below the clock granularity. Linux applies
    /// its minimum here, so that the timeout is at least `srtt` + 200 ms.
    pub variation_min: Duration,
    /// The timeout before any sample, RFC 6298 (2.1).
    pub initial: Duration,
    /// The largest timeout, RFC 6298 (2.5).
    pub max: Duration,
}

impl RtoBounds {
    /// RFC 6298 with the minimum of Linux.
    pub const DEFAULT: Self = Self {
        min: RttEstimator::DEFAULT_RTO_MIN,
        variation_min: GRANULARITY,
        initial: RTO_INITIAL,
        max: RTO_MAX,
    };

    /// As Linux has it (`__tcp_set_rto`): the minimum of 200 ms bounds the variation.
    pub const LINUX: Self = Self {
        variation_min: RttEstimator::DEFAULT_RTO_MIN,
        max: Duration::from_secs(120),
        ..Self::DEFAULT
    };
}

impl Default for RtoBounds {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// In nanoseconds, which are faster to calculate with than [`Duration`].
#[derive(Clone, Copy, Debug, PartialEq)]
struct Smoothed {
    latest: u64,
    min: u64,
    srtt: u64,
    rttvar: u64,
}

/// Nanoseconds of `duration`; what is longer than 36 years counts as that, so that sums fit.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX).min(u64::MAX / 16)
}

impl Default for RttEstimator {
    fn default() -> Self {
        Self::new(Self::DEFAULT_RTO_MIN)
    }
}

impl RttEstimator {
    /// The default of RTO_MIN, as in Linux.
    pub const DEFAULT_RTO_MIN: Duration = Duration::from_millis(200);

    /// An estimator without samples. `rto_min` is the smallest timeout.
    pub const fn new(rto_min: Duration) -> Self {
        Self::with_bounds(RtoBounds { min: rto_min, ..RtoBounds::DEFAULT })
    }

    /// An estimator without samples whose timeout keeps to `bounds`.
    pub(crate) const fn with_bounds(bounds: RtoBounds) -> Self {
        Self { bounds, smoothed: None, back_off: 0 }
    }

    /// Sets the limits of the timeout; samples are kept.
    pub(crate) const fn set_bounds(&mut self, bounds: RtoBounds) {
        self.bounds = bounds;
    }

    /// Takes a sample: the time from sending a packet to its acknowledgement.
    pub fn on_sample(&mut self, sample: Duration) {
        let latest = nanos(sample.max(SHORTEST));
        self.smoothed = Some(match self.smoothed {
            None => Smoothed { latest, min: latest, srtt: latest, rttvar: latest / 2 },
            Some(old) => Smoothed {
                latest,
                min: old.min.min(latest),
                rttvar: (old.rttvar * 3 + old.srtt.abs_diff(latest)) / 4,
                srtt: (old.srtt * 7 + latest) / 8,
            },
        });
    }

    /// The retransmission timer expired: the RTO doubles until [`RttEstimator::reset_back_off`].
    pub const fn back_off(&mut self) {
        self.back_off = self.back_off.saturating_add(1);
    }

    /// New data was acknowledged: the RTO is again that of the estimate.
    pub const fn reset_back_off(&mut self) {
        self.back_off = 0;
    }

    /// How often the timer expired since new data was last acknowledged.
    pub const fn back_off_count(&self) -> u32 {
        self.back_off
    }

    /// The newest sample.
    pub fn latest(&self) -> Option<Duration> {
        self.smoothed.map(|s| Duration::from_nanos(s.latest))
    }

    /// The smallest sample.
    pub fn min(&self) -> Option<Duration> {
        self.smoothed.map(|s| Duration::from_nanos(s.min))
    }

    /// The smoothed RTT.
    pub fn srtt(&self) -> Option<Duration> {
        self.smoothed.map(|s| Duration::from_nanos(s.srtt))
    }

    /// The RTT variation; zero before the first sample.
    pub fn rttvar(&self) -> Duration {
        self.smoothed.map_or(Duration::ZERO, |s| Duration::from_nanos(s.rttvar))
    }

    /// The retransmission timeout without back-off.
    pub fn base_rto(&self) -> Duration {
        let RtoBounds { min, variation_min, initial, max } = self.bounds;
        self.smoothed.map_or(initial, |s| {
            let variation = GRANULARITY.max(variation_min).max(Duration::from_nanos(s.rttvar * 4));
            (Duration::from_nanos(s.srtt) + variation).clamp(min.min(max), max)
        })
    }

    /// The retransmission timeout, back-off included; at most [`RtoBounds::max`].
    pub fn rto(&self) -> Duration {
        let factor = 1u32.checked_shl(self.back_off).unwrap_or(u32::MAX);
        self.base_rto().saturating_mul(factor).min(self.bounds.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn t_rto_1() {
        let mut rtt = RttEstimator::default();
        assert_eq!(rtt.rto(), ms(1_000));
        rtt.on_sample(ms(100));
        assert_eq!((rtt.srtt(), rtt.rttvar()), (Some(ms(100)), ms(50)));
        rtt.on_sample(ms(140));
        assert_eq!(rtt.srtt(), Some(ms(105)));
        assert_eq!(rtt.rttvar(), Duration::from_micros(47_500));
        assert_eq!(rtt.rto(), ms(295));
        assert_eq!((rtt.min(), rtt.latest()), (Some(ms(100)), Some(ms(140))));
    }

    #[test]
    fn the_minimum_is_a_parameter() {
        let mut rtt = RttEstimator::new(ms(1_000));
        rtt.on_sample(ms(10));
        assert_eq!(rtt.rto(), ms(1_000));
        let mut rtt = RttEstimator::default();
        rtt.on_sample(ms(10));
        assert_eq!(rtt.rto(), ms(200));
    }

    #[test]
    fn linux_bounds_the_variation() {
        let mut rtt = RttEstimator::with_bounds(RtoBounds::LINUX);
        rtt.on_sample(ms(50));
        assert_eq!(rtt.rto(), ms(250), "50 ms and at least 200 ms");
        rtt.set_bounds(RtoBounds { min: ms(400), ..RtoBounds::LINUX });
        assert_eq!(rtt.rto(), ms(400));
        (0..100).for_each(|_| rtt.back_off());
        assert_eq!(rtt.rto(), ms(120_000));
    }

    #[test]
    fn each_expiry_doubles_the_timeout_up_to_a_minute() {
        let mut rtt = RttEstimator::default();
        rtt.on_sample(ms(100));
        assert_eq!(rtt.rto(), ms(300));
        rtt.back_off();
        rtt.back_off();
        assert_eq!((rtt.rto(), rtt.base_rto(), rtt.back_off_count()), (ms(1_200), ms(300), 2));
        (0..100).for_each(|_| rtt.back_off());
        assert_eq!(rtt.rto(), ms(60_000));
        rtt.reset_back_off();
        assert_eq!(rtt.rto(), ms(300));
    }

    #[test]
    fn extreme_samples_do_not_overflow() {
        let mut rtt = RttEstimator::default();
        for sample in [Duration::ZERO, Duration::from_nanos(u64::MAX), Duration::ZERO] {
            rtt.on_sample(sample);
            assert!(rtt.srtt().unwrap() >= SHORTEST && rtt.rto() <= RTO_MAX);
        }
    }
}
