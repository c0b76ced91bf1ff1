//! The values that the assumptions of a plan have in sensitivity runs.

use super::hypercube;
use super::plan::{Assumption, ExperimentPlan, Variant, filled};

/// What the sample of an experiment is drawn by: any number, and always the same.
const SEED: u64 = 1;

/// A Latin hypercube sample of all assumptions of a plan that have a range: at each point each of
/// them has its own value or one of its range, all as often.
#[derive(Clone, Debug, Default)]
pub(super) struct Sample {
    /// Of each point the number of the value of each assumption: 0 is its own, then come those of
    /// its range.
    points: Vec<Vec<usize>>,
}

impl Sample {
    /// The sample of a plan; without points if no assumption has a range.
    pub(super) fn of(plan: &ExperimentPlan) -> Self {
        let choices: Vec<_> =
            plan.assumption.iter().map(|assumption| 1 + assumption.value.range.len()).collect();
        match choices.iter().all(|&choices| choices == 1) {
            true => Self::default(),
            false => {
                Self { points: hypercube::sample(plan.sensitivity_points as usize, &choices, SEED) }
            }
        }
    }

    /// How many points there are.
    pub(super) const fn points(&self) -> usize {
        self.points.len()
    }

    /// What a variant has at a point otherwise than the scenario.
    pub(super) fn settings(
        &self,
        point: usize,
        plan: &ExperimentPlan,
        variant: &Variant,
    ) -> Vec<String> {
        let assumptions = plan.assumption.iter().map(|assumption| &assumption.value);
        let values = assumptions.zip(&self.points[point]).filter(|(known, _)| known.is_of(variant));
        let settings = values.filter_map(|(assumption, &value)| {
            Some(filled(&assumption.set, assumption.range.get(value.checked_sub(1)?)?))
        });
        settings.flatten().collect()
    }

    /// The points at which the assumption of this number has its value of this number.
    pub(super) fn with(&self, assumption: usize, value: usize) -> impl Iterator<Item = usize> {
        let points = self.points.iter().enumerate();
        points.filter(move |(_, values)| values[assumption] == value).map(|(point, _)| point)
    }
}

impl Assumption {
    /// All its values, its own first.
    pub(super) fn values(&self) -> impl Iterator<Item = &String> {
        [&self.value].into_iter().chain(&self.range)
    }
}
