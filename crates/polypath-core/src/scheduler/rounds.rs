//! What a path will send in the rounds to come, in segments.

use super::PathView;

/// Rounds that are looked ahead at most.
const MAX_ROUNDS: usize = 256;
/// The shortest RTT in calculations, in seconds.
const MIN_RTT_SECS: f64 = 1e-6;

/// The path's smoothed RTT in seconds, never zero; infinite before the first sample.
pub(crate) fn rtt_secs(path: &PathView) -> f64 {
    path.srtt_secs().max(MIN_RTT_SECS)
}

/// The path's window in segments: now, and in each round after it, if nothing is lost.
pub(crate) fn windows(path: &PathView) -> impl Iterator<Item = f64> {
    let mss = path.mss.max(1) as f64;
    let threshold = path.ssthresh / mss;
    let grow =
        move |&window: &f64| Some(if window <= threshold { 2.0 * window } else { window + 1.0 });
    std::iter::successors(Some((path.cwnd as f64 / mss).max(1.0)), grow).take(MAX_ROUNDS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::fixtures::path;

    #[test]
    fn a_window_doubles_up_to_the_threshold_and_then_grows_by_a_segment() {
        let path = PathView { ssthresh: 25_000.0, ..path(0, 20, 10) };
        assert_eq!(windows(&path).take(5).collect::<Vec<_>>(), [10.0, 20.0, 40.0, 41.0, 42.0]);
    }
}
