//! The estimator of Westwood: a sample for each ACK, through a filter.
//!
//! Source: Mascolo et al., Mobicom 2001, section 2.1.
//!
//! ```text
//! b_k = d_k / dt_k        d_k bytes acknowledged, dt_k seconds since the ACK before
//! ```
//!
//! ACKs of the same instant are one. While nothing arrives the filter of the paper is fed zeros
//! ([`BandwidthFilter::Tustin`]). Known weakness: ACKs that arrive closer together than their
//! packets did (compressed) make samples far above the bandwidth, and every filter here believes
//! them; Westwood+ was made for that reason. With samples of round trips
//! ([`WestwoodEstimator::per_round`]) `d_k` are the bytes of more than an RTT, `dt_k` its seconds.

use super::filter::Filtered;
use super::interval::AckInterval;
use super::{AckRecord, BandwidthEstimator, BandwidthFilter};
use polypath_units::Timestamp;
use std::time::Duration;

/// One sample for each ACK, smoothed by a [`BandwidthFilter`].
#[derive(Clone, Debug)]
pub struct WestwoodEstimator {
    filter: BandwidthFilter,
    /// Before the newest sample, so that further ACKs of its instant can still join it.
    before: Filtered,
    newest: Option<Sample>,
    /// The round trip under way, where each has one sample.
    round: Option<Round>,
}

/// ACKs that are one sample together: those of more than an RTT.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    acks: AckInterval,
    rtt: Option<Duration>,
}

/// What arrived at one instant, and when what came before it did. Of no length: not a sample.
#[derive(Clone, Copy, Debug)]
struct Sample {
    from: Timestamp,
    to: Timestamp,
    bytes: u64,
}

impl WestwoodEstimator {
    /// An estimator without samples.
    pub const fn new(filter: BandwidthFilter) -> Self {
        Self { filter, before: Filtered::START, newest: None, round: None }
    }

    /// One with a sample for each round trip. Without an RTT there is none.
    pub fn per_round(filter: BandwidthFilter) -> Self {
        Self { round: Some(Round::default()), ..Self::new(filter) }
    }

    /// Nothing has arrived until `now`: the filter of the paper then decays.
    pub(crate) fn on_silence(&mut self, now: Timestamp) {
        let Some((sample, period)) = self.newest.zip(self.filter.silence()) else { return };
        // What arrives at the end of a period ends the silence.
        let nanos = now.since(sample.to).as_nanos().saturating_sub(1);
        let count = nanos / period.as_nanos();
        if count == 0 {
            return;
        }
        self.before = self.filter.decay(self.filtered(), period, count);
        // The periods lie before `now`, so that they fit.
        let elapsed = u64::try_from(count * period.as_nanos()).unwrap_or(u64::MAX);
        let end = sample.to + Duration::from_nanos(elapsed);
        self.newest = Some(Sample { from: end, to: end, bytes: 0 });
    }

    fn filtered(&self) -> Filtered {
        match self.newest {
            Some(Sample { from, to, bytes }) if to > from => {
                let secs = to.since(from).as_secs_f64();
                self.filter.next(self.before, bytes as f64 / secs, secs)
            }
            _ => self.before,
        }
    }
}

impl Round {
    /// All ACKs of the round as one, if it ends with this one; the first of all is one alone.
    fn ended_by(&mut self, ack: &AckRecord) -> Option<AckRecord> {
        self.rtt = ack.rtt.or(self.rtt);
        let begins = !self.acks.is_under_way();
        let elapsed = self.acks.add(ack);
        if begins {
            return Some(*ack);
        }
        elapsed.zip(self.rtt).filter(|(elapsed, rtt)| elapsed > rtt)?;
        Some(AckRecord { acked_bytes: self.acks.restart(ack.at), ..*ack })
    }
}

impl BandwidthEstimator for WestwoodEstimator {
    fn on_ack(&mut self, ack: &AckRecord) {
        let Some(ack) = self.round.as_mut().map_or(Some(*ack), |round| round.ended_by(ack)) else {
            return;
        };
        self.on_silence(ack.at);
        let from = match &mut self.newest {
            None => ack.at,
            Some(sample) if ack.at <= sample.to => {
                sample.bytes = sample.bytes.saturating_add(ack.acked_bytes);
                return;
            }
            Some(sample) => sample.to,
        };
        self.before = self.filtered();
        self.newest = Some(Sample { from, to: ack.at, bytes: ack.acked_bytes });
    }

    fn bytes_per_sec(&self) -> Option<f64> {
        let filtered = self.filtered();
        (filtered.start_share < 1.0).then_some(filtered.estimate)
    }

    fn start_share(&self) -> f64 {
        self.filtered().start_share
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimator::bandwidth::tests::{after, at, record};

    fn tustin() -> WestwoodEstimator {
        WestwoodEstimator::new(BandwidthFilter::TUSTIN)
    }

    /// 100000 and 200000 bytes/s.
    const TWO: [(u64, u64); 3] = [(0, 5_000), (100, 10_000), (200, 20_000)];

    #[test]
    fn t_tustin_1() {
        let estimates = after(&mut tustin(), &TWO);
        assert_eq!(estimates[0], None);
        assert!((estimates[1].unwrap() - 9_090.909_1).abs() < 1e-4);
        assert!((estimates[2].unwrap() - 34_710.743_8).abs() < 1e-4);
    }

    #[test]
    fn t_tustin_2() {
        let mut estimator = WestwoodEstimator::new(BandwidthFilter::TUSTIN_NS3);
        let estimates = after(&mut estimator, &TWO);
        assert!((estimates[1].unwrap() - 5_000.0).abs() < 1e-9);
        assert!((estimates[2].unwrap() - 19_500.0).abs() < 1e-9);
    }

    #[test]
    fn a_fixed_pole_keeps_nine_tenths_and_no_filter_keeps_nothing() {
        let mut fixed = WestwoodEstimator::new(BandwidthFilter::WESTWOOD);
        assert!((after(&mut fixed, &TWO)[2].unwrap() - 29_000.0).abs() < 1e-9);
        assert!((fixed.start_share() - 0.81).abs() < 1e-12);
        let mut none = WestwoodEstimator::new(BandwidthFilter::None);
        assert_eq!(after(&mut none, &TWO), [None, Some(100_000.0), Some(200_000.0)]);
        assert_eq!(none.start_share(), 0.0);
    }

    #[test]
    fn acks_of_one_instant_are_one_ack() {
        let (mut one, mut split) = (tustin(), tustin());
        let whole = after(&mut one, &TWO);
        let parts = after(&mut split, &[(0, 5_000), (100, 4_000), (100, 6_000), (200, 20_000)]);
        assert_eq!((whole[1], whole[2]), (parts[2], parts[3]));
        assert_eq!(after(&mut split, &[(150, 7)])[0], after(&mut one, &[(200, 7)])[0], "back");
    }

    /// An RTT of 60 ms. ACKs of 1 kB every 10 ms, 100 kB/s, but that of 50 ms comes 0.1 ms after
    /// the one before it: a sample of 10 MB/s, where the round trips of 70 ms have what was sent.
    #[test]
    fn a_sample_of_a_round_trip_is_not_deceived_by_acks_that_come_together() {
        let trace = (0..=14).map(|n| AckRecord {
            at: at(10 * n) - Duration::from_micros(if n == 5 { 9_900 } else { 0 }),
            ..record(0, 1_000, Some(60))
        });
        let mut estimator = WestwoodEstimator::per_round(BandwidthFilter::None);
        let estimates = |estimator: &mut WestwoodEstimator| -> Vec<_> {
            let estimate = |ack| {
                estimator.on_ack(&ack);
                estimator.bytes_per_sec()
            };
            trace.clone().map(estimate).collect()
        };
        let per_round = estimates(&mut estimator);
        assert!(per_round[..7].iter().all(Option::is_none), "{per_round:?}");
        assert!(per_round[7..].iter().all(|b| (b.unwrap() - 1e5).abs() < 1e-6), "{per_round:?}");
        let per_ack = estimates(&mut WestwoodEstimator::new(BandwidthFilter::None));
        assert!((per_ack[5].unwrap() - 1e7).abs() < 1.0, "{per_ack:?}");
    }

    /// A quarter of a second of silence is a sample of zero with a = (1 - 0.25) / (1 + 0.25) = 0.6;
    /// its mean with the sample before is half of that.
    #[test]
    fn silence_counts_as_zero_for_each_quarter_of_a_second() {
        let mut estimator = tustin();
        let last = after(&mut estimator, &TWO)[2].unwrap();
        estimator.on_silence(at(450));
        assert_eq!(estimator.bytes_per_sec(), Some(last), "at its end something may still come");
        estimator.on_silence(at(451));
        let once = 0.6 * last + 0.4 * 100_000.0;
        assert!((estimator.bytes_per_sec().unwrap() - once).abs() < 1e-6);
        estimator.on_silence(at(949));
        let thrice = once * 0.6;
        assert!((estimator.bytes_per_sec().unwrap() - thrice).abs() < 1e-6);
        assert!(estimator.start_share() > 0.8, "mostly zeros now");
        estimator.on_silence(Timestamp::MAX);
        assert_eq!(estimator.bytes_per_sec(), None, "nothing of it is left");
    }

    /// Whether somebody asks in between makes no difference.
    #[test]
    fn asking_does_not_change_the_estimate() {
        let (mut asked, mut left) = (tustin(), tustin());
        for estimator in [&mut asked, &mut left] {
            after(estimator, &TWO);
        }
        (200..900).for_each(|now| asked.on_silence(at(now)));
        let [a, b] = [&mut asked, &mut left].map(|e| after(e, &[(900, 10_000)])[0].unwrap());
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}
