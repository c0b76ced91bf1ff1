//! R0-3: what the estimates say of the links (S0, Figures 10 and 11).

pub(super) use super::estimates::observe;
use super::estimates::{ONE, OTHERS, TWO};
use crate::experiment::runs::{least, most};
use crate::experiment::{Quantity, SeedRuns};

/// The estimate of a variant as a share of what the link carries, of both subflows.
fn both(runs: &SeedRuns<'_>, variant: &str) -> Option<[f64; 2]> {
    let [one, two] = [ONE, TWO].map(|names| runs.only(variant, names.utilisation));
    Some([one?, two?])
}

/// By how much the share of CABE exceeds the largest of the others, on the subflow where it is
/// less.
fn least_lead(runs: &SeedRuns<'_>) -> Option<f64> {
    let cabe = both(runs, "cabe")?;
    let others = OTHERS.iter().map(|other| both(runs, other)).collect::<Option<Vec<_>>>()?;
    let lead = |subflow: usize| {
        cabe[subflow] - most(&others.iter().map(|shares| shares[subflow]).collect::<Vec<_>>())
    };
    Some(least(&[lead(0), lead(1)]))
}

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "cabe_least",
        unit: "",
        meaning: "CABE's mean estimate as a share of what the link carries, on the worse subflow",
        of: |runs| both(runs, "cabe").map(|shares| least(&shares)),
    },
    Quantity {
        name: "least_lead",
        unit: "",
        meaning: "that share less the larger one of the others, on the worse subflow",
        of: least_lead,
    },
];
