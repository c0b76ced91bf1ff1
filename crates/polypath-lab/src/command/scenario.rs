//! `polypath scenario`: looks at scenario files.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use polypath_config::Place;
use polypath_sim::scenario::{self, Scenario, ScenarioError};
use serde::Serialize;

use polypath::output;

/// Check scenario files, and print their JSON schema and reference
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct ScenarioArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
enum Action {
    /// Print the JSON schema of scenario files, for editors and other programs
    Schema,
    /// Print the reference of scenario files: every key with its meaning, as Markdown
    Reference,
    /// Read a scenario and say what it describes, or what is wrong with it (exit code 2)
    Check(CheckOptions),
}

#[derive(Clone, Debug, PartialEq, Eq, Args)]
struct CheckOptions {
    /// The scenario (TOML)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Override a value, such as path.lte.delay=50ms
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What a scenario describes, or what is wrong with it.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Verdict {
    Valid { file: PathBuf, valid: bool, name: Option<String>, counts: Counts },
    Wrong { file: PathBuf, valid: bool, line: Option<usize>, error: String },
}

#[derive(Debug, Serialize)]
struct Counts {
    nodes: usize,
    links: usize,
    connections: u64,
    flows: u64,
    events: usize,
}

/// Prints the schema, or checks a file.
///
/// # Errors
/// When the file is wrong and no JSON was asked for, or standard output cannot be written.
pub fn run(args: &ScenarioArgs) -> anyhow::Result<ExitCode> {
    match &args.action {
        Action::Schema => {
            output::print(&(serde_json::to_string_pretty(&scenario::schema())? + "\n"))?;
            Ok(ExitCode::SUCCESS)
        }
        Action::Reference => {
            output::print(&scenario::reference())?;
            Ok(ExitCode::SUCCESS)
        }
        Action::Check(options) => check(options),
    }
}

fn check(options: &CheckOptions) -> anyhow::Result<ExitCode> {
    let result = Scenario::load_with(&options.file, &options.set);
    if !options.json {
        output::print(&describe(&options.file, &Counts::of(&result?)))?;
        return Ok(ExitCode::SUCCESS);
    }
    let code = if result.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(2) };
    let verdict = Verdict::new(options.file.clone(), result);
    output::print(&(serde_json::to_string_pretty(&verdict)? + "\n"))?;
    Ok(code)
}

impl Verdict {
    fn new(file: PathBuf, result: Result<Scenario, ScenarioError>) -> Self {
        match result {
            Ok(scenario) => {
                let counts = Counts::of(&scenario);
                Self::Valid { file, valid: true, name: scenario.name, counts }
            }
            Err(error) => {
                let line = error.place().and_then(|place| match place {
                    Place::Line { line, .. } => Some(*line),
                    _ => None,
                });
                Self::Wrong { file, valid: false, line, error: error.to_string() }
            }
        }
    }
}

impl Counts {
    fn of(scenario: &Scenario) -> Self {
        let graph = scenario.network.graph();
        let count = |name: &str| {
            let named = scenario.connections.iter().find(|connection| connection.name == name);
            named.map_or(0, |connection| u64::from(connection.count))
        };
        Self {
            nodes: graph.nodes.len(),
            links: graph.links.len(),
            connections: scenario.connections.iter().map(|c| u64::from(c.count)).sum(),
            flows: scenario.flows.iter().map(|flow| count(&flow.connection)).sum(),
            events: scenario.events.len(),
        }
    }
}

fn describe(file: &Path, counts: &Counts) -> String {
    let Counts { nodes, links, connections, flows, events } = counts;
    format!(
        "{}: {nodes} nodes, {links} links, {connections} connections, {flows} flows, \
         {events} events\n",
        file.display()
    )
}
