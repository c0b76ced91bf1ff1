//! The simulator against the kernel: the same scenarios on both, and the differences.

mod agent;
mod cells;
pub mod cost;
pub mod death;
pub mod gateway;
mod measure;
mod recorded;
mod table;
pub mod windows;

pub use agent::AgentsError;
pub use cells::{Cell, CellError, shipped_cells};
pub use measure::{MeasureError, Measurement, with_kernel, with_simulator};
pub use recorded::{KernelRun, RecordedError, recorded};
pub use table::{Comparison, Names, Part, Row, Summary};

use crate::plan::Prefix;
use polypath_sim::run::{Plan, RunError};

/// Why a cell has no row.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// The kernel.
    #[error("cell {cell}, with the kernel: {error}")]
    Kernel {
        /// The cell.
        cell: String,
        /// What went wrong.
        error: Box<MeasureError>,
    },
    /// The simulator.
    #[error("cell {cell}, in the simulator: {error}")]
    Simulator {
        /// The cell.
        cell: String,
        /// What went wrong.
        error: Box<RunError>,
    },
}

/// Runs a cell with the kernel and in the simulator, with the seeds from 1 to `runs` each.
///
/// # Errors
/// See [`RowError`].
pub fn compare(cell: &str, plan: &Plan, runs: u64, prefix: &Prefix) -> Result<Row, RowError> {
    let (mut kernel, mut simulator, mut overruns) = (Vec::new(), Vec::new(), 0);
    for seed in 1..=runs {
        let name = cell.to_owned();
        let (measured, outcome) = with_kernel(plan, prefix, seed)
            .map_err(|error| RowError::Kernel { cell: name.clone(), error: error.into() })?;
        kernel.push(measured);
        overruns += outcome.end.links.iter().map(|link| link.overruns()).sum::<u64>();
        let (simulated, _) = with_simulator(plan, seed)
            .map_err(|error| RowError::Simulator { cell: name, error: error.into() })?;
        simulator.push(simulated);
    }
    Ok(Row::new(cell, names(plan), kernel, simulator, overruns))
}

fn names(plan: &Plan) -> Names {
    let connections = plan.connections().iter().map(|planned| planned.name.clone()).collect();
    // Links come in pairs, of which both have one name.
    let links = plan.topology().edges().iter().step_by(2).map(|edge| edge.name.clone()).collect();
    Names { connections, links }
}
