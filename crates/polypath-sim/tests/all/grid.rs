//! A bond is never slower than its best path: a few of the [cells](crate::experiments::grid) that
//! lose nothing, in which one run says all.

use crate::common::golden_part;
use crate::common::grid::cells;
use crate::experiments::grid::table;

/// Links alike and unlike, and of each receive buffer one: 10 + 10 Mbit/s; 10 and 10 Mbit/s at 2
/// and 150 ms; 20 and 10 Mbit/s at 30 and 60 ms; 50 and 50 Mbit/s at 10 and 50 ms.
const CELLS: [usize; 4] = [0, 7, 10, 13];

#[test]
fn no_cell_is_below_its_best_path() {
    let all = cells();
    golden_part("grid.txt", &table(&CELLS.map(|cell| all[cell])));
}
