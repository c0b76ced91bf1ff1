//! Other users in the cell.

use super::error::{Model, RadioError};
use crate::rng::Random;
use std::time::Duration;

/// Users that compete for the resources of a cell: they come at random, independent of each
/// other, stay for exponential times, and the scheduler gives each an equal share of time. A
/// birth-death process, M/M/inf: their number has a Poisson distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellLoad {
    /// The mean number of others, at most 1000.
    pub mean_users: f64,
    /// How long one stays in the mean, at least 1 ms.
    pub mean_stay: Duration,
}

impl CellLoad {
    /// Checks the ranges.
    ///
    /// # Errors
    /// The first parameter outside its range.
    pub fn check(&self) -> Result<(), RadioError> {
        let model = Model("cell load");
        let fits = (0.0..=1000.0).contains(&self.mean_users);
        model.require(fits, "mean_users", &self.mean_users, "0 to 1000 is allowed")?;
        let given = format!("{:?}", self.mean_stay);
        let fits = self.mean_stay >= Duration::from_millis(1);
        model.require(fits, "mean_stay", &given, "1 ms or more is allowed")
    }
}

/// The others in one cell.
#[derive(Clone, Debug)]
pub(super) struct Users {
    random: Random,
    count: u32,
}

impl Users {
    pub(super) fn new(load: &CellLoad, mut random: Random) -> Self {
        let count = poisson(load.mean_users, &mut random);
        Self { random, count }
    }

    /// The share of time that is left for one more.
    pub(super) fn share(&self) -> f64 {
        1.0 / (1.0 + f64::from(self.count))
    }

    /// Lets time pass. The transition of M/M/inf is known exactly: each user is still there with
    /// probability q = exp(-time / mean stay), and of those who came since, a number is there
    /// that has a Poisson distribution with mean (1 - q) x mean.
    pub(super) fn advance(&mut self, load: &CellLoad, time: Duration) {
        let stays = time.as_secs_f64() / load.mean_stay.as_secs_f64();
        let still_there = libm::exp(-stays);
        let stayed = (0..self.count).filter(|_| self.random.chance(still_there)).count() as u32;
        let come = -libm::expm1(-stays) * load.mean_users;
        self.count = stayed + poisson(come, &mut self.random);
    }
}

/// The number of arrivals of a Poisson process with this mean in one unit of time.
fn poisson(mean: f64, random: &mut Random) -> u32 {
    let gaps = core::iter::repeat_with(|| random.exponential());
    let times = gaps.scan(0.0, |time, gap| {
        *time += gap;
        Some(*time)
    });
    times.take_while(|time| *time < mean).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD: CellLoad = CellLoad { mean_users: 3.0, mean_stay: Duration::from_secs(10) };
    const STEPS: usize = 100_000;

    /// The number of users every `time`.
    fn counts(time: Duration) -> Vec<f64> {
        let [random] = Random::streams(3);
        let mut users = Users::new(&LOAD, random);
        let mut next = || {
            users.advance(&LOAD, time);
            f64::from(users.count)
        };
        (0..STEPS).map(|_| next()).collect()
    }

    /// 70 s are seven stays: the correlation of neighbours is 0.001, counts are as good as
    /// independent. With mean m the mean of n counts has a standard error of sqrt(m / n), the
    /// mean of (count - m)^2 one of sqrt((m + 2 m^2) / n), the share of empty cells, e^-m, one of
    /// sqrt(e^-m (1 - e^-m) / n). Four are allowed.
    #[test]
    fn the_number_of_users_has_a_poisson_distribution() {
        let counts = counts(Duration::from_secs(70));
        let (m, n) = (LOAD.mean_users, STEPS as f64);
        let mean = counts.iter().sum::<f64>() / n;
        assert!((mean - m).abs() < 4.0 * (m / n).sqrt(), "{mean}");
        let variance = counts.iter().map(|count| (count - m).powi(2)).sum::<f64>() / n;
        assert!((variance - m).abs() < 4.0 * ((m + 2.0 * m * m) / n).sqrt(), "{variance}");
        let (empty, expected) = (counts.iter().filter(|&&count| count == 0.0).count(), (-m).exp());
        let off = empty as f64 / n - expected;
        assert!(off.abs() < 4.0 * (expected * (1.0 - expected) / n).sqrt(), "{empty}");
    }

    /// From a count c to the next, the expectation is m + q (c - m) and the variance is
    /// c q (1 - q) + m (1 - q). So sum (c - m)(next - m - q (c - m)) is a martingale; with
    /// E (c - m)^2 c = m^2 + m, each of its steps has a variance of q (1 - q) (m^2 + m) + (1 - q)
    /// m^2. Four standard deviations are allowed.
    #[test]
    fn users_are_forgotten_in_their_mean_stay() {
        let counts = counts(Duration::from_secs(5));
        let (m, q) = (LOAD.mean_users, (-0.5_f64).exp());
        let step = |pair: &[f64]| (pair[0] - m) * (pair[1] - m - q * (pair[0] - m));
        let sum: f64 = counts.windows(2).map(step).sum();
        let variance = q * (1.0 - q) * (m * m + m) + (1.0 - q) * m * m;
        let bound = 4.0 * (variance * (STEPS - 1) as f64).sqrt();
        assert!(sum.abs() < bound, "{sum}, {bound} allowed");
    }

    #[test]
    fn an_equal_share_is_left() {
        let [random] = Random::streams(3);
        let of = |count| Users { random: random.clone(), count }.share();
        assert_eq!([of(0), of(1), of(3)], [1.0, 0.5, 0.25]);
        assert_eq!(Users::new(&CellLoad { mean_users: 0.0, ..LOAD }, random.clone()).count, 0);
    }
}
