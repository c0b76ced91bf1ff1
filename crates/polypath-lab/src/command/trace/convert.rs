//! `polypath trace convert`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use polypath_link::trace::{RateSeries, Recording, SeriesError};
use polypath_units::parse_duration;

use super::file::read;
use super::{ColumnArgs, Format, Target};
use polypath::config::UsageError;

/// Convert between Mahimahi traces and rates over time
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub(super) struct ConvertOptions {
    /// A Mahimahi trace, or a table of rates over time
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// How to write it [default: the form that the file does not have]
    #[arg(long, value_name = "FORMAT")]
    to: Option<Format>,
    /// For CSV: the mean rates of bins of this width [default: 1 s for a trace, otherwise as read]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    bin: Option<Duration>,
    #[command(flatten)]
    columns: ColumnArgs,
    #[command(flatten)]
    target: Target,
}

pub(super) fn run(options: &ConvertOptions) -> anyhow::Result<()> {
    let target = &options.target;
    if options.to == Some(Format::Mahimahi) && options.bin.is_some() {
        return Err(UsageError::new("--bin is for --to csv").into());
    }
    match read(&options.file, &options.columns)? {
        Recording::Trace(trace) if options.to == Some(Format::Mahimahi) => {
            target.write(&trace.to_string())
        }
        Recording::Trace(trace) => {
            let bin = options.bin.unwrap_or(Duration::from_secs(1));
            target.write_rates(&RateSeries::from_trace(&trace, bin).map_err(usage)?, Format::Csv)
        }
        Recording::Rates(rates) => match options.bin {
            None => target.write_rates(&rates, options.to.unwrap_or(Format::Mahimahi)),
            Some(bin) => target.write_rates(&rates.rebinned(bin).map_err(usage)?, Format::Csv),
        },
        Recording::Pings(_) => {
            let message = "a log of ping has delays and no rates; there is nothing to convert";
            Err(UsageError::in_file(&options.file, None, None, message).into())
        }
    }
}

fn usage(error: SeriesError) -> UsageError {
    UsageError::new(error.to_string())
}
