//! `polypath kernel`: congestion controls and a path manager for the kernel's Multipath TCP.
//!
//! The commands are there in every build; the feature `kernel` is what those of congestion controls
//! work with.

pub mod agent;
mod choice;
pub mod list;
pub mod load;
pub mod run;
#[cfg(feature = "kernel")]
mod said;
pub mod status;
pub mod unload;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// For the kernel's Multipath TCP: congestion controls, and a path manager
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct KernelArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
enum Action {
    Agent(agent::AgentArgs),
    List(list::ListArgs),
    Load(load::LoadArgs),
    Unload(unload::UnloadArgs),
    Status(status::StatusArgs),
    Run(run::RunArgs),
}

/// Does what was asked for.
///
/// # Errors
/// Those of the command that was given.
pub fn run(args: KernelArgs) -> anyhow::Result<ExitCode> {
    match args.action {
        Action::Agent(args) => agent::run(&args),
        #[cfg(feature = "kernel")]
        Action::List(args) => list::run(args),
        #[cfg(feature = "kernel")]
        Action::Load(args) => load::run(args),
        #[cfg(feature = "kernel")]
        Action::Unload(args) => unload::run(args),
        #[cfg(feature = "kernel")]
        Action::Status(args) => status::run(args),
        #[cfg(feature = "kernel")]
        Action::Run(args) => run::run(args),
        #[cfg(not(feature = "kernel"))]
        _ => Err(NotBuilt.into()),
    }
}

/// The program was built without what loads programs into the kernel.
#[cfg(not(feature = "kernel"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this polypath was built without its part for the kernel. To build that it takes clang, and \
     libelf and zlib with headers (Debian, Ubuntu: apt-get install clang libelf-dev zlib1g-dev); \
     then `cargo install --path crates/polypath --features kernel`, or `make deb`, which has it \
     where these are there"
)]
struct NotBuilt;
