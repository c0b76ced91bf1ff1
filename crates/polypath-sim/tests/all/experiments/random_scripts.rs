//! Many random scripts, as in the [test](crate::random_scripts) that plays a few of them.

use crate::random_scripts::{
    COMPOSED_RUNS, assert_composed_repeated, assert_repeated, play_composed, play_shipped,
};
use std::ops::Range;

/// Another number may be asked for, and one seed alone: `RUNS=1 FIRST=17`.
const RUNS: u64 = 1_000;

fn seeds(runs: u64) -> Range<u64> {
    let from_env = |name| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let first = from_env("FIRST").unwrap_or(0);
    first..first + from_env("RUNS").unwrap_or(runs)
}

#[test]
fn whatever_happens_streams_are_whole_or_end_with_an_error() {
    let seeds = seeds(RUNS);
    let enough = seeds.end - seeds.start == RUNS;
    let kinds = play_shipped(seeds);
    // Every way to end occurs often enough to be tested.
    let all = kinds.iter().all(|&count| count >= 200);
    assert!(all || !enough, "{kinds:?}");
}

#[test]
fn whatever_a_bond_is_composed_of_streams_are_whole_or_end_with_an_error() {
    play_composed(seeds(COMPOSED_RUNS));
}

#[test]
fn equal_seeds_give_equal_runs() {
    assert_repeated(0..40);
}

#[test]
fn equal_seeds_and_compositions_give_equal_runs() {
    assert_composed_repeated(0..28);
}
