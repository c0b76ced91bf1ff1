//! How long flows take to share a link.

use super::{jain_index, mean};
use polypath_units::Timestamp;
use std::time::Duration;

/// When flows count as having converged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConvergenceRule {
    /// How long utilisation and fairness must hold.
    pub hold: Duration,
    /// The least utilisation, 0 to 1.
    pub utilisation: f64,
    /// When flows are even.
    pub fairness: Fairness,
}

/// When flows that share a link are even.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fairness {
    /// Jain's index of them is at least this.
    Jain(f64),
    /// The slowest has at least this share of their mean.
    Slowest(f64),
    /// The last of the list, which joined last, has at least this share of their mean.
    Newcomer(f64),
}

impl Fairness {
    /// Whether flows are even that carried so much each; without a flow, or if none carried
    /// anything, they are not.
    pub fn holds(self, carried: &[f64]) -> bool {
        let Some(fair) = mean(carried).filter(|mean| *mean > 0.0) else { return false };
        match self {
            Self::Jain(least) => jain_index(carried).is_some_and(|index| index >= least),
            Self::Slowest(share) => carried.iter().all(|flow| *flow >= share * fair),
            Self::Newcomer(share) => carried.last().is_some_and(|flow| *flow >= share * fair),
        }
    }
}

impl ConvergenceRule {
    /// The rule of `docs/algorithms/metrics.md`.
    pub const DEFAULT: Self =
        Self { hold: Duration::from_secs(1), utilisation: 0.95, fairness: Fairness::Jain(0.95) };
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
/// `bins` has the bytes of every active flow in each bin of length `bin`, in the order in which
/// they joined; bin `i` begins at `i * bin`. `until` is when the next flow joins.
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
        flows.iter().sum::<f64>() >= rule.utilisation * full && rule.fairness.holds(flows)
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

    /// Jain's index of 5, 5 and 2: 144 / (3 * 54) = 0.889. Their mean is 4.
    #[test]
    fn each_rule_of_fairness_looks_at_what_it_says() {
        let flows = [5.0, 5.0, 2.0];
        assert!(Fairness::Jain(0.88).holds(&flows) && !Fairness::Jain(0.89).holds(&flows));
        assert!(Fairness::Slowest(0.5).holds(&flows) && !Fairness::Slowest(0.51).holds(&flows));
        assert!(Fairness::Newcomer(0.5).holds(&flows) && !Fairness::Newcomer(0.51).holds(&flows));
        let newcomer_first = [2.0, 5.0, 5.0];
        assert!(Fairness::Newcomer(1.25).holds(&newcomer_first));
        assert!(!Fairness::Slowest(0.51).holds(&newcomer_first));
        for rule in [Fairness::Jain(0.5), Fairness::Slowest(0.0), Fairness::Newcomer(0.0)] {
            assert!(!rule.holds(&[]) && !rule.holds(&[0.0, 0.0]), "{rule:?}");
        }
    }

    #[test]
    fn what_comes_too_late_or_does_not_last_is_censored() {
        assert_eq!(from(1_000, 9_000, &bins(15, 9)), Convergence::Censored, "9 bins are no second");
        assert_eq!(from(1_000, 1_400, &bins(15, 20)), Convergence::Censored, "the next joined");
        let idle: Vec<_> = bins(0, 30).iter().map(|flows| vec![flows[0] * 0.9; 2]).collect();
        assert_eq!(from(0, 9_000, &idle), Convergence::Censored, "90 % utilisation");
    }
}
