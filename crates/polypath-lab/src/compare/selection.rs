//! Which scenarios and which combinations.

use super::{Changes, Combination, Part, SUITE, SuiteScenario};
use polypath_core::congestion::CongestionKind;
use polypath_core::scheduler::SchedulerKind;
use polypath_core::slow_start::SlowStartKind;
use std::time::Duration;

/// What a run of a quick grid lasts at most: each scenario shows what it is for by then.
pub const QUICK_DURATION: Duration = Duration::from_secs(6);

/// Which scenarios of the suite, and which combinations. An empty list means all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Only main effects ([`Combination::main_effects`]).
    pub quick: bool,
    /// The names of scenarios.
    pub scenarios: Vec<String>,
    /// Only scenarios of this part.
    pub part: Option<Part>,
    /// Congestion avoidances.
    pub congestion: Vec<CongestionKind>,
    /// Slow starts: with some given, avoidances with a start-up of their own are left out.
    pub slow_start: Vec<SlowStartKind>,
    /// Schedulers.
    pub scheduler: Vec<SchedulerKind>,
    /// Whole combinations.
    pub combinations: Vec<Combination>,
    /// What runs last at most; if not given, as long as their scenario says, or
    /// [`QUICK_DURATION`] if quick.
    pub duration: Option<Duration>,
    /// What every scenario has otherwise than in its file, as `KEY=VALUE`; comes after what is
    /// compared.
    pub settings: Vec<String>,
}

/// Why there is nothing to compare.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// A scenario that the suite does not have.
    #[error("unknown scenario {given:?}; allowed: {allowed}")]
    Scenario {
        /// The name as given.
        given: String,
        /// All names, separated by commas.
        allowed: String,
    },
    /// No scenario of the suite has switches.
    #[error(
        "no scenario of the suite has switches that tell rates, which \"brf\" needs; \
         allowed: {allowed}"
    )]
    Brf {
        /// All other congestion controls, separated by commas.
        allowed: String,
    },
    /// A setting of drawn profiles that other transports would need, too.
    #[error(
        "--set {given}: with --drawn only keys of the bond can be set: connection.bond.KEY=VALUE"
    )]
    NotOfBond {
        /// The setting.
        given: String,
    },
    /// Nothing fits.
    #[error(
        "none of {considered} combinations has these algorithms; congestion controls with a start-up of \
         their own have no slow start, and a quick comparison has only those that differ in one part from \
         {shipped}"
    )]
    Nothing {
        /// How many there are without these filters.
        considered: usize,
        /// What ships.
        shipped: Combination,
    },
}

impl Selection {
    /// The scenarios, in the order of the suite.
    ///
    /// # Errors
    /// When a name is not known, or none of those named belongs to the part.
    pub fn scenarios(&self) -> Result<Vec<SuiteScenario>, SelectError> {
        let within =
            SUITE.iter().filter(|scenario| self.part.is_none_or(|part| part == scenario.part));
        let within: Vec<_> = within.copied().collect();
        let known = |name: &&String| within.iter().any(|scenario| scenario.name == **name);
        if let Some(given) = self.scenarios.iter().find(|name| !known(name)).cloned() {
            return Err(SelectError::Scenario {
                given,
                allowed: list(within.iter().map(|s| s.name)),
            });
        }
        let chosen = |s: &SuiteScenario| self.scenarios.iter().any(|name| name == s.name);
        let all = self.scenarios.is_empty();
        Ok(within.into_iter().filter(|scenario| all || chosen(scenario)).collect())
    }

    /// The combinations, in the order of the registry.
    ///
    /// # Errors
    /// When there is none of these algorithms.
    pub fn combinations(&self) -> Result<Vec<Combination>, SelectError> {
        if self.congestion.contains(&CongestionKind::Brf) {
            let others = CongestionKind::ALL.iter().filter(|kind| **kind != CongestionKind::Brf);
            return Err(SelectError::Brf { allowed: list(others.map(|kind| kind.name())) });
        }
        // Who names combinations wants those.
        let is_quick = self.quick && self.combinations.is_empty();
        let all = if is_quick { Combination::main_effects() } else { Combination::all() };
        let considered = all.len();
        let chosen: Vec<_> = all.into_iter().filter(|c| self.has(c)).collect();
        match chosen.is_empty() {
            true => Err(SelectError::Nothing { considered, shipped: Combination::shipped() }),
            false => Ok(chosen),
        }
    }

    fn has(&self, combination: &Combination) -> bool {
        let Combination { control, scheduler } = combination;
        let slow_start =
            || control.slow_start.is_some_and(|start| self.slow_start.contains(&start));
        (self.congestion.is_empty() || self.congestion.contains(&control.congestion))
            && (self.slow_start.is_empty() || slow_start())
            && (self.scheduler.is_empty() || self.scheduler.contains(scheduler))
            && (self.combinations.is_empty() || self.combinations.contains(combination))
    }

    /// What every scenario has otherwise than in its file.
    pub fn changes(&self) -> Changes {
        let limit = self.duration.or(self.quick.then_some(QUICK_DURATION));
        Changes { limit, settings: self.settings.clone() }
    }
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_choose() {
        let selection = Selection {
            congestion: vec![CongestionKind::Cubic, CongestionKind::Bbr],
            scheduler: vec![SchedulerKind::Blest],
            scenarios: vec!["lossy".to_owned(), "handover".to_owned()],
            ..Selection::default()
        };
        let names: Vec<_> =
            selection.combinations().unwrap().iter().map(Combination::to_string).collect();
        assert_eq!(names.len(), 1 + SlowStartKind::ALL.len(), "{names:?}");
        assert!(names.iter().all(|name| name.ends_with("+blest")));
        let scenarios = selection.scenarios().unwrap();
        assert_eq!(scenarios.iter().map(|s| s.name).collect::<Vec<_>>(), ["handover", "lossy"]);
        let with_start = Selection { slow_start: vec![SlowStartKind::Css], ..selection };
        let names = with_start.combinations().unwrap();
        assert_eq!(
            names.iter().map(Combination::to_string).collect::<Vec<_>>(),
            ["cubic+css+blest"]
        );
        assert_eq!(Selection::default().scenarios().unwrap().len(), SUITE.len());
    }

    #[test]
    fn combinations_are_chosen_by_their_whole_name() {
        let named = ["cubic+css+blest", "bbr+edpf"].map(|name| name.parse().unwrap());
        let selection = Selection { combinations: named.to_vec(), ..Selection::default() };
        let names = selection.combinations().unwrap();
        let names: Vec<_> = names.iter().map(Combination::to_string).collect();
        assert_eq!(names, ["bbr+edpf", "cubic+css+blest"]);
        let quick = Selection { quick: true, ..selection };
        assert_eq!(quick.combinations().unwrap().len(), 2, "quick or not");
    }

    #[test]
    fn runs_are_cut_off_where_one_says() {
        let selection = |quick, duration| Selection { quick, duration, ..Selection::default() };
        let second = Some(Duration::from_secs(1));
        assert_eq!(selection(false, None).changes().limit, None);
        assert_eq!(selection(true, None).changes().limit, Some(QUICK_DURATION));
        assert_eq!(
            (selection(true, second).changes().limit, selection(false, second).changes().limit),
            (second, second)
        );
    }

    #[test]
    fn a_part_has_its_own_scenarios_only() {
        let held_out = Selection { part: Some(Part::HeldOut), ..Selection::default() };
        let scenarios = held_out.scenarios().unwrap();
        assert_eq!(scenarios.len(), SUITE.len() / 3);
        assert!(scenarios.iter().all(|scenario| scenario.part == Part::HeldOut));
        let other = Selection { scenarios: vec!["lossy".to_owned()], ..held_out };
        let message = other.scenarios().unwrap_err().to_string();
        assert!(message.contains("unknown scenario \"lossy\"; allowed: drawn_static"), "{message}");
    }

    #[test]
    fn what_does_not_exist_is_told() {
        let brf = Selection { congestion: vec![CongestionKind::Brf], ..Selection::default() };
        let message = brf.combinations().unwrap_err().to_string();
        assert!(message.contains("balia, ") && !message.contains(" brf,"), "{message}");
        let nothing = Selection {
            congestion: vec![CongestionKind::Bbr],
            slow_start: vec![SlowStartKind::Css],
            ..Selection::default()
        };
        let message = nothing.combinations().unwrap_err().to_string();
        assert!(message.contains("have no slow start"), "{message}");
    }
}
