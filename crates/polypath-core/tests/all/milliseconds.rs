//! Milliseconds that people and programs read come from one place, which gives the nearest number.

use crate::citations::texts;

/// Where they may be made otherwise: in that place, in this list, and in algorithms, whose numbers
/// nobody reads.
const ELSEWHERE: [&str; 3] = [
    "/crates/polypath-units/src/time.rs",
    "/crates/polypath-core/tests/all/milliseconds.rs",
    "/crates/polypath-core/src/slow_start/",
];

/// Ways by which 91.4 ms become 91.39999999999999, and copies of the right one.
const OTHERWISE: [&str; 6] = [
    "as_secs_f64()*1e3",
    "as_secs_f64()*1000.0",
    "as_secs_f64()*1_000.0",
    "as_secs_f64)*1e3",
    "as_micros()asf64/1e3",
    "as_nanos()asf64/1e6",
];

#[test]
fn milliseconds_are_made_by_the_function_for_them() {
    let mut found = Vec::new();
    for (path, source) in texts(&["rs"]) {
        let path = path.display().to_string();
        let source: String = source.split_whitespace().collect();
        let others = OTHERWISE.iter().filter(|other| source.contains(**other));
        if !ELSEWHERE.iter().any(|place| path.contains(place)) {
            found.extend(others.map(|other| format!("{path}: {other}")));
        }
    }
    assert!(found.is_empty(), "{found:#?}: take polypath_units::millis");
}
