//! Recorded rates and delays beside generated ones: the tables of `docs/links/traces.md`.
//!
//! `cargo run -p polypath-link --example trace_table -- FOLDER` reads each `*.csv` in the folder as
//! rates over time and each `*.txt` as a log of `ping`.
#![allow(clippy::print_stdout)]

use polypath_link::trace::generate::Preset;
use polypath_link::trace::stats::{RateStats, mean, quantile};
use polypath_link::trace::{Columns, RateSeries, Recording};
use polypath_link::{Link, LinkConfig, Rate};
use polypath_units::{Bandwidth, Timestamp};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Below this a second counts as an outage.
const OUTAGE_MBIT_S: f64 = 0.5;
/// How many series are generated, and their length.
const SEEDS: u64 = 40;
const LENGTH: Duration = Duration::from_secs(2_400);
/// A ping of the recordings: its size on the link, and the time between two.
const PING_BYTES: u32 = 66;
const PING_INTERVAL: Duration = Duration::from_millis(200);
const DELAY_QUANTILES: [f64; 5] = [0.5, 0.75, 0.95, 0.99, 1.0];
/// The presets that were fitted.
const FITTED: [Preset; 2] = [Preset::Train, Preset::Drive];

type Result<T> = core::result::Result<T, Box<dyn Error>>;

/// What a column shows of a series; `None` where it has no such thing.
type Column = (&'static str, fn(&RateStats) -> Option<f64>);

const RATE_COLUMNS: [Column; 14] = [
    ("mean, Mbit/s", |s| Some(s.mean_mbit_s)),
    ("CoV", |s| s.cov),
    ("1 s", |s| s.autocorrelation[0]),
    ("5 s", |s| s.autocorrelation[1]),
    ("20 s", |s| s.autocorrelation[2]),
    ("outages", |s| Some(s.outages.share)),
    ("mean, s", |s| s.outages.mean_s()),
    ("p90, s", |s| quantile(&s.outages.lengths_s, 0.9)),
    ("longest, s", |s| s.outages.longest_s()),
    ("p5", |s| Some(s.quantiles_mbit_s[0])),
    ("p25", |s| Some(s.quantiles_mbit_s[1])),
    ("p50", |s| Some(s.quantiles_mbit_s[2])),
    ("p75", |s| Some(s.quantiles_mbit_s[3])),
    ("p95", |s| Some(s.quantiles_mbit_s[4])),
];

fn main() -> Result<()> {
    let folder = std::env::args().nth(1).ok_or("usage: trace_table FOLDER")?;
    println!("Rates in bins of 1 s; an outage is below {OUTAGE_MBIT_S} Mbit/s\n");
    header(&RATE_COLUMNS.map(|(name, _)| name.to_owned()));
    for file in files(&folder, "csv")? {
        let Recording::Rates(series) = read(&file)? else { continue };
        let stats = stats(&series);
        let cells = RATE_COLUMNS.map(|(_, of)| of(&stats).map_or("none".to_owned(), number));
        row(&format!("{}, {} s", name(&file), stats.bins), &cells);
    }
    for preset in FITTED {
        let all = generated(preset)?.iter().map(stats).collect::<Vec<_>>();
        row(&preset.to_string(), &RATE_COLUMNS.map(|(_, of)| spread(&all, of)));
    }
    println!("\nDelays above the least one, ms\n");
    header(&DELAY_QUANTILES.map(|p| format!("p{}", p * 100.0)));
    for file in files(&folder, "txt")? {
        let Recording::Pings(log) = read(&file)? else { continue };
        let lost = log.lost().map_or("unknown".to_owned(), |lost| lost.to_string());
        row(&format!("{}, {lost} lost", name(&file)), &delays(&log.delays_ms()));
    }
    for preset in FITTED {
        let probed = generated(preset)?.iter().map(probe).collect::<Result<Vec<_>>>()?;
        row(&preset.to_string(), &delays(&probed.concat()));
    }
    Ok(())
}

fn stats(series: &RateSeries) -> RateStats {
    RateStats::of(series, Bandwidth::from_mbit_per_sec(OUTAGE_MBIT_S))
}

/// The files of a folder with this extension, in order of their names.
fn files(folder: &str, extension: &str) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)?.collect::<std::io::Result<Vec<_>>>()?;
    let mut files: Vec<_> = entries.into_iter().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|found| found == extension));
    files.sort();
    Ok(files)
}

fn read(file: &Path) -> Result<Recording> {
    let bytes = std::fs::read(file)?;
    Recording::read(&bytes, &Columns::default())
        .map_err(|error| format!("{}: {error}", file.display()).into())
}

fn name(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn generated(preset: Preset) -> Result<Vec<RateSeries>> {
    let one = |seed| Ok(preset.model().generate(preset.usual_mean(), LENGTH, seed)?);
    (1..=SEEDS).map(one).collect()
}

/// The delays in milliseconds of pings on a link that plays the series and carries nothing else.
fn probe(series: &RateSeries) -> Result<Vec<f64>> {
    let trace = Arc::new(series.to_trace()?);
    let config = LinkConfig::new(Rate::Trace { trace, repeat: false }, Duration::ZERO);
    let (mut link, mut delays) = (Link::<u64>::new(config, 1)?, Vec::new());
    let mut collect = |link: &mut Link<u64>, until: Timestamp| {
        while let Some(at) = link.next_event().filter(|&at| at <= until) {
            if let Some(sent) = link.poll(at) {
                delays.push((at.as_nanos() - sent) as f64 / 1e6);
            }
        }
    };
    let mut now = Timestamp::ZERO;
    while now < Timestamp::ZERO + series.duration() {
        collect(&mut link, now);
        link.send(now, PING_BYTES, now.as_nanos());
        now += PING_INTERVAL;
    }
    collect(&mut link, Timestamp::MAX);
    Ok(delays)
}

fn delays(delays: &[f64]) -> [String; DELAY_QUANTILES.len()] {
    let least = quantile(delays, 0.0).unwrap_or(0.0);
    DELAY_QUANTILES.map(|p| quantile(delays, p).map_or("none".to_owned(), |d| number(d - least)))
}

fn header(columns: &[String]) {
    row("", columns);
    println!("|{}", " --- |".repeat(columns.len() + 1));
}

fn row(name: &str, cells: &[String]) {
    println!("| {name} | {} |", cells.join(" | "));
}

/// The mean over series, and from the 5 % to the 95 % quantile.
fn spread(all: &[RateStats], of: fn(&RateStats) -> Option<f64>) -> String {
    let values: Vec<_> = all.iter().filter_map(of).collect();
    let [low, high] = [0.05, 0.95].map(|p| quantile(&values, p).map(number).unwrap_or_default());
    mean(&values).map_or("none".to_owned(), |mean| format!("{} ({low} to {high})", number(mean)))
}

/// Three digits, where they tell something.
fn number(value: f64) -> String {
    match value.abs() {
        0.0..0.095 => format!("{value:.3}"),
        0.095..9.95 => format!("{value:.2}"),
        9.95..99.5 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}
