//! Goodput of one bulk stream over several links: medians, of the links of the
//! [tests](crate::goodput) and others.

use crate::common::link;
use crate::goodput::{EQUAL, LOSSY_THIRD, Marked, assert_aggregates, bond, measure};

const RUNS: u64 = 5;
const UNEQUAL: Marked = (&[link(300.0, 10.0), link(80.0, 30.0)], 0.94);

#[test]
fn two_equal_links_add_up() {
    assert_aggregates(EQUAL, RUNS);
}

#[test]
fn two_unequal_links_add_up() {
    assert_aggregates(UNEQUAL, RUNS);
}

#[test]
fn a_lossy_third_link_adds_up() {
    assert_aggregates(LOSSY_THIRD, RUNS);
}

/// 1 MB is more than the fast link's 0.75 MB of bandwidth-delay product, and far less than what
/// both need: 380 Mbit/s over 60 ms are 2.9 MB.
#[test]
fn a_small_receive_buffer_leaves_the_best_path_its_goodput() {
    let links = [link(300.0, 10.0), link(80.0, 30.0)];
    let bond = bond(1_000_000);
    let best = measure(&links[..1], &bond, RUNS).max(measure(&links[1..], &bond, RUNS));
    let together = measure(&links, &bond, RUNS);
    assert!(together >= 0.98 * best, "{together:.1} Mbit/s together, {best:.1} alone");
}
