//! R4-1: throughput over random loss with a small buffer (S4, Figure 8a).

pub(super) use super::r2_1::observe;
use crate::experiment::runs::{least, ratios};
use crate::experiment::{Quantity, SeedRuns};

/// The goodput of one variant over that of another where the loss is 0.5 % or more, at the worst of
/// these: the claims leave out the first loss of the axis, 0.1 %.
fn least_ratio(runs: &SeedRuns<'_>, over: &str, under: &str) -> Option<f64> {
    let goodputs = |variant| runs.all(variant, "goodput");
    let (over, under) = (goodputs(over)?, goodputs(under)?);
    Some(least(&ratios(over.get(1..)?, under.get(1..)?)))
}

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "least_brf_over_bbr",
        unit: "",
        meaning: "BRF over BBR, at the worst loss of 0.5 % or more",
        of: |runs| least_ratio(runs, "brf", "bbr"),
    },
    Quantity {
        name: "least_bbr_over_cubic",
        unit: "",
        meaning: "BBR over CUBIC, at the worst loss of 0.5 % or more",
        of: |runs| least_ratio(runs, "bbr", "cubic"),
    },
];
