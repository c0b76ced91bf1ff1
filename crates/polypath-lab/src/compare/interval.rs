//! Medians over seeds.

use polypath_model::metrics::quantile;
use serde::Serialize;

/// A value over the seeds: its median, and the 5 % and 95 % quantiles around it, which are
/// interpolated between the runs where these are few.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The median.
    pub median: f64,
    /// The 5 % quantile.
    pub low: f64,
    /// The 95 % quantile.
    pub high: f64,
}

impl Interval {
    /// Of these values; `None` without any.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        Some(Self {
            median: quantile(&mut values, 0.5)?,
            low: quantile(&mut values, 0.05)?,
            high: quantile(&mut values, 0.95)?,
        })
    }

    /// Of these values if none is missing: a run without one is no run with the median.
    pub(crate) fn of_all(values: impl Iterator<Item = Option<f64>>) -> Option<Self> {
        Self::of(values.collect::<Option<Vec<_>>>()?)
    }
}
