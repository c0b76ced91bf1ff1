//! `polypath validate`: simulator, kernel and bond against each other.

mod cells;
mod cost;
mod death;
mod gateway;
mod kernel;
mod text;
mod windows;

use std::fs;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand};

/// Compare simulator, kernel and bond
#[derive(Clone, Debug, PartialEq, Args)]
pub struct ValidateArgs {
    #[command(subcommand)]
    against: Against,
}

#[derive(Clone, Debug, PartialEq, Subcommand)]
enum Against {
    /// Compare the simulator with this machine's kernel
    ///
    /// Runs the scenarios of scenarios/validation in network namespaces, with the kernel's TCP and
    /// Multipath TCP over emulated links, and in the simulator. Takes about half a minute for each
    /// run of a cell, and root.
    Kernel(cells::CellOptions),
    Cost(cost::CostOptions),
    Death(death::DeathOptions),
    Gateway(gateway::GatewayOptions),
    /// Compare congestion windows with this machine's kernel
    ///
    /// Runs the scenarios of scenarios/validation that have one TCP connection and no random
    /// losses, in network namespaces with the kernel's TCP over emulated links, and in the
    /// simulator. Windows are looked at every 20 ms. Three mean absolute differences are told, as
    /// shares of the kernel's mean window: at equal times, at equal times since the last reduction,
    /// and of the windows sorted by size. The last two are to be at most 15 %; where there are no
    /// reductions, the first is. Takes about half a minute for each run of a cell, and root. The
    /// exit code is 1 if a cell is beyond the bound.
    Windows(cells::CellOptions),
}

/// Runs the comparison and prints it.
///
/// # Errors
/// When it cannot be made.
pub fn run(args: &ValidateArgs) -> anyhow::Result<ExitCode> {
    match &args.against {
        Against::Kernel(options) => kernel::run(options),
        Against::Cost(options) => cost::run(options),
        Against::Death(options) => death::run(options),
        Against::Gateway(options) => gateway::run(options),
        Against::Windows(options) => windows::run(options),
    }
}

/// The name and version of the kernel.
pub(super) fn kernel_version() -> anyhow::Result<String> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease");
    Ok(format!("Linux {}", release.context("cannot read the kernel's version")?.trim()))
}
