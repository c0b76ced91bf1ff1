//! What has passed by the rules of gateways.

use super::TimedRun;
use super::table::spread;
use polypath::control::rule_table;

/// Adds a table for each connection that others go through: the columns of `polypath status`.
pub(super) fn write(text: &mut String, runs: &[TimedRun]) {
    let Some(first) = runs.first() else { return };
    let connections = first.report.connections.iter().enumerate();
    for (number, connection) in connections.filter(|(_, connection)| !connection.rules.is_empty()) {
        text.push('\n');
        text.push_str(&rule_table(&connection.rules, |at, column| {
            spread(runs, column.decimals(2), |run| {
                Some(column.of(&run.report.connections.get(number)?.rules.get(at)?.counts))
            })
        }));
    }
}
