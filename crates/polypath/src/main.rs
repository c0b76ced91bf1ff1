//! The Polypath command line.
#![forbid(unsafe_code)]

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};
use polypath::command::{Cli, exit_code};
use polypath::external;

/// The command line. Where help is asked for it names the commands of other programs too, which
/// takes a look at what is installed.
fn parse() -> Cli {
    let wants_help = match std::env::args_os().nth(1) {
        None => true,
        Some(first) => ["help", "--help", "-h"].iter().any(|word| first == *word),
    };
    let command = Cli::command();
    let command = if wants_help { command.after_help(external::help()) } else { command };
    Cli::from_arg_matches(&command.get_matches()).unwrap_or_else(|error| error.exit())
}

fn main() -> ExitCode {
    parse().run().unwrap_or_else(|error| {
        // With standard error closed there is nobody left to tell; the exit code still speaks.
        let _ = writeln!(std::io::stderr(), "error: {error:#}");
        exit_code(&error)
    })
}
