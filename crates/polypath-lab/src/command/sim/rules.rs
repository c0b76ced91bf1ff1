//! What has passed by the rules of gateways.

use polypath_sim::run::RuleUse;

use super::TimedRun;
use super::table::spread;
use polypath::output::columns;

const HEADINGS: [&str; 8] = [
    "rule",
    "mode",
    "conversations",
    "datagrams sent",
    "received",
    "sent MB",
    "received MB",
    "dropped",
];

/// Adds a table for each connection that others go through: the columns of `polypath status`.
pub(super) fn write(text: &mut String, runs: &[TimedRun]) {
    let Some(first) = runs.first() else { return };
    let connections = first.report.connections.iter().enumerate();
    for (number, connection) in connections.filter(|(_, connection)| !connection.rules.is_empty()) {
        let mut rows = vec![HEADINGS.map(str::to_owned)];
        for (at, rule) in connection.rules.iter().enumerate() {
            let values = |decimals: usize, value: fn(&RuleUse) -> f64| {
                let of = |run: &TimedRun| {
                    Some(value(run.report.connections.get(number)?.rules.get(at)?))
                };
                spread(runs, decimals, of)
            };
            rows.push([
                rule.name.clone().unwrap_or_else(|| "(no rule)".to_owned()),
                rule.mode.clone(),
                values(0, |rule| rule.counts.conversations as f64),
                values(0, |rule| rule.counts.datagrams_sent as f64),
                values(0, |rule| rule.counts.datagrams_received as f64),
                values(2, |rule| rule.counts.bytes_sent as f64 / 1e6),
                values(2, |rule| rule.counts.bytes_received as f64 / 1e6),
                values(0, |rule| rule.counts.dropped as f64),
            ]);
        }
        text.push('\n');
        text.push_str(&columns(&rows, 2));
    }
}
