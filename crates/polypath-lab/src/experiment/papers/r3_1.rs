//! R3-1: throughput over the receive buffer (S3, Figure 3).

pub(super) use super::r2_1::observe;
use crate::experiment::runs::{least, most};
use crate::experiment::{Quantity, SeedRuns};
use core::iter;

/// The variants of constraint-based proactive scheduling.
const PROACTIVE: [&str; 2] = ["radical", "conservative"];
/// From here on buffers are large, in kB.
const SMALL: f64 = 1000.0;
const LARGE: &str = "4000 kB";

/// The goodput of the worse variant over that of another, at each small receive buffer.
fn worse_over(runs: &SeedRuns<'_>, other: &str) -> Option<Vec<f64>> {
    let line = |variant| runs.along(variant, &[], "receive_buffer", "goodput");
    let [radical, conservative] = PROACTIVE;
    let both = iter::zip(line(radical)?, line(conservative)?);
    let points = iter::zip(both, line(other)?);
    let small = points.filter(|(_, (buffer, _))| *buffer <= SMALL);
    Some(small.map(|(((_, a), (_, b)), (_, other))| a.min(b) / other).collect())
}

/// The goodputs of both variants over that of another, at a receive buffer.
fn proactive_over(runs: &SeedRuns<'_>, other: &str, buffer: &str) -> Option<Vec<f64>> {
    let at = [("receive_buffer", buffer)];
    let other = runs.at(other, &at, "goodput")?;
    PROACTIVE.iter().map(|v| runs.at(v, &at, "goodput").map(|goodput| goodput / other)).collect()
}

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "difference_at_4mb",
        unit: "",
        meaning: "largest difference of CP to the original with 4 MB, as a share of the original",
        of: |runs| {
            let ratios = proactive_over(runs, "original", LARGE)?;
            Some(most(&ratios.iter().map(|ratio| (ratio - 1.0).abs()).collect::<Vec<_>>()))
        },
    },
    Quantity {
        name: "largest_gain",
        unit: "",
        meaning: "CP over the original, of the worse variant, with the buffer of 200 to 1000 kB \
                  where it gains most",
        of: |runs| Some(most(&worse_over(runs, "original")?)),
    },
    Quantity {
        name: "least_over_wifi",
        unit: "",
        meaning: "CP over TCP on Wi-Fi alone, of the worse variant, with the worst buffer of 200 \
                  to 1000 kB",
        of: |runs| Some(least(&worse_over(runs, "wifi")?)),
    },
];
