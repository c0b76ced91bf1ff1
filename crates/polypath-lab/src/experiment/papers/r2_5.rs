//! R2-5: throughput when line of sight is lost (S2, Figure 7).

use super::network::{goodput, in_mbit_s, mean_between, of_connection, of_path};
use crate::experiment::seen::Seen;
use crate::experiment::{Observation, Quantity};
use polypath_sim::scenario::Scenario;

/// When line of sight is lost, in s: the paper's time.
const LOST: f64 = 7.0;
/// Slow start is over by then.
const STARTED: f64 = 2.0;

pub(super) fn observe(_: &Scenario, seen: &impl Seen) -> Observation {
    let recording = seen.recording();
    let path = |name| in_mbit_s(of_path(recording, name, "throughput").unwrap_or_default());
    let (mmwave, lte) = (path("mmwave"), path("lte"));
    let total = in_mbit_s(of_connection(recording, "goodput").unwrap_or_default());
    Observation::default()
        .with("goodput", goodput(seen))
        .with("lte_before", mean_between(&lte, STARTED, LOST))
        .with("lte_after", mean_between(&lte, LOST, f64::INFINITY))
        .with("mmwave_after", mean_between(&mmwave, LOST, f64::INFINITY))
        .with_curve("goodput", total)
        .with_curve("lte", lte)
        .with_curve("mmwave", mmwave)
}

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "bess_over_others",
        unit: "",
        meaning: "mean throughput of BESS over that of the better one of the others",
        of: |runs| {
            let [bess, rss, cubic] =
                ["bess", "rss", "cubic"].map(|variant| runs.only(variant, "goodput"));
            Some(bess? / rss?.max(cubic?))
        },
    },
    Quantity {
        name: "lte_after_over_before",
        unit: "",
        meaning: "throughput of LTE after 7 s over that from 2 to 7 s, with BESS",
        of: |runs| Some(runs.only("bess", "lte_after")? / runs.only("bess", "lte_before")?),
    },
];
