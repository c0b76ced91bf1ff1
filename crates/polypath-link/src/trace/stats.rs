//! Statistics of a series of rates or of delays.

use super::series::RateSeries;
use polypath_units::Bandwidth;
use std::time::Duration;

/// The width of the bins that [`RateStats`] looks at.
pub const BIN: Duration = Duration::from_secs(1);

/// The lags of the autocorrelations of [`RateStats`], in bins, which are seconds.
pub const LAGS: [usize; 3] = [1, 5, 20];

/// The probabilities of the quantiles.
pub const QUANTILES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// The mean; `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The coefficient of variation: standard deviation (of the population) over mean. `None` of
/// nothing, or at mean zero.
pub fn cov(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|&mean| mean != 0.0)?;
    Some(libm::sqrt(covariance(values, 0)? / (values.len() as f64)) / mean)
}

/// The sample autocorrelation at `lag`, with the mean and variance of all values (Box and Jenkins,
/// Time Series Analysis, section 2.1.6). `None` when there are not more than `lag` values, or they
/// are all equal.
pub fn autocorrelation(values: &[f64], lag: usize) -> Option<f64> {
    let first = values.first()?;
    let variance = covariance(values, 0).filter(|_| values.iter().any(|value| value != first))?;
    Some(covariance(values, lag)? / variance)
}

/// The sum of products of deviations `lag` apart.
fn covariance(values: &[f64], lag: usize) -> Option<f64> {
    let mean = mean(values)?;
    let later = values.get(lag..).filter(|later| !later.is_empty())?;
    Some(values.iter().zip(later).map(|(a, b)| (a - mean) * (b - mean)).sum())
}

/// The quantile of probability `p` in [0, 1], linear between order statistics (Hyndman and Fan,
/// The American Statistician 50(4), 1996, definition 7). `None` of nothing.
pub fn quantile(values: &[f64], p: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let place = p.clamp(0.0, 1.0) * sorted.len().checked_sub(1)? as f64;
    let (low, part) = (place as usize, place - libm::floor(place));
    let (low, high) = (sorted[low], sorted[(low + 1).min(sorted.len() - 1)]);
    Some(low + (high - low) * part)
}

/// How many values each run of values below `threshold` has, in order of time.
pub(crate) fn runs_below(values: &[f64], threshold: f64) -> Vec<usize> {
    let runs = values.chunk_by(|a, b| (*a < threshold) == (*b < threshold));
    runs.filter(|run| run[0] < threshold).map(<[f64]>::len).collect()
}

/// The outages of a series: runs of bins with a rate below a threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Outages {
    /// Below this a bin is in an outage.
    pub threshold: Bandwidth,
    /// The share of bins in outages.
    pub share: f64,
    /// The length of each, in seconds.
    pub lengths_s: Vec<f64>,
}

impl Outages {
    /// Of rates in bins of [`BIN`].
    fn of(mbit_s: &[f64], threshold: Bandwidth) -> Self {
        let runs = runs_below(mbit_s, threshold.mbit_per_sec());
        let share = runs.iter().sum::<usize>() as f64 / mbit_s.len().max(1) as f64;
        let lengths_s = runs.into_iter().map(|bins| bins as f64 * BIN.as_secs_f64()).collect();
        Self { threshold, share, lengths_s }
    }

    /// The mean length in seconds; `None` without outages.
    pub fn mean_s(&self) -> Option<f64> {
        mean(&self.lengths_s)
    }

    /// The longest in seconds; `None` without outages.
    pub fn longest_s(&self) -> Option<f64> {
        self.lengths_s.iter().copied().reduce(f64::max)
    }
}

/// A series of rates in bins of [`BIN`].
#[derive(Clone, Debug, PartialEq)]
pub struct RateStats {
    /// How many bins.
    pub bins: usize,
    /// The mean rate in Mbit/s.
    pub mean_mbit_s: f64,
    /// The coefficient of variation; `None` if no bin has a rate.
    pub cov: Option<f64>,
    /// The autocorrelation at each of [`LAGS`]; `None` in a series that is too short or constant.
    pub autocorrelation: [Option<f64>; LAGS.len()],
    /// The rates at [`QUANTILES`] in Mbit/s.
    pub quantiles_mbit_s: [f64; QUANTILES.len()],
    /// The outages.
    pub outages: Outages,
}

impl RateStats {
    /// Describes `series`; a bin below `threshold` is in an outage.
    pub fn of(series: &RateSeries, threshold: Bandwidth) -> Self {
        let rates = series.bins(BIN);
        let rates: Vec<_> = rates.into_iter().map(Bandwidth::mbit_per_sec).collect();
        Self {
            bins: rates.len(),
            mean_mbit_s: mean(&rates).unwrap_or(0.0),
            cov: cov(&rates),
            autocorrelation: LAGS.map(|lag| autocorrelation(&rates, lag)),
            quantiles_mbit_s: QUANTILES.map(|p| quantile(&rates, p).unwrap_or(0.0)),
            outages: Outages::of(&rates, threshold),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: Option<f64>, expected: f64) {
        let found = found.expect("a value");
        assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
    }

    #[test]
    fn moments_of_a_worked_example() {
        // Deviations -3, -1, 1, 3: variance 5; at lag 1: 3 - 1 + 3 = 5 of 20.
        let values = [1.0, 3.0, 5.0, 7.0];
        near(mean(&values), 4.0);
        near(cov(&values), 5.0_f64.sqrt() / 4.0);
        near(autocorrelation(&values, 0), 1.0);
        near(autocorrelation(&values, 1), 0.25);
        near(autocorrelation(&values, 3), -9.0 / 20.0);
        assert_eq!(autocorrelation(&values, 4), None);
        assert_eq!((mean(&[]), cov(&[0.0]), autocorrelation(&[2.0, 2.0], 1)), (None, None, None));
    }

    #[test]
    fn quantiles_lie_between_order_statistics() {
        let values = [7.0, 1.0, 3.0, 5.0];
        for (p, expected) in [(0.0, 1.0), (0.25, 2.5), (0.5, 4.0), (0.9, 6.4), (1.0, 7.0)] {
            near(quantile(&values, p), expected);
        }
        assert_eq!(quantile(&[], 0.5), None);
        near(quantile(&[2.0], 0.99), 2.0);
    }

    #[test]
    fn outages_are_runs_below_the_threshold() {
        assert_eq!(runs_below(&[0.0, 0.4, 0.5, 0.1, 2.0, 0.2], 0.5), [2, 1, 1]);
        assert_eq!(runs_below(&[], 0.5), [0; 0]);
        let rates = [0.0, 0.4, 0.5, 0.1].map(Bandwidth::from_mbit_per_sec);
        let series = RateSeries::from_bins(BIN, &rates).unwrap();
        let stats = RateStats::of(&series, Bandwidth::from_mbit_per_sec(0.5));
        assert_eq!(stats.outages.lengths_s, [2.0, 1.0]);
        assert_eq!((stats.outages.mean_s(), stats.outages.longest_s()), (Some(1.5), Some(2.0)));
        assert_eq!((stats.bins, stats.outages.share), (4, 0.75));
        near(Some(stats.mean_mbit_s), 0.25);
    }
}
