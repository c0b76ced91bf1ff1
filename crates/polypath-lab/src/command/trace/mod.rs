//! `polypath trace`: makes, converts and describes traces.

mod convert;
mod file;
mod generate;
mod plot;
mod stats;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use polypath_link::trace::{Columns, RateChoice, TimeChoice};

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

/// What tables do not say themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
struct ColumnArgs {
    /// The column of the times, by name or number from 1, and their unit, such as "1 in ms"; or how
    /// far lines are apart, such as "every 1 s" [default: as the header says]
    #[arg(long, value_name = "COLUMN")]
    time: Option<TimeChoice>,
    /// The column of the rates and their unit, such as "DL_bitrate in kbit/s", or "5 in B" for
    /// bytes since the line before [default: as the header says]
    #[arg(long, value_name = "COLUMN")]
    rate: Option<RateChoice>,
}

impl ColumnArgs {
    fn columns(&self) -> Columns {
        Columns { time: self.time.clone(), rate: self.rate.clone() }
    }
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
