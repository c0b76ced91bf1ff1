//! `polypath emulate --clean`: removes what emulators that were killed have left.

use std::process::ExitCode;

use anyhow::Context;
use polypath_emulator::netns::{Cleaned, clean};
use polypath_emulator::plan::Prefix;
use serde_json::{Value, json};

use polypath::output;

pub(super) fn run(prefix: Option<&Prefix>, as_json: bool) -> anyhow::Result<ExitCode> {
    let all = clean(prefix).context("cannot clean up")?;
    output::print(&match as_json {
        true => serde_json::to_string_pretty(&all.iter().map(value).collect::<Vec<_>>())? + "\n",
        false if all.is_empty() => "nothing to remove\n".to_owned(),
        false => all.iter().map(line).collect::<String>(),
    })?;
    let running = all.iter().any(|cleaned| matches!(cleaned, Cleaned::Running { .. }));
    // One that was asked for by name and stays is no success.
    Ok(ExitCode::from(u8::from(running && prefix.is_some())))
}

fn line(cleaned: &Cleaned) -> String {
    match cleaned {
        Cleaned::Removed { prefix, namespaces, ended } => {
            let (namespaces, ended) = (namespaces.len(), ended.len());
            format!("{prefix}: removed {namespaces} namespaces, ended {ended} processes\n")
        }
        Cleaned::Running { prefix, pid } => {
            format!("{prefix}: left alone, its emulator runs (process {pid})\n")
        }
    }
}

fn value(cleaned: &Cleaned) -> Value {
    match cleaned {
        Cleaned::Removed { prefix, namespaces, ended } => {
            json!({ "prefix": prefix, "removed": namespaces, "ended_processes": ended })
        }
        Cleaned::Running { prefix, pid } => json!({ "prefix": prefix, "running_process": pid }),
    }
}
