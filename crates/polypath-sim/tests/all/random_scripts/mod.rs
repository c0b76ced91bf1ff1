//! Random networks, random misfortunes, random use: every byte is delivered once and in order, or
//! its reader is told; nothing hangs; memory is bounded; equal seeds give equal runs. The
//! [experiment](crate::experiments::random_scripts) plays many more of them.

mod script;

use polypath_bond::Composition;
use polypath_core::registry;
pub(crate) use script::Dice;
use script::{Outcome, composition, names, play, play_with};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{available_parallelism, scope};

/// Runs in which each algorithm of the registry has its turns at either end.
pub(crate) const COMPOSED_RUNS: u64 = 364;

/// What the two ends of a run are composed of: never the same.
fn composed(seed: u64) -> [Composition; 2] {
    [seed, seed + COMPOSED_RUNS / 2 + 1].map(composition)
}

/// Plays seeds on all processors and names those that fail.
fn failing(seeds: Range<u64>, check: impl Fn(u64) + Sync) -> Vec<u64> {
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

/// Plays bonds that are as they ship. Returns how many runs ended in each way.
///
/// # Panics
/// When a run is wrong; the message names the seeds.
pub(crate) fn play_shipped(seeds: Range<u64>) -> [u64; 4] {
    let kinds = [const { AtomicU64::new(0) }; 4];
    let failed = failing(seeds, |seed| {
        let outcome = play(seed);
        kinds[outcome.kind as usize].fetch_add(1, Ordering::Relaxed);
    });
    assert!(failed.is_empty(), "failing seeds: {failed:?}");
    kinds.map(AtomicU64::into_inner)
}

/// The same with every congestion control, slow start, scheduler and failure detector that there
/// is.
///
/// # Panics
/// When a run is wrong; the message names the seeds and what was composed.
pub(crate) fn play_composed(seeds: Range<u64>) {
    let failed = failing(seeds, |seed| {
        let [edge, hub] = composed(seed);
        play_with(seed, [&edge, &hub]);
    });
    let failed: Vec<_> = failed
        .into_iter()
        .map(|seed| {
            let [edge, hub] = composed(seed);
            format!("{seed}: edge {edge:?}, hub {hub:?}")
        })
        .collect();
    assert!(failed.is_empty(), "failing seeds:\n{}", failed.join("\n"));
}

/// Plays each seed twice.
pub(crate) fn assert_repeated(seeds: Range<u64>) {
    let failed = failing(seeds, |seed| {
        let (Outcome { trace, log, .. }, again) = (play(seed), play(seed));
        assert_eq!((trace, log), (again.trace, again.log));
    });
    assert!(failed.is_empty(), "failing seeds: {failed:?}");
}

/// The same with what the runs are composed of.
pub(crate) fn assert_composed_repeated(seeds: Range<u64>) {
    let failed = failing(seeds, |seed| {
        let [edge, hub] = composed(seed);
        let runs = [(); 2].map(|()| play_with(seed, [&edge, &hub]));
        let [one, again] = runs.map(|Outcome { trace, log, .. }| (trace, log));
        assert_eq!(one, again, "edge {edge:?}, hub {hub:?}");
    });
    assert!(failed.is_empty(), "failing seeds: {failed:?}");
}

#[test]
fn whatever_happens_streams_are_whole_or_end_with_an_error() {
    let kinds = play_shipped(0..60);
    assert!(kinds.iter().all(|&count| count >= 10), "each way to end occurs: {kinds:?}");
}

/// So many that each congestion control, slow start and scheduler has its turn.
#[test]
fn whatever_a_bond_is_composed_of_streams_are_whole_or_end_with_an_error() {
    play_composed(0..28);
}

/// Each name is in so many of the experiment's runs at either end.
#[test]
fn the_runs_have_every_algorithm() {
    let mut runs: [BTreeMap<&str, u32>; 2] = Default::default();
    for seed in 0..COMPOSED_RUNS {
        for (runs, end) in runs.iter_mut().zip(composed(seed)) {
            names(&end).into_iter().for_each(|name| *runs.entry(name).or_default() += 1);
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
    assert_repeated(0..8);
}

#[test]
fn equal_seeds_and_compositions_give_equal_runs() {
    assert_composed_repeated(0..8);
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
