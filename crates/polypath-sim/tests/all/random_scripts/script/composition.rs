//! The algorithms of one end of a bond: every one of the registry in its turn.

use core::fmt;
use polypath_bond::BondConfig;
use polypath_core::congestion::CongestionKind;
use polypath_core::failure::FailureKind;
use polypath_core::scheduler::SchedulerKind;
use polypath_core::slow_start::SlowStartKind;

/// What one end is composed of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Composition {
    pub(crate) congestion: CongestionKind,
    pub(crate) slow_start: SlowStartKind,
    pub(crate) scheduler: SchedulerKind,
    pub(crate) failure: FailureKind,
    coupled: bool,
    blocking_protection: bool,
    opportunistic_retransmission: bool,
    penalisation: bool,
}

impl Default for Composition {
    /// As a bond ships.
    fn default() -> Self {
        let bond = BondConfig::default();
        Self {
            congestion: bond.congestion.avoidance.kind(),
            slow_start: bond.congestion.slow_start.kind(),
            scheduler: bond.scheduler.kind(),
            failure: bond.failure.kind(),
            coupled: bond.congestion.coupled,
            blocking_protection: bond.blocking_protection,
            opportunistic_retransmission: bond.opportunistic_retransmission,
            penalisation: bond.penalisation,
        }
    }
}

impl Composition {
    /// Each list in its turn, at paces that let each name meet those of the other lists, and all settings of
    /// the switches.
    pub(crate) fn number(n: u64) -> Self {
        let turn = |length: usize| (n % length as u64) as usize;
        let rounds = n / SchedulerKind::ALL.len() as u64;
        let bit = |which: u32| n >> which & 1 == 1;
        Self {
            congestion: CongestionKind::ALL[turn(CongestionKind::ALL.len())],
            slow_start: SlowStartKind::ALL[turn(SlowStartKind::ALL.len())],
            scheduler: SchedulerKind::ALL[turn(SchedulerKind::ALL.len())],
            failure: FailureKind::ALL[(rounds % FailureKind::ALL.len() as u64) as usize],
            coupled: !bit(1),
            blocking_protection: bit(2),
            opportunistic_retransmission: !bit(3),
            penalisation: bit(4),
        }
    }

    /// The names of its algorithms.
    pub(crate) fn names(&self) -> [&'static str; 4] {
        [self.congestion.name(), self.slow_start.name(), self.scheduler.name(), self.failure.name()]
    }

    /// Sets a bond so.
    pub(crate) fn apply(&self, bond: &mut BondConfig) {
        bond.congestion.avoidance = self.congestion.into();
        bond.congestion.slow_start = self.slow_start.into();
        bond.congestion.coupled = self.coupled;
        bond.scheduler = self.scheduler.into();
        bond.failure = self.failure.into();
        bond.blocking_protection = self.blocking_protection;
        bond.opportunistic_retransmission = self.opportunistic_retransmission;
        bond.penalisation = self.penalisation;
    }
}

impl fmt::Display for Composition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}", self.names().join(" "))?;
        for (on, name) in [
            (self.coupled, "coupled"),
            (self.blocking_protection, "blocking_protection"),
            (self.opportunistic_retransmission, "opportunistic_retransmission"),
            (self.penalisation, "penalisation"),
        ] {
            if on {
                write!(f, " {name}")?;
            }
        }
        f.write_str(")")
    }
}
