//! The bond on light carriers against the bond on QUIC: every profile of the
//! [tests](crate::light_bond), and every scheduler.

use crate::common::link;
use crate::light_bond::{compare_carriers, compare_worlds, fill_two_links, profiles};
use polypath_core::scheduler::SchedulerKind;

#[test]
fn the_simulator_carries_quic_as_the_world_of_two_nodes_does() {
    compare_worlds(&[
        &[link(100.0, 20.0)],
        &[link(300.0, 10.0), link(80.0, 30.0)],
        &[link(50.0, 5.0), link(20.0, 40.0), link(10.0, 80.0)],
    ]);
}

#[test]
fn the_same_goodput_as_over_quic() {
    compare_carriers(&profiles());
}

#[test]
fn every_scheduler_fills_two_links() {
    fill_two_links(SchedulerKind::ALL);
}
