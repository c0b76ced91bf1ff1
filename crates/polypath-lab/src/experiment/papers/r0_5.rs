//! R0-5: throughput over the loss (S0, Figure 14).

use super::estimates::OTHERS;
pub(super) use super::r2_1::observe;
use crate::experiment::runs::{least, most};
use crate::experiment::{Quantity, SeedRuns};

/// The three that the paper compares.
const ALL: [&str; 3] = ["cabe", OTHERS[0], OTHERS[1]];
const LOW: (&str, &str) = ("loss", "0.005");
const HIGH: (&str, &str) = ("loss", "0.03");

/// The goodput of CABE over that of the faster one of the others, at a loss.
fn lead(runs: &SeedRuns<'_>, loss: (&str, &str)) -> Option<f64> {
    let goodput = |variant| runs.at(variant, &[loss], "goodput");
    let cabe = goodput("cabe")?;
    let leads = OTHERS.map(|other| goodput(other).map(|other| cabe / other));
    Some(least(&leads.into_iter().collect::<Option<Vec<_>>>()?))
}

/// How far the three are apart at a loss: the logarithm of the highest goodput over the lowest.
fn distance(runs: &SeedRuns<'_>, loss: (&str, &str)) -> Option<f64> {
    let goodputs = ALL.iter().map(|variant| runs.at(variant, &[loss], "goodput"));
    let goodputs = goodputs.collect::<Option<Vec<_>>>()?;
    Some((most(&goodputs) / least(&goodputs)).ln())
}

/// The goodput at a loss over that at the next lower one, where it fell least, of all three.
fn largest_step(runs: &SeedRuns<'_>) -> Option<f64> {
    let steps = |variant: &&str| {
        let goodputs = runs.all(variant, "goodput")?;
        Some(most(&goodputs.windows(2).map(|pair| pair[1] / pair[0]).collect::<Vec<_>>()))
    };
    let steps = ALL.iter().map(steps).collect::<Option<Vec<_>>>()?;
    Some(most(&steps))
}

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "largest_step",
        unit: "",
        meaning: "throughput at a loss over that at the next lower one, where it falls least",
        of: largest_step,
    },
    Quantity {
        name: "lead_low",
        unit: "",
        meaning: "throughput of CABE over that of the faster one of the others at 0.5 % of loss",
        of: |runs| lead(runs, LOW),
    },
    Quantity {
        name: "lead_high",
        unit: "",
        meaning: "throughput of CABE over that of the faster one of the others at 3 % of loss",
        of: |runs| lead(runs, HIGH),
    },
    Quantity {
        name: "distance_high_over_low",
        unit: "",
        meaning: "logarithm of the fastest over the slowest of the three at 3 %, over that at 0.5 %",
        of: |runs| Some(distance(runs, HIGH)? / distance(runs, LOW)?),
    },
];
