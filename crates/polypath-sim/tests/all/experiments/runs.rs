//! The results of every shipped scenario.

use crate::common::golden;
use crate::runs::{results, shipped};

#[test]
fn every_shipped_scenario_gives_its_results() {
    golden("runs.txt", &results(&shipped()));
}
