//! `polypath trace stats`.

use core::fmt::Write;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use polypath_link::trace::stats::{self, LAGS, QUANTILES, RateStats};
use polypath_link::trace::{PingLog, RateSeries, Recording};
use polypath_units::Bandwidth;
use serde::Serialize;

use super::ColumnArgs;
use super::file::read;
use crate::report::Row;
use polypath::config::UsageError;
use polypath::output;

/// Print mean, variation, autocorrelation, outages and quantiles of traces
#[derive(Clone, Debug, PartialEq, Args)]
pub(super) struct StatsOptions {
    /// Mahimahi traces, tables of rates over time, logs of ping
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// A second with a lower rate is in an outage
    #[arg(long, value_name = "RATE", default_value = "0.5 Mbit/s")]
    outage_below: Bandwidth,
    #[command(flatten)]
    columns: ColumnArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What `--json` prints for a file.
#[derive(Debug, Serialize)]
pub(super) struct Description {
    file: PathBuf,
    #[serde(flatten)]
    values: Values,
}

/// Quantiles have their probability as name, autocorrelations their lag in seconds.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Values {
    Rate {
        seconds: usize,
        mean_mbit_s: f64,
        cov: Option<f64>,
        autocorrelation: BTreeMap<usize, Option<f64>>,
        quantiles_mbit_s: BTreeMap<String, f64>,
        outages: Outages,
    },
    Delay {
        answers: usize,
        lost: Option<u64>,
        mean_ms: Option<f64>,
        cov: Option<f64>,
        quantiles_ms: BTreeMap<String, f64>,
    },
}

#[derive(Debug, Serialize)]
struct Outages {
    below_mbit_s: f64,
    share: f64,
    lengths_s: Vec<f64>,
}

/// A file and what it holds, rates or delays.
pub(super) enum Series {
    Rates(RateSeries),
    Pings(PingLog),
}

/// Reads a file; the rates of a Mahimahi trace are those of seconds.
pub(super) fn series(file: &Path, columns: &ColumnArgs) -> anyhow::Result<Series> {
    let rates = |trace| RateSeries::from_trace(&trace, stats::BIN);
    Ok(match read(file, columns)? {
        Recording::Trace(trace) => Series::Rates(
            rates(trace)
                .map_err(|error| UsageError::in_file(file, None, None, error.to_string()))?,
        ),
        Recording::Rates(rates) => Series::Rates(rates),
        Recording::Pings(log) => Series::Pings(log),
    })
}

pub(super) fn run(options: &StatsOptions) -> anyhow::Result<()> {
    let all = options.files.iter().map(|file| {
        let series = series(file, &options.columns)?;
        Ok(Description::new(file.clone(), &series, options.outage_below))
    });
    let all = all.collect::<anyhow::Result<Vec<_>>>()?;
    output::print(&match options.json {
        true => serde_json::to_string_pretty(&all)? + "\n",
        false => all.iter().map(Description::text).collect::<Vec<_>>().join("\n"),
    })?;
    Ok(())
}

impl Description {
    pub(super) fn new(file: PathBuf, series: &Series, threshold: Bandwidth) -> Self {
        let values = match series {
            Series::Rates(rates) => Values::rate(RateStats::of(rates, threshold)),
            Series::Pings(log) => Values::delay(log),
        };
        Self { file, values }
    }

    fn text(&self) -> String {
        let (mut text, rows) = (format!("{}\n", self.file.display()), self.rows());
        let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
        for Row { name, value, remark } in rows {
            // Writing to a `String` cannot fail.
            let _ =
                writeln!(text, "{}", format!("  {name:width$}  {value:>12}  {remark}").trim_end());
        }
        text
    }

    /// What it says, line by line.
    pub(super) fn rows(&self) -> Vec<Row> {
        match &self.values {
            Values::Rate {
                seconds,
                mean_mbit_s,
                cov,
                autocorrelation,
                quantiles_mbit_s,
                outages,
            } => {
                let mut rows = vec![
                    Row::new("length", format!("{seconds} s"), ""),
                    Row::new("mean", format!("{mean_mbit_s:.2} Mbit/s"), ""),
                    cov_row(*cov),
                ];
                rows.extend(autocorrelation.iter().map(|(lag, value)| {
                    Row::new(format!("autocorrelation at {lag} s"), two_digits(*value), "")
                }));
                rows.push(outages.row());
                rows.extend(quantile_rows(quantiles_mbit_s, "Mbit/s"));
                rows
            }
            Values::Delay { answers, lost, mean_ms, cov, quantiles_ms } => {
                let lost = lost.map_or(String::new(), |lost| format!("{lost} requests without"));
                let mean = mean_ms.map_or("none".to_owned(), |mean| format!("{mean:.2} ms"));
                let mut rows = vec![
                    Row::new("answers", answers.to_string(), lost),
                    Row::new("mean", mean, ""),
                    cov_row(*cov),
                ];
                rows.extend(quantile_rows(quantiles_ms, "ms"));
                rows
            }
        }
    }
}

impl Values {
    fn rate(stats: RateStats) -> Self {
        let RateStats { bins, mean_mbit_s, cov, autocorrelation, quantiles_mbit_s, outages } =
            stats;
        Self::Rate {
            seconds: bins,
            mean_mbit_s,
            cov,
            autocorrelation: LAGS.into_iter().zip(autocorrelation).collect(),
            quantiles_mbit_s: named(QUANTILES.into_iter().zip(quantiles_mbit_s)),
            outages: Outages {
                below_mbit_s: outages.threshold.mbit_per_sec(),
                share: outages.share,
                lengths_s: outages.lengths_s,
            },
        }
    }

    fn delay(log: &PingLog) -> Self {
        let delays = log.delays_ms();
        let quantile = |p| Some((p, stats::quantile(&delays, p)?));
        let probabilities = QUANTILES.into_iter().chain([0.99, 1.0]);
        Self::Delay {
            answers: delays.len(),
            lost: log.lost(),
            mean_ms: stats::mean(&delays),
            cov: stats::cov(&delays),
            quantiles_ms: named(probabilities.filter_map(quantile)),
        }
    }
}

impl Outages {
    fn row(&self) -> Row {
        let Self { below_mbit_s, share, lengths_s } = self;
        let longest = lengths_s.iter().copied().fold(0.0, f64::max);
        let mean = stats::mean(lengths_s).unwrap_or(0.0);
        let count = lengths_s.len();
        let remark = format!(
            "of seconds below {below_mbit_s} Mbit/s: {count}, {mean:.1} s on average, {longest} s at most"
        );
        Row::new("in outages", format!("{:.1} %", share * 100.0), remark)
    }
}

/// Names that sort as their numbers do: all are from 0 to 1, in two digits.
fn named(quantiles: impl Iterator<Item = (f64, f64)>) -> BTreeMap<String, f64> {
    quantiles.map(|(p, value)| (format!("{p:.2}"), value)).collect()
}

fn quantile_rows<'a>(
    quantiles: &'a BTreeMap<String, f64>,
    unit: &'a str,
) -> impl Iterator<Item = Row> + 'a {
    let row = move |(p, value): (&String, &f64)| {
        Row::new(format!("quantile {p}"), format!("{value:.2} {unit}"), "")
    };
    quantiles.iter().map(row)
}

fn cov_row(cov: Option<f64>) -> Row {
    Row::new("variation", two_digits(cov), "standard deviation over mean")
}

fn two_digits(value: Option<f64>) -> String {
    value.map_or("none".to_owned(), |value| format!("{value:.2}"))
}
