//! Other delays of the [test](crate::longer_path) of a path that becomes longer.

use crate::longer_path::assert_costs_rounds;

#[test]
fn a_longer_path_costs_rounds_not_seconds() {
    assert_costs_rounds(&[36, 46, 62]);
}
