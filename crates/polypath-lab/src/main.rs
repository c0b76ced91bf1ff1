//! The command line of the laboratory.
#![forbid(unsafe_code)]

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};
use polypath::external::RUN_BY;
use polypath_lab::command::{Cli, exit_code};

/// The command line, under the name by which the user called it.
fn parse() -> Cli {
    let command = match std::env::var(RUN_BY) {
        Ok(name) => Cli::command().bin_name(name),
        Err(_) => Cli::command(),
    };
    Cli::from_arg_matches(&command.get_matches()).unwrap_or_else(|error| error.exit())
}

fn main() -> ExitCode {
    parse().run().unwrap_or_else(|error| {
        // With standard error closed there is nobody left to tell; the exit code still speaks.
        let _ = writeln!(std::io::stderr(), "error: {error:#}");
        exit_code(&error)
    })
}
