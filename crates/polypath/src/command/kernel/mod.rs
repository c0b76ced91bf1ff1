//! `polypath kernel`: congestion controls and a path manager for the kernel's Multipath TCP.
//!
//! The commands are there in every build; the feature `kernel` is what those of congestion controls
//! work with.

pub mod actions;
pub mod agent;
mod choice;
#[cfg(feature = "kernel")]
mod congestion;
#[cfg(not(feature = "kernel"))]
mod unbuilt;

use std::process::ExitCode;

use actions::{ListArgs, LoadArgs, RunArgs, StatusArgs, UnloadArgs};
use clap::{Args, Subcommand};
#[cfg(not(feature = "kernel"))]
use unbuilt as congestion;

/// For the kernel's Multipath TCP: congestion controls, and a path manager
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct KernelArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
enum Action {
    Agent(agent::AgentArgs),
    #[command(flatten)]
    Congestion(CongestionAction),
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
enum CongestionAction {
    List(ListArgs),
    Load(LoadArgs),
    Unload(UnloadArgs),
    Status(StatusArgs),
    Run(RunArgs),
}

/// Does what was asked for.
///
/// # Errors
/// Those of the command that was given.
pub fn run(args: KernelArgs) -> anyhow::Result<ExitCode> {
    match args.action {
        Action::Agent(args) => agent::run(&args),
        Action::Congestion(action) => congestion::run(action),
    }
}
