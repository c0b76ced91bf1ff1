//! `polypath emulate`: the links of a scenario for real traffic.

mod clean;
mod namespaces;
mod relay;
mod resolve;
mod text;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use polypath_bond::identity::HubAddress;
use polypath_emulator::plan::Prefix;
use polypath_sim::scenario::Scenario;
use polypath_units::parse_duration;

use polypath::config::UsageError;

/// Emulate the links of a scenario for real traffic
///
/// With --hub, between edges on this machine and a hub: it prints where each path listens, and the
/// flags with which `polypath edge` and `polypath send` use it. Needs no root.
///
/// With --netns, as network namespaces for any program, in which the kernel's TCP and Multipath
/// TCP find all paths: each host and router of the scenario is the namespace PREFIX-NODE. Needs
/// root. It reports how accurate it was at its end.
///
/// Times of the scenario count from the start of this command.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(group = clap::ArgGroup::new("where").required(true))]
pub struct EmulateOptions {
    /// The network (TOML)
    #[arg(value_name = "SCENARIO", required_unless_present = "clean")]
    scenario: Option<PathBuf>,
    /// Where the hub listens
    #[arg(long, value_name = "HOST:PORT", group = "where")]
    hub: Option<HubAddress>,
    /// What the names of the namespaces begin with
    #[arg(long, value_name = "PREFIX", group = "where")]
    netns: Option<Prefix>,
    /// Remove what emulators that were killed have left, of one prefix or of all
    #[arg(long, value_name = "PREFIX", group = "where", num_args = 0..=1)]
    #[arg(conflicts_with_all = ["scenario", "command"])]
    clean: Option<Option<Prefix>>,
    /// Override a value of the scenario, such as path.lte.delay=50ms
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Stop after this time, such as "30 s" [default: at SIGINT]
    #[arg(long = "for", value_name = "DURATION", value_parser = parse_duration)]
    duration: Option<Duration>,
    /// Seed of random losses; the same seed loses the same packets
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The host or router in which COMMAND runs [default: the first host that opens connections]
    #[arg(long, value_name = "NODE", requires = "command", conflicts_with = "hub")]
    node: Option<String>,
    /// Print JSON, with --netns
    #[arg(long, conflicts_with = "hub")]
    json: bool,
    /// Run this in a namespace, and stop with it
    #[arg(value_name = "COMMAND", last = true, conflicts_with = "hub")]
    command: Vec<OsString>,
}

impl EmulateOptions {
    fn scenario(&self) -> anyhow::Result<Scenario> {
        let missing = || UsageError::new("a SCENARIO is needed");
        let file = self.scenario.as_deref().ok_or_else(missing)?;
        Ok(Scenario::load_with(file, &self.set)?)
    }
}

/// Emulates the links until the time is over, the command has ended, or a signal ends it.
///
/// # Errors
/// When the scenario is wrong, or the operating system does not have what is needed.
pub fn run(options: &EmulateOptions) -> anyhow::Result<ExitCode> {
    match (&options.hub, &options.netns, &options.clean) {
        (Some(hub), ..) => relay::run(options, hub),
        (_, Some(prefix), _) => namespaces::run(options, prefix),
        (_, _, clean) => clean::run(clean.as_ref().and_then(Option::as_ref), options.json),
    }
}

async fn time_is_over(after: Option<Duration>) {
    match after {
        Some(after) => tokio::time::sleep(after).await,
        None => std::future::pending().await,
    }
}
