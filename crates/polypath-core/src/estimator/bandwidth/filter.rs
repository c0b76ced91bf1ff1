//! The low-pass filters of Westwood.
//!
//! Source: Mascolo et al., "TCP Westwood: bandwidth estimation for enhanced transport over wireless
//! links", Mobicom 2001, section 2.1; the variant with a constant pole is that of ns-3
//! (`tcp-westwood-plus.cc`). Samples `b` in bytes/s, times in seconds:
//!
//! ```text
//! none           B_k = b_k
//! fixed pole     B_k = a B_(k-1) + (1 - a) b_k                         a = 0.9
//! Tustin         B_k = a_k B_(k-1) + (1 - a_k) (b_k + b_(k-1)) / 2
//!                a_k = (2 tau - dt_k) / (2 tau + dt_k)
//! Tustin, ns-3   the same with a_k = a = 0.9
//! ```
//!
//! `B_0 = b_0 = 0`; `a_k` is at least 0.

use std::time::Duration;

/// How samples of the bandwidth are smoothed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BandwidthFilter {
    /// Not at all: the newest sample.
    None,
    /// A first-order filter whose pole does not depend on the time between samples.
    FixedPole {
        /// What remains of the old estimate, 0 to 1.
        pole: f64,
    },
    /// The bilinear approximation of a continuous first-order filter, whose pole depends on
    /// the time between samples.
    Tustin {
        /// The time constant `tau` in seconds.
        cutoff_secs: f64,
        /// `m`: after every `tau / m` without an ACK there is a sample of zero; 2 or more.
        silence_divisor: f64,
    },
    /// The bilinear filter of ns-3, with a constant pole.
    TustinFixedPole {
        /// What remains of the old estimate, 0 to 1.
        pole: f64,
    },
}

/// The state of a filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Filtered {
    /// The estimate in bytes/s.
    pub(super) estimate: f64,
    /// The newest sample in bytes/s.
    sample: f64,
    /// Weight in the estimate of zeros that no ACK stands for.
    pub(super) start_share: f64,
}

impl Filtered {
    pub(super) const START: Self = Self { estimate: 0.0, sample: 0.0, start_share: 1.0 };
}

impl BandwidthFilter {
    /// The pole of Westwood, and of the filter of ns-3.
    pub const POLE: f64 = 0.9;
    /// The time constant of Tustin's filter in seconds; the paper leaves it open.
    pub const CUTOFF_SECS: f64 = 0.5;
    /// `m`, of which the paper says that it is 2 or more.
    pub const SILENCE_DIVISOR: f64 = 2.0;

    /// The fixed pole of Westwood.
    pub const WESTWOOD: Self = Self::FixedPole { pole: Self::POLE };
    /// The filter of the paper.
    pub const TUSTIN: Self =
        Self::Tustin { cutoff_secs: Self::CUTOFF_SECS, silence_divisor: Self::SILENCE_DIVISOR };
    /// The filter of ns-3.
    pub const TUSTIN_NS3: Self = Self::TustinFixedPole { pole: Self::POLE };

    fn pole(self, interval_secs: f64) -> f64 {
        match self {
            Self::None => 0.0,
            Self::FixedPole { pole } | Self::TustinFixedPole { pole } => pole.clamp(0.0, 1.0),
            Self::Tustin { cutoff_secs, .. } => {
                let twice = 2.0 * cutoff_secs;
                ((twice - interval_secs) / (twice + interval_secs)).max(0.0)
            }
        }
    }

    /// What goes into the filter: Tustin's takes the mean of two samples.
    fn input(self, old: Filtered, sample: f64) -> f64 {
        match self {
            Self::None | Self::FixedPole { .. } => sample,
            Self::Tustin { .. } | Self::TustinFixedPole { .. } => (sample + old.sample) / 2.0,
        }
    }

    /// Takes a sample that lasted `interval_secs`, more than 0.
    pub(super) fn next(self, old: Filtered, sample: f64, interval_secs: f64) -> Filtered {
        let pole = self.pole(interval_secs);
        Filtered {
            estimate: pole * old.estimate + (1.0 - pole) * self.input(old, sample),
            sample,
            start_share: pole * old.start_share,
        }
    }

    /// How long a silence must last to count as a sample of zero; `None`: however long, it does
    /// not.
    pub(super) fn silence(self) -> Option<Duration> {
        let Self::Tustin { cutoff_secs, silence_divisor } = self else { return None };
        let period = Duration::try_from_secs_f64(cutoff_secs / silence_divisor).ok();
        period.filter(|period| !period.is_zero())
    }

    /// Takes `count` samples of zero, one or more, each of `period`.
    pub(super) fn decay(self, old: Filtered, period: Duration, count: u128) -> Filtered {
        let secs = period.as_secs_f64();
        let first = self.next(old, 0.0, secs);
        let pole = self.pole(secs);
        let rest = pole.powi(i32::try_from(count.saturating_sub(1)).unwrap_or(i32::MAX));
        Filtered {
            estimate: first.estimate * rest,
            sample: 0.0,
            start_share: 1.0 - (1.0 - old.start_share) * pole * rest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_zeros_at_once_are_zeros_one_by_one() {
        let filter = BandwidthFilter::TUSTIN;
        let period = filter.silence().unwrap();
        let start = filter.next(Filtered::START, 8e6, 0.1);
        let mut stepwise = start;
        for count in 1..10 {
            stepwise = filter.decay(stepwise, period, 1);
            let at_once = filter.decay(start, period, count);
            assert!((at_once.estimate - stepwise.estimate).abs() < 1e-6);
            assert!((at_once.start_share - stepwise.start_share).abs() < 1e-12);
        }
        let ages = filter.decay(start, period, u128::MAX);
        assert_eq!((ages.estimate, ages.start_share), (0.0, 1.0));
    }

    #[test]
    fn only_the_filter_of_the_paper_decays_in_silence() {
        assert_eq!(BandwidthFilter::TUSTIN.silence(), Some(Duration::from_millis(250)));
        let rows = [BandwidthFilter::None, BandwidthFilter::WESTWOOD, BandwidthFilter::TUSTIN_NS3];
        assert!(rows.iter().all(|filter| filter.silence().is_none()));
        let never = BandwidthFilter::Tustin { cutoff_secs: 0.5, silence_divisor: 0.0 };
        assert_eq!(never.silence(), None);
    }
}
