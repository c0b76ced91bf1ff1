//! An experiment whose plan has been read.

use super::Experiment;
use super::live::{LiveTransfer, MODEL, SIMULATOR};
use super::method::Prepared;
use super::method::TrialFailure;
use super::observation::Observation;
use super::own::{Own, Points};
use super::plan::{self, Claim, ExperimentPlan, Variant};
use super::report::StudyReport;
use super::runs::SeedRuns;
use super::sample::Sample;
use super::study_error::StudyError;
use super::subject::{Meaning, Subject};
use super::trial::{self, Trial, TrialError};
use polypath_sim::run::Plan as ScenarioPlan;
use std::collections::BTreeMap;
use std::path::Path;

/// No plan of one's own has more runs.
const MOST_RUNS: usize = 1_000_000;

/// The seed of live runs.
pub(crate) const FIRST_SEED: u32 = 1;

/// A transfer in network namespaces, and what is held against it.
#[derive(Debug)]
pub(crate) struct LiveTrial<'a> {
    /// The value on each axis, by the name of the axis.
    pub(crate) at: Vec<(&'a str, &'a str)>,
    pub(crate) model: Trial<'a>,
    pub(crate) simulator: Trial<'a>,
    pub(crate) transfer: LiveTransfer,
}

impl LiveTrial<'_> {
    /// `R1-1, links 2, delay_asymmetry 0 ms`
    pub(crate) fn name(&self) -> String {
        let at: String = self.at.iter().map(|(axis, value)| format!(", {axis} {value}")).collect();
        format!("{}{at}", self.model.study_id())
    }
}

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Few seeds and few points, shorter runs; no other readings, and assumptions are not varied.
    Quick,
    /// All seeds and points, the other readings, and all assumptions varied together over their
    /// ranges.
    Full,
}

/// An experiment and its plan.
#[derive(Debug)]
pub struct Study {
    subject: Subject,
    plan: ExperimentPlan,
    effort: Effort,
    sample: Sample,
}

/// What a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// The verdicts.
    Main,
    /// The verdicts by another reading, of this number.
    Reading(usize),
    /// How far they depend on assumptions: at a point of the sample of all of them.
    Sensitivity(usize),
}

/// The runs of a scope, by seed.
pub(super) type Seeds<'a> = Vec<SeedRuns<'a>>;

impl Study {
    /// Reads the plan of an experiment.
    ///
    /// # Errors
    /// See [`StudyError`].
    pub fn new(experiment: &'static Experiment, effort: Effort) -> Result<Self, StudyError> {
        let file = Path::new("experiments").join(experiment.folder).join("plan.toml");
        let plan = ExperimentPlan::parse(experiment.plan, &file)?;
        let study = Self::of(Subject::of_experiment(experiment), plan, effort);
        study.check(&file)?;
        Ok(study)
    }

    /// Reads a plan of one's own, some of whose values are overridden, each by a `KEY=VALUE`; keys
    /// that begin with `scenario.` are about its scenario.
    ///
    /// # Errors
    /// See [`StudyError`].
    pub fn load(file: &Path, settings: &[String], effort: Effort) -> Result<Self, StudyError> {
        let text = std::fs::read_to_string(file)
            .map_err(|error| StudyError::Read { file: file.to_owned(), error })?;
        Self::parse(text, settings, file, effort)
    }

    /// The same with the text of the file.
    pub(super) fn parse(
        text: String,
        settings: &[String],
        file: &Path,
        effort: Effort,
    ) -> Result<Self, StudyError> {
        let own = Own::read(text, settings, file)?;
        let plan = own.plan.clone();
        let study = Self::of(Subject::of_own(own), plan, effort);
        study.check_size(file)?;
        for scope in study.scopes() {
            study.subject.measures.check(&study.names(scope))?;
        }
        study.check(file)?;
        study.rehearse()?;
        Ok(study)
    }

    fn of(subject: Subject, plan: ExperimentPlan, effort: Effort) -> Self {
        let sample = match effort {
            Effort::Quick => Sample::default(),
            Effort::Full => Sample::of(&plan),
        };
        Self { subject, plan, effort, sample }
    }

    /// Checks the plan against the experiment and its scenario.
    fn check(&self, file: &Path) -> Result<(), StudyError> {
        for claim in self.claims() {
            if let Some(allowed) = self.subject.measures.allowed_instead(claim) {
                return Err(StudyError::Quantity {
                    file: file.to_owned(),
                    claim: claim.id.clone(),
                    quantity: claim.quantity.value.clone(),
                    allowed,
                });
            }
        }
        self.check_defaults(file)
    }

    /// What assumptions say must be what the scenario has, for each variant of the paper.
    fn check_defaults(&self, file: &Path) -> Result<(), StudyError> {
        let variants = self.plan.variant.value.iter().map(|variant| &variant.value);
        for variant in variants.filter(|variant| !variant.beyond) {
            let prepare = |settings: &[&Vec<String>]| {
                self.prepare(settings).map_err(|error| self.failed(&variant.name, error))
            };
            let as_it_is = prepare(&[&self.plan.set, &variant.set])?;
            let assumptions = self.plan.assumption.iter().map(|assumption| &assumption.value);
            for assumption in assumptions.filter(|assumption| assumption.is_of(variant)) {
                let set = plan::filled(&assumption.set, &assumption.value);
                if !prepare(&[&self.plan.set, &variant.set, &set])?.is_like(&as_it_is) {
                    return Err(StudyError::Default {
                        file: file.to_owned(),
                        assumption: assumption.name.clone(),
                        value: assumption.value.clone(),
                    });
                }
            }
        }
        Ok(())
    }

    /// Refuses grids that nobody can want and no memory holds.
    fn check_size(&self, file: &Path) -> Result<(), StudyError> {
        let runs_of = |scope: Scope| {
            let values = (0..self.plan.axis.len()).map(|axis| self.values(axis).len());
            let points = values.fold(1, usize::saturating_mul);
            let variants = self.variants_of(scope).count();
            points.saturating_mul(variants).saturating_mul(self.seeds_of(scope) as usize)
        };
        let runs = self.scopes().map(runs_of).fold(0, usize::saturating_add);
        match runs > MOST_RUNS {
            true => Err(StudyError::TooMany { file: file.to_owned(), runs, allowed: MOST_RUNS }),
            false => Ok(()),
        }
    }

    /// Runs each variant for next to no time, so that an expression which names what the results
    /// do not have is told before anybody waits. Whether a run is right otherwise it tells itself.
    fn rehearse(&self) -> Result<(), TrialError> {
        let short = ["warm_up=0 s", "duration=1 us"].map(str::to_owned).to_vec();
        for variant in self.plan.variant.value.iter().map(|variant| &variant.value) {
            let Ok(prepared) = self.prepare(&[&self.plan.set, &variant.set, &short]) else {
                continue;
            };
            if let Err(error @ TrialFailure::Quantity(_)) = prepared.observe(1) {
                return Err(self.failed(&variant.name, error));
            }
        }
        Ok(())
    }

    fn prepare(&self, settings: &[&Vec<String>]) -> Result<Prepared, TrialFailure> {
        let settings: Vec<_> = settings.iter().flat_map(|part| part.iter().cloned()).collect();
        trial::prepare(self, &settings)
    }

    fn failed(&self, run: &str, error: TrialFailure) -> TrialError {
        let experiment = self.plan.id.value.clone();
        TrialError { experiment, run: run.to_owned(), error: Box::new(error) }
    }

    pub(super) const fn subject(&self) -> &Subject {
        &self.subject
    }

    /// The plan.
    pub const fn plan(&self) -> &ExperimentPlan {
        &self.plan
    }

    pub(super) const fn effort(&self) -> Effort {
        self.effort
    }

    /// How many seeds verdicts are made of.
    pub fn seeds(&self) -> u32 {
        self.seeds_of(Scope::Main)
    }

    /// All runs: by what they are for, then by seed.
    ///
    /// # Errors
    /// When the scenario cannot be run with what the plan sets.
    pub(crate) fn trials(&self) -> Result<Vec<Trial<'_>>, TrialError> {
        let mut trials = Vec::new();
        for scope in self.scopes() {
            for seed in 1..=self.seeds_of(scope) {
                for point in self.points() {
                    for variant in self.variants_of(scope) {
                        trials.push(Trial::new(self, scope, variant, point.clone(), seed)?);
                    }
                }
            }
        }
        Ok(trials)
    }

    /// The transfers that can run in network namespaces, of the first seed at each point, or with
    /// `ends` at the ends of the last axis and the beginning of the others, and the trials of model
    /// and simulator that are held against them.
    ///
    /// # Errors
    /// When the parameters cannot be read with what the plan sets.
    pub(crate) fn live_trials(&self, ends: bool) -> Result<Vec<LiveTrial<'_>>, TrialError> {
        let mut trials = Vec::new();
        let variants = &self.plan.variant.value;
        let number = |name: &str| variants.iter().position(|variant| variant.value.name == name);
        let Some((model, simulator)) = number(MODEL).zip(number(SIMULATOR)) else {
            return Ok(trials);
        };
        for point in self.points().into_iter().filter(|point| !ends || self.is_end(point)) {
            let trial = |variant| Trial::new(self, Scope::Main, variant, point.clone(), FIRST_SEED);
            let (model, simulator) = (trial(model)?, trial(simulator)?);
            if let Some(transfer) = simulator.live()? {
                trials.push(LiveTrial { at: simulator.at(), model, simulator, transfer });
            }
        }
        Ok(trials)
    }

    /// What has come out of all the trials.
    pub fn report(&self, results: &[(Trial<'_>, Observation)]) -> StudyReport {
        let mut scopes: BTreeMap<Scope, BTreeMap<u32, SeedRuns<'_>>> = BTreeMap::new();
        for (trial, observation) in results {
            let variant = &self.plan.variant.value[trial.variant].value.name;
            let seeds = scopes.entry(trial.scope).or_default();
            seeds.entry(trial.seed).or_default().add(variant, trial.at(), observation);
        }
        let scopes =
            scopes.into_iter().map(|(scope, seeds)| (scope, seeds.into_values().collect()));
        StudyReport::new(self, &scopes.collect(), results.len())
    }

    /// What a claim is about by the runs of each seed of a scope. What is not finite, as the ratio
    /// to nothing, was not observed.
    pub(super) fn per_seed(
        &self,
        claim: &Claim,
        scope: Scope,
        seeds: &[SeedRuns<'_>],
    ) -> Vec<Option<f64>> {
        let names = self.names(scope);
        let value = |runs| {
            let points = Points { runs: Some(runs), ..names.clone() };
            self.subject.measures.value(claim, &points).filter(|value| value.is_finite())
        };
        seeds.iter().map(value).collect()
    }

    /// What a claim is about: there is something, it has been checked.
    pub(super) fn meaning(&self, claim: &Claim) -> Option<Meaning<'_>> {
        self.subject.measures.meaning(claim)
    }

    /// What claims may name in the runs of a scope.
    fn names(&self, scope: Scope) -> Points<'_> {
        let variants = self.variants_of(scope);
        let variants = variants.map(|index| self.plan.variant.value[index].value.name.as_str());
        let axes = self.plan.axis.iter().map(|axis| &axis.value);
        let axes = axes.map(|axis| (axis.name.as_str(), axis.run(self.effort)));
        let quantities = self.subject.measures.names();
        Points { quantities, variants: variants.collect(), axes: axes.collect(), runs: None }
    }

    /// The variant of this number at a point, with what else is set, as a scenario that is run.
    ///
    /// # Errors
    /// When it cannot be.
    pub(super) fn scenario_plan(
        &self,
        variant: usize,
        point: &[&str],
        more: &[String],
    ) -> Result<ScenarioPlan, TrialError> {
        let settings = [trial::settings(self, Scope::Main, variant, point), more.to_vec()].concat();
        let failed = |error| self.failed(&self.variant_at(variant).name, error);
        match trial::prepare(self, &settings).map_err(failed)? {
            Prepared::Run(plan, _) => Ok(*plan),
            Prepared::Evaluation(_) => unreachable!("the kernel runs scenarios"),
        }
    }

    /// The value on each axis, by the name of the axis.
    pub(super) fn at<'a>(&'a self, point: &[&'a str]) -> Vec<(&'a str, &'a str)> {
        let axes = self.plan.axis.iter().map(|axis| axis.value.name.as_str());
        axes.zip(point.iter().copied()).collect()
    }

    /// The variant of this number.
    pub(super) fn variant_at(&self, number: usize) -> &Variant {
        &self.plan.variant.value[number].value
    }

    /// The claims.
    pub(super) fn claims(&self) -> impl Iterator<Item = &Claim> {
        self.plan.claim.value.iter().map(|claim| &claim.value)
    }

    /// The variant of this name.
    pub(super) fn variant(&self, name: &str) -> Option<&Variant> {
        let mut variants = self.plan.variant.value.iter().map(|variant| &variant.value);
        variants.find(|variant| variant.name == name)
    }

    /// The values of the assumptions in sensitivity runs.
    pub(super) const fn sample(&self) -> &Sample {
        &self.sample
    }

    /// The values of an axis that are run.
    pub(super) fn values(&self, axis: usize) -> &[String] {
        self.plan.axis[axis].value.run(self.effort)
    }

    fn scopes(&self) -> impl Iterator<Item = Scope> {
        let readings = match self.effort {
            Effort::Quick => 0,
            Effort::Full => self.plan.reading.len(),
        };
        let readings = (0..readings).map(Scope::Reading);
        let points = (0..self.sample.points()).map(Scope::Sensitivity);
        [Scope::Main].into_iter().chain(readings).chain(points)
    }

    fn seeds_of(&self, scope: Scope) -> u32 {
        match (scope, self.effort) {
            _ if self.plan.deterministic => 1,
            (Scope::Sensitivity(_), _) => self.plan.sensitivity_seeds,
            (Scope::Reading(_), _) => self.plan.reading_seeds,
            (Scope::Main, Effort::Quick) => self.plan.quick_seeds,
            (Scope::Main, Effort::Full) => self.plan.seeds,
        }
    }

    /// The variants that run: verdicts do not depend on those that the paper does not have.
    pub(super) fn variants_of(&self, scope: Scope) -> impl Iterator<Item = usize> {
        let all = self.plan.variant.value.iter().enumerate();
        let runs = move |beyond: bool| scope == Scope::Main || !beyond;
        all.filter(move |(_, variant)| runs(variant.value.beyond)).map(|(index, _)| index)
    }

    /// Whether a point is at an end of the last axis and at the beginning of the others.
    fn is_end(&self, point: &[&str]) -> bool {
        let last_axis = point.len().saturating_sub(1);
        point.iter().enumerate().all(|(axis, value)| {
            let values = self.values(axis);
            let other_end = values.last().filter(|_| axis == last_axis);
            [values.first(), other_end].into_iter().flatten().any(|end| end == value)
        })
    }

    /// All points of the axes, those of the last axis next to each other.
    pub(super) fn points(&self) -> Vec<Vec<&str>> {
        let mut points = vec![Vec::new()];
        for axis in 0..self.plan.axis.len() {
            let values = self.values(axis);
            let mut longer = Vec::new();
            for point in points {
                longer.extend(values.iter().map(|value| [&point[..], &[value.as_str()]].concat()));
            }
            points = longer;
        }
        points
    }
}
