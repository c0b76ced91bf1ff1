//! Memory: what a connection takes, and that a packet takes nothing.
//!
//! The allocator counts, so that a figure is of the simulator and not of the machine. It counts the
//! whole process: one test at a time.

#[path = "../../polypath-bond/tests/counting/mod.rs"]
mod counting;

use counting::{ALLOCATIONS, LIVE, PEAK};
use polypath_lab::bench::{CASES, Case, Run};
use polypath_units::Timestamp;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Allocations while `work` is done.
fn allocations(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.load(Relaxed);
    work();
    ALLOCATIONS.load(Relaxed) - before
}

/// Bytes for each connection, at most, until `seconds` are over.
fn bytes_of_each(case: &Case, seconds: f64) -> (usize, Run) {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let mut run = case.build().expect("the case is sound");
    run.simulator.run_until(Timestamp::from_secs_f64(seconds));
    ((PEAK.load(Relaxed) - before) / case.flows as usize, run)
}

/// Of `least` segments at least between two times of a case, sent after queues and windows have had
/// the time to become as large as they get; a buffer that still doubles is allowed for.
fn allocates_nothing(name: &str, from: f64, to: f64, least: u64) {
    let case = CASES.iter().find(|case| case.name == name).expect("there is such a case");
    let mut run = case.build().expect("the case is sound");
    run.simulator.run_until(Timestamp::from_secs_f64(from));
    let before = run.delivered().segments;
    let count = allocations(|| run.simulator.run_until(Timestamp::from_secs_f64(to)));
    let segments = run.delivered().segments - before;
    assert!(segments > least, "{name}: {segments} segments");
    assert!(count <= 5, "{name}: {count} allocations for {segments} segments");
}

/// 1,000 connections stay below 200 MB, which leaves 200 kB to each: hosts, links, and the
/// overshoot of slow start, when most packets are on their way, included.
fn is_small(case: &Case) {
    let (bytes, _) = bytes_of_each(case, 3.0);
    assert!(bytes < 100_000, "{} connections: {bytes} bytes each", case.flows);
}

/// 100 Mbit/s are 8,300 segments of 1,500 bytes in a second.
#[test]
fn a_packet_of_tcp_allocates_nothing() {
    let _alone = ONE_AT_A_TIME.lock();
    allocates_nothing("a", 10.0, 15.0, 40_000);
}

#[test]
fn one_of_a_hundred_connections_is_small() {
    let _alone = ONE_AT_A_TIME.lock();
    is_small(&Case::scaled(100));
}

mod experiments {
    use super::*;

    #[test]
    fn a_packet_allocates_nothing() {
        let _alone = ONE_AT_A_TIME.lock();
        for (name, from, to) in [("a", 30.0, 60.0), ("b", 20.0, 30.0), ("d", 30.0, 60.0)] {
            allocates_nothing(name, from, to, 200_000);
        }
    }

    #[test]
    fn a_connection_is_small() {
        let _alone = ONE_AT_A_TIME.lock();
        for case in [Case::scaled(1), Case::scaled(1_000), Case::scaled_with_hosts(1_000)] {
            is_small(&case);
        }
    }

    /// Over the second in which they start, and a few round trips. The last come when the slow
    /// start of the others fills the queue; who loses the SYN tries again a second later, which is
    /// not waited for.
    #[test]
    fn ten_thousand_connections_run() {
        let _alone = ONE_AT_A_TIME.lock();
        let (bytes, run) = bytes_of_each(&Case::scaled(10_000), 1.2);
        let running = run.delivered_by_each().filter(|delivered| delivered.bytes > 0).count();
        assert!(running > 8_000, "{running} connections");
        assert!(bytes < 100_000, "{bytes} bytes each");
    }
}
