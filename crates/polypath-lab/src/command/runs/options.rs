//! What commands of many runs have in common.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;

use clap::Args;
use serde::Serialize;

use super::{Finished, Work, interrupted, run};
use polypath::output;

/// Runs with what they measured.
pub(in super::super) type Results<W> = Vec<(W, <W as Work>::Measured)>;

/// How many runs at once, and where results go.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub(in super::super) struct RunsOptions {
    /// How many runs at once [default: one for each core]
    #[arg(long, value_name = "J")]
    jobs: Option<NonZeroUsize>,
    /// Keep the results of runs in this folder, and do not repeat those that are there
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl RunsOptions {
    /// As many at once as was said, or one for each core.
    pub(in super::super) fn at_once(&self) -> NonZeroUsize {
        self.jobs.unwrap_or_else(one_for_each_core)
    }

    /// The folder of the results, if they are kept.
    pub(in super::super) fn out(&self) -> Option<&Path> {
        self.out.as_deref()
    }

    /// Runs all of these; `None`, which the user is told, after a signal.
    ///
    /// # Errors
    /// See [`run`].
    pub(in super::super) fn results<W: Work>(
        &self,
        jobs: Vec<W>,
    ) -> anyhow::Result<Option<Results<W>>> {
        Ok(match run(jobs, self.out(), self.at_once())? {
            Finished::All(results) => Some(results),
            Finished::Interrupted { done, of } => {
                output::tell(&interrupted(self.out(), done, of));
                None
            }
        })
    }

    /// Prints what came out, as JSON if that was asked for.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(in super::super) fn print(
        &self,
        results: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        output::print(&match self.json {
            true => serde_json::to_string_pretty(results)? + "\n",
            false => text(),
        })?;
        Ok(())
    }
}

/// As many runs at once as there are cores.
pub(in super::super) fn one_for_each_core() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}
