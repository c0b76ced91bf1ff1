//! R0-4: throughput of both subflows (S0, Figures 12 and 13).

pub(super) use super::estimates::observe;
use super::estimates::{ONE, TWO, over_others};
use crate::experiment::Quantity;
use crate::experiment::runs::least;

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "one_least_ratio",
        unit: "",
        meaning: "throughput of CABE over that of the faster one of the others, subflow 1",
        of: |runs| over_others(runs, ONE.throughput).map(|ratios| least(&ratios)),
    },
    Quantity {
        name: "two_least_ratio",
        unit: "",
        meaning: "throughput of CABE over that of the faster one of the others, subflow 2",
        of: |runs| over_others(runs, TWO.throughput).map(|ratios| least(&ratios)),
    },
];
