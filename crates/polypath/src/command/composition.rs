//! What a bond is composed of: flags, and keys of files, that hub and edge have in common.

use polypath_bond::BondConfig;
use polypath_core::congestion::CongestionKind;
use polypath_core::failure::FailureKind;
use polypath_core::registry::{Configured, Kind};
use polypath_core::scheduler::SchedulerKind;
use polypath_core::slow_start::SlowStartKind;

use crate::config::AlgorithmParser;

/// A congestion control with its parameters.
pub(super) type Congestion = Configured<CongestionKind>;
/// A slow start with its parameters.
pub(super) type SlowStart = Configured<SlowStartKind>;
/// A scheduler with its parameters.
pub(super) type Scheduler = Configured<SchedulerKind>;
/// A path-failure detection with its parameters.
pub(super) type Failure = Configured<FailureKind>;

pub(super) const CONGESTION: AlgorithmParser<CongestionKind> =
    AlgorithmParser::new(Kind::Congestion);
pub(super) const SLOW_START: AlgorithmParser<SlowStartKind> = AlgorithmParser::new(Kind::SlowStart);
pub(super) const SCHEDULER: AlgorithmParser<SchedulerKind> = AlgorithmParser::new(Kind::Scheduler);
pub(super) const FAILURE: AlgorithmParser<FailureKind> = AlgorithmParser::new(Kind::Failure);

/// The algorithms and switches of one end of a bond; `None` for the bond's default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Composition {
    /// The congestion control.
    pub congestion: Option<Congestion>,
    /// The slow start.
    pub slow_start: Option<SlowStart>,
    /// Whether one congestion control sees all paths.
    pub coupled: Option<bool>,
    /// The scheduler.
    pub scheduler: Option<Scheduler>,
    /// Whether the scheduler is shown only the paths that the receive buffer has room for.
    pub blocking_protection: Option<bool>,
    /// The path-failure detection.
    pub failure: Option<Failure>,
    /// Whether an idle fast path sends again what blocks the receive window.
    pub opportunistic_retransmission: Option<bool>,
    /// Whether the path that blocks the receive window has its window halved.
    pub penalisation: Option<bool>,
}

impl Composition {
    /// Sets what is given.
    pub fn apply(&self, bond: &mut BondConfig) {
        set(&mut bond.congestion.avoidance, self.congestion);
        set(&mut bond.congestion.slow_start, self.slow_start);
        set(&mut bond.congestion.coupled, self.coupled);
        set(&mut bond.scheduler, self.scheduler);
        set(&mut bond.blocking_protection, self.blocking_protection);
        set(&mut bond.failure, self.failure);
        set(&mut bond.opportunistic_retransmission, self.opportunistic_retransmission);
        set(&mut bond.penalisation, self.penalisation);
    }
}

fn set<T>(place: &mut T, given: Option<T>) {
    if let Some(value) = given {
        *place = value;
    }
}

/// Declares flags, which are keys of a file as well, and adds those of a [`Composition`]. A flattened
/// field would do for the flags, but then faults in the file would lose their lines.
macro_rules! with_composition {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$field_meta:meta])* $visibility:vis $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$meta])*
        pub struct $name {
            $($(#[$field_meta])* $visibility $field: $type,)*
            /// Congestion control, such as cubic or cubic,beta=0.8 (see `polypath algorithms`)
            #[arg(long, value_name = "NAME[,PARAMETER=VALUE]", value_parser = super::composition::CONGESTION)]
            #[serde(deserialize_with = "crate::config::algorithm")]
            congestion: Option<super::composition::Congestion>,
            /// Slow start of congestion controls that have none of their own
            #[arg(long, value_name = "NAME[,PARAMETER=VALUE]", value_parser = super::composition::SLOW_START)]
            #[serde(deserialize_with = "crate::config::algorithm")]
            slow_start: Option<super::composition::SlowStart>,
            /// Whether one congestion control sees all paths [default: true]
            #[arg(long, value_name = "true|false")]
            coupled: Option<bool>,
            /// Scheduler
            #[arg(long, value_name = "NAME[,PARAMETER=VALUE]", value_parser = super::composition::SCHEDULER)]
            #[serde(deserialize_with = "crate::config::algorithm")]
            scheduler: Option<super::composition::Scheduler>,
            /// Whether the scheduler is shown only the paths that the receive buffer has room for
            /// [default: false]
            #[arg(long, value_name = "true|false")]
            blocking_protection: Option<bool>,
            /// Path-failure detection
            #[arg(long, value_name = "NAME[,PARAMETER=VALUE]", value_parser = super::composition::FAILURE)]
            #[serde(deserialize_with = "crate::config::algorithm")]
            failure: Option<super::composition::Failure>,
            /// Whether an idle fast path sends again what blocks the receive window [default: true]
            #[arg(long, value_name = "true|false")]
            opportunistic_retransmission: Option<bool>,
            /// Whether the path that blocks the receive window has its congestion window halved
            /// [default: false]
            #[arg(long, value_name = "true|false")]
            penalisation: Option<bool>,
        }

        impl $name {
            /// What the bond is composed of.
            const fn composition(&self) -> super::composition::Composition {
                super::composition::Composition {
                    congestion: self.congestion,
                    slow_start: self.slow_start,
                    coupled: self.coupled,
                    scheduler: self.scheduler,
                    blocking_protection: self.blocking_protection,
                    failure: self.failure,
                    opportunistic_retransmission: self.opportunistic_retransmission,
                    penalisation: self.penalisation,
                }
            }
        }
    };
}
pub(super) use with_composition;

#[cfg(test)]
mod tests {
    use super::*;

    /// The defaults of the switches as help tells them.
    #[test]
    fn help_shows_the_defaults_that_stand() {
        let bond = BondConfig::default();
        assert!(bond.congestion.coupled && bond.opportunistic_retransmission);
        assert!(!bond.blocking_protection && !bond.penalisation);
    }

    #[test]
    fn what_is_given_is_set_and_the_rest_stays() {
        let mut bond = BondConfig::default();
        let untouched = format!("{bond:?}");
        Composition::default().apply(&mut bond);
        assert_eq!(format!("{bond:?}"), untouched);

        let lia = Configured::from(CongestionKind::Lia);
        let fpf = Configured::with(FailureKind::Fpf, &[("timer_margin", 20.0)]).unwrap();
        let composition = Composition {
            congestion: Some(lia),
            slow_start: Some(SlowStartKind::Standard.into()),
            coupled: Some(false),
            scheduler: Some(SchedulerKind::Redundant.into()),
            blocking_protection: Some(true),
            failure: Some(fpf),
            opportunistic_retransmission: Some(false),
            penalisation: Some(true),
        };
        composition.apply(&mut bond);
        assert_eq!(bond.congestion.avoidance, lia);
        assert_eq!(bond.congestion.slow_start, SlowStartKind::Standard.into());
        assert_eq!(bond.scheduler, SchedulerKind::Redundant.into());
        assert_eq!(bond.failure, fpf);
        assert!(!bond.congestion.coupled && bond.blocking_protection);
        assert!(!bond.opportunistic_retransmission && bond.penalisation);
    }
}
