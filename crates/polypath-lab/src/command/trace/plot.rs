//! `polypath trace plot`.

use std::path::{Path, PathBuf};

use clap::Args;
use polypath_link::trace::{PingLog, RateSeries, stats};
use polypath_units::Bandwidth;

use super::ColumnArgs;
use super::file::write_file;
use super::stats::{Description, Series, series};
use crate::report::Line;
use crate::report::trace::{FilePart, TracePage};

/// Draw traces: rates or delays over time, and their distributions
#[derive(Clone, Debug, PartialEq, Args)]
pub(super) struct PlotOptions {
    /// Mahimahi traces, tables of rates over time, logs of ping
    #[arg(value_name = "FILE", required = true, num_args = 1..=TracePage::MOST_FILES)]
    files: Vec<PathBuf>,
    /// Write the page here
    #[arg(long, value_name = "FILE", required = true)]
    html: PathBuf,
    /// A second with a lower rate is in an outage
    #[arg(long, value_name = "RATE", default_value = "0.5 Mbit/s")]
    outage_below: Bandwidth,
    #[command(flatten)]
    columns: ColumnArgs,
}

pub(super) fn run(options: &PlotOptions) -> anyhow::Result<()> {
    let mut page = TracePage::default();
    for file in &options.files {
        let (series, name) = (series(file, &options.columns)?, name(file));
        let (lines, points) = match &series {
            Series::Rates(rates) => (&mut page.rates, steps(rates)),
            Series::Pings(log) => (&mut page.delays, delays(log)),
        };
        lines.push(Line { name: name.clone(), points });
        let results = Description::new(file.clone(), &series, options.outage_below).rows();
        page.files.push(FilePart { name, results });
    }
    write_file(&options.html, &page.render())
}

fn name(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The rates of seconds, each at its end.
fn steps(rates: &RateSeries) -> Vec<(f64, f64)> {
    let width = stats::BIN.min(rates.duration()).as_secs_f64();
    let rates = rates.bins(stats::BIN).into_iter().enumerate();
    rates.map(|(bin, rate)| ((bin + 1) as f64 * width, rate.mbit_per_sec())).collect()
}

/// Delays in milliseconds over the numbers of the requests.
fn delays(log: &PingLog) -> Vec<(f64, f64)> {
    let point = |(echo, delay): (&polypath_link::trace::Echo, f64)| (echo.sequence as f64, delay);
    log.echoes().iter().zip(log.delays_ms()).map(point).collect()
}
