//! R1-4: throughput over both asymmetries (S1, Figure 9).

pub(super) use super::striping::Parameters;

use crate::experiment::{Quantity, SeedRuns};

/// The ends of both axes.
const DELAY: [&str; 2] = ["0 ms", "35 ms"];
const RATE: [&str; 2] = ["0 kbit/s", "700 kbit/s"];

/// What four links carry.
fn four(runs: &SeedRuns<'_>, delay: &str, rate: &str) -> Option<f64> {
    runs.at("links_4", &[("delay_asymmetry", delay), ("rate_asymmetry", rate)], "throughput")
}

/// By what delays divide the throughput where rates differ most.
fn delay_factor(runs: &SeedRuns<'_>) -> Option<f64> {
    Some(four(runs, DELAY[0], RATE[1])? / four(runs, DELAY[1], RATE[1])?)
}

/// By what rates divide it where delays differ most.
fn rate_factor(runs: &SeedRuns<'_>) -> Option<f64> {
    Some(four(runs, DELAY[1], RATE[0])? / four(runs, DELAY[1], RATE[1])?)
}

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "delay_factor",
        unit: "",
        meaning: "throughput of 4 links without delay asymmetry over that with most, at most \
                  bandwidth asymmetry",
        of: delay_factor,
    },
    Quantity {
        name: "rate_factor",
        unit: "",
        meaning: "throughput of 4 links without bandwidth asymmetry over that with most, at most \
                  delay asymmetry",
        of: rate_factor,
    },
    Quantity {
        name: "delay_over_rate",
        unit: "",
        meaning: "the one over the other",
        of: |runs| Some(delay_factor(runs)? / rate_factor(runs)?),
    },
];
