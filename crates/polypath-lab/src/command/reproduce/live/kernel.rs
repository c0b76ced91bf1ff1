//! The simulator, held against the kernel's Multipath TCP.

use std::sync::atomic::{AtomicBool, Ordering};

use polypath_emulator::plan::Prefix;
use polypath_emulator::validate::{KernelRun, recorded};
use polypath_sim::scenario::Scenario;

use super::study;
use crate::command::reproduce::ReproduceOptions;
use crate::command::runs::Work;
use crate::experiment::{
    Experiment, KernelCase, KernelLive, KernelReport, KernelTrial, KernelTrials, Observation,
    Results, Simulation,
};
use crate::store::{Label, digest};
use polypath::output;

/// Runs the experiments by the kernel, then in the simulator; `None`, which the user is told, after
/// a signal.
///
/// # Errors
/// When an experiment cannot be run, or the first live run fails.
pub(super) fn measured(
    experiments: &[(&'static Experiment, KernelLive)],
    options: &ReproduceOptions,
    stopped: &AtomicBool,
) -> anyhow::Result<Option<Vec<KernelReport>>> {
    let studies = experiments.iter().map(|(of, _)| study(of, options.quick));
    let studies: Vec<_> = studies.collect::<Result<_, _>>()?;
    let (netns, capacity) = (&options.live.netns, options.live.capacity);
    let trials = studies.iter().zip(experiments);
    let trials = trials
        .map(|(study, (_, live))| KernelTrials::new(study, *live, !options.quick, capacity, netns));
    let trials: Vec<_> = trials.collect::<Result<_, _>>()?;
    let mut live = Live { runs: options.live.runs, netns, stopped, done: Vec::new() };
    let mut reports = Vec::new();
    for trials in &trials {
        let Some(mut results) = live.run(trials)? else {
            output::tell("interrupted: all that was made has been removed\n");
            return Ok(None);
        };
        if !simulate(trials, options, &mut results)? {
            return Ok(None);
        }
        reports.push(KernelReport::new(trials, &results, options.live.runs));
    }
    Ok(Some(reports))
}

/// Live runs, those that are done among them: variants and experiments have some in common.
struct Live<'a> {
    runs: u32,
    netns: &'a Prefix,
    stopped: &'a AtomicBool,
    done: Vec<(&'a KernelCase, Result<Vec<KernelRun>, String>)>,
}

impl<'a> Live<'a> {
    /// Runs all that the kernel can do of an experiment; `None` once a signal has come.
    fn run(&mut self, trials: &'a KernelTrials<'_>) -> anyhow::Result<Option<Results>> {
        let mut results = Results::default();
        let (id, of) = (&trials.study.plan().id.value, trials.trials.len());
        for (number, trial) in trials.trials.iter().enumerate() {
            let mut observed = Vec::new();
            if let Ok(case) = &trial.case {
                output::tell(&format!("{id}, {} of {of}: {}\n", number + 1, trial.name()));
                let Some(runs) = self.runs_of(case)? else { return Ok(None) };
                match runs {
                    Ok(runs) => {
                        let late = runs.iter().map(KernelRun::late_percent).reduce(f64::max);
                        results.late_percent =
                            results.late_percent.into_iter().chain(late).reduce(f64::max);
                        observed = observations(trial, case.kernel.scenario(), &runs);
                    }
                    Err(problem) => drop(results.failed.insert(number, problem)),
                }
            }
            results.live.push(observed);
        }
        Ok(Some(results))
    }

    /// The runs of a case, with the seeds from 1 on, or why there are none; `None` once a signal
    /// has come.
    fn runs_of(
        &mut self,
        case: &'a KernelCase,
    ) -> anyhow::Result<Option<Result<Vec<KernelRun>, String>>> {
        if let Some((_, runs)) = self.done.iter().find(|(done, _)| done.is_like(case)) {
            return Ok(Some(runs.clone()));
        }
        let mut runs = Vec::new();
        let mut problem = None;
        for seed in 1..=self.runs {
            if self.stopped.load(Ordering::Relaxed) {
                return Ok(None);
            }
            match recorded(&case.kernel, self.netns, seed.into(), case.agents) {
                Ok(run) => runs.push(run),
                // Whatever keeps the first one from running keeps all.
                Err(error) if self.done.is_empty() => return Err(error.into()),
                Err(error) => {
                    problem = Some(error.to_string());
                    break;
                }
            }
        }
        let runs = problem.map_or(Ok(runs), Err);
        self.done.push((case, runs.clone()));
        Ok(Some(runs))
    }
}

fn observations(
    trial: &KernelTrial<'_>,
    scenario: &Scenario,
    runs: &[KernelRun],
) -> Vec<Observation> {
    runs.iter().map(|run| (trial.observers.live)(scenario, run)).collect()
}

/// The same runs in the simulator, and those of the plan; `false` after a signal.
fn simulate(
    trials: &KernelTrials<'_>,
    options: &ReproduceOptions,
    results: &mut Results,
) -> anyhow::Result<bool> {
    let seeds = || 1..=options.live.runs;
    let planned = trials.trials.iter().map(|one| seeds().map(|s| one.as_planned(s)).collect());
    let as_live = trials.trials.iter().map(|one| seeds().filter_map(|s| one.as_live(s)).collect());
    let groups: Vec<Vec<Simulation<'_>>> = planned.chain(as_live).collect();
    let counts: Vec<_> = groups.iter().map(Vec::len).collect();
    let jobs: Vec<_> = groups.into_iter().flatten().collect();
    let Some(done) = options.runs.results(jobs)? else { return Ok(false) };
    let mut observations = done.into_iter().map(|(_, observation)| observation);
    let mut groups = counts.into_iter().map(|count| observations.by_ref().take(count).collect());
    results.simulator = groups.by_ref().take(trials.trials.len()).collect();
    results.as_live = groups.collect();
    Ok(true)
}

impl Work for Simulation<'_> {
    type Measured = Observation;

    fn label(&self) -> Label {
        let key = digest(&[self.fingerprint(), self.seed.to_string()]);
        Label { key, scenario: String::new(), sender: String::new(), seed: self.seed }
    }

    fn run(&self) -> anyhow::Result<Observation> {
        Ok(Simulation::run(self)?)
    }
}
