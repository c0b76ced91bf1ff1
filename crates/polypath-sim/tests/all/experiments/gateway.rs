//! Many random gateways, as in the [test](crate::gateway) that plays a few of them.

use crate::gateway::play_random;

#[test]
fn whatever_goes_through_comes_once() {
    play_random(0..1_000);
}
