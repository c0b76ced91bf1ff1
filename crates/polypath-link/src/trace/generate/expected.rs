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
    /// The closed forms for bins of this width, rounded to steps, at least one.
    pub fn expected(&self, bin: Duration) -> Expected<'_> {
        let steps = bin.as_secs_f64() / self.step.as_secs_f64();
        Expected { model: self, steps: libm::round(steps).max(1.0) as u32 }
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

#[cfg(test)]
mod tests {
    use super::super::Preset;
    use super::super::{Fading, Interruption};
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
    }

    /// In bins of one step: 1.5 x 1.125 x C - 1, where C of a half-time interruption to nothing is
    /// 1 + (1/4) / (1/2)^2 = 2 and, a step of 0.1 + 0.1 later, 1 + 0.8.
    #[test]
    fn a_worked_example() {
        let fading = |components| Fading { components, correlation: SECOND };
        let half =
            Interruption { mean_clear: 10 * SECOND, mean_interrupted: 10 * SECOND, remaining: 0.0 };
        let (slow, fast) = (fading(4), fading(16));
        let model = Model { step: SECOND, slow, fast, interruptions: vec![half] };
        let expected = model.expected(SECOND);
        near(expected.autocovariance(0), 1.5 * 1.125 * 2.0 - 1.0);
        let decay = (-1.0_f64).exp();
        let next = (1.0 + 0.5 * decay) * (1.0 + 0.125 * decay) * 1.8 - 1.0;
        near(expected.autocovariance(1), next);
        near(expected.autocorrelation(1), next / 2.375);
        near(expected.cov(), 2.375_f64.sqrt());
        // Bins of two steps: (2 G(0) + 2 G(1)) / 4.
        near(model.expected(2 * SECOND).autocovariance(0), (2.375 + next) / 2.0);
    }

    /// Evaluated apart, in three digits.
    #[test]
    fn the_presets_have_the_variation_that_the_docs_say() {
        let variation = |preset: Preset| {
            let model = preset.model();
            let sd = |s: u32| libm::sqrt(model.expected(s * SECOND).autocovariance(0));
            [sd(1), sd(60), sd(600)].map(|sd| (sd * 100.0).round())
        };
        assert_eq!(variation(Preset::Drive), [58.0, 44.0, 20.0]);
        assert_eq!(variation(Preset::Train), [79.0, 59.0, 27.0]);
    }
}
