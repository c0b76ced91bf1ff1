//! Many random gateways, as in the [test](crate::gateway) that plays a few of them.

use crate::gateway::{play_ordered, play_random};

#[test]
fn whatever_goes_through_comes_once() {
    play_random(0..1_000);
}

#[test]
fn what_is_put_in_order_comes_in_order_and_whole_where_nothing_is_lost() {
    play_ordered(0..1_000);
}
