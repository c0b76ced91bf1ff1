//! A run of a grid.

use super::grid::{Stage, plan};
use super::{BOND, Combination, Control, Measured};
use crate::store::{Label, digest};
use core::fmt;
use polypath_sim::run::{Keep, RunError};
use polypath_units::Timestamp;

/// Changes with what a line of results means.
const FORMAT: &str = "1";

/// Who sends in a scenario.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sender {
    /// The bond over all paths.
    Bond(Combination),
    /// The bond over one path alone. It has the shipped scheduler, which has no choice.
    Alone(Control, String),
}

/// A run: it depends on nothing else.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// The scenario.
    pub stage: &'a Stage,
    /// Who sends.
    pub sender: Sender,
    /// The seed.
    pub seed: u32,
}

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
#[error("scenario {scenario}, {sender}, seed {seed}: {error}")]
pub struct JobError {
    /// The scenario.
    pub scenario: &'static str,
    /// Who sends.
    pub sender: Sender,
    /// The seed.
    pub seed: u32,
    /// Why.
    pub error: Box<RunError>,
}

impl Sender {
    /// What runs on the paths. Over one path the scheduler is the shipped one.
    fn combination(&self) -> Combination {
        match self {
            Self::Bond(combination) => *combination,
            Self::Alone(control, _) => control.over_one_path(),
        }
    }

    /// What the connection has otherwise than in the file.
    fn settings(&self) -> Vec<String> {
        let Combination { control, scheduler } = self.combination();
        let set = |key: &str, value: &dyn fmt::Display| format!("connection.{BOND}.{key}={value}");
        let mut settings =
            vec![set("congestion", &control.congestion), set("scheduler", &scheduler)];
        settings.extend(control.slow_start.map(|start| set("slow_start", &start)));
        if let Self::Alone(_, path) = self {
            settings.push(set("paths", &format_args!("[\"{path}\"]")));
        }
        settings
    }
}

/// `bbr+edpf`, `cubic+hystart_pp over lte`
impl fmt::Display for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bond(combination) => write!(f, "{combination}"),
            Self::Alone(control, path) => write!(f, "{control} over {path}"),
        }
    }
}

impl Job<'_> {
    fn settings(&self) -> Vec<String> {
        let drawn = self.stage.drawn_by(self.seed);
        [drawn, self.sender.settings(), self.stage.settings.clone()].concat()
    }

    /// What tells this run from every other one: a digest of the program's version, the scenario's
    /// text, everything that is set in it, the algorithms' parameters with their defaults, and the
    /// seed.
    pub fn key(&self) -> String {
        digest(&[
            FORMAT.to_owned(),
            env!("CARGO_PKG_VERSION").to_owned(),
            self.stage.scenario.text.to_owned(),
            self.settings().join("\n"),
            self.sender.combination().description(),
            self.seed.to_string(),
        ])
    }

    /// What its results are kept under.
    pub fn label(&self) -> Label {
        Label {
            key: self.key(),
            scenario: self.stage.scenario.name.to_owned(),
            sender: self.sender.to_string(),
            seed: self.seed,
        }
    }

    /// Runs it. `watch` is told the time now and then.
    ///
    /// # Errors
    /// When the scenario cannot be run with this sender.
    pub fn run(&self, watch: &mut dyn FnMut(Timestamp)) -> Result<Measured, JobError> {
        let keep = Keep { folder: None, delays: true };
        let plan = plan(&self.stage.scenario, &self.settings());
        let outcome = plan.and_then(|plan| plan.run(self.seed.into(), keep, watch));
        outcome.map(|outcome| Measured::of(&outcome)).map_err(|error| JobError {
            scenario: self.stage.scenario.name,
            sender: self.sender.clone(),
            seed: self.seed,
            error: Box::new(error),
        })
    }
}
