//! `polypath trace`: makes, converts and describes traces.

mod convert;
mod file;
mod generate;
mod plot;
mod stats;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};

/// Generate, convert, describe and plot traces of links
#[derive(Clone, Debug, PartialEq, Args)]
pub struct TraceArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Clone, Debug, PartialEq, Subcommand)]
enum Action {
    Generate(generate::GenerateOptions),
    Convert(convert::ConvertOptions),
    Stats(stats::StatsOptions),
    Plot(plot::PlotOptions),
}

/// How a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Milliseconds at which a packet of 1500 bytes may leave
    Mahimahi,
    /// Rates over time: time_s,rate_mbit_s
    Csv,
}

/// Where a trace goes.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
struct Target {
    /// Write to this file [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Does what was asked for.
///
/// # Errors
/// When a file cannot be read, written, or is no trace, or a parameter is out of range.
pub fn run(args: &TraceArgs) -> anyhow::Result<ExitCode> {
    match &args.action {
        Action::Generate(options) => generate::run(options),
        Action::Convert(options) => convert::run(options),
        Action::Stats(options) => stats::run(options),
        Action::Plot(options) => plot::run(options),
    }?;
    Ok(ExitCode::SUCCESS)
}
