//! A few of the results that are kept in files.

use std::path::Path;

/// Compares a part of a table with the golden file of the whole one: each line must be among its
/// lines, in this order.
pub(crate) fn golden_part(name: &str, part: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let golden = std::fs::read_to_string(&file).expect("the golden file can be read");
    let mut lines = golden.lines();
    let changed: Vec<_> =
        part.lines().filter(|&new| !lines.clone().any(|old| old == new)).collect();
    assert!(changed.is_empty(), "not in {name}:\n{}", changed.join("\n"));
    assert!(part.lines().all(|new| lines.any(|old| old == new)), "in another order:\n{part}");
}
