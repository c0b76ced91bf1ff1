//! The fitted presets against recordings, which are not part of this repository.
//!
//! They are read from the folder that `POLYPATH_TRACES` names, otherwise `../shared/traces` beside
//! the repository. Without them these tests say so and check nothing.
#![allow(clippy::print_stderr)]

use polypath_link::trace::generate::Preset;
use polypath_link::trace::stats::RateStats;
use polypath_link::trace::{Columns, PingLog, RateSeries, Recording};
use polypath_units::Bandwidth;
use std::path::PathBuf;
use std::time::Duration;

const SEEDS: u64 = 40;

type Statistic = (&'static str, fn(&RateStats) -> Option<f64>);

const STATISTICS: [Statistic; 6] = [
    ("mean", |s| Some(s.mean_mbit_s)),
    ("CoV", |s| s.cov),
    ("autocorrelation at 1 s", |s| s.autocorrelation[0]),
    ("autocorrelation at 5 s", |s| s.autocorrelation[1]),
    ("autocorrelation at 20 s", |s| s.autocorrelation[2]),
    ("share of outages", |s| Some(s.outages.share)),
];

/// The text of a recording, if it is there.
fn recording(name: &str) -> Option<String> {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces"));
    let folder = std::env::var_os("POLYPATH_TRACES").map_or_else(beside, PathBuf::from);
    let text = std::fs::read_to_string(folder.join(name)).ok();
    if text.is_none() {
        eprintln!("skipped: no recording {name}; POLYPATH_TRACES names the folder");
    }
    text
}

fn rates(text: &str) -> RateSeries {
    match Recording::read(text.as_bytes(), &Columns::default()) {
        Ok(Recording::Rates(rates)) => rates,
        other => panic!("{other:?}"),
    }
}

fn stats(series: &RateSeries) -> RateStats {
    RateStats::of(series, Bandwidth::from_mbit_per_sec(0.5))
}

/// Each statistic of the recordings, on average, lies between the least and the greatest of 40
/// generated series: of a model that produced them it would do so 39 times in 41.
fn assert_covers(preset: Preset, names: &[&str]) {
    let texts: Vec<_> = names.iter().filter_map(|name| recording(name)).collect();
    if texts.len() < names.len() {
        return;
    }
    let recorded = texts.iter().map(|text| stats(&rates(text)));
    let recorded: Vec<_> = recorded.collect();
    let length = Duration::from_secs(2_400);
    let one = |seed| preset.model().generate(preset.usual_mean(), length, seed).unwrap();
    let generated: Vec<_> = (1..=SEEDS).map(|seed| stats(&one(seed))).collect();
    for (name, of) in STATISTICS {
        let wanted = recorded.iter().filter_map(of).sum::<f64>() / recorded.len() as f64;
        let values = || generated.iter().filter_map(of);
        let (low, high) =
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        assert!((low..=high).contains(&wanted), "{preset}, {name}: {wanted}, not {low} to {high}");
    }
}

#[test]
fn train_is_like_the_underground_recordings() {
    assert_covers(Preset::Train, &["lte-7Train1.csv", "lte-QTrain.csv"]);
}

#[test]
fn drive_is_like_the_bus_recording() {
    assert_covers(Preset::Drive, &["lte-bus57.csv"]);
}

/// What `ping` itself counted at the end of each log.
#[test]
fn ping_logs_are_read_whole() {
    for (name, sent, received) in [
        ("ping-atnt-1.txt", 150, 150),
        ("ping-tmobile-2.txt", 149, 143),
        ("ping-verizon-3.txt", 150, 150),
    ] {
        let Some(text) = recording(name) else { continue };
        let log = PingLog::parse(&text).unwrap();
        assert_eq!((log.sent(), log.echoes().len()), (Some(sent), received), "{name}");
    }
}
