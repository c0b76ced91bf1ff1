//! A run of an experiment, or an evaluation.

use super::live::LiveTransfer;
use super::method::{Input, Prepared, TrialFailure};
use super::observation::Observation;
use super::plan::filled;
use super::study::{Effort, Scope, Study};
use super::subject::Subject;
use crate::store::{Label, digest};

/// Changes with what a line of results means.
const FORMAT: &str = "1";
/// The seed whose curves are kept.
const DRAWN_SEED: u32 = 1;

/// A run: it depends on nothing else.
#[derive(Clone, Debug)]
pub struct Trial<'a> {
    study: &'a Study,
    pub(super) scope: Scope,
    /// The number of the variant.
    pub(super) variant: usize,
    /// The value on each axis.
    pub(super) point: Vec<&'a str>,
    /// The seed.
    pub(super) seed: u32,
    /// The scenario or the parameters as this run has them.
    prepared: Prepared,
}

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
#[error("experiment {experiment}, {run}: {error}")]
pub struct TrialError {
    /// The experiment.
    pub experiment: String,
    /// Which run.
    pub run: String,
    /// Why.
    pub error: Box<TrialFailure>,
}

impl<'a> Trial<'a> {
    /// A run of this study.
    ///
    /// # Errors
    /// When the scenario cannot be run, or the parameters not be read, with what the run sets.
    pub(super) fn new(
        study: &'a Study,
        scope: Scope,
        variant: usize,
        point: Vec<&'a str>,
        seed: u32,
    ) -> Result<Self, TrialError> {
        let settings = settings(study, scope, variant, &point);
        let prepared = prepare(study, &settings).map_err(|error| TrialError {
            experiment: study.plan().id.value.clone(),
            run: name(study, scope, variant, &point),
            error: Box::new(error),
        })?;
        Ok(Self { study, scope, variant, point, seed, prepared })
    }

    /// What its results are kept under: a digest of the program's version, everything that runs,
    /// the algorithms' parameters included, and the seed.
    pub fn label(&self) -> Label {
        let key = digest(&[
            FORMAT.to_owned(),
            env!("CARGO_PKG_VERSION").to_owned(),
            self.study.plan().id.value.clone(),
            self.prepared.fingerprint(),
            self.keeps_curves().to_string(),
            self.seed.to_string(),
        ]);
        let scenario = self.study.plan().id.value.clone();
        Label { key, scenario, sender: self.name(), seed: self.seed }
    }

    /// Runs it.
    ///
    /// # Errors
    /// When the run fails.
    pub fn run(&self) -> Result<Observation, TrialError> {
        let mut observation = self.prepared.observe(self.seed).map_err(|error| TrialError {
            experiment: self.study.plan().id.value.clone(),
            run: format!("{}, seed {}", self.name(), self.seed),
            error: Box::new(error),
        })?;
        if !self.keeps_curves() {
            observation.curves.clear();
        }
        Ok(observation)
    }

    /// The same in network namespaces, if it can run there.
    ///
    /// # Errors
    /// When there is no such network.
    pub(super) fn live(&self) -> Result<Option<LiveTransfer>, TrialError> {
        self.prepared.live(self.seed).map_err(|error| TrialError {
            experiment: self.study.plan().id.value.clone(),
            run: self.name(),
            error: Box::new(error),
        })
    }

    /// The name of its experiment.
    pub(super) fn study_id(&self) -> &str {
        &self.study.plan().id.value
    }

    /// The value on each axis, by the name of the axis.
    pub(super) fn at(&self) -> Vec<(&'a str, &'a str)> {
        self.study.at(&self.point)
    }

    fn name(&self) -> String {
        name(self.study, self.scope, self.variant, &self.point)
    }

    /// Whether a plot shows curves of this run.
    fn keeps_curves(&self) -> bool {
        let mut plots = self.study.plan().plot.iter().map(|plot| &plot.value.kind);
        self.seed == DRAWN_SEED
            && self.scope == Scope::Main
            && plots.any(|kind| kind.curves_over().is_some())
    }
}

/// What a run has otherwise than the scenario.
pub(super) fn settings(study: &Study, scope: Scope, variant: usize, point: &[&str]) -> Vec<String> {
    let plan = study.plan();
    let variant = &plan.variant.value[variant].value;
    let mut settings = [&plan.set[..], &variant.set[..]].concat();
    if study.effort() == Effort::Quick {
        settings.extend(plan.quick.iter().cloned());
    }
    for (axis, value) in plan.axis.iter().zip(point) {
        settings.extend(filled(&axis.value.set, value));
    }
    match scope {
        Scope::Main => {}
        Scope::Reading(number) => {
            let reading = &plan.reading[number].value;
            settings.extend(reading.set.iter().filter(|_| reading.is_of(variant)).cloned());
        }
        Scope::Sensitivity(point) => {
            settings.extend(study.sample().settings(point, plan, variant));
        }
    }
    settings
}

/// The scenario or the parameters of a study with these values overridden.
pub(super) fn prepare(study: &Study, settings: &[String]) -> Result<Prepared, TrialFailure> {
    let Subject { method, file, text, table, open, .. } = study.subject();
    method.prepare(&Input { file, text, table: *table, open: *open, settings })
}

/// `bess, mmwave_delay 5 ms, point 3 of the sample`
fn name(study: &Study, scope: Scope, variant: usize, point: &[&str]) -> String {
    let plan = study.plan();
    let mut name = plan.variant.value[variant].value.name.clone();
    for (axis, value) in plan.axis.iter().zip(point) {
        name += &format!(", {} {value}", axis.value.name);
    }
    match scope {
        Scope::Main => {}
        Scope::Reading(number) => name += &format!(", {}", plan.reading[number].value.name),
        Scope::Sensitivity(point) => name += &format!(", point {} of the sample", point + 1),
    }
    name
}
