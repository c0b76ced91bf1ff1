//! What `polypath emulate --netns` tells people.

use core::fmt::Write;

use polypath_emulator::live::{NetworkReport, Shortfall};
use polypath_emulator::plan::NetworkPlan;
use polypath_emulator::wire::DirectionReport;

use polypath::output::columns;

/// The namespaces, with their addresses. Writing to a `String` cannot fail.
pub(super) fn description(plan: &NetworkPlan) -> String {
    let mut rows = vec![["namespace", "node", "link", "IPv4", "IPv6"].map(str::to_owned)];
    for node in &plan.nodes {
        for interface in &node.interfaces {
            let (v4, v6) = (interface.addresses.v4.to_string(), interface.addresses.v6.to_string());
            let link = interface.name.clone();
            rows.push([node.namespace.clone(), node.name.clone(), link, v4, v6]);
        }
    }
    let mut text = columns(&rows, 5);
    if let Some(node) = plan.nodes.first() {
        let _ = writeln!(text, "A shell in one: ip netns exec {} bash", node.namespace);
    }
    text
}

/// What the links carried, and how accurately.
pub(super) fn report(report: &NetworkReport) -> String {
    let heading =
        ["link", "Mbit/s", "packets", "dropped", "p50 us", "p99 us", "max us", "overruns"];
    let mut rows = vec![heading.map(str::to_owned)];
    for link in &report.links {
        for (name, direction) in [("up", &link.up), ("down", &link.down)] {
            rows.push(row(format!("{} {name}", link.name), direction, report.seconds));
        }
    }
    let mut text = columns(&rows, 1);
    text.push_str("p50, p99, max: how much later than the link says packets left it\n");
    for link in &report.links {
        if let Some(reason) = &link.no_realtime_priority {
            let _ = writeln!(text, "{}: no real-time priority: {reason}", link.name);
        }
    }
    for shortfall in report.shortfalls() {
        let _ = writeln!(text, "warning: {}", self::shortfall(&shortfall));
    }
    text
}

fn row(name: String, direction: &DirectionReport, seconds: f64) -> [String; 8] {
    let DirectionReport { link, lateness, .. } = direction;
    let rate = link.delivered.bytes as f64 * 8e-6 / seconds;
    let micros = |duration: std::time::Duration| format!("{:.0}", duration.as_secs_f64() * 1e6);
    [
        name,
        format!("{rate:.2}"),
        link.delivered.packets.to_string(),
        link.dropped.total().packets.to_string(),
        micros(lateness.p50),
        micros(lateness.p99),
        micros(lateness.max),
        direction.overruns().to_string(),
    ]
}

pub(super) fn shortfall(shortfall: &Shortfall) -> String {
    let Shortfall { link, overruns, packets } = shortfall;
    format!(
        "this host cannot keep up with link {link}: {overruns} of {packets} packets were late or lost"
    )
}
