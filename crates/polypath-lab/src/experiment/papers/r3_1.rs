//! R3-1: throughput over the receive buffer (S3, Figure 3).

pub(super) use super::r2_1::observe;
use crate::experiment::runs::{least, most};
use crate::experiment::{Quantity, SeedRuns};

/// The variants of constraint-based proactive scheduling.
const PROACTIVE: [&str; 2] = ["radical", "conservative"];
const SMALL: &str = "200 kB";
const LARGE: &str = "4000 kB";

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
        name: "gain_at_200kb",
        unit: "",
        meaning: "CP over the original with 200 kB, of the worse variant",
        of: |runs| Some(least(&proactive_over(runs, "original", SMALL)?)),
    },
    Quantity {
        name: "over_wifi_at_200kb",
        unit: "",
        meaning: "CP over TCP on Wi-Fi alone with 200 kB, of the worse variant",
        of: |runs| Some(least(&proactive_over(runs, "wifi", SMALL)?)),
    },
];
