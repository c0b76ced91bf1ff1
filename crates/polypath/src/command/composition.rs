//! What a bond is composed of: flags, and keys of files, that hub and edge have in common.

use clap::Args;
use polypath_bond::Composition;
use polypath_config::{DocumentError, Registered, Table, Value, parse_algorithm};
use polypath_core::congestion::CongestionKind;
use polypath_core::failure::FailureKind;
use polypath_core::registry::{Configured, Kind};
use polypath_core::scheduler::SchedulerKind;
use polypath_core::slow_start::SlowStartKind;

use crate::config::AlgorithmParser;

const CONGESTION: AlgorithmParser<CongestionKind> = AlgorithmParser::new(Kind::Congestion);
const SLOW_START: AlgorithmParser<SlowStartKind> = AlgorithmParser::new(Kind::SlowStart);
const SCHEDULER: AlgorithmParser<SchedulerKind> = AlgorithmParser::new(Kind::Scheduler);
const FAILURE: AlgorithmParser<FailureKind> = AlgorithmParser::new(Kind::Failure);

/// What is said of the [`Composition`] of one end of a bond; `None` for the bond's default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
pub struct CompositionArgs {
    /// Congestion control, such as cubic or cubic,beta=0.8 (see `polypath algorithms`)
    #[arg(long, value_name = "NAME[,PARAMETER=VALUE]", value_parser = CONGESTION)]
    pub congestion: Option<Configured<CongestionKind>>,
    /// Slow start of congestion controls that have none of their own
    #[arg(long, value_name = "NAME[,PARAMETER=VALUE]", value_parser = SLOW_START)]
    pub slow_start: Option<Configured<SlowStartKind>>,
    /// Whether one congestion control sees all paths [default: true]
    #[arg(long, value_name = "true|false")]
    pub coupled: Option<bool>,
    /// Scheduler
    #[arg(long, value_name = "NAME[,PARAMETER=VALUE]", value_parser = SCHEDULER)]
    pub scheduler: Option<Configured<SchedulerKind>>,
    /// Whether the scheduler is shown only the paths that the receive buffer has room for
    /// [default: false]
    #[arg(long, value_name = "true|false")]
    pub blocking_protection: Option<bool>,
    /// Path-failure detection
    #[arg(long, value_name = "NAME[,PARAMETER=VALUE]", value_parser = FAILURE)]
    pub failure: Option<Configured<FailureKind>>,
    /// Whether an idle fast path sends again what blocks the receive window [default: true]
    #[arg(long, value_name = "true|false")]
    pub opportunistic_retransmission: Option<bool>,
    /// Whether the path that blocks the receive window has its congestion window halved
    /// [default: false]
    #[arg(long, value_name = "true|false")]
    pub penalisation: Option<bool>,
}

impl CompositionArgs {
    /// What a file says under the names of the flags.
    ///
    /// # Errors
    /// At the first value that is not allowed.
    pub(super) fn of_table(table: &Table<'_>) -> Result<Self, DocumentError> {
        let switch = |key| table.get(key).map(|value| value.boolean()).transpose();
        Ok(Self {
            congestion: algorithm(table, "congestion")?,
            slow_start: algorithm(table, "slow_start")?,
            coupled: switch("coupled")?,
            scheduler: algorithm(table, "scheduler")?,
            blocking_protection: switch("blocking_protection")?,
            failure: algorithm(table, "failure")?,
            opportunistic_retransmission: switch("opportunistic_retransmission")?,
            penalisation: switch("penalisation")?,
        })
    }

    /// What is said here, and otherwise what `other` says.
    #[must_use]
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            congestion: self.congestion.or(other.congestion),
            slow_start: self.slow_start.or(other.slow_start),
            coupled: self.coupled.or(other.coupled),
            scheduler: self.scheduler.or(other.scheduler),
            blocking_protection: self.blocking_protection.or(other.blocking_protection),
            failure: self.failure.or(other.failure),
            opportunistic_retransmission: self
                .opportunistic_retransmission
                .or(other.opportunistic_retransmission),
            penalisation: self.penalisation.or(other.penalisation),
        }
    }

    /// Sets what is given.
    pub fn apply(&self, composition: &mut Composition) {
        set(&mut composition.congestion.avoidance, self.congestion);
        set(&mut composition.congestion.slow_start, self.slow_start);
        set(&mut composition.congestion.coupled, self.coupled);
        set(&mut composition.scheduler, self.scheduler);
        set(&mut composition.blocking_protection, self.blocking_protection);
        set(&mut composition.failure, self.failure);
        set(&mut composition.opportunistic_retransmission, self.opportunistic_retransmission);
        set(&mut composition.penalisation, self.penalisation);
    }
}

/// An algorithm in a file: a table as in scenarios, or a text as in flags.
fn algorithm<K: Registered>(
    table: &Table<'_>,
    key: &'static str,
) -> Result<Option<Configured<K>>, DocumentError> {
    let read = |value: Value<'_>| match value.is_table() {
        true => value.algorithm(),
        false => value.parse_with(parse_algorithm),
    };
    table.get(key).map(read).transpose()
}

fn set<T>(place: &mut T, given: Option<T>) {
    if let Some(value) = given {
        *place = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The defaults of the switches as help tells them.
    #[test]
    fn help_shows_the_defaults_that_stand() {
        let bond = Composition::default();
        assert!(bond.congestion.coupled && bond.opportunistic_retransmission);
        assert!(!bond.blocking_protection && !bond.penalisation);
    }

    #[test]
    fn what_is_given_is_set_and_the_rest_stays() {
        let mut bond = Composition::default();
        let untouched = format!("{bond:?}");
        CompositionArgs::default().apply(&mut bond);
        assert_eq!(format!("{bond:?}"), untouched);

        let lia = Configured::from(CongestionKind::Lia);
        let fpf = Configured::with(FailureKind::Fpf, &[("timer_margin", 20.0)]).unwrap();
        let composition = CompositionArgs {
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
