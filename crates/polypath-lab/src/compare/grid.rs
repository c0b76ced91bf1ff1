//! Everything that is to run.

use super::job::{Job, Sender};
use super::{BOND, Combination, SuiteScenario};
use polypath_sim::run::{Plan, RunError};
use polypath_sim::scenario::Scenario;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Combinations in scenarios: each with each, over the same seeds, and beside them each control
/// over each path alone.
#[derive(Clone, Debug)]
pub struct Grid {
    stages: Vec<Stage>,
    combinations: Vec<Combination>,
    seeds: u32,
}

/// A scenario as it is run.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The scenario.
    pub scenario: SuiteScenario,
    /// How long a run lasts at most.
    pub duration: Duration,
    /// What is set in every run, after all else.
    pub settings: Vec<String>,
    /// The paths of the bond.
    pub paths: Vec<String>,
    /// The paths whose rate is drawn at random; each seed of a run draws another.
    pub drawn: Vec<String>,
}

/// What every scenario of a grid has otherwise than in its file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Runs that would last longer are cut off here.
    pub limit: Option<Duration>,
    /// Overrides as `KEY=VALUE`, after those of what is compared.
    pub settings: Vec<String>,
}

/// Why a scenario is not one to compare in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GridError {
    /// It cannot be run.
    #[error("scenario {scenario}: {error}")]
    Run {
        /// Its name.
        scenario: &'static str,
        /// Why not.
        error: Box<RunError>,
    },
    /// It is not made for it.
    #[error("scenario {scenario}: {problem}")]
    Unsuited {
        /// Its name.
        scenario: &'static str,
        /// What it lacks.
        problem: &'static str,
    },
}

impl GridError {
    /// Whether the scenario, as it was changed, is wrong, and not the machine that it runs on.
    pub const fn is_of_scenario(&self) -> bool {
        match self {
            Self::Run { error, .. } => error.is_of_scenario(),
            Self::Unsuited { .. } => true,
        }
    }
}

impl Grid {
    /// These combinations in these scenarios with these changes, each with the seeds from 1 to
    /// `seeds`.
    ///
    /// # Errors
    /// See [`GridError`].
    pub fn new(
        scenarios: &[SuiteScenario],
        combinations: Vec<Combination>,
        seeds: u32,
        changes: &Changes,
    ) -> Result<Self, GridError> {
        let stages = scenarios.iter().map(|&scenario| Stage::new(scenario, changes));
        Ok(Self { stages: stages.collect::<Result<_, _>>()?, combinations, seeds })
    }

    /// The scenarios.
    pub(crate) fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// The combinations.
    pub fn combinations(&self) -> &[Combination] {
        &self.combinations
    }

    /// How many seeds, from 1 on.
    pub const fn seeds(&self) -> u32 {
        self.seeds
    }

    /// Whether it is a run of this grid, but for its seed.
    pub(crate) fn includes(&self, job: &Job<'_>) -> bool {
        let stage = |stage: &&Stage| stage.scenario.name == job.stage.scenario.name;
        self.stages
            .iter()
            .find(stage)
            .is_some_and(|stage| self.senders(stage).contains(&job.sender))
    }

    /// All runs: by scenario, then by sender, then by seed.
    pub fn jobs(&self) -> Vec<Job<'_>> {
        let mut jobs = Vec::new();
        for stage in &self.stages {
            for sender in self.senders(stage) {
                let job = |seed| Job { stage, sender: sender.clone(), seed };
                jobs.extend((1..=self.seeds).map(job));
            }
        }
        jobs
    }

    /// The same with those combinations only that `keep` wants.
    pub(super) fn only(&self, keep: impl Fn(&Combination) -> bool) -> Self {
        let combinations = self.combinations.iter().copied().filter(|c| keep(c)).collect();
        Self { combinations, ..self.clone() }
    }

    /// All that send in a scenario.
    fn senders(&self, stage: &Stage) -> Vec<Sender> {
        let controls: BTreeSet<_> = self.combinations.iter().map(|c| c.control).collect();
        let alone = controls.into_iter().flat_map(|control| {
            stage.paths.iter().map(move |path| Sender::Alone(control, path.clone()))
        });
        self.combinations.iter().copied().map(Sender::Bond).chain(alone).collect()
    }
}

impl Stage {
    fn new(scenario: SuiteScenario, changes: &Changes) -> Result<Self, GridError> {
        let name = scenario.name;
        let run = |error| GridError::Run { scenario: name, error: Box::new(error) };
        let unsuited = |problem| GridError::Unsuited { scenario: name, problem };
        let plan = plan(&scenario, &changes.settings).map_err(run)?;
        let duration = plan.scenario().duration.ok_or(unsuited("it has no `duration`"))?;
        let paths = paths(&plan).ok_or(unsuited("it has no connection `bond`"))?;
        let flows = plan.scenario().flows.iter().filter(|flow| flow.connection == BOND);
        if flows.count() != 1 {
            return Err(unsuited("its connection `bond` has not one flow"));
        }
        let duration = changes.limit.map_or(duration, |limit| limit.min(duration));
        let settings = changes.settings.clone();
        Ok(Self { scenario, duration, settings, paths, drawn: drawn(scenario.text) })
    }

    /// What a run of this seed has otherwise than the file: its length, and what is drawn.
    pub(super) fn drawn_by(&self, seed: u32) -> Vec<String> {
        let mut settings = vec![format!("duration={} ns", self.duration.as_nanos())];
        settings.extend(self.drawn.iter().zip(0u32..).map(|(source, nth)| {
            // Paths of one run differ from each other.
            format!("path.{source}.seed={}", seed.wrapping_mul(1_000).wrapping_add(nth))
        }));
        settings
    }
}

/// A scenario of the suite with these values overridden.
pub(super) fn plan(scenario: &SuiteScenario, settings: &[String]) -> Result<Plan, RunError> {
    let file = format!("{}.toml", scenario.name);
    let no_trace = &mut |_: &Path| Err(io::Error::from(io::ErrorKind::NotFound));
    Plan::new(Scenario::parse_with(scenario.text, settings, Path::new(&file), no_trace)?)
}

/// The paths of the bond, by the names of their first links.
fn paths(plan: &Plan) -> Option<Vec<String>> {
    let bond = plan.connections().iter().find(|planned| planned.name == BOND)?;
    let first = bond.routes.iter().filter_map(|route| route.0.first());
    Some(first.map(|&link| plan.topology().edge(link).name.clone()).collect())
}

/// The tables of paths that something is drawn for: `5g.generate`, `lte.radio`.
fn drawn(text: &str) -> Vec<String> {
    let file: toml::Table = toml::from_str(text).unwrap_or_default();
    let paths = file.get("path").and_then(toml::Value::as_array).into_iter().flatten();
    let source = |path: &toml::Value| {
        let name = path.get("name")?.as_str()?;
        let kind = ["generate", "radio"].into_iter().find(|kind| path.get(kind).is_some())?;
        Some(format!("{name}.{kind}"))
    };
    paths.filter_map(source).collect()
}
