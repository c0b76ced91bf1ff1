//! Results that are kept in files.

use std::path::{Path, PathBuf};

/// Compares text with the golden file of this name. After a change on purpose, `UPDATE_GOLDEN=1`
/// in the environment of the test writes the file anew.
pub(crate) fn golden(name: &str, text: &str) {
    let file = golden_file(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, text).expect("the golden file can be written");
    }
    let golden = std::fs::read_to_string(&file).expect("the golden file can be read");
    let changed = text.lines().zip(golden.lines()).filter(|(new, old)| new != old);
    let changed: Vec<_> = changed.map(|(new, old)| format!("- {old}\n+ {new}")).collect();
    assert!(text == golden, "{name} has changed:\n{}", changed.join("\n"));
}

/// Compares a part of a table with the golden file of the whole one: each line must be among its
/// lines, in this order.
pub(crate) fn golden_part(name: &str, part: &str) {
    let file = golden_file(name);
    let golden = std::fs::read_to_string(&file).expect("the golden file can be read");
    let mut lines = golden.lines();
    let changed: Vec<_> =
        part.lines().filter(|&new| !lines.clone().any(|old| old == new)).collect();
    assert!(changed.is_empty(), "not in {name}:\n{}", changed.join("\n"));
    assert!(part.lines().all(|new| lines.any(|old| old == new)), "in another order:\n{part}");
}

fn golden_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}
