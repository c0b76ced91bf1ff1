//! R2-1: throughput over the delays of both links (S2, Figure 4).

use super::network::goodput;
use crate::experiment::runs::{least, most, ratios};
use crate::experiment::seen::Seen;
use crate::experiment::{Observation, Quantity};
use polypath_model::metrics::mean;
use polypath_sim::scenario::Scenario;

/// Up to this delay of mmWave the paper tells of the difference to regular slow start.
const SHORT: [&str; 2] = ["1 ms", "5 ms"];

pub(super) fn observe(_: &Scenario, seen: &impl Seen) -> Observation {
    Observation::default().with("goodput", goodput(seen))
}

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "least_over_cubic",
        unit: "",
        meaning: "BESS over TCP CUBIC, at the worst delays",
        of: |runs| Some(least(&runs.ratios("bess", "cubic", "goodput")?)),
    },
    Quantity {
        name: "share_over_cubic",
        unit: "",
        meaning: "share of delays at which BESS is faster than TCP CUBIC",
        of: |runs| {
            let ratios = runs.ratios("bess", "cubic", "goodput")?;
            Some(ratios.iter().filter(|ratio| **ratio > 1.0).count() as f64 / ratios.len() as f64)
        },
    },
    Quantity {
        name: "short_over_rss",
        unit: "",
        meaning: "BESS over regular slow start up to 5 ms of delay of mmWave, at the worst delays",
        of: |runs| {
            let of = |delay| {
                let at = [("mmwave_delay", delay)];
                let [bess, rss] = ["bess", "rss"].map(|v| runs.where_at(v, &at, "goodput"));
                Some(least(&ratios(&bess?, &rss?)))
            };
            SHORT.map(of).into_iter().collect::<Option<Vec<_>>>().map(|ratios| least(&ratios))
        },
    },
    Quantity {
        name: "long_over_short",
        unit: "",
        meaning: "BESS with 50 ms of delay of mmWave over that with 1 ms, at the worse LTE delay",
        of: |runs| {
            let of = |delay| runs.where_at("bess", &[("mmwave_delay", delay)], "goodput");
            Some(least(&ratios(&of("50 ms")?, &of("1 ms")?)))
        },
    },
    Quantity {
        name: "mean_over_css",
        unit: "",
        meaning: "BESS over coupled slow start, mean over the delays",
        of: |runs| mean(&runs.ratios("bess", "css", "goodput")?),
    },
    Quantity {
        name: "most_over_rss",
        unit: "",
        meaning: "BESS over regular slow start, at the best delays",
        of: |runs| Some(most(&runs.ratios("bess", "rss", "goodput")?)),
    },
];
