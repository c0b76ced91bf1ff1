//! `polypath validate`: simulator, kernel and bond against each other.

mod death;
mod kernel;
mod text;

use std::fs;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand};

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
}

/// Runs the comparison and prints it.
///
/// # Errors
/// When it cannot be made.
pub fn run(args: &ValidateArgs) -> anyhow::Result<ExitCode> {
    match &args.against {
        Against::Kernel(options) => kernel::run(options),
        Against::Death(options) => death::run(options),
    }
}

/// The name and version of the kernel.
fn kernel_version() -> anyhow::Result<String> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease");
    Ok(format!("Linux {}", release.context("cannot read the kernel's version")?.trim()))
}
