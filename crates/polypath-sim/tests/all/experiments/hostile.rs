//! More runs of the [test](crate::hostile) with forged datagrams.

use crate::hostile::forge_datagrams;

#[test]
fn forged_datagrams_change_nothing() {
    forge_datagrams(0..12);
}
