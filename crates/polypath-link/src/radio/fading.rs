//! Values that change slowly with the place: shadow fading, and what blocks the view.

use crate::rng::Random;

/// A stationary Gaussian process along a path, with mean 0 and variance 1, whose correlation falls
/// exponentially with the distance (TR 38.901 section 7.4.4): a first-order autoregression.
#[derive(Clone, Debug)]
pub(super) struct Correlated {
    random: Random,
    value: f64,
}

impl Correlated {
    pub(super) fn new(mut random: Random) -> Self {
        let value = random.normal();
        Self { random, value }
    }

    /// The value here.
    pub(super) fn value(&self) -> f64 {
        self.value
    }

    /// The probability that a place has a smaller value: uniform over all places.
    pub(super) fn quantile(&self) -> f64 {
        0.5 * libm::erfc(-self.value * core::f64::consts::FRAC_1_SQRT_2)
    }

    /// Moves on by this many correlation distances.
    pub(super) fn advance(&mut self, distances: f64) {
        let correlation = libm::exp(-distances);
        let innovation = libm::sqrt(-libm::expm1(-2.0 * distances));
        self.value = correlation * self.value + innovation * self.random.normal();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: usize = 200_000;

    fn values(distances: f64) -> Vec<f64> {
        let [random] = Random::streams(11);
        let mut process = Correlated::new(random);
        let mut next = || {
            process.advance(distances);
            process.value()
        };
        (0..STEPS).map(|_| next()).collect()
    }

    /// Sums of x_t x_(t+1) - rho and x_t^2 - 1 over n steps of an AR(1) process with correlation
    /// rho: by Isserlis' theorem the variance of the mean of squares is 2/n sum rho^(2|k|) = 2/n
    /// (1 + rho^2) / (1 - rho^2); that of the lagged products, 1/n sum (rho^(2|k|) +
    /// rho^(|k-1| + |k+1|)), is not larger. Four standard errors are allowed.
    #[test]
    fn variance_is_one_and_correlation_falls_by_e_in_its_distance() {
        for distances in [0.1, 1.0] {
            let values = values(distances);
            let rho = (-distances).exp();
            let bound = 4.0 * (2.0 / STEPS as f64 * (1.0 + rho * rho) / (1.0 - rho * rho)).sqrt();
            let squares = values.iter().map(|x| x * x).sum::<f64>() / STEPS as f64;
            assert!((squares - 1.0).abs() < bound, "{squares}, {bound} allowed");
            let pairs = values.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
            let lagged = pairs / (STEPS - 1) as f64;
            assert!((lagged - rho).abs() < bound, "{lagged} instead of {rho}, {bound} allowed");
        }
    }

    /// Independent values (ten distances apart): their quantiles are uniform. The greatest
    /// deviation of n of them from the uniform distribution exceeds 2.2 / sqrt(n) with a
    /// probability of 2 exp(-2 x 2.2^2) = 1.3e-4 (Kolmogorov).
    #[test]
    fn quantiles_are_uniform() {
        let [random] = Random::streams(12);
        let mut process = Correlated::new(random);
        let mut quantiles: Vec<f64> = (0..20_000)
            .map(|_| {
                process.advance(10.0);
                process.quantile()
            })
            .collect();
        quantiles.sort_by(f64::total_cmp);
        let count = quantiles.len() as f64;
        let off = |(index, value): (usize, &f64)| (value - (index as f64 + 0.5) / count).abs();
        let worst = quantiles.iter().enumerate().map(off).fold(0.0, f64::max);
        assert!(worst < 2.2 / count.sqrt(), "{worst}");
    }

    #[test]
    fn who_stands_still_sees_no_change() {
        let [random] = Random::streams(13);
        let mut process = Correlated::new(random);
        let before = process.value();
        process.advance(0.0);
        assert_eq!(process.value(), before);
    }
}
