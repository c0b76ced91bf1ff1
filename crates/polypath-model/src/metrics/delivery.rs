//! Delivery around a failure.

use super::quantile;
use polypath_units::Timestamp;
use std::time::Duration;

/// A failure may interrupt delivery until this long after it.
const AFTER: Duration = Duration::from_secs(2);

/// The transmission interruption of a failure: the longest gap between consecutive in-order
/// deliveries that begins within 2 s after `failure` or lasts at it, less the median gap before it.
/// `deliveries` ascend; `None` if none comes after the failure.
pub fn interruption(deliveries: &[Timestamp], failure: Timestamp) -> Option<Duration> {
    let gap = |pair: &[Timestamp]| pair[1].since(pair[0]);
    let concerned =
        deliveries.windows(2).filter(|pair| pair[1] > failure && pair[0] <= failure + AFTER);
    let longest = concerned.map(gap).max()?;
    let before = deliveries.windows(2).filter(|pair| pair[1] <= failure);
    let mut before: Vec<_> = before.map(|pair| gap(pair).as_secs_f64()).collect();
    let usual = quantile(&mut before, 0.5).unwrap_or(0.0);
    Some(longest.saturating_sub(Duration::from_secs_f64(usual)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_gap_after_the_failure_less_the_usual_one() {
        let at = |ms: &[u64]| ms.iter().map(|&ms| Timestamp::from_millis(ms)).collect::<Vec<_>>();
        let failure = Timestamp::from_millis(35);
        let deliveries = at(&[0, 10, 20, 30, 130, 140, 200]);
        assert_eq!(interruption(&deliveries, failure), Some(Duration::from_millis(90)));
        // A gap that begins more than 2 s later has another cause.
        let late = at(&[0, 10, 20, 30, 40, 2_036, 9_000]);
        assert_eq!(interruption(&late, failure), Some(Duration::from_millis(1_986)));
        assert_eq!(interruption(&at(&[0, 10]), failure), None);
    }
}
