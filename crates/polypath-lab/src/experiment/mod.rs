//! Experiments, those of papers and one's own, and what becomes of their claims.
//!
//! An [`Experiment`] is a folder `experiments/ID/` of this crate with a `plan.toml`, a file with a
//! scenario or with the parameters of a model, and a file of Rust beside this one with what is
//! observed in a run or evaluated ([`Method`], [`Observation`]) and the quantities that the claims
//! are about ([`Quantity`]). A [`Study`] is an experiment whose plan has been read: it
//! makes [`Trial`]s, runs that do not depend on each other, and turns what they observed into a
//! [`StudyReport`] with a verdict on each claim. Nothing here starts threads: whoever has the
//! trials runs them in any order.
//!
//! A plan of one's own ([`OwnPlan`]) is the same without code: it says itself what is taken from
//! its runs, by an [`Expression`] for each quantity ([`Formulas`]).

mod claim;
mod expression;
mod hypercube;
mod kernel;
mod live;
mod method;
mod observation;
mod own;
mod papers;
mod plan;
mod report;
mod runs;
mod sample;
mod seen;
mod sensitivity;
mod study;
mod study_error;
mod subject;
#[cfg(test)]
mod tests;
mod trial;

pub use claim::{Judgement, Verdict};
pub use expression::{Expression, ParseExpressionError};
pub use kernel::{ByWorld, KernelCell, KernelClaim, KernelLive, KernelReport, Observers};
pub(crate) use kernel::{CAPACITY, KernelCase, KernelTrial, KernelTrials, Results, Simulation};
pub use live::{LiveLink, LivePoint, LiveRow, LiveTransfer, Source};
pub use method::{Evaluate, Input, Method, Observer, TrialFailure};
pub use observation::{Curve, Observation};
pub use own::{Formulas, OwnPlan, ScenarioSource, WrittenQuantity};
pub use papers::{EXPERIMENTS, SelectError, select};
pub use plan::{
    Assumption, Axis, Claim, CurvePlot, ExperimentPlan, Plot, PlotKind, Reading, SweepPlot,
    TimePlot, Variant,
};
pub use report::{
    AssumptionReport, CellReport, ClaimReport, Drawing, DrawnLine, QuantityReport, ReadingReport,
    StudyReport,
};
pub use runs::SeedRuns;
pub use sensitivity::{Sensitivity, ValueReport};
pub use study::{Effort, Study};
pub(crate) use study::{FIRST_SEED, LiveTrial};
pub use study_error::StudyError;
pub use trial::{Trial, TrialError};

/// An experiment of a paper: what cannot be said in its plan.
#[derive(Debug)]
pub struct Experiment {
    /// The folder below `experiments/`: the name in lower case.
    pub folder: &'static str,
    /// The text of `plan.toml`.
    pub plan: &'static str,
    /// The file below `experiments/` with the scenario or the parameters, and its text.
    pub input_file: &'static str,
    /// See there.
    pub input: &'static str,
    /// What is done with it.
    pub method: Method,
    /// What its claims may be about.
    pub quantities: &'static [Quantity],
    /// How it is run live, if it can be.
    pub live: Option<Live>,
}

/// How an experiment is run live.
#[derive(Clone, Copy, Debug)]
pub enum Live {
    /// By the product, through its tunnel.
    Tunnel(LiveRows),
    /// By the TCP and Multipath TCP of the kernel.
    Kernel(KernelLive),
}

/// The rows of a table of model, simulator and live run, of all points of the plan.
pub type LiveRows = fn(&ExperimentPlan, &[LivePoint<'_>]) -> Vec<LiveRow>;

/// A number that a claim is about, made of all runs of a seed.
#[derive(Debug)]
pub struct Quantity {
    /// The name in plans.
    pub name: &'static str,
    /// The unit; nothing for a ratio.
    pub unit: &'static str,
    /// What it is.
    pub meaning: &'static str,
    /// Computes it; `None` if a run has not observed what it needs.
    pub of: fn(&SeedRuns<'_>) -> Option<f64>,
}
