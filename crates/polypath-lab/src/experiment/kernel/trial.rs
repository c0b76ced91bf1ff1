//! The runs of an experiment that the kernel does, and those that they are held against.

use super::adapt::{Adapted, adapted};
use super::scale::{CAPACITY, factor, scaled};
use super::{KernelLive, Observers, transfer};
use crate::experiment::observation::Observation;
use crate::experiment::study::{Scope, Study};
use crate::experiment::trial::TrialError;
use polypath_emulator::kernel::connections;
use polypath_emulator::plan::{NetworkPlan, Prefix};
use polypath_sim::run::{Keep, Outcome, Plan, RunError};
use polypath_sim::scenario::Scenario;
use polypath_units::Bandwidth;

/// All of an experiment.
#[derive(Debug)]
pub(crate) struct KernelTrials<'a> {
    pub(crate) study: &'a Study,
    /// What rates are divided by.
    pub(crate) factor: u32,
    pub(crate) trials: Vec<KernelTrial<'a>>,
}

/// A variant at a point.
#[derive(Debug)]
pub(crate) struct KernelTrial<'a> {
    pub(crate) variant: &'a str,
    /// The value on each axis, by the name of the axis; of a transfer its size, too.
    pub(crate) at: Vec<(&'a str, &'a str)>,
    /// Whether it is the transfer beside the plan: no claim is about it.
    pub(crate) beside: bool,
    /// As the plan has it.
    pub(crate) paper: Plan,
    /// As the kernel has it, or why it cannot.
    pub(crate) case: Result<KernelCase, String>,
    pub(crate) observers: Observers,
}

/// A run that the kernel does.
#[derive(Debug)]
pub(crate) struct KernelCase {
    /// For the simulator.
    pub(crate) simulator: Plan,
    /// For the kernel.
    pub(crate) kernel: Plan,
    /// Whether the hosts have Polypath's path manager.
    pub(crate) agents: bool,
    /// Parameters of algorithms that the kernel has otherwise.
    pub(crate) differences: Vec<String>,
}

/// A run in the simulator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Simulation<'a> {
    plan: &'a Plan,
    observe: fn(&Scenario, &Outcome) -> Observation,
    pub(crate) seed: u32,
}

impl<'a> KernelTrials<'a> {
    /// Of the variants of the paper, or with `beyond` of all, at all points of the study, with
    /// rates that add up to `capacity` at most.
    ///
    /// # Errors
    /// When a scenario cannot be run with what the plan sets.
    pub(crate) fn new(
        study: &'a Study,
        live: KernelLive,
        beyond: bool,
        capacity: Bandwidth,
        prefix: &Prefix,
    ) -> Result<Self, TrialError> {
        let mut planned = Vec::new();
        let variants =
            || study.variants_of(Scope::Main).map(|index| (index, study.variant_at(index)));
        for (index, variant) in variants().filter(|(_, variant)| beyond || !variant.beyond) {
            for point in study.points() {
                let at = study.at(&point);
                planned.push((variant, at, false, study.scenario_plan(index, &point, &[])?));
            }
            let transfer = live.transfer.filter(|_| study.plan().axis.is_empty());
            if let Some(bytes) = transfer {
                let set = [format!("flow.0.bytes={bytes}")];
                let at = vec![("transfer", bytes)];
                planned.push((variant, at, true, study.scenario_plan(index, &[], &set)?));
            }
        }
        let scenarios = planned.iter().map(|(.., plan)| plan.scenario());
        let by = factor(scenarios, capacity);
        let trial = |(variant, at, beside, paper): (&'a super::super::Variant, _, bool, Plan)| {
            let case = by.clone().and_then(|by| KernelCase::new(paper.scenario(), by, prefix));
            let observers = if beside { BESIDE } else { live.observers };
            KernelTrial { variant: &variant.name, at, beside, paper, case, observers }
        };
        let trials = planned.into_iter().map(trial).collect();
        Ok(Self { study, factor: by.clone().unwrap_or(1), trials })
    }
}

const BESIDE: Observers = Observers { simulated: transfer::observe, live: transfer::observe };

impl KernelCase {
    /// Of a scenario that the emulator carries as it is.
    ///
    /// # Errors
    /// What the kernel or the emulator cannot do.
    pub(crate) fn unscaled(scenario: &Scenario, prefix: &Prefix) -> Result<Self, String> {
        match factor([scenario], CAPACITY)? {
            1 => Self::new(scenario, 1, prefix),
            by => Err(format!("its rates are {by} times what the emulator carries")),
        }
    }

    fn new(scenario: &Scenario, factor: u32, prefix: &Prefix) -> Result<Self, String> {
        let Adapted { simulator, kernel, agents, differences } = adapted(scenario)?;
        let plan = |scenario: Scenario| {
            Plan::new(scaled(&scenario, factor)?).map_err(|error: RunError| error.to_string())
        };
        let (simulator, kernel) = (plan(simulator)?, plan(kernel)?);
        let network = NetworkPlan::new(prefix, kernel.topology());
        let network = network.map_err(|error| error.to_string())?;
        connections(&kernel, &network).map_err(|error| error.problem)?;
        Ok(Self { simulator, kernel, agents, differences })
    }

    /// Whether the kernel does the same for another one.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.agents == other.agents && self.kernel.scenario() == other.kernel.scenario()
    }
}

impl KernelTrial<'_> {
    /// `bess, mmwave_delay 1 ms`
    pub(crate) fn name(&self) -> String {
        let at: String = self.at.iter().map(|(axis, value)| format!(", {axis} {value}")).collect();
        format!("{}{at}", self.variant)
    }

    /// The run of the plan in the simulator.
    pub(crate) fn as_planned(&self, seed: u32) -> Simulation<'_> {
        Simulation { plan: &self.paper, observe: self.observers.simulated, seed }
    }

    /// The run that the kernel does, in the simulator; `None` if there is none.
    pub(crate) fn as_live(&self, seed: u32) -> Option<Simulation<'_>> {
        let case = self.case.as_ref().ok()?;
        Some(Simulation { plan: &case.simulator, observe: self.observers.simulated, seed })
    }
}

impl<'a> Simulation<'a> {
    /// Of a case, with what is taken from it.
    pub(crate) const fn new(
        case: &'a KernelCase,
        observe: fn(&Scenario, &Outcome) -> Observation,
        seed: u32,
    ) -> Self {
        Self { plan: &case.simulator, observe, seed }
    }

    /// Runs it.
    ///
    /// # Errors
    /// When the run fails.
    pub(crate) fn run(&self) -> Result<Observation, RunError> {
        let outcome = self.plan.run(self.seed.into(), Keep::default(), &mut |_| {})?;
        Ok((self.observe)(self.plan.scenario(), &outcome))
    }

    /// All that its result depends on but the seed.
    pub(crate) fn fingerprint(&self) -> String {
        format!("{:?} {:p}", self.plan.scenario(), self.observe)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::experiment::{EXPERIMENTS, Effort, Live};
    use polypath_sim::scenario::Transport;
    use std::io;
    use std::path::Path;

    pub(in crate::experiment::kernel) fn scenario(text: &str, set: &[String]) -> Scenario {
        let no_trace = &mut |_: &Path| Err(io::Error::from(io::ErrorKind::NotFound));
        Scenario::parse_with(text, set, Path::new("test.toml"), no_trace).unwrap()
    }

    fn study(folder: &str) -> (Study, KernelLive) {
        let experiment = EXPERIMENTS.iter().find(|one| one.folder == folder).unwrap();
        let Some(Live::Kernel(live)) = experiment.live else { panic!("{folder}") };
        (Study::new(experiment, Effort::Quick).unwrap(), live)
    }

    fn trials(study: &Study, live: KernelLive) -> KernelTrials<'_> {
        KernelTrials::new(study, live, true, CAPACITY, &"x".parse().unwrap()).unwrap()
    }

    /// What each variant is for the kernel, at the first point: nothing, or why it has none.
    fn problems(folder: &str) -> Vec<(String, String)> {
        let (study, live) = study(folder);
        let problem = |trial: KernelTrial<'_>| {
            (trial.variant.to_owned(), trial.case.err().unwrap_or_default())
        };
        let mut all: Vec<_> = trials(&study, live).trials.into_iter().map(problem).collect();
        all.dedup();
        all
    }

    /// S2 has 500 and 80 Mbit/s, S3 144.24 and 517.76, S0 50 and 20.
    #[test]
    fn networks_are_scaled_to_what_the_emulator_carries() {
        for (folder, factor) in [("r2-1", 2), ("r2-5", 2), ("r3-2", 2), ("r0-4", 1), ("r0-5", 1)] {
            let (study, live) = study(folder);
            assert_eq!(trials(&study, live).factor, factor, "{folder}");
        }
    }

    /// Every variant runs but those that the row of says why.
    #[test]
    fn what_the_kernel_cannot_do_is_told_of_each_variant() {
        let bond = "\"bond\" is no transport of the kernel: \"tcp\" and \"mptcp\" are";
        for folder in ["r2-1", "r2-2", "r2-3", "r2-4", "r2-5"] {
            for (variant, problem) in problems(folder) {
                let expected = if variant == "bond" { bond } else { "" };
                assert_eq!(problem, expected, "{folder}, {variant}");
            }
        }
        for (variant, problem) in problems("r3-2") {
            let expected = if variant.starts_with("bond") { bond } else { "" };
            assert_eq!(problem, expected, "{variant}");
        }
        for folder in ["r0-4", "r0-5"] {
            for (variant, problem) in problems(folder) {
                let is_told = problem.contains("the kernel has no \"polypath\"");
                assert_eq!(is_told, variant == "polypath", "{folder}, {variant}: {problem}");
                assert!(is_told || problem.is_empty(), "{folder}, {variant}: {problem}");
            }
        }
    }

    #[test]
    fn the_transfer_is_beside_the_plan_and_scaled() {
        let (study, live) = study("r2-2");
        let trials = trials(&study, live);
        let beside: Vec<_> = trials.trials.iter().filter(|trial| trial.beside).collect();
        assert_eq!(beside.len(), study.plan().variant.value.len());
        let bess = beside[0];
        assert_eq!(bess.name(), "bess, transfer 10 MB");
        let bytes = |plan: &Plan| match &plan.scenario().flows[0].kind {
            polypath_sim::scenario::FlowKind::Bulk(bulk) => bulk.bytes.unwrap().get(),
            other => panic!("{other:?}"),
        };
        let case = bess.case.as_ref().unwrap();
        assert_eq!((bytes(&bess.paper), bytes(&case.kernel)), (10_000_000, 5_000_000));
        assert!(matches!(case.kernel.scenario().connections[0].transport, Transport::Mptcp(_)));
    }
}
