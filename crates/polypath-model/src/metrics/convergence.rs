//! How long flows take to share a link.

use super::jain_index;
use polypath_units::Timestamp;
use std::time::Duration;

/// When flows count as having converged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConvergenceRule {
    /// How long utilisation and fairness must hold.
    pub hold: Duration,
    /// The least utilisation, 0 to 1.
    pub utilisation: f64,
    /// The least Jain index.
    pub fairness: f64,
}

impl ConvergenceRule {
    /// The rule of `docs/algorithms/metrics.md`.
    pub const DEFAULT: Self =
        Self { hold: Duration::from_secs(1), utilisation: 0.95, fairness: 0.95 };
}

/// When flows converged after one joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convergence {
    /// This long after the flow joined.
    After(Duration),
    /// Not before the next flow joined, or the samples ended.
    Censored,
}

/// When the flows of a link of `capacity` bytes/s converged after one of them joined at `joined`
/// (S4 section 4.4, which has neither bins nor bounds; see `docs/algorithms/metrics.md`): the end
/// of the first bin from which on every bin within [`ConvergenceRule::hold`] fulfils the rule.
///
/// `bins` has the bytes of every active flow in each bin of length `bin`; bin `i` begins at
/// `i * bin`. `until` is when the next flow joins.
pub fn convergence(
    bins: &[Vec<f64>],
    bin: Duration,
    capacity: f64,
    (joined, until): (Timestamp, Timestamp),
    rule: ConvergenceRule,
) -> Convergence {
    let end_of = |index: usize| Timestamp::ZERO + bin.saturating_mul(index as u32 + 1);
    let full = capacity * bin.as_secs_f64();
    let good = |flows: &Vec<f64>| {
        flows.iter().sum::<f64>() >= rule.utilisation * full
            && jain_index(flows).is_some_and(|index| index >= rule.fairness)
    };
    let needed = rule.hold.as_nanos().div_ceil(bin.as_nanos().max(1)) as usize;
    let mut ends = (0..bins.len()).filter(|&index| end_of(index) >= joined);
    let converged = ends.find(|&index| {
        let held = bins.get(index + 1..index + 1 + needed);
        end_of(index) <= until && held.is_some_and(|held| held.iter().all(good))
    });
    converged.map_or(Convergence::Censored, |index| Convergence::After(end_of(index) - joined))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BIN: Duration = Duration::from_millis(100);

    /// Two flows on a link of 1,000 bytes/s: uneven for `uneven` bins, then even.
    fn bins(uneven: usize, even: usize) -> Vec<Vec<f64>> {
        let mut bins = vec![vec![95.0, 5.0]; uneven];
        bins.extend(vec![vec![50.0, 50.0]; even]);
        bins
    }

    fn from(joined: u64, until: u64, bins: &[Vec<f64>]) -> Convergence {
        let times = (Timestamp::from_millis(joined), Timestamp::from_millis(until));
        convergence(bins, BIN, 1_000.0, times, ConvergenceRule::DEFAULT)
    }

    #[test]
    fn the_first_bin_end_after_which_all_is_even_for_a_second() {
        let after = |ms| Convergence::After(Duration::from_millis(ms));
        assert_eq!(from(1_000, 9_000, &bins(15, 20)), after(500));
        assert_eq!(from(1_000, 9_000, &bins(0, 30)), after(0));
    }

    #[test]
    fn what_comes_too_late_or_does_not_last_is_censored() {
        assert_eq!(from(1_000, 9_000, &bins(15, 9)), Convergence::Censored, "9 bins are no second");
        assert_eq!(from(1_000, 1_400, &bins(15, 20)), Convergence::Censored, "the next joined");
        let idle: Vec<_> = bins(0, 30).iter().map(|flows| vec![flows[0] * 0.9; 2]).collect();
        assert_eq!(from(0, 9_000, &idle), Convergence::Censored, "90 % utilisation");
    }
}
