//! R4-8: the rate that several switches tell (S4, section 3.1).

use super::r4_5::dropped_percent;
use crate::experiment::runs::most;
use crate::experiment::{Observation, Quantity};
use polypath_sim::run::{LinkReport, Outcome};
use polypath_sim::scenario::Scenario;

/// The ports of the switches, of which the first two are shared.
const PORTS: [&str; 3] = ["first", "second", "third"];

/// Goodputs in Mbit/s of the flow through all switches and of those beside it at the first and the
/// second, what the ports drop in %, and the share of the wider shared port that is used.
pub(super) fn observe(_: &Scenario, outcome: &Outcome) -> Observation {
    let connections = outcome.report.connections.iter();
    let observation = connections.fold(Observation::default(), |observation, connection| {
        observation.with(&connection.name, connection.goodput_mbit_s)
    });
    let ports: Vec<&LinkReport> = PORTS.iter().filter_map(|name| port(outcome, name)).collect();
    let dropped: Vec<f64> = ports.iter().copied().filter_map(dropped_percent).collect();
    // The rate of a port is what passed over the share of it that this was.
    let rate = |port: &LinkReport| port.utilisation.map(|used| (port.mbit_s / used, used));
    let shared = ports.iter().take(2).filter_map(|port| rate(port));
    let wider = shared.max_by(|(a, _), (b, _)| a.total_cmp(b));
    observation
        .with("dropped", (!dropped.is_empty()).then(|| most(&dropped)))
        .with("use_of_wider", wider.map(|(_, used)| used))
}

fn port<'a>(outcome: &'a Outcome, name: &str) -> Option<&'a LinkReport> {
    outcome.report.queues.iter().find(|port| port.link == name && port.direction == "up")
}

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "share_of_narrowest",
        unit: "",
        meaning: "share of the flow through all switches of what it and the flow beside it have at \
                  the narrowest port",
        of: |runs| {
            let [through, first, second] =
                ["through", "first", "second"].map(|name| runs.only("brf", name));
            Some(through? / (through? + first?.min(second?)))
        },
    },
    Quantity {
        name: "use_of_wider",
        unit: "",
        meaning: "utilisation of the wider one of the two ports that are shared",
        of: |runs| runs.only("brf", "use_of_wider"),
    },
    Quantity {
        name: "most_dropped",
        unit: "%",
        meaning: "packets dropped by the port that drops most",
        of: |runs| runs.only("brf", "dropped"),
    },
];
