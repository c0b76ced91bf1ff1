//! R4-2: throughput over random loss with a large buffer (S4, Figure 8b).

pub(super) use super::r2_1::observe;
use crate::experiment::{Quantity, SeedRuns};

/// The loss at which the paper has figures.
const LOSS: (&str, &str) = ("loss", "0.02");

/// The goodput of BRF over that of another at that loss.
fn brf_over(runs: &SeedRuns<'_>, other: &str) -> Option<f64> {
    let [brf, other] = ["brf", other].map(|variant| runs.at(variant, &[LOSS], "goodput"));
    Some(brf? / other?)
}

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "brf_over_bbr",
        unit: "",
        meaning: "BRF over BBR at 2 % of loss",
        of: |runs| brf_over(runs, "bbr"),
    },
    Quantity {
        name: "brf_over_cubic",
        unit: "",
        meaning: "BRF over CUBIC at 2 % of loss",
        of: |runs| brf_over(runs, "cubic"),
    },
];
