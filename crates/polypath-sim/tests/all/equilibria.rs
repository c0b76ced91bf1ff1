//! One case of each of the [experiments](crate::experiments::equilibria) on where congestion
//! controls settle.

use crate::experiments::equilibria::round_trips::{CONTROLS as ROUND_TRIPS, Favoured};
use crate::experiments::equilibria::short_queues::Network;
use crate::experiments::equilibria::{round_trips, shared, short_queues};

#[test]
fn coupled_subflows_take_the_share_of_one_tcp() {
    shared::measure(&shared::QUEUES[..1], &shared::CONTROLS[..1]).finish_part("shared");
}

#[test]
fn who_is_favoured_by_his_round_trip() {
    let favoured = |who| *ROUND_TRIPS.iter().find(|(_, favoured)| *favoured == who).unwrap();
    let controls = [favoured(Favoured::Short), favoured(Favoured::Nobody)];
    round_trips::measure(&controls).finish_part("round_trips");
}

#[test]
fn wvegas_keeps_queues_short() {
    short_queues::measure(&[Network::Shared]).finish_part("short_queues");
}
