//! R2-4: throughput over the distance to the base station (S2, Figure 6).

pub(super) use super::r2_1::observe;
use crate::experiment::Quantity;
use crate::experiment::runs::least;

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "least_over_cubic",
        unit: "",
        meaning: "BESS over TCP CUBIC, at the worst distance",
        of: |runs| Some(least(&runs.ratios("bess", "cubic", "goodput")?)),
    },
    Quantity {
        name: "least_cubic_over_rss",
        unit: "",
        meaning: "TCP CUBIC over regular slow start, at the worst distance",
        of: |runs| Some(least(&runs.ratios("cubic", "rss", "goodput")?)),
    },
    Quantity {
        name: "far_over_near",
        unit: "",
        meaning: "BESS at the largest distance over BESS at the smallest",
        of: |runs| {
            let goodputs = runs.all("bess", "goodput")?;
            Some(goodputs.last()? / goodputs.first()?)
        },
    },
];
