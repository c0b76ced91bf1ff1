//! `polypath kernel`: congestion controls for the kernel's Multipath TCP.
//!
//! The commands are there in every build; the feature `kernel` is what they work with.

pub mod list;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// Congestion controls for the kernel's Multipath TCP: load them, choose them, see them at work
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub struct KernelArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
enum Action {
    List(list::ListArgs),
}

/// Does what was asked for.
///
/// # Errors
/// Those of the command that was given.
#[cfg(feature = "kernel")]
pub fn run(args: KernelArgs) -> anyhow::Result<ExitCode> {
    let Action::List(args) = args.action;
    list::run(args)
}

/// Says what is missing.
///
/// # Errors
/// Always: this program has been built without the feature `kernel`.
#[cfg(not(feature = "kernel"))]
pub fn run(_args: KernelArgs) -> anyhow::Result<ExitCode> {
    Err(NotBuilt.into())
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
