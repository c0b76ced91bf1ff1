//! R4-3: fairness among round trips (S4, Figure 9).

use super::network::{in_mbit_s, of_each_connection};
use crate::experiment::{Observation, Quantity};
use polypath_sim::run::Outcome;
use polypath_sim::scenario::Scenario;

/// What two flows share: goodput of each in Mbit/s, Jain's index, the share of the first.
pub(super) fn observe(_: &Scenario, outcome: &Outcome) -> Observation {
    let goodputs: Vec<_> = outcome.report.connections.iter().map(|c| c.goodput_mbit_s).collect();
    let mut observation = Observation::default().with("jain", outcome.report.jain_index);
    let curves = of_each_connection(&outcome.recording, "goodput");
    for ((name, goodput), curve) in ["first", "second"].into_iter().zip(&goodputs).zip(curves) {
        observation = observation.with(name, *goodput).with_curve(name, in_mbit_s(curve));
    }
    let total: f64 = goodputs.iter().sum();
    observation.with("first_share", goodputs.first().map(|first| first / total))
}

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "brf_jain",
        unit: "",
        meaning: "Jain's index of two BRF flows",
        of: |runs| runs.only("brf", "jain"),
    },
    Quantity {
        name: "bbr_jain",
        unit: "",
        meaning: "Jain's index of two BBR flows",
        of: |runs| runs.only("bbr", "jain"),
    },
    Quantity {
        name: "bbr_long_share",
        unit: "",
        meaning: "share of the BBR flow with the longer round trip",
        of: |runs| runs.only("bbr", "first_share"),
    },
];
