//! `polypath gateway`: what gateways leave on a host.

use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand};
use polypath_gateway::host::{self, Cleaned};

use crate::gateway::record_directory;
use crate::output;
use crate::service;

/// Remove what a gateway that was killed has left on this host
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub struct GatewayArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
enum Action {
    /// Remove rules, routes, tables and the kill switch, and give parameters of the kernel back
    /// their values; it fails while a gateway runs here
    Clean {
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
}

/// Does what was asked for.
///
/// # Errors
/// When a gateway runs here, or something cannot be removed.
pub fn run(args: GatewayArgs) -> anyhow::Result<ExitCode> {
    let Action::Clean { json } = args.action;
    let cleaned = service::run(async {
        host::clean(&record_directory()).await.context("what a gateway has left is not removed")
    })?;
    output::print(&if json { to_json(&cleaned)? } else { text(&cleaned) })?;
    Ok(ExitCode::SUCCESS)
}

fn text(cleaned: &Cleaned) -> String {
    if cleaned.is_empty() {
        return "nothing was left\n".to_owned();
    }
    let Cleaned { tables, rules, routes, parameters } = cleaned;
    let tables = match tables.as_slice() {
        [] => "no table".to_owned(),
        tables => format!("table {}", tables.join(", ")),
    };
    format!(
        "removed: {tables}, {rules} rules, {routes} routes; {parameters} parameters of the kernel \
         have their values again\n"
    )
}

fn to_json(cleaned: &Cleaned) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(&serde_json::json!({
        "tables": cleaned.tables,
        "rules": cleaned.rules,
        "routes": cleaned.routes,
        "parameters": cleaned.parameters,
    }))? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_removed_is_told() {
        assert_eq!(text(&Cleaned::default()), "nothing was left\n");
        let cleaned =
            Cleaned { tables: vec!["polypath_edge"], rules: 9, routes: 12, parameters: 3 };
        let told = "removed: table polypath_edge, 9 rules, 12 routes; 3 parameters of the kernel \
                    have their values again\n";
        assert_eq!(text(&cleaned), told);
    }
}
