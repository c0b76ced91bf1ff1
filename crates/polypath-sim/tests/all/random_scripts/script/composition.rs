//! The algorithms of one end of a bond: every one of the registry in its turn.

use polypath_bond::Composition;
use polypath_core::congestion::CongestionKind;
use polypath_core::failure::FailureKind;
use polypath_core::scheduler::SchedulerKind;
use polypath_core::slow_start::SlowStartKind;

/// Each list in its turn, at paces that let each name meet those of the other lists, and all
/// settings of the switches.
pub(crate) fn composition(n: u64) -> Composition {
    let turn = |length: usize| (n % length as u64) as usize;
    let rounds = n / SchedulerKind::ALL.len() as u64;
    let bit = |which: u32| n >> which & 1 == 1;
    let mut composition = Composition {
        scheduler: SchedulerKind::ALL[turn(SchedulerKind::ALL.len())].into(),
        failure: FailureKind::ALL[(rounds % FailureKind::ALL.len() as u64) as usize].into(),
        blocking_protection: bit(2),
        opportunistic_retransmission: !bit(3),
        penalisation: bit(4),
        ..Composition::default()
    };
    let congestion = &mut composition.congestion;
    congestion.avoidance = CongestionKind::ALL[turn(CongestionKind::ALL.len())].into();
    congestion.slow_start = SlowStartKind::ALL[turn(SlowStartKind::ALL.len())].into();
    congestion.coupled = !bit(1);
    composition
}

/// The names of its algorithms.
pub(crate) fn names(composition: &Composition) -> [&'static str; 4] {
    let Composition { congestion, scheduler, failure, .. } = composition;
    let control = [congestion.avoidance.kind().name(), congestion.slow_start.kind().name()];
    [control[0], control[1], scheduler.kind().name(), failure.kind().name()]
}
