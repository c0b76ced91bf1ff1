//! `polypath status`: asks a running edge or hub.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::{control, output};

/// Show the paths and counters of the running edge or hub, or of a file that is being sent
#[derive(Clone, Debug, Args)]
pub struct StatusArgs {
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    /// Control socket of the edge, the hub or `polypath send` [default: that of the first edge or
    /// hub found in the default places]
    #[arg(long, value_name = "SOCKET")]
    control: Option<PathBuf>,
}

/// What `polypath status` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusOptions {
    /// Whether to print JSON.
    pub json: bool,
    /// The control socket to ask; `None` to look in the default places.
    pub control: Option<PathBuf>,
}

impl From<StatusArgs> for StatusOptions {
    fn from(args: StatusArgs) -> Self {
        Self { json: args.json, control: args.control }
    }
}

/// Shows what the node says of itself.
///
/// # Errors
/// When none is running there.
pub fn run(options: &StatusOptions) -> anyhow::Result<ExitCode> {
    let status = control::ask(options.control.as_deref())?;
    let text = match options.json {
        true => format!("{}\n", serde_json::to_string_pretty(&status)?),
        false => status.table(),
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
