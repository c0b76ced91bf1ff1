//! Recovery on the radio layer: what was not received is sent again, which appears as delay.

use crate::config_error::ConfigError;
use crate::rng::Random;
use core::num::NonZeroU32;
use polypath_units::Timestamp;
use std::time::Duration;

/// Retransmission by HARQ and, when that gives up, by RLC in acknowledged mode.
///
/// Of each packet the first transmission fails with [`block_error`](Self::block_error), each
/// further one with [`retransmission_error`](Self::retransmission_error), independent of
/// everything else. So with K failures, P(K >= k) = `block_error` x
/// `retransmission_error`^(k - 1) for k >= 1: geometric if both are equal. HARQ answers a failure
/// with another transmission one [`harq_rtt`](Self::harq_rtt) later, except every
/// [`harq_transmissions`](Self::harq_transmissions)-th, which it leaves to RLC: its status report
/// takes [`rlc_delay`](Self::rlc_delay), and HARQ starts over. Nothing is lost.
///
/// This is a stage between the server and the line. Retransmissions take none of the rate: the
/// rate of the link is that of new data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recovery {
    /// The probability that the first transmission of a packet fails: the block error rate.
    pub block_error: f64,
    /// The probability that a further one fails, at most 0.99.
    pub retransmission_error: f64,
    /// From one transmission to the next.
    pub harq_rtt: Duration,
    /// How often HARQ transmits before it leaves the packet to RLC.
    pub harq_transmissions: NonZeroU32,
    /// From the last transmission of HARQ to the first one after the status report.
    pub rlc_delay: Duration,
    /// Whether packets wait for those before them, as RLC of LTE and PDCP of 5G do by default. If
    /// not, [`LinkConfig::reorder`](crate::LinkConfig::reorder) must be set too, or the line
    /// restores the order.
    pub in_order: bool,
}

const FOUR: NonZeroU32 = NonZeroU32::new(4).unwrap();

impl Recovery {
    /// LTE FDD: 8 ms (TS 36.321 section 7.7), and 10 % errors, what link adaptation aims at (TS
    /// 36.213 section 7.2.3).
    ///
    /// \[A\]: 10 % of retransmissions too; four transmissions; 50 ms for RLC, a t-Reordering of
    /// 35 ms and two round trips.
    pub const fn lte() -> Self {
        Self {
            block_error: 0.1,
            retransmission_error: 0.1,
            harq_rtt: Duration::from_millis(8),
            harq_transmissions: FOUR,
            rlc_delay: Duration::from_millis(50),
            in_order: true,
        }
    }

    /// 5G with slots of 0.5 ms: 10 % errors (TS 38.214 section 5.2.2.1).
    ///
    /// \[A\]: 4 ms; 10 % of retransmissions too; four transmissions; 20 ms for RLC.
    pub const fn nr() -> Self {
        Self {
            harq_rtt: Duration::from_millis(4),
            rlc_delay: Duration::from_millis(20),
            ..Self::lte()
        }
    }

    /// The mean number of failures of a packet.
    pub fn mean_failures(&self) -> f64 {
        self.block_error / (1.0 - self.retransmission_error)
    }

    /// What a packet that fails `failures` times is late.
    pub fn delay(&self, failures: u32) -> Duration {
        let by_rlc = failures / self.harq_transmissions;
        let by_harq = self.harq_rtt.saturating_mul(failures - by_rlc);
        by_harq.saturating_add(self.rlc_delay.saturating_mul(by_rlc))
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let (name, given) = ("block_error", self.block_error);
        if !(0.0..=1.0).contains(&given) {
            return Err(ConfigError::Probability { name, given });
        }
        let given = self.retransmission_error;
        match (0.0..=MOST_ERRORS).contains(&given) {
            true => Ok(()),
            false => Err(ConfigError::RetransmissionError { given }),
        }
    }

    /// The number of failures whose distribution function passes `uniform` in (0, 1].
    fn failures(&self, uniform: f64) -> u32 {
        if uniform > self.block_error {
            return 0;
        }
        // P(K >= k) >= uniform, solved for k. The logarithm of zero is negative infinity.
        let more = libm::log(uniform / self.block_error) / libm::log(self.retransmission_error);
        // At most 37 / -ln 0.99 = 3700.
        1 + more as u32
    }
}

/// Above this, a packet could take for ever.
const MOST_ERRORS: f64 = 0.99;

/// The recovery of a link at work.
#[derive(Clone, Debug)]
pub(crate) struct RecoveryProcess {
    random: Random,
    /// When the latest packet was handed on.
    latest: Timestamp,
}

impl RecoveryProcess {
    pub(crate) fn new(random: Random) -> Self {
        Self { random, latest: Timestamp::ZERO }
    }

    /// When a packet whose transmission ends at `at` has been received, and may be handed on.
    pub(crate) fn received(&mut self, recovery: Option<&Recovery>, at: Timestamp) -> Timestamp {
        let Some(recovery) = recovery else { return at };
        let received = at + recovery.delay(recovery.failures(self.random.uniform()));
        let handed_on = if recovery.in_order { received.max(self.latest) } else { received };
        self.latest = self.latest.max(handed_on);
        handed_on
    }

    /// What was under way is lost, and later packets do not wait for it.
    pub(crate) fn reset(&mut self) {
        self.latest = Timestamp::ZERO;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_rounds_of_harq_and_status_reports() {
        let recovery =
            Recovery { harq_transmissions: NonZeroU32::new(3).unwrap(), ..Recovery::lte() };
        let millis = [0, 8, 16, 66, 74, 82, 132];
        for (failures, millis) in (0..).zip(millis) {
            assert_eq!(recovery.delay(failures), Duration::from_millis(millis), "{failures}");
        }
        let slow = Recovery { harq_rtt: Duration::MAX, ..Recovery::lte() };
        assert_eq!(slow.delay(5), Duration::MAX);
    }

    /// P(K >= 1) = 0.5, P(K >= 2) = 0.125, P(K >= 3) = 0.03125: powers of two are exact.
    #[test]
    fn failures_invert_their_distribution() {
        let recovery = Recovery { block_error: 0.5, retransmission_error: 0.25, ..Recovery::lte() };
        for (uniform, failures) in
            [(1.0, 0), (0.51, 0), (0.5, 1), (0.126, 1), (0.125, 2), (0.032, 2), (0.031, 3)]
        {
            assert_eq!(recovery.failures(uniform), failures, "{uniform}");
        }
        assert!((recovery.mean_failures() - 2.0 / 3.0).abs() < 1e-15);
        let never = Recovery { block_error: 0.0, ..recovery };
        assert_eq!(never.failures(f64::MIN_POSITIVE), 0);
        let once = Recovery { block_error: 1.0, retransmission_error: 0.0, ..recovery };
        assert_eq!((once.failures(1.0), once.failures(1e-16)), (1, 1));
        let worst = Recovery { block_error: 1.0, retransmission_error: 0.99, ..recovery };
        assert!((3600..3700).contains(&worst.failures(1.0 / (1_u64 << 53) as f64)));
    }
}
