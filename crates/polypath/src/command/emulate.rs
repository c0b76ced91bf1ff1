//! `polypath emulate`: the links of a scenario between real sockets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use polypath_bond::identity::HubAddress;
use polypath_net::relay::{Relay, RelayPath};
use polypath_sim::scenario::{Scenario, ScenarioPath};
use polypath_units::parse_duration;

use super::bonding::resolve;
use super::service::{self, Stop};
use crate::config::{Fault, PathSpec, emulated_paths};
use crate::output;

/// Emulate the links of a scenario between edges on this machine and a hub
///
/// Prints where each path listens, and the flags with which `polypath edge` and `polypath send`
/// use it. Needs no root. Times of the scenario count from the start of this command.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct EmulateOptions {
    /// The network (TOML)
    #[arg(value_name = "SCENARIO")]
    pub scenario: PathBuf,
    /// Where the hub listens
    #[arg(long, value_name = "HOST:PORT")]
    pub hub: HubAddress,
    /// Stop after this time, such as "30 s" [default: at SIGINT]
    #[arg(long = "for", value_name = "DURATION", value_parser = parse_duration)]
    pub duration: Option<Duration>,
    /// Seed of random losses; the same seed loses the same packets
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Emulates the links until the time is over or a signal ends it.
///
/// # Errors
/// When the scenario is wrong, the hub's name cannot be resolved, or no socket is to be had.
pub fn run(options: &EmulateOptions) -> anyhow::Result<ExitCode> {
    let paths = emulated_paths(&Scenario::load(&options.scenario)?)?;
    service::run(emulate(options, paths))?;
    Ok(ExitCode::SUCCESS)
}

async fn emulate(options: &EmulateOptions, paths: Vec<ScenarioPath>) -> anyhow::Result<()> {
    let mut stop = Stop::new()?;
    let hub = resolve(&options.hub).await?[0];
    let names: Vec<_> = paths.iter().map(|path| path.name.clone()).collect();
    let listen = SocketAddr::new(loopback(hub.ip()), 0);
    let relay = Relay::start(relay_paths(paths, listen), hub, options.seed)?;
    output::print(&describe(&names, &relay.addresses())?)?;
    tokio::select! {
        () = stop.wait() => {}
        () = time_is_over(options.duration) => {}
    }
    relay.stop();
    Ok(())
}

fn loopback(like: IpAddr) -> IpAddr {
    if like.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() }
}

fn relay_paths(paths: Vec<ScenarioPath>, listen: SocketAddr) -> Vec<RelayPath> {
    let paths = paths.into_iter().map(|path| RelayPath {
        name: path.name,
        link_up: path.links.up,
        link_down: path.links.down,
        listen,
    });
    paths.collect()
}

/// A line for each path, then the flags for an edge in one line.
fn describe(names: &[String], addresses: &[SocketAddr]) -> anyhow::Result<String> {
    let mut text = String::new();
    let mut flags = Vec::new();
    for (name, address) in names.iter().zip(addresses) {
        text.push_str(&format!("path {name} {address}\n"));
        flags.push(format!("--path {}", path_spec(name, *address)?));
    }
    text.push_str(&flags.join(" "));
    text.push('\n');
    Ok(text)
}

fn path_spec(name: &str, address: SocketAddr) -> anyhow::Result<PathSpec> {
    let flag = format!("{name}={},{address}", address.ip());
    Ok(flag.parse().map_err(|error| Fault::new("path", format!("{error}")).on_command_line())?)
}

async fn time_is_over(after: Option<Duration>) {
    match after {
        Some(after) => tokio::time::sleep(after).await,
        None => std::future::pending().await,
    }
}
