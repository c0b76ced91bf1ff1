//! The comparison for people.

use core::fmt::Write;

use crate::compare::Comparison;

use crate::report::comparison::rows;
use polypath::output::columns;

/// Rows of the ranking, and of the table of a scenario that stands alone, at most.
const MOST_ROWS: usize = 40;
/// Rows of the table of one of several scenarios.
const FEW_ROWS: usize = 5;

/// The ranking, and a table for each scenario. Writing to a `String` cannot fail.
pub(super) fn render(comparison: &Comparison, title: &str) -> String {
    let Comparison { seeds, runs, ranking, scenarios } = comparison;
    let several = if *seeds == 1 { "seed" } else { "seeds" };
    let mut text = format!(
        "{title}: {} combinations in {} scenarios, {seeds} {several}, {runs} runs\n",
        ranking.len(),
        scenarios.len(),
    );
    text.push_str(&columns(&rows::ranked(comparison, MOST_ROWS), 2));
    more(&mut text, ranking.len(), MOST_ROWS);
    let _ = writeln!(text, "{}", rows::MEANING);
    for line in rows::misses(comparison) {
        let _ = writeln!(text, "{line}");
    }
    let most = if scenarios.len() == 1 { MOST_ROWS } else { FEW_ROWS };
    for table in scenarios {
        let _ = writeln!(text, "\n{} ({})", table.name, table.part);
        text.push_str(&columns(&rows::cells(table, ranking, most), 1));
        more(&mut text, table.cells.len(), most);
    }
    text
}

fn more(text: &mut String, all: usize, most: usize) {
    if all > most {
        let _ = writeln!(text, "... of {all}: see --json or --html");
    }
}
