//! The generator against the closed forms of its models.
//!
//! Each statistic is the mean over independent series of a quantity whose expectation is the
//! closed form, so that the mean of 400 of them is normal with the standard error that they show.
//! A bound of five of them fails by chance once in two million times; seeds are fixed.

use polypath_link::trace::RateSeries;
use polypath_link::trace::generate::{Interruption, Model, Preset};
use polypath_units::Bandwidth;
use std::time::Duration;

const MEAN_MBIT: f64 = 20.0;
const SERIES: u64 = 400;
const LENGTH: Duration = Duration::from_secs(60);
const BIN: Duration = Duration::from_secs(1);

fn generate(model: &Model, seed: u64) -> RateSeries {
    model.generate(Bandwidth::from_mbit_per_sec(MEAN_MBIT), LENGTH, seed).unwrap()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The bins of each series, in units of the mean.
fn all_bins(model: &Model) -> Vec<Vec<f64>> {
    let normal = |rate: Bandwidth| rate.mbit_per_sec() / MEAN_MBIT;
    let bins = |seed| generate(model, seed).bins(BIN).into_iter().map(normal).collect();
    (0..SERIES).map(bins).collect()
}

/// Holds the mean of `observed` to `expected` within five standard errors, which must themselves
/// be within `precision` of it: a test that is too noisy to tell anything fails.
fn assert_mean(name: &str, observed: &[f64], expected: f64, precision: f64) {
    let found = mean(observed);
    let squares: Vec<_> = observed.iter().map(|value| (value - found).powi(2)).collect();
    let error = (mean(&squares) / (observed.len() - 1) as f64).sqrt();
    assert!(error < precision * expected.abs(), "{name}: standard error {error} of {expected}");
    let off = (found - expected).abs() / error;
    assert!(off < 5.0, "{name}: {found} for {expected}, {off:.1} standard errors off");
}

/// Of bins in units of the mean: E[r] = 1; E[r^2] = 1 + G(0), where G(0) is the square of the
/// coefficient of variation; E[(r(t) - r(t + l))^2] / 2 = G(0) - G(l), which tells G(l) with less
/// noise than products do.
#[test]
fn mean_variation_and_autocorrelation_are_those_of_the_closed_forms() {
    for preset in Preset::ALL {
        let model = preset.model();
        let (expected, bins) = (model.expected(BIN), all_bins(&model));
        let each = |of: &dyn Fn(&[f64]) -> Vec<f64>| -> Vec<f64> {
            bins.iter().map(|bins| mean(&of(bins))).collect()
        };
        let means = each(&<[f64]>::to_vec);
        assert_mean(&format!("mean of {preset}"), &means, 1.0, 0.04);
        let squares = each(&|bins| bins.iter().map(|rate| rate * rate).collect());
        let variance = expected.autocovariance(0);
        assert_mean(&format!("second moment of {preset}"), &squares, 1.0 + variance, 0.08);
        for lag in [1, 5, 20] {
            let halves = each(&|bins| {
                bins.iter().zip(&bins[lag..]).map(|(a, b)| (a - b).powi(2) / 2.0).collect()
            });
            let difference = variance - expected.autocovariance(lag as u32);
            let name = format!("variogram of {preset} at {lag} s");
            assert_mean(&name, &halves, difference, 0.08);
        }
    }
}

/// The variance of the mean of N bins is sum over |l| < N of (N - |l|) G(l) / N^2, which is G(0)
/// of one bin of the whole length. The square of (mean - 1) has that expectation.
#[test]
fn the_mean_of_a_series_varies_as_the_closed_form_says() {
    let model = Preset::Train.model();
    let variance = model.expected(LENGTH).autocovariance(0);
    let square = |bins: &Vec<f64>| (mean(bins) - 1.0).powi(2);
    let squares: Vec<_> = all_bins(&model).iter().map(square).collect();
    assert_mean("variance of the mean", &squares, variance, 0.15);
}

/// A model whose interruptions leave nothing stands still in its share of steps. They begin in
/// clear steps only and last `mean_interrupted` on average.
#[test]
fn outages_have_their_share_and_length() {
    let [clear, interrupted] = [8, 2].map(Duration::from_secs);
    let outage = Interruption { mean_clear: clear, mean_interrupted: interrupted, remaining: 0.0 };
    let model = Model { interruptions: vec![outage], ..Preset::Walk.model() };
    assert!((outage.share() - 0.2).abs() < 1e-12);
    let (mut shares, mut ends) = (Vec::new(), Vec::new());
    for seed in 0..SERIES {
        let series = generate(&model, seed);
        let still: Vec<_> = series.pieces().iter().map(|p| p.rate == Bandwidth::ZERO).collect();
        let share = still.iter().filter(|&&still| still).count() as f64 / still.len() as f64;
        let ended = still.windows(2).filter(|pair| pair[0] && !pair[1]).count() as f64;
        shares.push(share);
        ends.push(ended / (still.len() - 1) as f64);
    }
    assert_mean("share", &shares, 0.2, 0.05);
    // An end comes with the share of interrupted steps, times step / mean length: 0.2 x 0.1 / 2.
    assert_mean("ends", &ends, 0.01, 0.05);
}

/// The quantiles of a gamma distribution of shape 2 and mean 1 (chi-squared of 4 degrees, / 4):
/// 0.17768 at 5 %, 0.83917 at 50 %, 2.37193 at 95 %.
#[test]
fn the_slow_factor_is_gamma_distributed() {
    let mut model = Model { interruptions: vec![], ..Preset::Train.model() };
    // Fast fading so averaged that it moves the shares by less than their standard error.
    model.fast.components = 1_000;
    model.slow.correlation = Duration::from_secs(1);
    let all: Vec<_> = (0..SERIES / 4).map(|seed| generate(&model, seed)).collect();
    for (quantile, expected) in [(0.177_68, 0.05), (0.839_17, 0.5), (2.371_93, 0.95)] {
        let limit = quantile * MEAN_MBIT;
        let share = |series: &RateSeries| {
            let below = series.pieces().iter().filter(|p| p.rate.mbit_per_sec() < limit).count();
            below as f64 / series.pieces().len() as f64
        };
        let shares: Vec<_> = all.iter().map(share).collect();
        assert_mean(&format!("share below {quantile}"), &shares, expected, 0.1);
    }
}

#[test]
fn equal_seeds_give_equal_series() {
    for preset in Preset::ALL {
        let model = preset.model();
        assert_eq!(generate(&model, 3), generate(&model, 3));
        assert_ne!(generate(&model, 3), generate(&model, 4));
    }
}

/// One more interruption changes no other factor: where it is clear, rates keep their ratios.
#[test]
fn an_interruption_more_leaves_the_others_as_they_were() {
    let model = Preset::Train.model();
    let rare = Interruption {
        mean_clear: Duration::from_secs(20),
        mean_interrupted: Duration::from_secs(2),
        remaining: 0.0,
    };
    let mut more = model.clone();
    more.interruptions.push(rare);
    let clear_ratio = 1.0 / (1.0 - rare.share());
    let (before, after) = (generate(&model, 5), generate(&more, 5));
    let pairs = || before.pieces().iter().zip(after.pieces());
    assert!(pairs().any(|(_, after)| after.rate == Bandwidth::ZERO));
    for (before, after) in pairs().filter(|(_, after)| after.rate != Bandwidth::ZERO) {
        let wanted = before.rate.mbit_per_sec() * clear_ratio;
        // Both are rounded to bit/s.
        assert!((after.rate.mbit_per_sec() - wanted).abs() < 2e-6);
    }
}

/// Written down once: another machine, or another version of a dependency, gives the same.
#[test]
fn the_rates_are_fixed() {
    let first = |preset: Preset| {
        let series = generate(&preset.model(), 7);
        let [a, b] = [0, 599].map(|i| series.pieces()[i].rate.bits_per_sec());
        (a, b)
    };
    let fixed = [
        (15_804_891, 22_568_215),
        (16_712_775, 15_035_171),
        (10_920_124, 38_918_577),
        (9_398_917, 9_035_927),
        (25_400_175, 21_486_799),
    ];
    assert_eq!(Preset::ALL.map(first), fixed);
}
