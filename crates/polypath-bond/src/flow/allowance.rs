//! What copies may take of what the paths carry.

use crate::credit::Credit;
use polypath_units::Timestamp;
use std::time::Duration;

/// What the share brings in this time may pass at once: a burst of requests is short.
const BURST: Duration = Duration::from_secs(1);

/// A full packet may always have its copy once the share has brought as much.
const LEAST_BURST: f64 = 1_500.0;

/// How many bytes of copies may leave now.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CopyAllowance {
    /// A whole burst before the first copy.
    left: Option<Credit>,
}

impl CopyAllowance {
    /// Takes `bytes` from what has come together at `rate`, in bytes per second. False, and
    /// nothing is taken, if it is not as much.
    pub(super) fn take(&mut self, bytes: u64, rate: f64, now: Timestamp) -> bool {
        let burst = (rate * BURST.as_secs_f64()).max(LEAST_BURST);
        let left = self.left.get_or_insert_with(|| Credit::new(burst, now));
        let is_allowed = bytes as f64 <= left.renew(rate, burst, now);
        if is_allowed {
            left.spend(bytes);
        }
        is_allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10,000 bytes a second: a burst of as many, and what comes after it.
    #[test]
    fn copies_take_their_share_and_no_more() {
        let mut allowance = CopyAllowance::default();
        let mut taken = 0;
        for ms in 0..10_000 {
            let is_allowed = allowance.take(200, 10_000.0, Timestamp::from_millis(ms));
            taken += if is_allowed { 200 } else { 0 };
        }
        // Short of the last moment's by less than one of them.
        assert!((109_700..=110_000).contains(&taken), "{taken}");
    }

    #[test]
    fn what_is_not_taken_is_not_kept_for_longer_than_a_second() {
        let mut allowance = CopyAllowance::default();
        assert!(allowance.take(10_000, 10_000.0, Timestamp::ZERO));
        assert!(!allowance.take(10_001, 10_000.0, Timestamp::from_millis(60_000)));
        assert!(allowance.take(10_000, 10_000.0, Timestamp::from_millis(60_000)));
    }

    #[test]
    fn a_full_packet_has_a_copy_however_slow_the_paths_are() {
        let mut allowance = CopyAllowance::default();
        assert!(allowance.take(1_500, 10.0, Timestamp::ZERO));
        assert!(!allowance.take(1_500, 10.0, Timestamp::from_millis(100_000)));
        assert!(allowance.take(1_500, 10.0, Timestamp::from_millis(150_000)));
    }
}
