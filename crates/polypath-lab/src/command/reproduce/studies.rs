//! The experiments that are named on the command line.

use std::path::Path;

use crate::experiment::{self, EXPERIMENTS, Effort, Study};
use polypath::config::UsageError;

/// The experiments of papers that are named, in the order of the papers, and the plans in files, as
/// they are given; without a name, all of papers. Overrides are for plans in files.
///
/// # Errors
/// When an experiment is not known, or a plan is wrong.
pub(super) fn of(
    named: &[String],
    settings: &[String],
    effort: Effort,
) -> anyhow::Result<Vec<Study>> {
    let (files, names): (Vec<String>, Vec<String>) =
        named.iter().cloned().partition(|name| is_file(name));
    if files.is_empty() && !settings.is_empty() {
        let problem = "--set: allowed with the file of a plan, whose values it overrides";
        return Err(UsageError::new(problem).into());
    }
    let mut studies = Vec::new();
    if files.is_empty() || !names.is_empty() {
        for experiment in experiment::select(&names)? {
            studies.push(Study::new(experiment, effort)?);
        }
    }
    for file in files {
        studies.push(Study::load(Path::new(&file), settings, effort)?);
    }
    refuse_equal_names(&studies)?;
    Ok(studies)
}

/// The names of experiments go before those of files.
fn is_file(name: &str) -> bool {
    let known = EXPERIMENTS.iter().any(|known| known.folder.eq_ignore_ascii_case(name));
    let looks_like_one = name.contains(['/', '\\']) || name.ends_with(".toml");
    !known && (looks_like_one || Path::new(name).exists())
}

/// Plots are files with the name of the experiment.
fn refuse_equal_names(studies: &[Study]) -> Result<(), UsageError> {
    let ids: Vec<_> = studies.iter().map(|study| study.plan().id.value.to_lowercase()).collect();
    let twice = ids.iter().enumerate().find(|(index, id)| ids[..*index].contains(id));
    twice.map_or(Ok(()), |(_, id)| {
        Err(UsageError::new(format!("two experiments have the id {id:?}; allowed: one each")))
    })
}
