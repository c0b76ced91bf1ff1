//! Random networks, random misfortunes, random use: every byte is delivered once and in order, or
//! its reader is told; nothing hangs; memory is bounded; equal seeds give equal runs.

mod script;

use script::{Outcome, play};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{available_parallelism, scope};

/// Another number may be asked for, and one seed alone: `RUNS=1 FIRST=17`.
const RUNS: u64 = 1_000;

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
    let from_env = |name| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let first = from_env("FIRST").unwrap_or(0);
    let seeds = first..first + from_env("RUNS").unwrap_or(RUNS);
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

#[test]
fn equal_seeds_give_equal_runs() {
    let failed = failing(0..40, |seed| {
        let (Outcome { trace, log, .. }, again) = (play(seed), play(seed));
        assert_eq!((trace, log), (again.trace, again.log));
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
