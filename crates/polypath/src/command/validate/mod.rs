//! `polypath validate`: the simulator against what it simulates.

mod kernel;
mod text;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// Compare the simulator with what it simulates
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct ValidateArgs {
    #[command(subcommand)]
    against: Against,
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
enum Against {
    Kernel(kernel::KernelOptions),
}

/// Runs the comparison and prints it.
///
/// # Errors
/// When it cannot be made.
pub fn run(args: &ValidateArgs) -> anyhow::Result<ExitCode> {
    match &args.against {
        Against::Kernel(options) => kernel::run(options),
    }
}
