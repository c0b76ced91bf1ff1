//! The commands, one file each. A command is registered here once it can run.

pub mod algorithms;
mod bonding;
mod composition;
pub mod edge;
pub mod gateway;
pub mod hub;
#[cfg(test)]
mod installed;
pub mod kernel;
pub mod key;
mod lifetimes;
pub mod policy;
pub mod send;
pub mod status;
mod surfaces;

pub use composition::CompositionArgs;
pub use lifetimes::LifetimeArgs;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use polypath_config::DocumentError;

use crate::config::{NoHome, UsageError};
use crate::external;

/// Bonds several 5G, LTE and Wi-Fi links into one connection that is faster than the best of them
/// and survives the loss of any of them.
#[derive(Debug, Parser)]
#[command(name = "polypath", version, propagate_version = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Hub(hub::HubArgs),
    Edge(edge::EdgeArgs),
    Send(send::SendArgs),
    Status(status::StatusArgs),
    Key(key::KeyArgs),
    Policy(policy::PolicyArgs),
    Gateway(gateway::GatewayArgs),
    Kernel(kernel::KernelArgs),
    Algorithms(algorithms::AlgorithmsArgs),
    /// A command of another program, such as the laboratory.
    #[command(external_subcommand)]
    External(Vec<OsString>),
}

impl Cli {
    /// Runs the command that was given.
    ///
    /// # Errors
    /// Whatever made the command fail; [`exit_code`] tells the kinds apart.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Hub(args) => hub::run(args),
            Command::Edge(args) => edge::run(args.try_into()?),
            Command::Send(args) => send::run(args.try_into()?),
            Command::Status(args) => status::run(&args.into()),
            Command::Key(args) => key::run(args.try_into()?),
            Command::Policy(args) => policy::run(args),
            Command::Gateway(args) => gateway::run(args),
            Command::Kernel(args) => kernel::run(args),
            Command::Algorithms(args) => algorithms::run(args),
            Command::External(words) => external::run(&words),
        }
    }
}

/// The exit code for `error`: 2 when what the user wrote is wrong, 1 for every other failure.
pub fn exit_code(error: &anyhow::Error) -> ExitCode {
    ExitCode::from(if is_usage(error) { 2 } else { 1 })
}

/// Whether what the user wrote is wrong.
pub(crate) fn is_usage(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.is::<UsageError>()
            || cause.is::<DocumentError>()
            || cause.is::<NoHome>()
            || cause.is::<external::UnknownCommand>()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn usage_errors_are_told_from_failures() {
        let usage = anyhow::Error::new(NoHome).context("while starting");
        assert_eq!(exit_code(&usage), ExitCode::from(2));
        assert_eq!(exit_code(&anyhow::anyhow!("the network is down")), ExitCode::from(1));
    }
}
