//! Random networks, random misfortunes, random use: every byte is delivered once and in order, or
//! its reader is told; nothing hangs; memory is bounded; equal seeds give equal runs.

mod script;

use polypath_core::registry;
use script::{Composition, Outcome, play, play_with};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{available_parallelism, scope};

/// Another number may be asked for, and one seed alone: `RUNS=1 FIRST=17`.
const RUNS: u64 = 1_000;
/// The same for the runs of every algorithm.
const COMPOSED_RUNS: u64 = 364;

fn seeds(runs: u64) -> std::ops::Range<u64> {
    let from_env = |name| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let first = from_env("FIRST").unwrap_or(0);
    first..first + from_env("RUNS").unwrap_or(runs)
}

/// What the two ends of a run are composed of: never the same.
fn composed(seed: u64) -> [Composition; 2] {
    [Composition::number(seed), Composition::number(seed + COMPOSED_RUNS / 2 + 1)]
}

/// Plays seeds on all processors and names those that fail.
fn failing(seeds: std::ops::Range<u64>, check: impl Fn(u64) + Sync) -> Vec<u64> {
    let (next, failed) = (AtomicU64::new(seeds.start), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return;
            }
            let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(seed)));
            if run.is_err() {
                failed.lock().unwrap().push(seed);
            }
        }
    };
    scope(|s| {
        (0..available_parallelism().map_or(1, |n| n.get())).for_each(|_| drop(s.spawn(work)));
    });
    let mut failed = failed.into_inner().unwrap();
    failed.sort_unstable();
    failed
}

#[test]
fn whatever_happens_streams_are_whole_or_end_with_an_error() {
    let seeds = seeds(RUNS);
    let enough = seeds.end - seeds.start == RUNS;
    let kinds = [const { AtomicU64::new(0) }; 4];
    let failed = failing(seeds, |seed| {
        let outcome = play(seed);
        kinds[outcome.kind as usize].fetch_add(1, Ordering::Relaxed);
    });
    assert!(failed.is_empty(), "failing seeds: {failed:?}");
    // Every way to end occurs often enough to be tested.
    let all = kinds.iter().all(|count| count.load(Ordering::Relaxed) >= 200);
    assert!(all || !enough, "{kinds:?}");
}

/// The same with every congestion control, slow start, scheduler and failure detector that there is.
#[test]
fn whatever_a_bond_is_composed_of_streams_are_whole_or_end_with_an_error() {
    let failed = failing(seeds(COMPOSED_RUNS), |seed| {
        let [edge, hub] = composed(seed);
        play_with(seed, [&edge, &hub]);
    });
    let failed: Vec<_> = failed
        .into_iter()
        .map(|seed| {
            let [edge, hub] = composed(seed);
            format!("{seed}: edge {edge}, hub {hub}")
        })
        .collect();
    assert!(failed.is_empty(), "failing seeds:\n{}", failed.join("\n"));
}

/// Each name is in so many of the runs above at either end.
#[test]
fn the_runs_have_every_algorithm() {
    let mut runs: [BTreeMap<&str, u32>; 2] = Default::default();
    for seed in 0..COMPOSED_RUNS {
        for (runs, end) in runs.iter_mut().zip(composed(seed)) {
            end.names().into_iter().for_each(|name| *runs.entry(name).or_default() += 1);
        }
    }
    for row in registry::all() {
        for (runs, end) in runs.iter().zip(["edge", "hub"]) {
            let count = runs.get(row.name).copied().unwrap_or(0);
            assert!(count >= 20, "{} is in {count} runs at the {end}", row.name);
        }
    }
}

#[test]
fn equal_seeds_give_equal_runs() {
    let failed = failing(0..40, |seed| {
        let (Outcome { trace, log, .. }, again) = (play(seed), play(seed));
        assert_eq!((trace, log), (again.trace, again.log));
    });
    assert!(failed.is_empty(), "failing seeds: {failed:?}");
}

#[test]
fn equal_seeds_and_compositions_give_equal_runs() {
    let failed = failing(0..28, |seed| {
        let [edge, hub] = composed(seed);
        let runs = [(); 2].map(|()| play_with(seed, [&edge, &hub]));
        let [one, again] = runs.map(|Outcome { trace, log, .. }| (trace, log));
        assert_eq!(one, again, "edge {edge}, hub {hub}");
    });
    assert!(failed.is_empty(), "failing seeds: {failed:?}");
}

/// Several small datagrams may leave in one packet. Each had been counted with a packet's overhead
/// while it waited, and the overhead was taken off once: after some hundred such packets nothing
/// was left of the congestion window, and the path sent no data any more.
#[test]
fn datagrams_that_share_a_packet_give_the_window_back() {
    play(62);
}

/// After the edge's address has changed, the library reports neither the acknowledgement nor the
/// loss of what it had sent to the old one. Those packets stayed in flight for ever, filled the
/// window, and made a path without data look silent: it failed and recovered four times a second.
#[test]
fn packets_that_quic_forgets_do_not_stay_in_flight() {
    play(98);
}

/// The sender had reset a stream and its SKIP overtook the bytes that it replaced. They were kept
/// although they had been counted as gone, and counted as gone once more when the reset came:
/// the receiver held more than its buffer, and gave the sender credit that it did not have.
#[test]
fn skipped_bytes_that_arrive_late_are_not_kept() {
    play(108);
}

/// The hub opened streams while the edge, which had closed, was still delivering. The edge's halves
/// of them were never finished, so that the close never came.
#[test]
fn streams_that_are_opened_during_a_close_do_not_hold_it_up() {
    play(4);
}
