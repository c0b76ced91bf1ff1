//! Draws sizes, mostly by the inverse of their distribution function (Devroye, Non-Uniform Random
//! Variate Generation, 1986, section II.2).

use super::{Cdf, LogNormal, Pareto, SizeDistribution, Sizes, UniformSizes};
use crate::traffic::Random;
use polypath_units::ByteCount;

/// No larger size is drawn, whatever the tail: 2^50 bytes, far from overflowing a sequence number.
pub const LARGEST_SIZE: u64 = 1 << 50;

impl Sizes {
    /// The next size: at least a byte, at most [`LARGEST_SIZE`].
    pub fn draw(&self, random: &mut Random) -> u64 {
        match self {
            Self::Constant(size) => size.get().clamp(1, LARGEST_SIZE),
            Self::Drawn(distribution) => distribution.draw(random),
        }
    }
}

impl SizeDistribution {
    /// A size: rounded to whole bytes, at least one, at most [`LARGEST_SIZE`].
    pub fn draw(&self, random: &mut Random) -> u64 {
        let size = match self {
            Self::Uniform(uniform) => return uniform.draw(random).clamp(1, LARGEST_SIZE),
            Self::Exponential(sizes) => bytes(sizes.mean) * random.exponential(),
            Self::Pareto(pareto) => pareto.draw(random),
            Self::LogNormal(log_normal) => log_normal.draw(random),
            Self::Cdf(cdf) => cdf.draw(random),
        };
        // What is too large for the integer becomes the largest.
        (size.round() as u64).clamp(1, LARGEST_SIZE)
    }
}

fn bytes(size: ByteCount) -> f64 {
    size.get() as f64
}

impl UniformSizes {
    fn draw(&self, random: &mut Random) -> u64 {
        let minimum = self.minimum.get();
        minimum + random.up_to(self.maximum.get().saturating_sub(minimum))
    }
}

impl Pareto {
    /// The share of sizes above `s` is (minimum / s)^shape; of a distribution that is cut off only
    /// the shares down to that of its maximum occur.
    fn draw(&self, random: &mut Random) -> f64 {
        let minimum = bytes(self.minimum);
        let cut_off = self.maximum.map_or(0.0, |max| libm::pow(minimum / bytes(max), self.shape));
        let above = cut_off + (1.0 - cut_off) * random.uniform();
        minimum / libm::pow(above, 1.0 / self.shape)
    }
}

impl LogNormal {
    fn draw(&self, random: &mut Random) -> f64 {
        bytes(self.median) * libm::exp(self.sigma * random.normal())
    }
}

impl Cdf {
    fn draw(&self, random: &mut Random) -> f64 {
        let share = random.uniform();
        let end = self.points.partition_point(|point| point.share < share);
        let (Some(end), before) = (self.points.get(end), end.checked_sub(1)) else { return 0.0 };
        let Some(start) = before.map(|before| self.points[before]) else { return bytes(end.size) };
        // Their shares differ, for this one lies between them.
        let part = (share - start.share) / (end.share - start.share);
        bytes(start.size) + part * (bytes(end.size) - bytes(start.size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{CdfPoint, ExponentialSizes};

    const COUNT: usize = 100_000;

    fn size(bytes: u64) -> ByteCount {
        ByteCount::new(bytes)
    }

    fn draws(sizes: &SizeDistribution) -> Vec<u64> {
        let mut random = Random::new(11);
        (0..COUNT).map(|_| sizes.draw(&mut random)).collect()
    }

    /// The mean of the draws against mean and standard deviation of the distribution: within five
    /// standard errors, and half a byte for rounding.
    fn check_mean(sizes: &SizeDistribution, mean: f64, deviation: f64) {
        let found = draws(sizes).iter().sum::<u64>() as f64 / COUNT as f64;
        let bound = 5.0 * deviation / (COUNT as f64).sqrt() + 0.5;
        assert!((found - mean).abs() < bound, "{sizes:?}: {found} for {mean} within {bound}");
    }

    /// The share of draws up to `at` bytes is binomial: within five standard errors.
    fn check_share(sizes: &SizeDistribution, at: u64, share: f64) {
        let found = draws(sizes).iter().filter(|&&size| size <= at).count() as f64 / COUNT as f64;
        let bound = 5.0 * (share * (1.0 - share) / COUNT as f64).sqrt();
        assert!((found - share).abs() <= bound, "{sizes:?} at {at}: {found} for {share}");
    }

    #[test]
    fn uniform() {
        let uniform = |minimum, maximum| {
            let (minimum, maximum) = (size(minimum), size(maximum));
            SizeDistribution::Uniform(UniformSizes { minimum, maximum })
        };
        let sizes = uniform(1_000, 9_000);
        check_mean(&sizes, 5_000.0, 8_000.0 / 12.0_f64.sqrt());
        check_share(&sizes, 2_999, 2_000.0 / 8_001.0);
        assert!(draws(&sizes).iter().all(|size| (1_000..=9_000).contains(size)));
        assert_eq!(draws(&uniform(0, 0))[0], 1, "a response has a byte");
    }

    #[test]
    fn exponential() {
        let sizes = SizeDistribution::Exponential(ExponentialSizes { mean: size(20_000) });
        check_mean(&sizes, 20_000.0, 20_000.0);
        for share in [0.1, 0.5, 0.9, 0.99] {
            let quantile = -20_000.0 * f64::ln(1.0 - share);
            check_share(&sizes, quantile as u64, share);
        }
    }

    #[test]
    fn pareto() {
        let pareto = |shape, maximum: Option<u64>| {
            let (minimum, maximum) = (size(10_000), maximum.map(size));
            SizeDistribution::Pareto(Pareto { shape, minimum, maximum })
        };
        // Mean a m / (a - 1), variance m^2 a / ((a - 1)^2 (a - 2)).
        let sizes = pareto(3.0, None);
        check_mean(&sizes, 15_000.0, 1e4 * (3.0 / 4.0_f64).sqrt());
        check_share(&sizes, 20_000, 1.0 - 1.0 / 8.0);
        // Cut off at 100 m with shape 1: mean m ln(100) / 0.99, E x^2 = 100 m^2.
        let sizes = pareto(1.0, Some(1_000_000));
        let mean = 1e4 * 100.0_f64.ln() / 0.99;
        check_mean(&sizes, mean, (1e10 - mean * mean).sqrt());
        check_share(&sizes, 100_000, 0.9 / 0.99);
        assert!(draws(&sizes).iter().all(|size| (10_000..=1_000_000).contains(size)));
        assert_eq!(draws(&pareto(2.0, Some(10_000)))[..3], [10_000; 3]);
        // Half of the sizes exceed m 2^100.
        let largest = draws(&pareto(0.01, None)).into_iter().max();
        assert_eq!(largest, Some(LARGEST_SIZE));
    }

    #[test]
    fn log_normal() {
        let sizes = SizeDistribution::LogNormal(LogNormal { median: size(10_000), sigma: 1.0 });
        let mean = 1e4 * 0.5_f64.exp();
        check_mean(&sizes, mean, mean * (1.0_f64.exp() - 1.0).sqrt());
        check_share(&sizes, 10_000, 0.5);
        // One standard deviation above the median.
        check_share(&sizes, (1e4 * 1.0_f64.exp()) as u64, 0.841_344_7);
    }

    #[test]
    fn cdf() {
        let points = [(1_000, 0.2), (2_000, 0.2), (4_000, 0.6), (10_000, 1.0)];
        let points = points.map(|(bytes, share)| CdfPoint { size: size(bytes), share });
        let sizes = SizeDistribution::Cdf(Cdf { points: points.to_vec() });
        for (at, share) in [(1_000, 0.2), (2_000, 0.2), (3_000, 0.4), (4_000, 0.6), (7_000, 0.8)] {
            check_share(&sizes, at, share);
        }
        // Parts of 0.2, 0.4, 0.4 with means 1000, 3000, 7000 and variances 0, 2000^2/12, 6000^2/12.
        let variance = 0.2 * 3_200.0_f64.powi(2)
            + 0.4 * 1_200.0_f64.powi(2)
            + 0.4 * 2_800.0_f64.powi(2)
            + 0.4 * (4e6 + 36e6) / 12.0;
        check_mean(&sizes, 4_200.0, variance.sqrt());
        let only =
            SizeDistribution::Cdf(Cdf { points: vec![CdfPoint { share: 1.0, ..points[1] }] });
        assert_eq!(draws(&only)[..3], [2_000; 3]);
    }

    /// Written down once: another machine, or another version of a dependency, gives the same.
    #[test]
    fn draws_are_fixed() {
        let mut random = Random::new(5);
        let (minimum, maximum) = (size(1_000), Some(size(1_000_000)));
        let pareto = SizeDistribution::Pareto(Pareto { shape: 1.2, minimum, maximum });
        let log_normal = SizeDistribution::LogNormal(LogNormal { median: minimum, sigma: 2.0 });
        let drawn = [pareto, log_normal].map(|sizes| [(); 3].map(|()| sizes.draw(&mut random)));
        assert_eq!(drawn, [[1_031, 5_564, 1_400], [43_187, 206, 509]]);
        assert_eq!(Sizes::Constant(size(0)).draw(&mut random), 1);
    }
}
