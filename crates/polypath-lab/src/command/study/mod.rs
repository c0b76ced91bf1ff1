//! `polypath study`: questions that were put to the simulator before something was built.

mod fec;
mod fec_text;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// Studies in the simulator, from which the design of the product follows
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct StudyArgs {
    #[command(subcommand)]
    study: Study,
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
enum Study {
    Fec(fec::FecOptions),
}

/// Makes the study.
///
/// # Errors
/// When a run fails, or something cannot be read or written.
pub fn run(args: &StudyArgs) -> anyhow::Result<ExitCode> {
    match &args.study {
        Study::Fec(options) => fec::run(options),
    }
}
