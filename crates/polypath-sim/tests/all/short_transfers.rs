//! Short transfers: a bond is no slower than its best path. Two of the profiles of the
//! [experiment](crate::experiments::short_transfers), without loss, which need 20 runs alone.

use crate::experiments::short_transfers::{PROFILES, Start, assert_no_slower};

#[test]
fn a_fresh_bond_is_no_slower_than_its_best_path() {
    assert_no_slower(&[PROFILES[1]], Start::Fresh);
}

#[test]
fn a_warm_bond_is_no_slower_than_its_best_path() {
    assert_no_slower(&[PROFILES[3]], Start::Warm);
}
