//! `polypath reproduce`: claims, of papers and one's own, and what becomes of them.

mod live;
mod studies;
mod text;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::experiment::{Effort, Observation, Study, StudyReport, Trial};
use crate::store::Label;
use anyhow::Context;
use clap::Args;
use serde::Serialize;

use super::runs::{RunsOptions, Work};
use crate::report::reproduction;
use live::LiveOptions;
use polypath::service::INTERRUPTED;

/// What `--out` is for beside keeping results.
const OUT: &str = "Write plots and a page into this folder, keep the results of runs there, and \
    do not repeat those that are there";

/// Repeat the experiments of papers, or of a plan of one's own, and judge their claims
///
/// Runs each experiment in the simulator over several seeds, and prints for each claim what came
/// out and whether that reproduces it; of plans of one's own also the quantities.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(mut_arg("out", |out| out.help(OUT)))]
pub struct ReproduceOptions {
    /// Only these experiments, such as R2-1, or the files of plans of one's own (TOML) [default:
    /// all experiments of papers]
    #[arg(value_name = "ID|FILE")]
    experiments: Vec<String>,
    /// Override a value of the plans in files, such as seeds=3, or of their scenarios, such as
    /// scenario.path.lte.delay=50ms
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Fewer seeds and points, shorter runs, and no assumption varied
    #[arg(long)]
    quick: bool,
    /// Write the page into this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    live: LiveOptions,
    #[command(flatten)]
    runs: RunsOptions,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Results<'a> {
    quick: bool,
    experiments: &'a [StudyReport],
}

/// Runs the experiments and prints what becomes of the claims.
///
/// # Errors
/// When an experiment is not known, a run fails, or something cannot be read or written.
pub fn run(options: &ReproduceOptions) -> anyhow::Result<ExitCode> {
    if options.live.live {
        return live::run(options);
    }
    let studies = studies::of(&options.experiments, &options.set, options.effort())?;
    let Some(reports) = all(&studies, options)? else { return Ok(INTERRUPTED.into()) };
    if let Some(folder) = options.runs.out() {
        write(folder, &reports, options.title())?;
    }
    if let Some(file) = &options.html {
        write_file(file, &reproduction::page(&reports, options.title()))?;
    }
    let results = Results { quick: options.quick, experiments: &reports };
    options.runs.print(&results, || text::render(&reports, options.title()))?;
    Ok(ExitCode::SUCCESS)
}

/// The runs of all experiments at once, so that no core waits at the end of each; `None` after a
/// signal.
fn all(studies: &[Study], options: &ReproduceOptions) -> anyhow::Result<Option<Vec<StudyReport>>> {
    let trials = studies.iter().map(Study::trials).collect::<Result<Vec<_>, _>>()?;
    let counts: Vec<usize> = trials.iter().map(Vec::len).collect();
    let trials = trials.into_iter().flatten().collect();
    let Some(results) = options.runs.results(trials)? else { return Ok(None) };
    let mut results: &[(Trial<'_>, Observation)] = &results;
    let report = |(study, count): (&Study, usize)| {
        let (own, others) = results.split_at(count);
        results = others;
        study.report(own)
    };
    Ok(Some(studies.iter().zip(counts).map(report).collect()))
}

/// Writes the page, and each plot for itself.
fn write(folder: &Path, reports: &[StudyReport], title: &str) -> anyhow::Result<()> {
    let page = ("index.html".to_owned(), reproduction::page(reports, title));
    for (name, text) in reproduction::plots(reports).chain([page]) {
        write_file(&folder.join(name), &text)?;
    }
    Ok(())
}

fn write_file(file: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

impl Work for Trial<'_> {
    type Measured = Observation;

    fn label(&self) -> Label {
        Trial::label(self)
    }

    fn run(&self) -> anyhow::Result<Observation> {
        Ok(Trial::run(self)?)
    }
}

impl ReproduceOptions {
    const fn effort(&self) -> Effort {
        if self.quick { Effort::Quick } else { Effort::Full }
    }

    const fn title(&self) -> &'static str {
        if self.quick { "Quick reproduction" } else { "Reproduction" }
    }
}
