//! `polypath compare --drawn`: profiles that a seed draws.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::super::runs::Work;
use super::{CompareOptions, drawn_text};
use crate::compare::drawn::{DRAW_SEED, DrawnChanges, DrawnGrid, DrawnMeasured, DrawnRun, Family};
use crate::compare::{Combination, SelectError};
use crate::store::Label;
use polypath::service::INTERRUPTED;

/// Seeds of a run if nothing is said: other profiles say more than other seeds of one.
const SEEDS: u32 = 2;
/// What may be set: a key of all transports would have to be set in all of them.
const OF_BOND: &str = "connection.bond.";

/// What of the suite there is not in drawn profiles.
const OF_SUITE: [&str; 5] = ["quick", "finalists", "scenario", "part", "html"];

/// Profiles in place of the suite.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub(super) struct DrawnOptions {
    /// In place of the suite N profiles that a seed draws, against TCP, Multipath TCP and the
    /// fluid bound; the shipped combination alone, unless others are named
    #[arg(long, value_name = "N", conflicts_with_all = OF_SUITE,
        value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) drawn: Option<u32>,
    /// The seed of the draw: the first profiles of a larger N are those of a smaller one
    #[arg(long, value_name = "S", requires = "drawn", default_value_t = DRAW_SEED)]
    draw_seed: u64,
    /// What is drawn: constant links of all kinds, jitter and loss, datagrams, or moving users
    #[arg(long, value_name = "NAME", requires = "drawn", default_value = "grid",
        value_parser = family())]
    family: Family,
    /// Write the drawn scenarios into this folder and run nothing
    #[arg(long, value_name = "DIR", requires = "drawn")]
    write: Option<PathBuf>,
}

/// The names of the families, for help and completion too.
fn family() -> impl TypedValueParser<Value = Family> {
    PossibleValuesParser::new(Family::ALL.map(Family::name)).try_map(|name| name.parse::<Family>())
}

impl Work for DrawnRun<'_> {
    type Measured = DrawnMeasured;

    fn label(&self) -> Label {
        DrawnRun::label(self)
    }

    fn run(&self) -> anyhow::Result<DrawnMeasured> {
        Ok(DrawnRun::run(self, &mut |_| {})?)
    }
}

/// Draws so many profiles, and runs or writes them.
///
/// # Errors
/// When a run fails, or something cannot be read or written.
pub(super) fn run(options: &CompareOptions, count: u32) -> anyhow::Result<ExitCode> {
    let DrawnOptions { draw_seed, family, write, .. } = &options.drawn;
    let changes = changes(options)?;
    let seeds = options.seeds.unwrap_or(SEEDS);
    let combinations = combinations(options)?;
    let grid = DrawnGrid::new(*family, *draw_seed, count, combinations, seeds, changes)?;
    if let Some(folder) = write {
        write_all(&grid, folder)?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(results) = options.runs.results(grid.runs())? else { return Ok(INTERRUPTED.into()) };
    let comparison = grid.comparison(&results);
    options.runs.print(&comparison, || drawn_text::render(&comparison))?;
    Ok(ExitCode::SUCCESS)
}

fn changes(options: &CompareOptions) -> Result<DrawnChanges, SelectError> {
    if let Some(other) = options.set.iter().find(|setting| !setting.starts_with(OF_BOND)) {
        return Err(SelectError::NotOfBond { given: other.clone() });
    }
    Ok(DrawnChanges { limit: options.duration, settings: options.set.clone() })
}

/// Those that are named, or what ships.
fn combinations(options: &CompareOptions) -> anyhow::Result<Vec<Combination>> {
    let CompareOptions { congestion, slow_start, scheduler, combination, .. } = options;
    let none_named = congestion.is_empty()
        && slow_start.is_empty()
        && scheduler.is_empty()
        && combination.is_empty();
    Ok(match none_named {
        true => vec![Combination::shipped()],
        false => options.selection().combinations()?,
    })
}

fn write_all(grid: &DrawnGrid, folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for profile in grid.profiles() {
        let file = folder.join(format!("{}.toml", profile.name));
        fs::write(&file, profile.text())
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}
