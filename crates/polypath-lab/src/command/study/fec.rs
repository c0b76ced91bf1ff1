//! `polypath study fec`: when forward error correction pays.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::super::runs::{RunsOptions, Work};
use super::fec_text;
use crate::compare::drawn::{DRAW_SEED, Family};
use crate::fec::{FecGrid, FecMeasured, FecRun, FecStudy};
use crate::report::fec::page;
use crate::store::Label;
use polypath::service::INTERRUPTED;

/// When forward error correction over several paths beats copies and retransmission
///
/// Sends calls, games, video and bulk with deadlines over networks that a seed draws, protected in
/// every way, and says which of them had enough in time, and at what price.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub(super) struct FecOptions {
    /// How many networks are drawn
    #[arg(long, value_name = "N", default_value_t = 120,
        value_parser = clap::value_parser!(u32).range(1..=10_000))]
    draws: u32,
    /// The seed of the draw: the first networks of a larger N are those of a smaller one
    #[arg(long, value_name = "S", default_value_t = DRAW_SEED)]
    draw_seed: u64,
    /// What is drawn: constant links of all kinds, or moving users
    #[arg(long, value_name = "NAME", default_value = "grid", value_parser = family())]
    family: Family,
    /// Beside the datagrams a transfer of a bond over the same paths, which shows what they take
    #[arg(long)]
    beside_transfer: bool,
    /// Write a page with the tables and charts
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    runs: RunsOptions,
}

/// The families whose profiles have paths of links alone, for help and completion too.
fn family() -> impl TypedValueParser<Value = Family> {
    let names = [Family::Grid, Family::Mobile].map(Family::name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Family>())
}

impl Work for FecRun<'_> {
    type Measured = FecMeasured;

    fn label(&self) -> Label {
        FecRun::label(self)
    }

    fn run(&self) -> anyhow::Result<FecMeasured> {
        Ok(FecRun::run(self)?)
    }
}

/// Makes the study and prints it.
///
/// # Errors
/// When a run fails, or something cannot be read or written.
pub(super) fn run(options: &FecOptions) -> anyhow::Result<ExitCode> {
    let FecOptions { family, draw_seed, draws, beside_transfer, .. } = *options;
    let grid = FecGrid::new(family, draw_seed, draws, beside_transfer)?;
    let Some(results) = options.runs.results(grid.runs())? else { return Ok(INTERRUPTED.into()) };
    report(options, &grid.study(&results))
}

fn report(options: &FecOptions, study: &FecStudy) -> anyhow::Result<ExitCode> {
    if let Some(file) = &options.html {
        let page = page(study, &fec_text::tables(study));
        fs::write(file, page).with_context(|| format!("cannot write {}", file.display()))?;
    }
    options.runs.print(study, || fec_text::render(study))?;
    Ok(ExitCode::SUCCESS)
}
