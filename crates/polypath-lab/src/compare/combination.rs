//! What is compared with what.

use core::fmt;
use core::str::FromStr;
use polypath_bond::{BondConfig, Composition};
use polypath_core::congestion::{CongestionConfig, CongestionKind};
use polypath_core::scheduler::SchedulerKind;
use polypath_core::slow_start::SlowStartKind;
use std::collections::BTreeSet;

/// A congestion control with its start-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Control {
    /// The congestion avoidance.
    pub congestion: CongestionKind,
    /// The slow start; `None` with an avoidance that has its own.
    pub slow_start: Option<SlowStartKind>,
}

/// A control on each path and the scheduler above them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Combination {
    /// The congestion control.
    pub control: Control,
    /// The scheduler.
    pub scheduler: SchedulerKind,
}

/// The control that slow starts are compared with where the one that ships has its own.
const WITH_SLOW_START: CongestionKind = CongestionKind::Cubic;

impl Control {
    /// This avoidance with this slow start, or with its own.
    pub fn new(congestion: CongestionKind, slow_start: SlowStartKind) -> Self {
        let owns = congestion.build(0).owns_start_up();
        Self { congestion, slow_start: (!owns).then_some(slow_start) }
    }

    /// Every control that makes sense: each avoidance with each slow start, those that have their
    /// own once. BRF is left out: it needs switches that tell it its rate.
    pub fn all() -> Vec<Self> {
        let all = Self::compared().flat_map(|congestion| {
            SlowStartKind::ALL.iter().map(move |&slow_start| Self::new(congestion, slow_start))
        });
        unique(all)
    }

    /// It over one path alone, with the shipped scheduler, which has no choice there.
    pub(super) fn over_one_path(self) -> Combination {
        Combination { control: self, ..Combination::shipped() }
    }

    /// The avoidances that are compared.
    fn compared() -> impl Iterator<Item = CongestionKind> {
        CongestionKind::ALL.iter().copied().filter(|&congestion| congestion != CongestionKind::Brf)
    }
}

impl Combination {
    /// What a bond uses if nothing is said.
    pub fn shipped() -> Self {
        let Composition { congestion, scheduler, .. } = Composition::default();
        let control = Control::new(congestion.avoidance.kind(), congestion.slow_start.kind());
        Self { control, scheduler: scheduler.kind() }
    }

    /// Every combination that makes sense.
    pub fn all() -> Vec<Self> {
        let all = Control::all().into_iter().flat_map(|control| {
            SchedulerKind::ALL.iter().map(move |&scheduler| Self { control, scheduler })
        });
        unique(all)
    }

    /// A design of main effects: the shipped combination, and those that differ from it in one
    /// part. Slow starts differ beside CUBIC if what ships has its own.
    pub fn main_effects() -> Vec<Self> {
        let Self { control: shipped, scheduler } = Self::shipped();
        let start = CongestionConfig::default().slow_start.kind();
        let with_start = shipped.slow_start.map_or(WITH_SLOW_START, |_| shipped.congestion);
        let congestion = Control::compared().map(|congestion| Control::new(congestion, start));
        let starts = SlowStartKind::ALL.iter().map(|&start| Control::new(with_start, start));
        let controls = congestion.chain(starts).map(|control| Self { control, scheduler });
        let schedulers = SchedulerKind::ALL.iter();
        unique(controls.chain(schedulers.map(|&scheduler| Self { control: shipped, scheduler })))
    }

    /// What stored runs know it by: its algorithms with their parameters and defaults, and the bond
    /// that has them.
    pub(super) fn description(self) -> String {
        let Self { control: Control { congestion, slow_start }, scheduler } = self;
        let algorithms = (
            congestion.description(),
            slow_start.map(|start| start.description()),
            scheduler.description(),
        );
        format!("{algorithms:?} {:?}", self.config())
    }

    /// These algorithms as a bond has them, with their defaults.
    fn config(self) -> BondConfig {
        let defaults = Composition::default();
        let slow_start =
            self.control.slow_start.map_or(defaults.congestion.slow_start, SlowStartKind::into);
        let avoidance = self.control.congestion.into();
        let congestion = CongestionConfig { avoidance, slow_start, ..defaults.congestion };
        let composition = Composition { congestion, scheduler: self.scheduler.into(), ..defaults };
        BondConfig { composition, ..BondConfig::default() }
    }
}

/// Each once, in the order of the registry.
fn unique<T: Ord>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.collect::<BTreeSet<_>>().into_iter().collect()
}

/// `bbr`, `cubic+hystart_pp`
impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.slow_start {
            Some(slow_start) => write!(f, "{}+{slow_start}", self.congestion),
            None => write!(f, "{}", self.congestion),
        }
    }
}

/// `bbr+edpf`, `cubic+hystart_pp+edpf`
impl fmt::Display for Combination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.control, self.scheduler)
    }
}

/// A name that no combination has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown combination {given:?}; allowed: CONGESTION+SCHEDULER with a congestion control that has a \
     start-up of its own, CONGESTION+SLOW_START+SCHEDULER with another, such as bbr+edpf or \
     cubic+hystart_pp+edpf"
)]
pub struct UnknownCombination {
    /// The name as given.
    given: String,
}

impl FromStr for Combination {
    type Err = UnknownCombination;

    fn from_str(name: &str) -> Result<Self, UnknownCombination> {
        let unknown = || UnknownCombination { given: name.to_owned() };
        Self::all().into_iter().find(|one| one.to_string() == name).ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_combination_is_parsed_as_it_prints() {
        for one in Combination::all() {
            assert_eq!(one.to_string().parse(), Ok(one));
        }
        let message = "bbr+css+edpf".parse::<Combination>().unwrap_err().to_string();
        assert!(
            message.starts_with("unknown combination \"bbr+css+edpf\"; allowed: "),
            "{message}"
        );
    }

    /// Every name of the registry is in some combination, but for `brf`, and none is there twice.
    #[test]
    fn every_registered_name_is_compared() {
        let all = Combination::all();
        let has = |found: &dyn Fn(&Combination) -> bool| all.iter().any(found);
        for &congestion in CongestionKind::ALL {
            let expected = congestion != CongestionKind::Brf;
            assert_eq!(has(&|c| c.control.congestion == congestion), expected, "{congestion}");
        }
        for &slow_start in SlowStartKind::ALL {
            assert!(has(&|c| c.control.slow_start == Some(slow_start)), "{slow_start}");
        }
        for &scheduler in SchedulerKind::ALL {
            assert!(has(&|c| c.scheduler == scheduler), "{scheduler}");
        }
        let names: BTreeSet<_> = all.iter().map(Combination::to_string).collect();
        assert_eq!(names.len(), all.len());
    }

    /// Those without a start-up of their own take every slow start, the others none.
    #[test]
    fn all_is_the_whole_product() {
        let own = CongestionKind::ALL.iter().filter(|kind| kind.build(0).owns_start_up());
        let own = own.filter(|kind| **kind != CongestionKind::Brf).count();
        let others = CongestionKind::ALL.len() - 1 - own;
        let controls = own + others * SlowStartKind::ALL.len();
        assert_eq!(Control::all().len(), controls);
        assert_eq!(Combination::all().len(), controls * SchedulerKind::ALL.len());
    }

    #[test]
    fn main_effects_have_every_name_and_are_few() {
        let few = Combination::main_effects();
        assert!(few.contains(&Combination::shipped()));
        let congestion: BTreeSet<_> = few.iter().map(|c| c.control.congestion).collect();
        let starts: BTreeSet<_> = few.iter().filter_map(|c| c.control.slow_start).collect();
        let schedulers: BTreeSet<_> = few.iter().map(|c| c.scheduler).collect();
        assert_eq!(congestion.len(), CongestionKind::ALL.len() - 1);
        assert_eq!(starts.len(), SlowStartKind::ALL.len());
        assert_eq!(schedulers.len(), SchedulerKind::ALL.len());
        let all = Combination::all();
        assert!(few.iter().all(|combination| all.contains(combination)));
        assert!(few.len() < congestion.len() + starts.len() + schedulers.len());
    }

    #[test]
    fn names_are_those_of_the_registry() {
        let control = Control::new(CongestionKind::Cubic, SlowStartKind::Css);
        let combination = Combination { control, scheduler: SchedulerKind::Blest };
        assert_eq!(combination.to_string(), "cubic+css+blest");
        let control = Control::new(CongestionKind::Bbr, SlowStartKind::Css);
        assert_eq!(control.to_string(), "bbr");
    }
}
