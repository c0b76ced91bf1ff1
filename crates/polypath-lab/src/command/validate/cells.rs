//! What comparisons in cells of scenarios/validation have in common.

use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use polypath_emulator::plan::Prefix;
use polypath_emulator::validate::Cell;
use serde::Serialize;

use polypath::config::UsageError;
use polypath::output;
use polypath::service::LogFormat;
use polypath::service::{self, QUIET_LOG};

#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub(super) struct CellOptions {
    /// Only the cells whose names contain one of these
    #[arg(value_name = "CELL")]
    cells: Vec<String>,
    /// How many runs of each cell; medians are compared
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=99))]
    pub(super) runs: u64,
    /// Override a value of the scenarios, such as duration=30s
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// What the names of the namespaces begin with
    #[arg(long, value_name = "PREFIX", default_value = "polypath_validate")]
    pub(super) netns: Prefix,
    /// List the cells and do not run them
    #[arg(long)]
    list: bool,
    /// Write a page with the table, and charts if there are any
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl CellOptions {
    /// Compares each of the chosen cells, which gives its row and what to tell of it at once; or
    /// lists them, if that is what is asked for.
    pub(super) fn rows<R>(
        &self,
        cells: Vec<Cell>,
        compare: impl Fn(&Cell) -> anyhow::Result<(R, String)>,
    ) -> anyhow::Result<Option<Vec<R>>> {
        let mut cells = chosen(cells, &self.cells)?;
        for cell in &mut cells {
            cell.set.extend(self.set.iter().cloned());
        }
        if self.list {
            output::print(&names(&cells))?;
            return Ok(None);
        }
        service::start_log(LogFormat::Text, QUIET_LOG)?;
        let mut rows = Vec::new();
        for (number, cell) in cells.iter().enumerate() {
            output::tell(&format!("{} of {}: {}\n", number + 1, cells.len(), cell.name));
            let (row, line) = compare(cell)?;
            output::tell(&format!("  {line}\n"));
            rows.push(row);
        }
        Ok(Some(rows))
    }

    /// Writes the page and prints the comparison, as asked for.
    pub(super) fn show(
        &self,
        comparison: &impl Serialize,
        page: impl FnOnce() -> String,
        text: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        if let Some(file) = &self.html {
            fs::write(file, page()).with_context(|| format!("cannot write {}", file.display()))?;
        }
        output::print(&match self.json {
            true => serde_json::to_string_pretty(comparison)? + "\n",
            false => text(),
        })?;
        Ok(())
    }
}

/// The cells whose names contain one of these parts; all if there are none.
fn chosen(mut cells: Vec<Cell>, parts: &[String]) -> anyhow::Result<Vec<Cell>> {
    if let Some(unknown) =
        parts.iter().find(|&part| !cells.iter().any(|cell| cell.name.contains(part)))
    {
        let problem = format!("no cell has {unknown:?} in its name; --list names them");
        return Err(UsageError::new(problem).into());
    }
    let wanted = |cell: &Cell| parts.iter().any(|part| cell.name.contains(part));
    cells.retain(|cell| parts.is_empty() || wanted(cell));
    Ok(cells)
}

/// Names of cells, one on a line.
fn names(cells: &[Cell]) -> String {
    cells.iter().map(|cell| format!("{}\n", cell.name)).collect()
}
