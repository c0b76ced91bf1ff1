//! `polypath compare --world kernel`: the kernel's Multipath TCP in place of simulated bonds.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, ValueEnum};
use polypath_core::slow_start::SlowStartKind;
use polypath_emulator::plan::Prefix;
use polypath_emulator::validate::{KernelRun, recorded};
use serde::Serialize;

use super::{CompareOptions, kernel_text};
use crate::command::runs::on_signal;
use crate::command::validate::kernel_version;
use crate::compare::kernel::{
    self, KernelJob, KernelRank, KernelRow, measured, ranking, simulated, simulation,
};
use crate::compare::{Control, Grid, Interval, Stage, SuiteScenario};
use crate::experiment::{KernelCase, Observation};
use polypath::config::UsageError;
use polypath::output;
use polypath::service::{self, INTERRUPTED, LogFormat, QUIET_LOG};

/// The slow starts of a quick comparison: the kernel has the second with CUBIC alone.
const PLAIN: [SlowStartKind; 2] = [SlowStartKind::Standard, SlowStartKind::Hystart];

/// Where the scenarios are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum World {
    /// Bonds in the simulator
    Simulator,
    /// The kernel's Multipath TCP in network namespaces, and the same in the simulator
    Kernel,
}

/// Where the scenarios are run, and how.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub(super) struct WorldOptions {
    /// Where the scenarios are run. By the kernel these are the ones that it and the emulator can
    /// have; controls are those of the kernel and Polypath's in eBPF. That takes root and a build
    /// with the feature `kernel`
    #[arg(long, value_enum, default_value = "simulator")]
    world: World,
    /// With --world kernel: what the names of the namespaces begin with
    #[arg(long, value_name = "PREFIX", default_value = "polypath_compare")]
    netns: Prefix,
}

impl WorldOptions {
    pub(super) fn is_kernel(&self) -> bool {
        self.world == World::Kernel
    }
}

/// What `--json` prints.
#[derive(Serialize)]
pub(super) struct Results {
    pub(super) kernel: String,
    /// How many runs of each control in each scenario.
    pub(super) seeds: u32,
    pub(super) ranking: Vec<KernelRank>,
    pub(super) rows: Vec<KernelRow>,
}

/// A control in a scenario with its runs by the kernel.
struct Measured {
    scenario: &'static str,
    control: Control,
    cases: Vec<KernelCase>,
    runs: Vec<KernelRun>,
    missing: Option<String>,
}

/// Runs the comparison and prints it.
///
/// # Errors
/// When something is asked for that is not there in the kernel's world, or the first run fails.
pub(super) fn run(options: &CompareOptions) -> anyhow::Result<ExitCode> {
    let (scenarios, controls) = (scenarios(options)?, controls(options)?);
    service::start_log(LogFormat::Text, QUIET_LOG)?;
    let stopped = Arc::new(AtomicBool::new(false));
    let stops = stopped.clone();
    // From here on a signal leaves nothing behind.
    on_signal(move || stops.store(true, Ordering::Relaxed));
    let changes = options.selection().changes();
    let grid = Grid::new(&scenarios, Vec::new(), options.seeds(), &changes)?;
    let Some(all) = live(&grid, &controls, options, &stopped)? else {
        output::tell("interrupted: all that was made has been removed\n");
        return Ok(INTERRUPTED.into());
    };
    let jobs = all.iter().flat_map(|one| one.cases.iter().zip(1..));
    let jobs = jobs.map(|(case, seed)| simulation(case, seed)).collect();
    let Some(simulations) = options.runs.results(jobs)? else { return Ok(INTERRUPTED.into()) };
    let mut observations = simulations.into_iter().map(|(_, observation)| observation);
    let rows = all.iter().map(|one| {
        let simulated: Vec<_> = observations.by_ref().take(one.cases.len()).collect();
        one.row(&simulated)
    });
    let rows: Vec<_> = rows.collect();
    let (seeds, kernel) = (options.seeds(), kernel_version()?);
    let results = Results { kernel, seeds, ranking: ranking(&rows), rows };
    options.runs.print(&results, || kernel_text::render(&results))?;
    let complete = results.rows.iter().all(|row| row.missing.is_none());
    Ok(if complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Refuses what is not there in the kernel's world, and gives the scenarios that are asked for.
fn scenarios(options: &CompareOptions) -> anyhow::Result<Vec<SuiteScenario>> {
    refuse(
        !options.scheduler.is_empty() || !options.combination.is_empty(),
        "--scheduler, --combination: stock kernels have one scheduler for Multipath TCP; with \
         --world kernel only --congestion and --slow-start choose",
    )?;
    refuse(
        options.drawn.drawn.is_some()
            || options.finalists.is_some()
            || options.html.is_some()
            || options.runs.out().is_some(),
        "--drawn, --finalists, --html, --out: not with --world kernel; allowed beside it are \
         --quick, --seeds, --scenario, --part, --congestion, --slow-start, --duration, --set, \
         --netns, --jobs, --json",
    )?;
    let suited = kernel::scenarios(&options.world.netns)?;
    let known = |name: &str| suited.iter().any(|scenario| scenario.name == name);
    if let Some(name) = options.scenario.iter().find(|name| !known(name)) {
        let names: Vec<_> = suited.iter().map(|scenario| scenario.name).collect();
        let problem = format!(
            "--scenario {name}: not one that kernel and emulator can have; allowed: {}",
            names.join(", ")
        );
        return Err(UsageError::new(problem).into());
    }
    let chosen = |scenario: &SuiteScenario| {
        (options.scenario.is_empty() || options.scenario.iter().any(|n| n == scenario.name))
            && options.part.is_none_or(|part| part == scenario.part)
    };
    Ok(suited.into_iter().filter(chosen).collect())
}

fn refuse(given: bool, problem: &str) -> Result<(), UsageError> {
    if given { Err(UsageError::new(problem)) } else { Ok(()) }
}

/// The controls that are asked for; with `--quick` those with the standard slow start or their own.
fn controls(options: &CompareOptions) -> Result<Vec<Control>, UsageError> {
    let all = kernel::controls();
    let listed = |mut names: Vec<String>| {
        names.dedup();
        names.join(", ")
    };
    if let Some(kind) =
        options.congestion.iter().find(|kind| !all.iter().any(|c| c.congestion == **kind))
    {
        let allowed = listed(all.iter().map(|control| control.congestion.to_string()).collect());
        let problem = format!("--congestion {kind}: not in the kernel; allowed: {allowed}");
        return Err(UsageError::new(problem));
    }
    let chosen = |control: &Control| {
        let start = control.slow_start;
        let is_plain = start.is_none_or(|start| PLAIN.contains(&start));
        (options.congestion.is_empty() || options.congestion.contains(&control.congestion))
            && match options.slow_start.is_empty() {
                true => !options.quick || is_plain,
                false => start.is_some_and(|start| options.slow_start.contains(&start)),
            }
    };
    let controls: Vec<_> = all.iter().copied().filter(chosen).collect();
    if controls.is_empty() {
        let allowed = listed(all.iter().map(ToString::to_string).collect());
        let problem = format!("the kernel has none of these controls; allowed: {allowed}");
        return Err(UsageError::new(problem));
    }
    Ok(controls)
}

/// All runs by the kernel; `None` once a signal has come.
fn live(
    grid: &Grid,
    controls: &[Control],
    options: &CompareOptions,
    stopped: &AtomicBool,
) -> anyhow::Result<Option<Vec<Measured>>> {
    let of = grid.stages().len() * controls.len();
    let mut all: Vec<Measured> = Vec::new();
    for stage in grid.stages() {
        for &control in controls {
            output::tell(&format!(
                "{} of {of}: {control}, {}\n",
                all.len() + 1,
                stage.scenario.name
            ));
            let mut one = Measured::new(stage, control);
            for seed in 1..=grid.seeds() {
                if stopped.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                let job = KernelJob { stage, control, seed };
                if let Err(problem) = one.run(job, &options.world.netns) {
                    // Whatever keeps the first one from running keeps all.
                    if all.is_empty() && one.runs.is_empty() {
                        anyhow::bail!("{control}, {}: {problem}", stage.scenario.name);
                    }
                    one.missing = Some(problem);
                    break;
                }
            }
            all.push(one);
        }
    }
    Ok(Some(all))
}

impl Measured {
    const fn new(stage: &Stage, control: Control) -> Self {
        let scenario = stage.scenario.name;
        Self { scenario, control, cases: Vec::new(), runs: Vec::new(), missing: None }
    }

    fn run(&mut self, job: KernelJob<'_>, netns: &Prefix) -> Result<(), String> {
        let case = job.case(netns)?;
        let run = recorded(&case.kernel, netns, job.seed.into(), case.agents);
        self.runs.push(run.map_err(|error| error.to_string())?);
        self.cases.push(case);
        Ok(())
    }

    fn row(&self, simulations: &[Observation]) -> KernelRow {
        let live = self.cases.iter().zip(&self.runs).map(|(case, run)| measured(case, run));
        let whole = self.missing.is_none();
        KernelRow {
            scenario: self.scenario,
            control: self.control.to_string(),
            kernel_mbit_s: Interval::of_all(live).filter(|_| whole),
            simulator_mbit_s: Interval::of_all(simulations.iter().map(simulated)),
            late_percent: self.runs.iter().map(KernelRun::late_percent).fold(0.0, f64::max),
            missing: self.missing.clone(),
        }
    }
}
