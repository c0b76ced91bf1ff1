//! `polypath policy`: checks a file of rules, and says what they decide.

mod report;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use polypath_policy::{Policy, Traffic};
use serde::Serialize;

use crate::config::{UsageError, read_policy};
use crate::output;
use report::{CheckReport, TestReport};

/// Check a policy, the rules by which an edge steers traffic, and say what it decides
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct PolicyArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
enum Action {
    /// Read a policy and list its rules
    Check {
        /// File with rules (TOML)
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Print JSON instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Say which rule decides about some traffic, why it matches, and why those before it do not
    Test {
        /// File with rules (TOML)
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The traffic, such as "udp 192.0.2.1:5000 dscp 46 size 160" or
        /// "tcp www.example.org:443 from 10.0.0.2"
        #[arg(value_name = "TRAFFIC")]
        traffic: String,
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Print the standard policy, a file to begin with
    Standard,
}

/// Prints what was asked for.
///
/// # Errors
/// When the file cannot be read, or it or the traffic is malformed.
pub fn run(args: PolicyArgs) -> anyhow::Result<ExitCode> {
    let text = match args.action {
        Action::Check { file, json } => {
            let policy = read_policy(&file)?;
            let report = CheckReport::new(&file, &policy);
            if json { to_json(&report)? } else { report.text() }
        }
        Action::Test { file, traffic, json } => {
            let policy = read_policy(&file)?;
            let known =
                Traffic::parse(&traffic).map_err(|error| UsageError::new(error.to_string()))?;
            let report = TestReport::new(&traffic, &policy.explain(&known));
            if json { to_json(&report)? } else { report.text() }
        }
        Action::Standard => Policy::STANDARD.to_owned(),
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn to_json(report: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string_pretty(report).map(|text| text + "\n")
}
