//! `polypath validate kernel`: the kernel's TCP and Multipath TCP over emulated links, and the same
//! in the simulator.

use std::process::ExitCode;

use polypath_emulator::validate::{Cell, Row, Summary, compare, shipped_cells};
use serde::Serialize;

use super::cells::CellOptions;
use super::{kernel_version, text};
use crate::report::fidelity;

/// The whole comparison; what `--json` prints.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Fidelity {
    /// The kernel.
    pub(super) kernel: String,
    /// How many runs of each cell.
    pub(super) runs: u64,
    pub(super) rows: Vec<Row>,
    pub(super) summary: Summary,
}

pub(super) fn run(options: &CellOptions) -> anyhow::Result<ExitCode> {
    let CellOptions { runs, netns, .. } = options;
    let compare = |cell: &Cell| {
        let row = compare(&cell.name, &cell.plan()?, *runs, netns)?;
        let line = text::line(&row);
        Ok((row, line))
    };
    let Some(rows) = options.rows(shipped_cells()?, compare)? else { return Ok(ExitCode::SUCCESS) };
    let summary = Summary::new(&rows);
    let fidelity = Fidelity { kernel: kernel_version()?, runs: *runs, rows, summary };
    let page = || fidelity::page(&text::title(&fidelity), &text::rows(&fidelity), &[]);
    options.show(&fidelity, page, || text::table(&fidelity))?;
    Ok(ExitCode::SUCCESS)
}
