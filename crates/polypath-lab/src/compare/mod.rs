//! Combinations of congestion control, slow start and scheduler against each other, over a fixed
//! suite of 5G scenarios.
//!
//! [`SUITE`] has the scenarios, a [`Selection`] says which of them and which combinations. A
//! [`Grid`] makes [`Job`]s of them, runs that do not depend on each other; a
//! [`Store`](crate::store::Store) keeps what they measured, so that an interrupted grid goes on
//! where it was; a [`Comparison`] ranks. Nothing here starts threads: whoever has the jobs
//! runs them in any order. [`drawn`] has scenarios that a seed draws in place of the suite.

mod combination;
mod comparison;
pub mod drawn;
mod finalists;
mod grid;
mod interval;
mod job;
mod judgement;
pub mod kernel;
mod measured;
mod scenario_table;
mod selection;
mod suite;
#[cfg(test)]
mod tests;

pub use combination::{Combination, Control, UnknownCombination};
pub use comparison::{Comparison, Ranked};
pub use grid::{Changes, Grid, GridError, Stage};
pub use interval::Interval;
pub use job::{Job, JobError, Sender};
pub use judgement::{Judgement, MOST_DELAY, WITHIN};
pub use measured::Measured;
pub use scenario_table::{Alone, Cell, ScenarioTable};
pub use selection::{QUICK_DURATION, SelectError, Selection};
pub use suite::{BOND, Part, SUITE, SuiteScenario};
