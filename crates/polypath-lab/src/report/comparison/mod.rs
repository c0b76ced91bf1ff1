//! The page of a comparison: the ranking, a heat map, a table for each scenario.

mod heat_map;
pub(crate) mod rows;

use core::fmt::Write;

use crate::compare::Comparison;

use super::html::{self, escape, write_table};

/// Rows of the tables; the heat map has all combinations.
const MOST_ROWS: usize = 20;

/// The page. Writing to a `String` cannot fail.
pub fn page(comparison: &Comparison, title: &str) -> String {
    html::page(title, |page| {
        let Comparison { seeds, runs, ranking, scenarios } = comparison;
        let _ = writeln!(
            page,
            "<p>{} combinations of congestion control, slow start and scheduler in {} scenarios, {runs} \
             runs; values are medians over the seeds 1 to {seeds}, with the 5 % and 95 % quantiles \
             where they differ.</p>\n<h2>Ranking</h2>",
            ranking.len(),
            scenarios.len(),
        );
        write_table(page, &rows::ranked(comparison, MOST_ROWS), 2);
        more(page, ranking.len());
        let _ = writeln!(page, "<p>{}</p>", escape(rows::MEANING));
        for line in rows::misses(comparison) {
            let _ = writeln!(page, "<p>{}</p>", escape(&line));
        }
        page.push_str("<h2>Goodput in % of the best of each scenario</h2>\n");
        heat_map::write(page, comparison);
        for table in scenarios {
            let _ = writeln!(page, "<h2>{} ({})</h2>", escape(table.name), table.part);
            write_table(page, &rows::cells(table, ranking, MOST_ROWS), 1);
            more(page, table.cells.len());
        }
    })
}

fn more(page: &mut String, all: usize) {
    if all > MOST_ROWS {
        let _ = writeln!(page, "<p>The best {MOST_ROWS} of {all}, and what ships.</p>");
    }
}

#[cfg(test)]
mod tests;
