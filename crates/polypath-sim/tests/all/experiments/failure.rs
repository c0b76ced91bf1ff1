//! Every way of the [tests](crate::failure) in which paths die and come back.

use crate::failure::{
    ALONE, BOTH, PROFILES, all_die, answer_while_dialled_anew, die_during_the_set_up, every_death,
    flap, join_again_after_the_idle_timeout,
};
use polypath_sim::Direction;

#[test]
fn a_path_that_dies_costs_three_round_trips_at_most() {
    every_death(PROFILES, BOTH);
}

#[test]
fn a_path_that_loses_its_data_costs_no_more() {
    every_death(PROFILES, &[Direction::Up]);
}

#[test]
fn a_path_that_loses_its_acknowledgements_costs_no_more() {
    every_death(PROFILES, &[Direction::Down]);
}

#[test]
fn flaps_lose_nothing_and_stop_nothing() {
    flap(PROFILES);
}

#[test]
fn all_paths_die_for_three_seconds() {
    all_die(&[PROFILES, &[ALONE]].concat());
}

#[test]
fn a_path_that_answers_while_it_is_dialled_anew_carries_data() {
    answer_while_dialled_anew((5_000..7_500).step_by(125));
}

#[test]
fn a_path_that_was_dead_for_longer_than_the_idle_timeout_joins_again() {
    join_again_after_the_idle_timeout((0..2_000).step_by(333));
}

#[test]
fn a_path_dies_during_the_handshake_and_the_join() {
    die_during_the_set_up((0..160).step_by(7));
}
