//! Every pair of a scheduler and a controller over Multipath TCP.

use crate::mptcp::fill_two_links;
use polypath_core::congestion::CongestionKind;
use polypath_core::scheduler::SchedulerKind;

#[test]
fn every_scheduler_and_controller_fills_two_links() {
    for &scheduler in SchedulerKind::ALL {
        CongestionKind::ALL.iter().for_each(|&avoidance| fill_two_links(scheduler, avoidance));
    }
}
