//! TCP in steady state against what theory says it sends: a few cells of the
//! [experiment](crate::experiments::theory).

use crate::common::golden_part;
use crate::experiments::theory::table;

#[test]
fn tcp_in_steady_state_is_as_theory_says() {
    golden_part("theory.txt", &table(|rtt, p| rtt == 0.1 && [0.002, 0.01].contains(&p)));
}
