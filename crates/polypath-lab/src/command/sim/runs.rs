//! Many runs of a scenario at once.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use anyhow::Context;
use polypath_sim::run::{Keep, Plan, RunReport};
use rayon::prelude::*;

use super::progress::Progress;
use super::{Results, TimedRun, page};
use crate::cpu;

/// What becomes of the runs of a plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jobs<'a> {
    pub(super) plan: &'a Plan,
    pub(super) scenario: &'a str,
    /// Where what they record goes.
    pub(super) out: Option<&'a Path>,
    /// Where the page of the first one goes.
    pub(super) page: Option<&'a Path>,
}

impl Jobs<'_> {
    /// Runs the scenario once for each seed, so many at a time. The results are in the order of
    /// the seeds and do not depend on how many run at a time.
    pub(super) fn run(
        self,
        seeds: Vec<u64>,
        at_once: NonZeroUsize,
    ) -> anyhow::Result<Vec<TimedRun>> {
        let progress = Progress::stderr(seeds.len(), self.plan.scenario().duration);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(at_once.get()).build()?;
        let one = |(number, seed): (usize, u64)| self.one(number, seed, &progress);
        let runs: anyhow::Result<Vec<_>> =
            pool.install(|| seeds.into_par_iter().enumerate().map(one).collect());
        progress.finish();
        let runs = runs?;
        if let Some(folder) = self.out {
            write_results(folder, self.scenario, &runs)
                .with_context(|| format!("cannot write to {}", folder.display()))?;
        }
        Ok(runs)
    }

    fn one(self, number: usize, seed: u64, progress: &Progress) -> anyhow::Result<TimedRun> {
        let before = cpu::thread_seconds();
        let page = self.page.filter(|_| number == 0);
        let keep = Keep { folder: self.out, delays: page.is_some() };
        let outcome = self.plan.run(seed, keep, &mut |now| progress.update(number, now))?;
        let cpu_s = cpu::thread_seconds() - before;
        progress.done(number, outcome.report.sim_s);
        if let Some(file) = page {
            let page = page::render(self.scenario, self.plan, &outcome);
            fs::write(file, page).with_context(|| format!("cannot write {}", file.display()))?;
        }
        Ok(TimedRun { cpu_s, report: outcome.report })
    }
}

/// Writes the results into a folder, which is made if it is not there. Equal runs give equal files:
/// what a run cost is not in them.
fn write_results(folder: &Path, scenario: &str, runs: &[TimedRun]) -> anyhow::Result<()> {
    fs::create_dir_all(folder)?;
    let reports: Vec<&RunReport> = runs.iter().map(|run| &run.report).collect();
    let text = serde_json::to_string_pretty(&Results { scenario, runs: &reports })?;
    fs::write(folder.join("results.json"), text + "\n")?;
    Ok(())
}
