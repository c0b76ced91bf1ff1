//! An experiment whose plan has been read.

use super::claim::Judgement;
use super::method::Prepared;
use super::observation::Observation;
use super::plan::{self, Claim, ExperimentPlan, Variant};
use super::report::StudyReport;
use super::runs::SeedRuns;
use super::trial::{self, Trial, TrialError};
use super::{Experiment, Quantity};
use polypath_config::DocumentError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Few seeds and few points, shorter runs; assumptions are not varied.
    Quick,
    /// All seeds and points, and each assumption varied over its range.
    Full,
}

/// An experiment and its plan.
#[derive(Debug)]
pub struct Study {
    experiment: &'static Experiment,
    plan: ExperimentPlan,
    effort: Effort,
}

/// What a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// The verdicts.
    Main,
    /// How far they depend on assumptions: with one of them varied, or none.
    Sensitivity(Option<Varied>),
}

/// An assumption with a value of its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Varied {
    /// The number of the assumption.
    pub(super) assumption: usize,
    /// The number of the value.
    pub(super) value: usize,
}

/// Why an experiment cannot be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// The plan is wrong.
    #[error(transparent)]
    Plan(#[from] DocumentError),
    /// A claim about a quantity that the experiment does not have.
    #[error(
        "{}: claim {claim}: no quantity {quantity:?}; allowed are {}", file.display(), allowed.join(", ")
    )]
    Quantity {
        /// The plan.
        file: PathBuf,
        /// The claim.
        claim: String,
        /// The quantity that it names.
        quantity: String,
        /// The quantities of the experiment.
        allowed: Vec<&'static str>,
    },
    /// A default that the scenario does not have.
    #[error(
        "{}: assumption {assumption:?}: the scenario does not have the value {value:?}",
        file.display()
    )]
    Default {
        /// The plan.
        file: PathBuf,
        /// The assumption.
        assumption: String,
        /// Its value.
        value: String,
    },
    /// The scenario is wrong.
    #[error(transparent)]
    Trial(#[from] TrialError),
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
        let study = Self { experiment, plan, effort };
        study.check(&file)?;
        Ok(study)
    }

    /// Checks the plan against the experiment and its scenario.
    fn check(&self, file: &Path) -> Result<(), StudyError> {
        for claim in self.claims() {
            if self.find(claim).is_none() {
                return Err(StudyError::Quantity {
                    file: file.to_owned(),
                    claim: claim.id.clone(),
                    quantity: claim.quantity.clone(),
                    allowed: self.experiment.quantities.iter().map(|q| q.name).collect(),
                });
            }
        }
        self.check_defaults(file)
    }

    /// What assumptions say must be what the scenario has, for each variant of the paper.
    fn check_defaults(&self, file: &Path) -> Result<(), StudyError> {
        let variants = self.plan.variant.value.iter().map(|variant| &variant.value);
        for variant in variants.filter(|variant| !variant.beyond) {
            let as_it_is = self.prepare(&[&self.plan.set, &variant.set])?;
            let assumptions = self.plan.assumption.iter().map(|assumption| &assumption.value);
            for assumption in assumptions.filter(|assumption| assumption.is_of(variant)) {
                let set = plan::filled(&assumption.set, &assumption.value);
                if !self.prepare(&[&self.plan.set, &variant.set, &set])?.is_like(&as_it_is) {
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

    fn prepare(&self, settings: &[&Vec<String>]) -> Result<Prepared, TrialError> {
        let settings: Vec<_> = settings.iter().flat_map(|part| part.iter().cloned()).collect();
        trial::prepare(self, &settings).map_err(|error| TrialError {
            experiment: self.plan.id.clone(),
            run: "checking assumptions".to_owned(),
            error: Box::new(error),
        })
    }

    /// The experiment.
    pub const fn experiment(&self) -> &'static Experiment {
        self.experiment
    }

    /// The plan.
    pub const fn plan(&self) -> &ExperimentPlan {
        &self.plan
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
                for point in self.points(scope) {
                    for variant in self.variants_of(scope) {
                        trials.push(Trial::new(self, scope, variant, point.clone(), seed)?);
                    }
                }
            }
        }
        Ok(trials)
    }

    /// What has come out of all the trials.
    pub fn report(&self, results: &[(Trial<'_>, Observation)]) -> StudyReport {
        let mut scopes: BTreeMap<Scope, BTreeMap<u32, SeedRuns<'_>>> = BTreeMap::new();
        for (trial, observation) in results {
            let at = self.plan.axis.iter().zip(&trial.point);
            let at = at.map(|(axis, value)| (axis.value.name.as_str(), *value)).collect();
            let variant = &self.plan.variant.value[trial.variant].value.name;
            let seeds = scopes.entry(trial.scope).or_default();
            seeds.entry(trial.seed).or_default().add(variant, at, observation);
        }
        let scopes =
            scopes.into_iter().map(|(scope, seeds)| (scope, seeds.into_values().collect()));
        StudyReport::new(self, &scopes.collect(), results.len())
    }

    /// The judgement of a claim by the runs of each seed.
    pub(super) fn judge(&self, claim: &Claim, seeds: &[SeedRuns<'_>]) -> Option<Judgement> {
        self.find(claim).map(|quantity| claim.judge(quantity, seeds))
    }

    /// The quantity of a claim: there is one, it has been checked.
    pub(super) fn find(&self, claim: &Claim) -> Option<&'static Quantity> {
        self.experiment.quantities.iter().find(|quantity| quantity.name == claim.quantity)
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

    /// `queue = 2 MB`
    pub(super) fn describe(&self, varied: Varied) -> String {
        let assumption = &self.plan.assumption[varied.assumption].value;
        format!("{} = {}", assumption.name, assumption.range[varied.value])
    }

    /// Whether runs of this scope are those of a quick run.
    pub(super) fn is_reduced(&self, scope: Scope) -> bool {
        self.effort == Effort::Quick || scope != Scope::Main
    }

    /// The values of an axis that are run for the verdicts.
    pub(super) fn values(&self, axis: usize) -> &[String] {
        self.values_of(Scope::Main, axis)
    }

    fn values_of(&self, scope: Scope, axis: usize) -> &[String] {
        let axis = &self.plan.axis[axis].value;
        if self.is_reduced(scope) { &axis.quick } else { &axis.values }
    }

    fn scopes(&self) -> Vec<Scope> {
        let mut scopes = vec![Scope::Main];
        if self.effort == Effort::Full {
            scopes.push(Scope::Sensitivity(None));
            for (assumption, varied) in self.plan.assumption.iter().enumerate() {
                let values = 0..varied.value.range.len();
                let varied = values.map(|value| Varied { assumption, value });
                scopes.extend(varied.map(|varied| Scope::Sensitivity(Some(varied))));
            }
        }
        scopes
    }

    fn seeds_of(&self, scope: Scope) -> u32 {
        match (scope, self.effort) {
            _ if self.plan.deterministic => 1,
            (Scope::Sensitivity(_), _) => self.plan.sensitivity_seeds,
            (Scope::Main, Effort::Quick) => self.plan.quick_seeds,
            (Scope::Main, Effort::Full) => self.plan.seeds,
        }
    }

    /// The variants that run: verdicts do not depend on those that the paper does not have.
    fn variants_of(&self, scope: Scope) -> impl Iterator<Item = usize> {
        let all = self.plan.variant.value.iter().enumerate();
        let runs = move |beyond: bool| scope == Scope::Main || !beyond;
        all.filter(move |(_, variant)| runs(variant.value.beyond)).map(|(index, _)| index)
    }

    /// All points of the axes, those of the last axis next to each other.
    fn points(&self, scope: Scope) -> Vec<Vec<&str>> {
        let mut points = vec![Vec::new()];
        for axis in 0..self.plan.axis.len() {
            let values = self.values_of(scope, axis);
            let mut longer = Vec::new();
            for point in points {
                longer.extend(values.iter().map(|value| [&point[..], &[value.as_str()]].concat()));
            }
            points = longer;
        }
        points
    }
}
