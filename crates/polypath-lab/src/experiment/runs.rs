//! The runs of a seed, as quantities see them.

use super::observation::{Curve, Observation};
use super::plan::number;
use core::iter;

/// All runs of a seed: each variant at each point of the axes.
#[derive(Clone, Debug, Default)]
pub struct SeedRuns<'a> {
    runs: Vec<SeedRun<'a>>,
}

/// A run.
#[derive(Clone, Debug)]
struct SeedRun<'a> {
    variant: &'a str,
    /// The value on each axis, by the name of the axis.
    at: Vec<(&'a str, &'a str)>,
    observation: &'a Observation,
}

impl<'a> SeedRuns<'a> {
    /// Adds a run.
    pub(super) fn add(
        &mut self,
        variant: &'a str,
        at: Vec<(&'a str, &'a str)>,
        observation: &'a Observation,
    ) {
        self.runs.push(SeedRun { variant, at, observation });
    }

    /// The values of a variant where axes have these values, in the order of the plan; `None` if a
    /// run lacks it, or there is no run.
    pub(crate) fn where_at(
        &self,
        variant: &str,
        at: &[(&str, &str)],
        value: &str,
    ) -> Option<Vec<f64>> {
        let fits = |run: &&SeedRun<'_>| at.iter().all(|place| run.at.contains(place));
        let runs = self.runs.iter().filter(|run| run.variant == variant).filter(fits);
        let values: Vec<f64> =
            runs.map(|run| run.observation.values.get(value).copied()).collect::<Option<_>>()?;
        (!values.is_empty()).then_some(values)
    }

    /// The values of a variant over all points, in the order of the plan.
    pub fn all(&self, variant: &str, value: &str) -> Option<Vec<f64>> {
        self.where_at(variant, &[], value)
    }

    /// The value of a variant where there is but one run.
    pub fn only(&self, variant: &str, value: &str) -> Option<f64> {
        match self.all(variant, value)?[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The value of a variant at a point.
    pub fn at(&self, variant: &str, at: &[(&str, &str)], value: &str) -> Option<f64> {
        self.where_at(variant, at, value)?.first().copied()
    }

    /// A value of a variant over the numbers on an axis, where other axes have these values.
    pub fn along(
        &self,
        variant: &str,
        at: &[(&str, &str)],
        axis: &str,
        value: &str,
    ) -> Option<Vec<(f64, f64)>> {
        let fits = |run: &&SeedRun<'_>| at.iter().all(|place| run.at.contains(place));
        let runs = self.runs.iter().filter(|run| run.variant == variant).filter(fits);
        let point = |run: &SeedRun<'_>| {
            let (_, place) = run.at.iter().find(|(name, _)| *name == axis)?;
            Some((number(place)?, *run.observation.values.get(value)?))
        };
        let points: Vec<_> = runs.map(point).collect::<Option<_>>()?;
        (!points.is_empty()).then_some(points)
    }

    /// A curve of a variant at a point.
    pub(super) fn curve(&self, variant: &str, at: &[(&str, &str)], name: &str) -> Option<Curve> {
        let fits = |run: &&SeedRun<'_>| at.iter().all(|place| run.at.contains(place));
        let run = self.runs.iter().filter(|run| run.variant == variant).find(fits)?;
        run.observation.curves.get(name).cloned()
    }

    /// Each variant at each point, in the order of the plan.
    pub(super) fn places(&self) -> impl Iterator<Item = (&str, &[(&'a str, &'a str)])> {
        self.runs.iter().map(|run| (run.variant, &run.at[..]))
    }

    /// The names of the values of a variant at a point.
    pub(super) fn names(
        &self,
        variant: &str,
        at: &[(&str, &str)],
    ) -> impl Iterator<Item = &'a str> {
        let run = self.runs.iter().find(|run| run.variant == variant && run.at == at);
        let values = run.map(|run| run.observation.values.keys().map(String::as_str));
        values.into_iter().flatten()
    }

    /// A value of one variant over that of another, at each point.
    pub fn ratios(&self, over: &str, under: &str, value: &str) -> Option<Vec<f64>> {
        let (over, under) = (self.all(over, value)?, self.all(under, value)?);
        Some(ratios(&over, &under))
    }
}

/// Quotients, element by element.
pub(super) fn ratios(over: &[f64], under: &[f64]) -> Vec<f64> {
    iter::zip(over, under).map(|(over, under)| over / under).collect()
}

/// The smallest.
pub(super) fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The largest.
pub(super) fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}
