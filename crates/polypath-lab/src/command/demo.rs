//! `polypath demo`: shows a bond on this machine.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use polypath_sim::scenario::Scenario;

use crate::demo;
use polypath::output;

/// The network that is shown when none is given.
const BUILT_IN: &str = include_str!("../../../../scenarios/demo.toml");

/// Bond emulated links on this machine, let one die, and report what the bond achieved
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct DemoOptions {
    /// The network (TOML), instead of the built-in one
    #[arg(long, value_name = "SCENARIO")]
    pub scenario: Option<PathBuf>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
    /// Write a page with charts to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Seed of random losses
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

fn scenario(options: &DemoOptions) -> anyhow::Result<Scenario> {
    Ok(match &options.scenario {
        Some(file) => Scenario::load(file)?,
        None => Scenario::parse(BUILT_IN, Path::new("scenarios/demo.toml"), &mut |trace| {
            std::fs::read(trace)
        })?,
    })
}

/// Runs the demonstration and prints its result. Fails unless every byte arrived.
///
/// # Errors
/// When it cannot be set up, or a transfer fails.
pub fn run(options: &DemoOptions) -> anyhow::Result<ExitCode> {
    let scenario = scenario(options)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("the runtime")?;
    let report = runtime.block_on(demo::run(&scenario, options.seed))?;
    if let Some(file) = &options.html {
        std::fs::write(file, report.to_html())
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    let text = if options.json { report.to_json()? } else { report.to_table() };
    output::print(&text)?;
    Ok(if report.sha256_ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
