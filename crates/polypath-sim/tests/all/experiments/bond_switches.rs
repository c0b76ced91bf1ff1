//! Bonds that obey switches: all cases of the [tests](crate::bond_switches).

use crate::bond_switches::{cross_two_switches, share_equally};

#[test]
fn bonds_behind_one_switch_get_equal_shares_of_what_it_gives_away() {
    share_equally(&[1, 2, 5]);
}

#[test]
fn over_two_switches_the_smallest_allocation_counts() {
    cross_two_switches(&[("bottleneck1", [0, 1]), ("bottleneck2", [1, 0])]);
}
