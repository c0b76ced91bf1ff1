//! The commands, one file each. A command is registered here once it can run.

pub mod advise;
pub mod algorithms;
pub mod bench;
mod bonding;
pub mod compare;
mod composition;
pub mod demo;
pub mod edge;
pub mod emulate;
pub mod hub;
pub mod key;
pub mod model;
pub mod reproduce;
mod runs;
pub mod scenario;
pub mod send;
mod service;
pub mod sim;
pub mod status;
mod surfaces;
pub mod trace;
pub mod validate;

pub use composition::Composition;

use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use polypath_sim::compare::{GridError, JobError};
use polypath_sim::run::RunError;
use polypath_sim::scenario::ScenarioError;
use serde::Deserialize;

use crate::config::{NoHome, UsageError};

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
    Emulate(emulate::EmulateOptions),
    Key(key::KeyArgs),
    Algorithms(algorithms::AlgorithmsArgs),
    Demo(demo::DemoOptions),
    Scenario(scenario::ScenarioArgs),
    Sim(sim::SimOptions),
    Model(model::ModelOptions),
    Advise(advise::AdviseOptions),
    Compare(compare::CompareOptions),
    Reproduce(reproduce::ReproduceOptions),
    Trace(trace::TraceArgs),
    Validate(validate::ValidateArgs),
    Bench(bench::BenchArgs),
}

impl Cli {
    /// Runs the command that was given.
    ///
    /// # Errors
    /// Whatever made the command fail; [`exit_code`] tells the kinds apart.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Hub(args) => hub::run(args.try_into()?),
            Command::Edge(args) => edge::run(args.try_into()?),
            Command::Send(args) => send::run(args.try_into()?),
            Command::Status(args) => status::run(&args.into()),
            Command::Emulate(options) => emulate::run(&options),
            Command::Key(args) => key::run(args.try_into()?),
            Command::Algorithms(args) => algorithms::run(args),
            Command::Demo(options) => demo::run(&options),
            Command::Scenario(args) => scenario::run(&args),
            Command::Sim(options) => sim::run(&options),
            Command::Model(options) => model::run(&options),
            Command::Advise(options) => advise::run(&options),
            Command::Compare(options) => compare::run(&options),
            Command::Reproduce(options) => reproduce::run(&options),
            Command::Trace(args) => trace::run(&args),
            Command::Validate(args) => validate::run(&args),
            Command::Bench(args) => bench::run(&args),
        }
    }
}

/// The exit code for `error`: 2 when what the user wrote is wrong, 1 for every other failure.
pub fn exit_code(error: &anyhow::Error) -> ExitCode {
    let usage = error.chain().any(|cause| {
        cause.is::<UsageError>()
            || cause.is::<NoHome>()
            || cause.is::<ScenarioError>()
            || cause.is::<polypath_sim::compare::SelectError>()
            || cause.is::<polypath_sim::experiment::SelectError>()
            || cause.downcast_ref().is_some_and(RunError::is_of_scenario)
            || cause.downcast_ref().is_some_and(GridError::is_of_scenario)
            || cause.downcast_ref().is_some_and(|job: &JobError| job.error.is_of_scenario())
    });
    ExitCode::from(if usage { 2 } else { 1 })
}

/// The form of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// `flags` if any were given, otherwise what the file says.
fn given<T>(flags: Vec<T>, file: Vec<T>) -> Vec<T> {
    if flags.is_empty() { file } else { flags }
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
