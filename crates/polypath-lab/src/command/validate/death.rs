//! `polypath validate death`: a path dies without a word, and who carries a download over it.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use polypath_emulator::plan::Prefix;
use polypath_emulator::validate::death::{CONTESTANTS, Contestant, Outage, Row, Spread, World};
use serde::Serialize;

use super::kernel_version;
use crate::report::fidelity;
use polypath::output::{self, columns};
use polypath::service;
use polypath::service::LogFormat;

/// What is logged unless `RUST_LOG` says otherwise; that paths fail is no news here.
const LOG: &str = "warn,polypath_net::edge=error";

/// Compare how long a path's silent death stalls a download
///
/// Runs scenarios/validation/silent_death.toml with the kernel's Multipath TCP, by itself and with
/// `polypath kernel agent` on both hosts, and with the bond in network namespaces, and with
/// Multipath TCP and the bond in the simulator: how long deliveries stall, when 80 % of what the
/// other path carries comes again, what comes while the path is dead, and how soon it carries data
/// again. Takes 60 seconds for each run, and root: without it the rows of the simulator alone are
/// measured, the others say why they are not, and the exit code is 1.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub(super) struct DeathOptions {
    /// How many runs of each contestant
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=99))]
    runs: u64,
    /// Only what runs here
    #[arg(long, value_name = "WORLD", value_enum)]
    world: Option<In>,
    /// Only those of this name
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(names()))]
    transport: Option<String>,
    /// Override a value of the scenario, such as path.fast.delay=20ms
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// What the names of the namespaces begin with
    #[arg(long, value_name = "PREFIX", default_value = "polypath_validate")]
    netns: Prefix,
    /// Write a page with the table
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Two contestants may have one name.
fn names() -> BTreeSet<&'static str> {
    CONTESTANTS.iter().map(|contestant| contestant.name).collect()
}

/// [`World`] on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum In {
    /// The kernel's transport, in network namespaces
    Kernel,
    /// The simulator
    Simulator,
    /// The bond on sockets, in network namespaces
    Sockets,
}

impl In {
    const fn world(self) -> World {
        match self {
            Self::Kernel => World::Kernel,
            Self::Simulator => World::Simulator,
            Self::Sockets => World::Sockets,
        }
    }
}

/// The whole comparison; what `--json` prints.
#[derive(Clone, Debug, Serialize)]
struct Deaths {
    kernel: String,
    /// How many runs of each contestant.
    runs: u64,
    /// The path that dies.
    path: String,
    dies_s: f64,
    returns_s: f64,
    /// What the other paths carry.
    surviving_mbit_s: f64,
    rows: Vec<Row>,
}

pub(super) fn run(options: &DeathOptions) -> anyhow::Result<ExitCode> {
    service::start_log(LogFormat::Text, LOG)?;
    let deaths = measure(options)?;
    if let Some(file) = &options.html {
        let page = fidelity::page(&deaths.title(), &deaths.cells(), &deaths.missing());
        fs::write(file, page).with_context(|| format!("cannot write {}", file.display()))?;
    }
    output::print(&match options.json {
        true => serde_json::to_string_pretty(&deaths)? + "\n",
        false => deaths.text(),
    })?;
    let complete = deaths.rows.iter().all(|row| row.missing.is_none());
    Ok(if complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn measure(options: &DeathOptions) -> anyhow::Result<Deaths> {
    let outage = Outage::of(&CONTESTANTS[0].plan(&options.set)?)?;
    let chosen = |contestant: &&Contestant| {
        options.world.is_none_or(|only| contestant.world == only.world())
            && options.transport.as_ref().is_none_or(|only| contestant.name == only)
    };
    let contestants: Vec<_> = CONTESTANTS.iter().filter(chosen).collect();
    let mut rows = Vec::new();
    for (number, contestant) in contestants.iter().enumerate() {
        let (name, world) = (contestant.name, contestant.world.name());
        output::tell(&format!("{} of {}: {name}, {world}\n", number + 1, contestants.len()));
        let plan = contestant.plan(&options.set)?;
        rows.push(contestant.row(&plan, options.runs, &options.netns));
    }
    Ok(Deaths {
        kernel: kernel_version()?,
        runs: options.runs,
        dies_s: outage.dies.as_secs_f64(),
        returns_s: outage.returns.as_secs_f64(),
        surviving_mbit_s: outage.surviving.mbit_per_sec(),
        path: outage.path,
        rows,
    })
}

impl Deaths {
    fn title(&self) -> String {
        let Self { kernel, runs, path, dies_s, returns_s, surviving_mbit_s, .. } = self;
        format!(
            "Path {path} dies silently at {dies_s} s and is back at {returns_s} s, the rest carries \
             {surviving_mbit_s} Mbit/s: {kernel}, medians of {runs} runs"
        )
    }

    /// The table with its headings.
    fn cells(&self) -> Vec<[String; 6]> {
        let headings = [
            "transport",
            "runs in",
            "stall, ms",
            "80 % again after, ms",
            "goodput while dead, %",
            "used again after, ms",
        ];
        let row = |row: &Row| {
            let percent = |spread: Spread| Spread {
                median: spread.median * 100.0,
                least: spread.least * 100.0,
                p95: spread.p95 * 100.0,
                most: spread.most * 100.0,
                ..spread
            };
            let cell = |spread: Option<Spread>| self.cell(spread, row.missing.is_some());
            [
                row.contestant.to_owned(),
                row.world.name().to_owned(),
                cell(row.stall_ms),
                cell(row.recovery_ms),
                cell(row.goodput_share.map(percent)),
                cell(row.reuse_ms),
            ]
        };
        std::iter::once(headings.map(str::to_owned)).chain(self.rows.iter().map(row)).collect()
    }

    fn cell(&self, spread: Option<Spread>, missing: bool) -> String {
        let Some(Spread { median, least, p95, most, runs }) = spread else {
            return if missing { "not measured" } else { "never" }.to_owned();
        };
        // Of fewer runs the largest says as much.
        let within = match runs {
            ..20 => String::new(),
            _ => format!(", 95 % within {p95:.0}"),
        };
        let range = format!("{median:.0} ({least:.0} to {most:.0}{within}");
        match runs as u64 == self.runs {
            true => range + ")",
            false => format!("{range}; in {runs} of {} runs)", self.runs),
        }
    }

    /// What was not measured, and why.
    fn missing(&self) -> Vec<String> {
        let told = |Row { contestant, world, missing, .. }: &Row| {
            let reason = missing.as_ref()?;
            Some(format!("{contestant}, {}: not measured: {reason}", world.name()))
        };
        self.rows.iter().filter_map(told).collect()
    }

    fn text(&self) -> String {
        let notes: String = self.missing().iter().map(|note| format!("{note}\n")).collect();
        format!("{}\n{}{notes}", self.title(), columns(&self.cells(), 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_emulator::validate::death::{Outcome, World};

    fn deaths() -> Deaths {
        let outcome = |stall: f64, reuse_ms| Outcome {
            stall_ms: Some(stall),
            recovery_ms: Some(stall * 2.0),
            goodput_share: stall / 1_000.0,
            reuse_ms,
        };
        let kernel = vec![outcome(512.0, Some(1_500.0)), outcome(630.4, Some(1_520.0))];
        let bond = vec![outcome(70.0, None), outcome(80.0, Some(20.0))];
        let refused = Err("network namespaces need root".to_owned());
        Deaths {
            kernel: "Linux 6.18".to_owned(),
            runs: 2,
            path: "fast".to_owned(),
            dies_s: 8.0,
            returns_s: 14.0,
            surviving_mbit_s: 20.0,
            rows: vec![
                Row::new("Multipath TCP", World::Kernel, Ok(kernel)),
                Row::new("bond", World::Simulator, Ok(bond)),
                Row::new("bond", World::Sockets, refused),
            ],
        }
    }

    #[test]
    fn the_table_has_medians_with_ranges_and_says_what_is_missing() {
        insta::assert_snapshot!(deaths().text(), @r"
        Path fast dies silently at 8 s and is back at 14 s, the rest carries 20 Mbit/s: Linux 6.18, medians of 2 runs
        transport      runs in           stall, ms  80 % again after, ms  goodput while dead, %           used again after, ms
        Multipath TCP  kernel     571 (512 to 630)   1142 (1024 to 1261)          57 (51 to 63)            1510 (1500 to 1520)
        bond           simulator     75 (70 to 80)      150 (140 to 160)             8 (7 to 8)  20 (20 to 20; in 1 of 2 runs)
        bond           sockets        not measured          not measured           not measured                   not measured
        bond, sockets: not measured: network namespaces need root
        ");
    }

    #[test]
    fn of_twenty_runs_it_is_told_what_most_stay_within() {
        let runs: Vec<_> = (0..=20).map(f64::from).collect();
        let spread = Spread::of(runs.into_iter());
        let cell = Deaths { runs: 21, ..deaths() }.cell(spread, false);
        assert_eq!(cell, "10 (0 to 20, 95 % within 19)");
    }

    #[test]
    fn json_has_every_run_and_what_is_missing() {
        let json = serde_json::to_value(deaths()).unwrap();
        assert_eq!(json["rows"][0]["world"], "kernel");
        assert_eq!(json["rows"][0]["stall_ms"]["most"], 630.4);
        assert_eq!(json["rows"][1]["runs"][0]["reuse_ms"], serde_json::Value::Null);
        assert_eq!(json["rows"][1]["reuse_ms"]["runs"], 1);
        assert_eq!(json["rows"][2]["missing"], "network namespaces need root");
    }
}
