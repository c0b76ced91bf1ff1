//! The tables of a comparison, for a terminal and for a page. The first row are headings.

use crate::compare::{Cell, Comparison, Interval, Judgement, Ranked, ScenarioTable};

/// What the columns of the ranking mean.
pub(crate) const MEANING: &str = "* is what a bond uses if nothing is said. Share: the mean over the scenarios \
    of the goodput over that of the scenario's best. Best: scenarios in which the goodput is within 2 % of the \
    best. Under a path: those in which it is more than 2 % below that of the same control over the best path \
    alone. Late: those in which the delay's 99th percentile is more than 20 % above that of the best coupled \
    control.";

/// The ranking: so many rows, and what ships.
pub(crate) fn ranked(comparison: &Comparison, most: usize) -> Vec<[String; 6]> {
    let of = comparison.scenarios.len();
    let row = |(place, row): (usize, &Ranked)| {
        let Judgement { lost, below_best_path, late } = &row.judgement;
        [
            (place + 1).to_string(),
            name(row),
            interval(Some(row.score), 100.0, 1),
            format!("{} of {of}", of - lost.len()),
            below_best_path.len().to_string(),
            late.len().to_string(),
        ]
    };
    let all = comparison.ranking.iter().enumerate();
    let shown = all.filter(|(place, row)| *place < most || row.shipped).map(row);
    let headings = ["", "combination", "share %", "best", "under a path", "late"];
    std::iter::once(headings.map(str::to_owned)).chain(shown).collect()
}

/// A scenario: so many cells of the highest goodput, and that of what ships.
pub(crate) fn cells(table: &ScenarioTable, ranking: &[Ranked], most: usize) -> Vec<[String; 8]> {
    let mut cells: Vec<_> = table.cells.iter().zip(ranking).collect();
    cells.sort_by(|a, b| b.0.share.total_cmp(&a.0.share));
    let shown = cells.iter().enumerate().filter(|(place, (_, row))| *place < most || row.shipped);
    let headings = [
        "combination",
        "Mbit/s",
        "of best %",
        "best path",
        "p99 ms",
        "done ms",
        "in time %",
        "others Mbit/s",
    ];
    let rows = shown.map(|(_, (cell, row))| values(cell, row));
    std::iter::once(headings.map(str::to_owned)).chain(rows).collect()
}

fn values(cell: &Cell, row: &Ranked) -> [String; 8] {
    let alone = cell.best_path.as_ref();
    let alone = alone.map(|alone| format!("{} {:.2}", alone.path, alone.goodput_mbit_s.median));
    [
        name(row),
        interval(Some(cell.goodput_mbit_s), 1.0, 2),
        format!("{:.1}", cell.share * 100.0),
        alone.unwrap_or_else(|| "-".to_owned()),
        interval(cell.delay_p99_ms, 1.0, 1),
        interval(cell.completion_ms, 1.0, 1),
        interval(cell.in_time, 100.0, 2),
        interval(cell.others_mbit_s, 1.0, 2),
    ]
}

/// The scenarios in which what ships is not what it should be, a line for each judgement.
pub(crate) fn misses(comparison: &Comparison) -> Vec<String> {
    let shipped = comparison.ranking.iter().filter(|row| row.shipped);
    let lines = shipped.flat_map(|row| {
        let Judgement { lost, below_best_path, late } = &row.judgement;
        [("is not best", lost), ("is under a path", below_best_path), ("is late", late)]
            .into_iter()
            .filter(|(_, scenarios)| !scenarios.is_empty())
            .map(move |(what, scenarios)| {
                format!("{} {what} in: {}", row.combination, scenarios.join(", "))
            })
    });
    lines.collect()
}

/// The name of a combination; that of what ships has an asterisk.
pub(crate) fn name(row: &Ranked) -> String {
    format!("{}{}", row.combination, if row.shipped { " *" } else { "" })
}

/// The median, and from where to where if that is not the same.
fn interval(interval: Option<Interval>, scale: f64, decimals: usize) -> String {
    let Some(Interval { median, low, high }) = interval else { return "-".to_owned() };
    let show = |value: f64| format!("{:.decimals$}", value * scale);
    match show(low) == show(high) {
        true => show(median),
        false => format!("{} ({} to {})", show(median), show(low), show(high)),
    }
}
