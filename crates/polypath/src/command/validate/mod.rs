//! `polypath validate`: simulator, kernel and bond against each other.

mod death;
mod kernel;
mod text;
mod windows;

use std::fs;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand};
use polypath_emulator::validate::Cell;

use crate::config::UsageError;

/// Compare simulator, kernel and bond
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct ValidateArgs {
    #[command(subcommand)]
    against: Against,
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
enum Against {
    Kernel(kernel::KernelOptions),
    Death(death::DeathOptions),
    Windows(windows::WindowsOptions),
}

/// Runs the comparison and prints it.
///
/// # Errors
/// When it cannot be made.
pub fn run(args: &ValidateArgs) -> anyhow::Result<ExitCode> {
    match &args.against {
        Against::Kernel(options) => kernel::run(options),
        Against::Death(options) => death::run(options),
        Against::Windows(options) => windows::run(options),
    }
}

/// The name and version of the kernel.
fn kernel_version() -> anyhow::Result<String> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease");
    Ok(format!("Linux {}", release.context("cannot read the kernel's version")?.trim()))
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
