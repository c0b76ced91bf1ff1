//! R0-1: bandwidth estimates of the first subflow (S0, Figure 8).

pub(super) use super::estimates::observe;
use super::estimates::{self, ONE};
use crate::experiment::Quantity;

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "least_ratio",
        unit: "",
        meaning: "mean estimate of CABE over that of the others, the lower ratio",
        of: |runs| estimates::least_ratio(runs, &ONE),
    },
    Quantity {
        name: "error_ratio",
        unit: "",
        meaning: "mean error of CABE's estimate over that of the better one of the others",
        of: |runs| estimates::error_ratio(runs, &ONE),
    },
    Quantity {
        name: "variation_ratio",
        unit: "",
        meaning: "coefficient of variation of CABE's estimate over that of Westwood",
        of: |runs| estimates::variation_ratio(runs, &ONE),
    },
];
