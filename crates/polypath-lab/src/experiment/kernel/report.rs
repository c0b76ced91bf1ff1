//! What becomes of an experiment in the kernel's world.

use super::World;
use super::trial::{KernelTrial, KernelTrials};
use crate::compare::Interval;
use crate::experiment::observation::Observation;
use crate::experiment::plan::Claim;
use crate::experiment::runs::SeedRuns;
use crate::experiment::study::Scope;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The results of an experiment: medians over the seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelReport {
    /// The name of the experiment.
    pub id: String,
    /// What is examined.
    pub title: String,
    /// What the rates of `as_live` and `live` are divided by, and with them queues, buffers and
    /// transfers.
    pub factor: u32,
    /// How many runs of each, with the seeds from 1 on.
    pub runs: u32,
    /// The claims.
    pub claims: Vec<KernelClaim>,
    /// The values of each variant at each point.
    pub cells: Vec<KernelCell>,
    /// How many of them the kernel can run and were not measured.
    pub failed: usize,
    /// Packets that the emulator handed over late or lost, of a hundred: in the worst run.
    pub late_percent: Option<f64>,
}

/// A value in each of the worlds; `None` where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ByWorld {
    /// In the simulator, with the scenario of the plan.
    pub simulator: Option<f64>,
    /// In the simulator, with the scenario that the kernel runs.
    pub as_live: Option<f64>,
    /// By the kernel.
    pub live: Option<f64>,
}

/// What a claim is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelClaim {
    /// Its name.
    pub id: String,
    /// What it is about.
    pub meaning: String,
    /// The paper's figure.
    pub paper: String,
    /// What it has to be.
    pub bounds: String,
    /// The unit; nothing for a ratio.
    pub unit: &'static str,
    /// What it is.
    #[serde(flatten)]
    pub values: ByWorld,
}

/// A variant at a point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelCell {
    /// The variant.
    pub variant: String,
    /// The value on each axis; of a transfer beside the plan its size.
    pub at: BTreeMap<String, String>,
    /// The values by name.
    pub values: BTreeMap<String, ByWorld>,
    /// Why there is no live run.
    pub missing: Option<String>,
    /// Parameters of its algorithms that the kernel has otherwise.
    pub differences: Vec<String>,
}

/// What was observed of a trial in a world, by seed; none where it was not run.
type Observed = Vec<Observation>;

/// What the trials of an experiment have come to in each world, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Results {
    pub(crate) simulator: Vec<Observed>,
    pub(crate) as_live: Vec<Observed>,
    pub(crate) live: Vec<Observed>,
    /// Why trials that the kernel can do were not measured, by their number.
    pub(crate) failed: BTreeMap<usize, String>,
    /// Packets that the emulator handed over late or lost, of a hundred: in the worst run.
    pub(crate) late_percent: Option<f64>,
}

impl Results {
    fn of(&self, world: World) -> &[Observed] {
        match world {
            World::Simulator => &self.simulator,
            World::AsLive => &self.as_live,
            World::Live => &self.live,
        }
    }

    fn observed(&self, world: World, trial: usize) -> &[Observation] {
        self.of(world).get(trial).map_or(&[], Vec::as_slice)
    }
}

impl ByWorld {
    fn of(value: impl Fn(World) -> Option<f64>) -> Self {
        Self {
            simulator: value(World::Simulator),
            as_live: value(World::AsLive),
            live: value(World::Live),
        }
    }
}

impl KernelReport {
    pub(crate) fn new(trials: &KernelTrials<'_>, results: &Results, runs: u32) -> Self {
        let plan = trials.study.plan();
        Self {
            id: plan.id.value.clone(),
            title: plan.title.clone(),
            factor: trials.factor,
            runs,
            claims: trials.study.claims().filter_map(|c| claim(trials, results, c)).collect(),
            cells: (0..trials.trials.len()).map(|number| cell(trials, results, number)).collect(),
            failed: results.failed.len(),
            late_percent: results.late_percent,
        }
    }
}

fn claim(trials: &KernelTrials<'_>, results: &Results, claim: &Claim) -> Option<KernelClaim> {
    let meaning = trials.study.meaning(claim)?;
    let value = |world| {
        let seeds = by_seed(&trials.trials, results.of(world));
        median(trials.study.per_seed(claim, Scope::Main, &seeds))
    };
    Some(KernelClaim {
        id: claim.id.clone(),
        meaning: meaning.meaning.into_owned(),
        paper: claim.paper.clone().unwrap_or_default(),
        bounds: claim.bounds(),
        unit: meaning.unit,
        values: ByWorld::of(value),
    })
}

/// The runs of the plan, as the quantities of claims take them.
fn by_seed<'a>(trials: &'a [KernelTrial<'_>], observed: &'a [Observed]) -> Vec<SeedRuns<'a>> {
    let seeds = observed.iter().map(Vec::len).max().unwrap_or(0);
    let mut runs = vec![SeedRuns::default(); seeds];
    for (trial, observed) in trials.iter().zip(observed).filter(|(trial, _)| !trial.beside) {
        for (runs, observation) in runs.iter_mut().zip(observed) {
            runs.add(trial.variant, trial.at.clone(), observation);
        }
    }
    runs
}

/// The median, if every seed has a value.
fn median(values: Vec<Option<f64>>) -> Option<f64> {
    Interval::of_all(values.into_iter()).map(|interval| interval.median)
}

fn cell(trials: &KernelTrials<'_>, results: &Results, number: usize) -> KernelCell {
    let trial = &trials.trials[number];
    let worlds = [World::Simulator, World::AsLive, World::Live];
    let observations = worlds.iter().flat_map(|world| results.observed(*world, number));
    let names: BTreeSet<&String> = observations.flat_map(|one| one.values.keys()).collect();
    let value = |name: &String| {
        ByWorld::of(|world| {
            let observed = results.observed(world, number).iter();
            median(observed.map(|one| one.values.get(name).copied()).collect())
        })
    };
    let at = trial.at.iter().map(|&(axis, value)| (axis.to_owned(), value.to_owned()));
    let missing = trial.case.as_ref().err().or_else(|| results.failed.get(&number));
    KernelCell {
        variant: trial.variant.to_owned(),
        at: at.collect(),
        values: names.iter().map(|&name| (name.clone(), value(name))).collect(),
        missing: missing.cloned(),
        differences: trial.case.as_ref().map_or_else(|_| Vec::new(), |c| c.differences.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::kernel::CAPACITY;
    use crate::experiment::{EXPERIMENTS, Effort, Live, Study};

    /// The interruption of R3-2 in s: 0.4 and 0.1 by the plan, 0.3 and 0.1 as live, 0.3 and 0.03
    /// live in the median of three; of the bond nothing live.
    #[test]
    fn claims_and_cells_have_a_value_for_each_world() {
        let experiment = EXPERIMENTS.iter().find(|one| one.folder == "r3-2").unwrap();
        let study = Study::new(experiment, Effort::Quick).unwrap();
        let Some(Live::Kernel(live)) = experiment.live else { panic!("{experiment:?}") };
        let trials =
            KernelTrials::new(&study, live, true, CAPACITY, &"x".parse().unwrap()).unwrap();
        let of = |values: &[f64]| -> Observed {
            values.iter().map(|s| Observation::default().with("interruption", *s)).collect()
        };
        let each = |original: &[f64], fpf: &[f64], rest: &[f64]| {
            let by_variant = |trial: &KernelTrial<'_>| match trial.variant {
                "original" => of(original),
                "fpf" => of(fpf),
                _ => of(rest),
            };
            trials.trials.iter().map(by_variant).collect()
        };
        let bond = trials.trials.iter().position(|trial| trial.variant == "bond").unwrap();
        let rack = trials.trials.iter().position(|trial| trial.variant == "rack").unwrap();
        let results = Results {
            simulator: each(&[0.4], &[0.1], &[0.2]),
            as_live: each(&[0.3], &[0.1], &[]),
            live: each(&[0.3, 0.6, 0.2], &[0.03, 0.02, 0.04], &[]),
            failed: [(rack, "no network".to_owned())].into(),
            late_percent: Some(0.5),
        };
        let report = KernelReport::new(&trials, &results, 3);
        let ratio = report.claims.iter().find(|claim| claim.id == "R3-2c").unwrap();
        let ByWorld { simulator, as_live, live } = ratio.values;
        let close = |value: Option<f64>, expected: f64| {
            assert!((value.unwrap() - expected).abs() < 1e-9, "{value:?}, not {expected}");
        };
        close(simulator, 4.0);
        close(as_live, 3.0);
        // The seeds have 10, 30 and 5.
        close(live, 10.0);
        assert_eq!((ratio.paper.as_str(), ratio.bounds.as_str()), ("35 times", "at least 7"));
        let bond = &report.cells[bond];
        let by_plan = ByWorld { simulator: Some(0.2), ..ByWorld::default() };
        assert_eq!(bond.values["interruption"], by_plan);
        assert!(bond.missing.as_ref().unwrap().contains("no transport of the kernel"));
        assert_eq!(report.cells[rack].missing.as_deref(), Some("no network"));
        assert_eq!((report.runs, report.late_percent), (3, Some(0.5)));
    }
}
