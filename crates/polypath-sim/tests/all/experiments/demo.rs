//! The figures of `polypath demo` in virtual time: what those on sockets are held against
//! (docs/validation.md). [`goodput`](crate::goodput) has its links among the tests.

use crate::common::demo::figures;
use crate::common::golden;
use std::path::Path;

const SCENARIO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/demo.toml");

/// The figures are golden, to a whole Mbit/s or ms: after a change on purpose, `UPDATE_GOLDEN=1
/// cargo test -p polypath-sim --test all experiments::demo` writes them anew.
#[test]
fn the_demo_in_virtual_time_is_as_documented() {
    let rows = figures(Path::new(SCENARIO));
    let rows = rows.iter().map(|figure| format!("{:16} {:4.0}\n", figure.name, figure.value));
    let table: String = rows.collect();
    golden("demo.txt", &table);
}
