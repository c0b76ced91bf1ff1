//! How a trial comes to what it observes.

use super::live::LiveTransfer;
use super::observation::Observation;
use super::own::Formulas;
use core::fmt;
use polypath_config::DocumentError;
use polypath_model::ModelError;
use polypath_sim::run::{Keep, Outcome, Plan, RunError};
use polypath_sim::scenario::declare::{Keys, Located};
use polypath_sim::scenario::read_overridden;
use polypath_sim::scenario::{Scenario, ScenarioError};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// How a trial comes to what it observes.
#[derive(Clone, Debug)]
pub enum Method {
    /// The experiment's file is a scenario: it is run, and this is taken from the run.
    Simulation(Observer),
    /// The file has parameters, which this reads: they are evaluated.
    Evaluation(fn(&Input<'_>) -> Result<Arc<dyn Evaluate>, ScenarioError>),
}

/// What is taken from a run.
#[derive(Clone, Debug)]
pub enum Observer {
    /// What a function takes.
    Code(fn(&Scenario, &Outcome) -> Observation),
    /// The quantities of a plan of one's own.
    Formulas(Arc<Formulas>),
}

/// Parameters that can be evaluated: those of a model, or of scenarios that are made of them. Their
/// `Debug` form tells all of them, so that equal parameters have equal forms and others have not.
pub trait Evaluate: fmt::Debug + Send + Sync {
    /// What comes out, for a seed.
    ///
    /// # Errors
    /// When a model or a run refuses the parameters.
    fn evaluate(&self, seed: u32) -> Result<Observation, TrialFailure>;

    /// The same in network namespaces, if it can run there.
    ///
    /// # Errors
    /// When there is no such network.
    fn live(&self, _seed: u32) -> Result<Option<LiveTransfer>, TrialFailure> {
        Ok(None)
    }
}

/// A file of an experiment, and what a trial has otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    pub(super) file: &'a Path,
    pub(super) text: &'a str,
    /// The table of it with the scenario, unless that is all of it.
    pub(super) table: Option<&'static str>,
    /// Gives what traces have.
    pub(super) open: fn(&Path) -> io::Result<Vec<u8>>,
    pub(super) settings: &'a [String],
}

/// Why a trial has no result.
#[derive(Debug, thiserror::Error)]
pub enum TrialFailure {
    /// The scenario cannot be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A model refuses its parameters.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A quantity does not fit the results.
    #[error(transparent)]
    Quantity(#[from] DocumentError),
}

impl TrialFailure {
    /// Whether a plan or its scenario is wrong.
    pub fn is_of_plan(&self) -> bool {
        match self {
            Self::Run(error) => error.is_of_scenario(),
            Self::Quantity(_) => true,
            Self::Model(_) => false,
        }
    }
}

impl From<ScenarioError> for TrialFailure {
    fn from(error: ScenarioError) -> Self {
        RunError::from(error).into()
    }
}

impl Input<'_> {
    /// The parameters as this trial has them.
    pub(super) fn parameters<P: Keys + Evaluate + 'static>(
        &self,
    ) -> Result<Arc<dyn Evaluate>, ScenarioError> {
        let parameters: Located<P> =
            read_overridden(self.text, self.settings, self.file, "parameters")?;
        Ok(Arc::new(parameters.value))
    }

    fn scenario(&self) -> Result<Scenario, ScenarioError> {
        let Self { file, text, settings, .. } = *self;
        let open = &mut |trace: &Path| (self.open)(trace);
        match self.table {
            Some(table) => Scenario::parse_table(text, table, settings, file, open),
            None => Scenario::parse_with(text, settings, file, open),
        }
    }
}

/// What a trial does, ready to be done.
#[derive(Clone, Debug)]
pub(super) enum Prepared {
    Run(Box<Plan>, Observer),
    Evaluation(Arc<dyn Evaluate>),
}

impl Method {
    /// # Errors
    /// When the scenario cannot be run, or the parameters cannot be read.
    pub(super) fn prepare(&self, input: &Input<'_>) -> Result<Prepared, TrialFailure> {
        Ok(match self {
            Self::Simulation(observe) => {
                Prepared::Run(Box::new(Plan::new(input.scenario()?)?), observe.clone())
            }
            Self::Evaluation(read) => Prepared::Evaluation(read(input)?),
        })
    }
}

impl Observer {
    /// What the observation depends on besides the run and the program.
    fn fingerprint(&self) -> String {
        match self {
            Self::Code(_) => String::new(),
            Self::Formulas(formulas) => formulas.fingerprint(),
        }
    }

    fn observe(
        &self,
        scenario: &Scenario,
        outcome: &Outcome,
    ) -> Result<Observation, DocumentError> {
        match self {
            Self::Code(observe) => Ok(observe(scenario, outcome)),
            Self::Formulas(formulas) => formulas.observe(&outcome.report),
        }
    }
}

impl Prepared {
    /// Whether it does the same as another one.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            // Equal scenarios may have been written otherwise, which `Debug` tells.
            (Self::Run(a, _), Self::Run(b, _)) => a.scenario() == b.scenario(),
            _ => self.fingerprint() == other.fingerprint(),
        }
    }

    /// All that the result depends on but the seed.
    pub(super) fn fingerprint(&self) -> String {
        match self {
            Self::Run(plan, observer) => observer.fingerprint() + &format!("{:?}", plan.scenario()),
            Self::Evaluation(parameters) => format!("{parameters:?}"),
        }
    }

    /// # Errors
    /// When the run or the evaluation fails.
    pub(super) fn observe(&self, seed: u32) -> Result<Observation, TrialFailure> {
        match self {
            Self::Run(plan, observer) => {
                let outcome = plan.run(seed.into(), Keep::default(), &mut |_| {})?;
                Ok(observer.observe(plan.scenario(), &outcome)?)
            }
            Self::Evaluation(parameters) => parameters.evaluate(seed),
        }
    }

    /// # Errors
    /// See [`Evaluate::live`].
    pub(super) fn live(&self, seed: u32) -> Result<Option<LiveTransfer>, TrialFailure> {
        match self {
            Self::Run(..) => Ok(None),
            Self::Evaluation(parameters) => parameters.live(seed),
        }
    }
}
