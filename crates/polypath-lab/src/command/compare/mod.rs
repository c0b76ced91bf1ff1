//! `polypath compare`: combinations of algorithms against each other.

mod drawn;
mod drawn_text;
mod kernel;
mod kernel_text;
mod text;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use crate::compare::{Combination, Comparison, Grid, Job, Measured, Part, Selection};
use crate::store::Label;
use anyhow::Context;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use polypath_core::congestion::CongestionKind;
use polypath_core::scheduler::SchedulerKind;
use polypath_core::slow_start::SlowStartKind;
use polypath_units::parse_duration;

use super::runs::{RunsOptions, Work};
use crate::report::comparison;
use polypath::service::INTERRUPTED;

/// Seeds if nothing is said.
const SEEDS: u32 = 5;
const QUICK_SEEDS: u32 = 1;
/// Seeds by which finalists are found.
const SCREENING_SEEDS: u32 = 1;

/// Compare congestion controls, slow starts and schedulers over a suite of 5G scenarios
///
/// Runs every combination that makes sense over bonds in the simulator, and each control over each
/// path alone, and ranks the combinations.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct CompareOptions {
    /// Only combinations that differ from the shipped one in one part, 6 s of each scenario, one
    /// seed
    #[arg(long)]
    quick: bool,
    /// How many seeds, from 1 on [default: 5, with --quick 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    seeds: Option<u32>,
    /// With one seed first; with all of them the N best of each scenario alone, the coupled one
    /// that delays are held against, and what ships
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    finalists: Option<u32>,
    /// Only these scenarios
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    scenario: Vec<String>,
    /// Only the part of the suite that algorithms are tuned by, or one that is held out, or was
    #[arg(long, value_name = "PART", value_parser = part())]
    part: Option<Part>,
    /// Only these congestion controls
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    congestion: Vec<CongestionKind>,
    /// Only these slow starts
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    slow_start: Vec<SlowStartKind>,
    /// Only these schedulers
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    scheduler: Vec<SchedulerKind>,
    /// Only these combinations, as the ranking names them, such as bbr+edpf or cubic+bess+edpf
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    combination: Vec<Combination>,
    /// Override a value of every scenario, after what is compared, such as
    /// connection.bond.receive_buffer=1MB
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Runs end after this long at most [default: as each scenario says, with --quick 6 s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    duration: Option<Duration>,
    #[command(flatten)]
    world: kernel::WorldOptions,
    #[command(flatten)]
    drawn: drawn::DrawnOptions,
    /// Write a page with the ranking and a heat map
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    runs: RunsOptions,
}

/// The names of the parts, for help and completion too.
fn part() -> impl TypedValueParser<Value = Part> {
    PossibleValuesParser::new(Part::ALL.map(Part::name)).try_map(|name| name.parse::<Part>())
}

/// Runs the comparison and prints it.
///
/// # Errors
/// When nothing is to be compared, a run fails, or something cannot be read or written.
pub fn run(options: &CompareOptions) -> anyhow::Result<ExitCode> {
    if options.world.is_kernel() {
        return kernel::run(options);
    }
    if let Some(count) = options.drawn.drawn {
        return drawn::run(options, count);
    }
    let selection = options.selection();
    let (scenarios, combinations) = (selection.scenarios()?, selection.combinations()?);
    let changes = selection.changes();
    let grid = Grid::new(&scenarios, combinations, options.first_seeds(), &changes)?;
    let Some(results) = options.runs.results(grid.jobs())? else { return Ok(INTERRUPTED.into()) };
    let comparison = Comparison::new(&grid, &results);
    let Some(most) = options.finalists else { return options.report(&comparison) };

    let finalists = comparison.finalists(most as usize);
    let last = Grid::new(&scenarios, finalists, options.seeds(), &changes)?;
    let more = last.jobs().into_iter().filter(|job| job.seed > SCREENING_SEEDS).collect();
    let Some(more) = options.runs.results(more)? else { return Ok(INTERRUPTED.into()) };
    let known = results.into_iter().filter(|(job, _)| last.includes(job));
    options.report(&Comparison::new(&last, &known.chain(more).collect::<Vec<_>>()))
}

impl Work for Job<'_> {
    type Measured = Measured;

    fn label(&self) -> Label {
        Job::label(self)
    }

    fn run(&self) -> anyhow::Result<Measured> {
        Ok(Job::run(self, &mut |_| {})?)
    }
}

impl CompareOptions {
    fn report(&self, comparison: &Comparison) -> anyhow::Result<ExitCode> {
        if let Some(file) = &self.html {
            let page = comparison::page(comparison, self.title());
            fs::write(file, page).with_context(|| format!("cannot write {}", file.display()))?;
        }
        self.runs.print(comparison, || text::render(comparison, self.title()))?;
        Ok(ExitCode::SUCCESS)
    }

    fn selection(&self) -> Selection {
        Selection {
            quick: self.quick,
            scenarios: self.scenario.clone(),
            part: self.part,
            congestion: self.congestion.clone(),
            slow_start: self.slow_start.clone(),
            scheduler: self.scheduler.clone(),
            combinations: self.combination.clone(),
            duration: self.duration,
            settings: self.set.clone(),
        }
    }

    fn seeds(&self) -> u32 {
        self.seeds.unwrap_or(if self.quick { QUICK_SEEDS } else { SEEDS })
    }

    /// The seeds that all combinations run with.
    fn first_seeds(&self) -> u32 {
        if self.finalists.is_some() { SCREENING_SEEDS } else { self.seeds() }
    }

    const fn title(&self) -> &'static str {
        if self.quick { "Quick comparison" } else { "Comparison" }
    }
}
