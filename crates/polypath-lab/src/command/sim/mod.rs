//! `polypath sim`: runs a scenario in the simulator.

mod flows;
mod page;
mod progress;
mod rules;
mod runs;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use polypath_sim::run::{Plan, RunReport};
use polypath_sim::scenario::Scenario;
use serde::Serialize;

use super::runs::RunsOptions;
use crate::report::simulation::SERIES;
use polypath::config::UsageError;
use runs::Jobs;

/// Run a scenario in the packet-level simulator
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(mut_arg("out", |out| {
    out.help("Write the results and what the scenario records into this folder")
}))]
pub struct SimOptions {
    /// The scenario (TOML)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The seed of the first run; the runs after it have the numbers that follow
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How many runs
    #[arg(long = "runs", value_name = "K", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
    /// Override a value of the scenario, such as path.lte.delay=50ms
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Write a page of the first run: applications, network, throughput, windows, queues, delays
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    runs: RunsOptions,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Results<'a, R> {
    scenario: &'a str,
    runs: &'a [R],
}

/// A run and what it cost.
#[derive(Debug, Serialize)]
struct TimedRun {
    /// The processor time that it took.
    cpu_s: f64,
    #[serde(flatten)]
    report: RunReport,
}

/// Runs the scenario and prints what came out.
///
/// # Errors
/// When the scenario is wrong, or something cannot be written.
pub fn run(options: &SimOptions) -> anyhow::Result<ExitCode> {
    let plan = options.plan()?;
    let scenario = options.scenario_name(&plan);
    let (out, page) = (options.runs.out(), options.html.as_deref());
    let jobs = Jobs { plan: &plan, scenario: &scenario, out, page };
    let runs = jobs.run(options.seeds()?, options.runs.at_once())?;
    let results = Results { scenario: &scenario, runs: &runs };
    options.runs.print(&results, || table::render(&scenario, &runs))?;
    Ok(ExitCode::SUCCESS)
}

impl SimOptions {
    /// The scenario, with everything recorded that a page needs.
    fn plan(&self) -> anyhow::Result<Plan> {
        let mut scenario = Scenario::load_with(&self.file, &self.set)?;
        if self.html.is_some() {
            let series = &mut scenario.record.series;
            let missing = SERIES.into_iter().filter(|needed| !series.contains(needed));
            let missing: Vec<_> = missing.collect();
            series.extend(missing);
        }
        Ok(Plan::new(scenario)?)
    }

    fn seeds(&self) -> anyhow::Result<Vec<u64>> {
        let last = self.seed.checked_add(u64::from(self.count) - 1);
        let message = "--seed and --runs: the last seed is above 2^64 - 1";
        let last = last.ok_or_else(|| UsageError::new(message))?;
        Ok((self.seed..=last).collect())
    }

    /// The name in the scenario, otherwise that of the file.
    fn scenario_name(&self, plan: &Plan) -> String {
        let file = || self.file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        plan.scenario().name.clone().or_else(file).unwrap_or_default()
    }
}
