//! The closed forms of a model.

use super::model::Model;
use std::time::Duration;

/// What the bins of an endless series of a [`Model`] have, in closed form.
///
/// The factors are independent, so that the normalised product moment of the rate at lag k steps
/// is the product of theirs; less 1 it is the autocovariance g(k) in units of the squared mean. A
/// bin of n steps averages them: bins l apart have the autocovariance
/// G(l) = sum over |d| < n of (n - |d|) g(l n + d) / n^2.
#[derive(Clone, Debug)]
pub struct Expected<'a> {
    model: &'a Model,
    /// Steps in a bin.
    steps: u32,
}

impl Model {
    /// The closed forms for bins of so many steps, at least one.
    pub fn expected(&self, steps: u32) -> Expected<'_> {
        Expected { model: self, steps: steps.max(1) }
    }

    /// The closed forms for bins of this width, rounded to steps.
    pub fn expected_in(&self, bin: Duration) -> Expected<'_> {
        let steps = bin.as_secs_f64() / self.step.as_secs_f64();
        self.expected(libm::round(steps) as u32)
    }

    /// g(k): the autocovariance at so many steps, in units of the squared mean.
    fn autocovariance(&self, steps: u32) -> f64 {
        let lag = self.step.saturating_mul(steps);
        let fading = self.slow.product(lag) * self.fast.product(lag);
        let interruptions = self.interruptions.iter().map(|i| i.product(self.step, steps));
        fading * interruptions.product::<f64>() - 1.0
    }
}

impl Expected<'_> {
    /// The coefficient of variation.
    pub fn cov(&self) -> f64 {
        libm::sqrt(self.autocovariance(0))
    }

    /// The autocorrelation at a lag of so many bins.
    pub fn autocorrelation(&self, lag: u32) -> f64 {
        self.autocovariance(lag) / self.autocovariance(0)
    }

    /// G(l): the autocovariance at a lag of so many bins, in units of the squared mean.
    pub fn autocovariance(&self, lag: u32) -> f64 {
        let n = i64::from(self.steps);
        let at = |d: i64| {
            let steps = (i64::from(lag) * n + d).unsigned_abs();
            self.model.autocovariance(u32::try_from(steps).unwrap_or(u32::MAX))
        };
        let sum = (1 - n..n).map(|d| (n - d.abs()) as f64 * at(d)).sum::<f64>();
        sum / (n * n) as f64
    }
}
