//! R0-2: bandwidth estimates of the second subflow (S0, Figure 9).

pub(super) use super::estimates::observe;
use super::estimates::{self, TWO};
use crate::experiment::Quantity;

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "least_ratio",
        unit: "",
        meaning: "mean estimate of CABE over that of the others, the lower ratio",
        of: |runs| estimates::least_ratio(runs, &TWO),
    },
    Quantity {
        name: "error_ratio",
        unit: "",
        meaning: "mean error of CABE's estimate over that of the better one of the others",
        of: |runs| estimates::error_ratio(runs, &TWO),
    },
    Quantity {
        name: "variation_ratio",
        unit: "",
        meaning: "coefficient of variation of CABE's estimate over that of Westwood",
        of: |runs| estimates::variation_ratio(runs, &TWO),
    },
];
