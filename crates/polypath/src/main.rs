//! The Polypath command line.
#![forbid(unsafe_code)]

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use polypath::command::{Cli, exit_code};

fn main() -> ExitCode {
    Cli::parse().run().unwrap_or_else(|error| {
        // With standard error closed there is nobody left to tell; the exit code still speaks.
        let _ = writeln!(std::io::stderr(), "error: {error:#}");
        exit_code(&error)
    })
}
