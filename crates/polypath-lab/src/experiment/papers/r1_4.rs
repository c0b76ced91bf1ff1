//! R1-4: throughput over both asymmetries (S1, Figure 9).

pub(super) use super::striping::Parameters;

use crate::experiment::runs::{least, most};
use crate::experiment::{Quantity, SeedRuns};

/// The ends of both axes.
const DELAY: [&str; 2] = ["0 ms", "35 ms"];
const RATE: [&str; 2] = ["0 kbit/s", "700 kbit/s"];

/// The variants with as many links as asymmetries are about, but four.
const FEWER: [&str; 2] = ["links_2", "links_3"];
const FOUR: &str = "links_4";

/// What so many links carry.
fn carried(runs: &SeedRuns<'_>, links: &str, delay: &str, rate: &str) -> Option<f64> {
    runs.at(links, &[("delay_asymmetry", delay), ("rate_asymmetry", rate)], "throughput")
}

/// By what delays divide the throughput where rates differ most.
fn delay_factor(runs: &SeedRuns<'_>, links: &str) -> Option<f64> {
    Some(carried(runs, links, DELAY[0], RATE[1])? / carried(runs, links, DELAY[1], RATE[1])?)
}

/// By what rates divide it where delays differ most.
fn rate_factor(runs: &SeedRuns<'_>, links: &str) -> Option<f64> {
    Some(carried(runs, links, DELAY[1], RATE[0])? / carried(runs, links, DELAY[1], RATE[1])?)
}

/// How much more delays divide it by than rates.
fn delay_over_rate(runs: &SeedRuns<'_>, links: &str) -> Option<f64> {
    Some(delay_factor(runs, links)? / rate_factor(runs, links)?)
}

/// The same with two and with three links.
fn of_fewer(runs: &SeedRuns<'_>) -> Option<Vec<f64>> {
    FEWER.iter().map(|links| delay_over_rate(runs, links)).collect()
}

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "delay_factor",
        unit: "",
        meaning: "throughput of 4 links without delay asymmetry over that with most, at most \
                  bandwidth asymmetry",
        of: |runs| delay_factor(runs, FOUR),
    },
    Quantity {
        name: "rate_factor",
        unit: "",
        meaning: "throughput of 4 links without bandwidth asymmetry over that with most, at most \
                  delay asymmetry",
        of: |runs| rate_factor(runs, FOUR),
    },
    Quantity {
        name: "delay_over_rate",
        unit: "",
        meaning: "delay factor of 4 links over their bandwidth factor",
        of: |runs| delay_over_rate(runs, FOUR),
    },
    Quantity {
        name: "delay_over_rate_of_fewer",
        unit: "",
        meaning: "delay factor over bandwidth factor of 2 or 3 links, the lower one",
        of: |runs| of_fewer(runs).map(|factors| least(&factors)),
    },
    Quantity {
        name: "four_over_fewer",
        unit: "",
        meaning: "delay factor over bandwidth factor of 4 links, over the larger one of 2 and 3",
        of: |runs| Some(delay_over_rate(runs, FOUR)? / most(&of_fewer(runs)?)),
    },
];
