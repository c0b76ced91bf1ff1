//! R4-9: a flow of a low rate beside large ones (S4, section 3.3).

use crate::experiment::{Observation, Quantity};
use polypath_model::metrics::jain_index;
use polypath_sim::run::Outcome;
use polypath_sim::scenario::Scenario;

/// What the flow of a low rate asks for, and the rate of the link, in Mbit/s: those of the
/// scenario.
const ASKED: f64 = 5.0;
const RATE: f64 = 100.0;

/// The goodput of the flow of a low rate over what it asks for, Jain's index of the others, and
/// what all carry as a share of the link.
pub(super) fn observe(_: &Scenario, outcome: &Outcome) -> Observation {
    let goodputs: Vec<_> = outcome.report.connections.iter().map(|c| c.goodput_mbit_s).collect();
    let Some((low, large)) = goodputs.split_first() else { return Observation::default() };
    Observation::default()
        .with("low_served", low / ASKED)
        .with("large_jain", jain_index(large))
        .with("use", goodputs.iter().sum::<f64>() / RATE)
}

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "low_served",
        unit: "",
        meaning: "goodput of the flow of a low rate over what it asks for",
        of: |runs| runs.only("brf", "low_served"),
    },
    Quantity {
        name: "large_jain",
        unit: "",
        meaning: "Jain's index of the large flows",
        of: |runs| runs.only("brf", "large_jain"),
    },
    Quantity {
        name: "use",
        unit: "",
        meaning: "goodput of all flows over the rate of the link",
        of: |runs| runs.only("brf", "use"),
    },
];
