//! R2-3: the backlog over the delay of LTE (S2, Figure 5).

use super::network::{free_share, goodput};
use crate::experiment::runs::least;
use crate::experiment::seen::Seen;
use crate::experiment::{Observation, Quantity};
use polypath_model::metrics::mean;
use polypath_sim::scenario::Scenario;

pub(super) fn observe(scenario: &Scenario, seen: &impl Seen) -> Observation {
    let free = free_share(scenario, seen.recording()).unwrap_or_default();
    let shares: Vec<f64> = free.into_iter().map(|(_, share)| share).collect();
    Observation::default().with("goodput", goodput(seen)).with("mean_free", mean(&shares))
}

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "least_mean_free",
        unit: "",
        meaning: "mean free share of the receive buffer, at the worst delay of LTE",
        of: |runs| Some(least(&runs.all("bess", "mean_free")?)),
    },
    Quantity {
        name: "fall_of_free",
        unit: "",
        meaning: "mean free share at the smallest delay of LTE less that at the largest",
        of: |runs| {
            let free = runs.all("bess", "mean_free")?;
            Some(free.first()? - free.last()?)
        },
    },
];
