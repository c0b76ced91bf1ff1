//! `polypath validate kernel`: the kernel's TCP and Multipath TCP over emulated links, and the same
//! in the simulator.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use polypath_emulator::plan::Prefix;
use polypath_emulator::validate::{Row, Summary, compare, shipped_cells};
use serde::Serialize;

use super::{chosen, kernel_version, names, text};
use crate::command::LogFormat;
use crate::command::service::{self, QUIET_LOG};
use crate::output;
use crate::report::fidelity;

/// Compare the simulator with this machine's kernel
///
/// Runs the scenarios of scenarios/validation in network namespaces, with the kernel's TCP and
/// Multipath TCP over emulated links, and in the simulator. Takes about half a minute for each run
/// of a cell, and root.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub(super) struct KernelOptions {
    /// Only the cells whose names contain one of these
    #[arg(value_name = "CELL")]
    cells: Vec<String>,
    /// How many runs of each cell; medians are compared
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=99))]
    runs: u64,
    /// What the names of the namespaces begin with
    #[arg(long, value_name = "PREFIX", default_value = "polypath_validate")]
    netns: Prefix,
    /// List the cells and do not run them
    #[arg(long)]
    list: bool,
    /// Write a page with the table
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

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

pub(super) fn run(options: &KernelOptions) -> anyhow::Result<ExitCode> {
    let cells = chosen(shipped_cells()?, &options.cells)?;
    if options.list {
        output::print(&names(&cells))?;
        return Ok(ExitCode::SUCCESS);
    }
    service::start_log(LogFormat::Text, QUIET_LOG)?;
    let mut rows = Vec::new();
    for (number, cell) in cells.iter().enumerate() {
        output::tell(&format!("{} of {}: {}\n", number + 1, cells.len(), cell.name));
        let row = compare(&cell.name, &cell.plan()?, options.runs, &options.netns)?;
        output::tell(&format!("  {}\n", text::line(&row)));
        rows.push(row);
    }
    let summary = Summary::new(&rows);
    let fidelity = Fidelity { kernel: kernel_version()?, runs: options.runs, rows, summary };
    if let Some(file) = &options.html {
        let page = fidelity::page(&text::title(&fidelity), &text::rows(&fidelity), &[]);
        fs::write(file, page).with_context(|| format!("cannot write {}", file.display()))?;
    }
    output::print(&match options.json {
        true => serde_json::to_string_pretty(&fidelity)? + "\n",
        false => text::table(&fidelity),
    })?;
    Ok(ExitCode::SUCCESS)
}
