//! R4-5: packets that the router drops (S4, Table 4).

use super::network::goodput;
use crate::experiment::runs::most;
use crate::experiment::{Observation, Quantity};
use polypath_sim::run::{LinkReport, Outcome};
use polypath_sim::scenario::Scenario;

const LARGE: (&str, &str) = ("buffer", "100000 packets");
const SMALL: (&str, &str) = ("buffer", "1000 packets");

pub(super) fn observe(_: &Scenario, outcome: &Outcome) -> Observation {
    let port = |link: &&LinkReport| link.link == "bottleneck" && link.direction == "up";
    let port = outcome.report.queues.iter().find(port);
    Observation::default()
        .with("goodput", goodput(outcome))
        .with("dropped", port.and_then(dropped_percent))
}

/// What the queue had no room for, in percent of all that came to the port; without losses on the
/// line. `None` if nothing came.
pub(super) fn dropped_percent(port: &LinkReport) -> Option<f64> {
    let dropped = port.dropped_packets.queue_full + port.dropped_packets.aqm;
    let all = dropped + port.delivered_packets + port.dropped_packets.loss;
    (all > 0).then(|| 100.0 * dropped as f64 / all as f64)
}

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "brf_most_dropped",
        unit: "%",
        meaning: "packets dropped with BRF, with the worse buffer",
        of: |runs| Some(most(&runs.all("brf", "dropped")?)),
    },
    Quantity {
        name: "bbr_less_ten_cubic",
        unit: "%",
        meaning: "packets dropped with BBR less ten times those with CUBIC, with 1000 packets",
        of: |runs| {
            let [bbr, cubic] =
                ["bbr", "cubic"].map(|variant| runs.at(variant, &[SMALL], "dropped"));
            Some(bbr? - 10.0 * cubic?)
        },
    },
    Quantity {
        name: "others_dropped_large",
        unit: "%",
        meaning: "packets dropped with CUBIC or BBR, whichever drops more, with 100,000 packets",
        of: |runs| {
            let [bbr, cubic] =
                ["bbr", "cubic"].map(|variant| runs.at(variant, &[LARGE], "dropped"));
            Some(bbr?.max(cubic?))
        },
    },
];
