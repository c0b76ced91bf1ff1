//! R4-7: queueing delay (S4, Figure 12).

use super::network::{goodput, of_path};
use crate::experiment::{Observation, Quantity, SeedRuns};
use polypath_model::metrics::{mean, quantile};
use polypath_sim::run::Outcome;
use polypath_sim::scenario::{NetworkSpec, Scenario};
use polypath_sim::topology::GraphLink;

pub(super) fn observe(scenario: &Scenario, outcome: &Outcome) -> Observation {
    let path = outcome.recording.paths.lines.first().map(|line| line.key.path.as_str());
    let round_trips = path.and_then(|path| of_path(&outcome.recording, path, "srtt"));
    let empty = empty_round_trip(scenario);
    let delay = |(at, secs): (f64, f64)| Some((at, (secs - empty?) * 1e3));
    let delays: Vec<(f64, f64)> = round_trips.into_iter().flatten().filter_map(delay).collect();
    let mut values: Vec<f64> = delays.iter().map(|(_, delay)| *delay).collect();
    Observation::default()
        .with("goodput", goodput(outcome))
        .with("delay", mean(&values))
        .with("delay_p95", quantile(&mut values, 0.95))
        .with_curve("delay", delays)
}

/// What a round trip over all links takes when nothing waits, in s, without the time that sending a
/// packet takes, 0.14 ms; `None` without links between nodes.
fn empty_round_trip(scenario: &Scenario) -> Option<f64> {
    let NetworkSpec::Graph(graph) = &scenario.network else { return None };
    let both = |link: &GraphLink| link.links.up.delay + link.links.down.delay;
    Some(graph.links.iter().map(|link| both(link).as_secs_f64()).sum())
}

fn over(runs: &SeedRuns<'_>, one: &str, other: &str) -> Option<f64> {
    Some(runs.only(one, "delay")? / runs.only(other, "delay")?)
}

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "brf_delay",
        unit: "ms",
        meaning: "mean queueing delay with BRF",
        of: |runs| runs.only("brf", "delay"),
    },
    Quantity {
        name: "brf_over_bbr",
        unit: "",
        meaning: "mean queueing delay with BRF over that with BBR",
        of: |runs| over(runs, "brf", "bbr"),
    },
    Quantity {
        name: "bbr_over_cubic",
        unit: "",
        meaning: "mean queueing delay with BBR over that with CUBIC",
        of: |runs| over(runs, "bbr", "cubic"),
    },
];
