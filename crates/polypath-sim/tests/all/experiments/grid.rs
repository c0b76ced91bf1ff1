//! A bond is never slower than its best path: two-link profiles over the whole range of links.

use crate::common::golden;
use crate::common::grid::{Cell, cells, header, measure_all};
use polypath_bond::BondConfig;

/// What the bond must reach of the best single path.
const MARK: f64 = 0.98;
/// Cells below the mark that must be brought above it, and must not get worse, by what their rows
/// begin with: 300 kB over a near path that loses 1 % and a far, slow one. Since paths begin with
/// more than ten segments, the near one alone is done before the far one has brought anything.
const OPEN: [(&str, f64); 1] =
    [("    20    30    1 |     10    60    0 |   0.5 |    300 |", 0.975)];

/// What a cell must reach of its best path.
fn mark(row: &str) -> f64 {
    let open = OPEN.iter().find(|(cell, _)| row.starts_with(cell));
    open.map_or(MARK, |(_, mark)| *mark)
}

/// The table is golden: after a change on purpose, `UPDATE_GOLDEN=1 cargo test -p polypath-sim
/// --test all experiments::grid` writes it anew.
#[test]
fn no_cell_is_below_its_best_path() {
    golden("grid.txt", &table(&cells()));
}

/// The table of these cells, if none of them is below its mark.
pub(crate) fn table(cells: &[Cell]) -> String {
    let outcomes = measure_all(cells, &BondConfig::default());
    let rows: Vec<_> = cells.iter().zip(&outcomes).map(|(cell, o)| cell.row(o)).collect();
    let below: Vec<_> =
        rows.iter().zip(&outcomes).filter(|(row, o)| o.ratio() < mark(row)).collect();
    assert!(below.is_empty(), "below what they must reach of the best path:\n{below:#?}");
    format!("{}\n{}\n", header(), rows.join("\n"))
}
