//! A bond is never slower than its best path: two-link profiles over the whole range of links.

mod common;

use common::grid::{Cell, cells, header};
use common::{golden, parallel_dearest_first};
use polypath_bond::BondConfig;

/// What the bond must reach of the best single path.
const MARK: f64 = 0.98;

/// The table is golden: after a change on purpose, `UPDATE_GOLDEN=1 cargo test --test grid` writes
/// it anew.
#[test]
fn no_cell_is_below_its_best_path() {
    let cells = cells();
    let bond = BondConfig::default();
    let outcomes = parallel_dearest_first(&cells, Cell::cost, |cell| cell.measure(&bond));
    let rows: Vec<_> = cells.iter().zip(&outcomes).map(|(cell, o)| cell.row(o)).collect();
    let table = format!("{}\n{}\n", header(), rows.join("\n"));
    let below: Vec<_> = rows.iter().zip(&outcomes).filter(|(_, o)| o.ratio() < MARK).collect();
    assert!(below.is_empty(), "below what they must reach of the best path:\n{below:#?}");
    golden("grid.txt", &table);
}
