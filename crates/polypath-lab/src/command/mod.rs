//! The commands, one file each. A command is registered here once it can run.

pub mod advise;
pub mod bench;
pub mod compare;
pub mod demo;
pub mod emulate;
pub mod model;
mod program;
pub mod reproduce;
mod runs;
pub mod scenario;
pub mod sim;
pub mod study;
pub mod trace;
pub mod validate;

use core::fmt::Write as _;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use polypath::output;
use polypath_sim::run::RunError;
use polypath_sim::scenario::ScenarioError;

use crate::compare::drawn::DrawnError;
use crate::compare::{GridError, JobError};
use crate::experiment::{StudyError, TrialError};

/// Simulates, models, compares and emulates what Polypath does over several links.
#[derive(Debug, Parser)]
#[command(name = "polypath-lab", version, propagate_version = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::DemoOptions),
    Sim(sim::SimOptions),
    Scenario(scenario::ScenarioArgs),
    Emulate(emulate::EmulateOptions),
    Model(model::ModelOptions),
    Advise(advise::AdviseOptions),
    Compare(compare::CompareOptions),
    Reproduce(reproduce::ReproduceOptions),
    Study(study::StudyArgs),
    Trace(trace::TraceArgs),
    Validate(validate::ValidateArgs),
    Bench(bench::BenchArgs),
    /// List these commands for `polypath`.
    #[command(name = polypath::external::LIST, hide = true)]
    List,
}

impl Cli {
    /// Runs the command that was given.
    ///
    /// # Errors
    /// Whatever made the command fail; [`exit_code`] tells the kinds apart.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Demo(options) => demo::run(&options),
            Command::Sim(options) => sim::run(&options),
            Command::Scenario(args) => scenario::run(&args),
            Command::Emulate(options) => emulate::run(&options),
            Command::Model(options) => model::run(&options),
            Command::Advise(options) => advise::run(&options),
            Command::Compare(options) => compare::run(&options),
            Command::Reproduce(options) => reproduce::run(&options),
            Command::Study(args) => study::run(&args),
            Command::Trace(args) => trace::run(&args),
            Command::Validate(args) => validate::run(&args),
            Command::Bench(args) => bench::run(&args),
            Command::List => Ok(output::print(&list()).map(|()| ExitCode::SUCCESS)?),
        }
    }
}

/// A line for each command: its name, a tabulator, what it does.
fn list() -> String {
    let mut text = String::new();
    for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
        let purpose = command.get_about().map(ToString::to_string).unwrap_or_default();
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{}\t{purpose}", command.get_name());
    }
    text
}

/// The exit code for `error`: 2 when what the user wrote is wrong, 1 for every other failure.
pub fn exit_code(error: &anyhow::Error) -> ExitCode {
    let of_scenario = error.chain().any(|cause| {
        cause.is::<ScenarioError>()
            || cause.is::<crate::compare::SelectError>()
            || cause.is::<crate::experiment::SelectError>()
            || cause.downcast_ref().is_some_and(RunError::is_of_scenario)
            || cause.downcast_ref().is_some_and(StudyError::is_of_plan)
            || cause.downcast_ref().is_some_and(|trial: &TrialError| trial.error.is_of_plan())
            || cause.downcast_ref().is_some_and(GridError::is_of_scenario)
            || cause.downcast_ref().is_some_and(DrawnError::is_of_scenario)
            || cause.downcast_ref().is_some_and(|job: &JobError| job.error.is_of_scenario())
    });
    if of_scenario { ExitCode::from(2) } else { polypath::command::exit_code(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn each_command_is_listed_with_what_it_does() {
        let list = list();
        let rows: Vec<_> = list.lines().filter_map(|line| line.split_once('\t')).collect();
        assert_eq!(rows.len(), Cli::command().get_subcommands().count() - 1, "all but `list`");
        assert!(rows.iter().all(|(_, purpose)| !purpose.is_empty()), "{rows:?}");
    }
}
