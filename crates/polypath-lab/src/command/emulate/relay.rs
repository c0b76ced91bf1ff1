//! `polypath emulate --hub`: the links of a scenario between real sockets, without root.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;

use polypath_bond::identity::HubAddress;
use polypath_emulator::relay::{Relay, RelayPath};
use polypath_sim::scenario::ScenarioPath;

use super::resolve::resolve;
use super::{EmulateOptions, time_is_over};
use crate::network::emulated_paths;
use polypath::config::{Fault, PathSpec};
use polypath::output;
use polypath::service::{self, Stop};

/// Emulates the links between `hub` and whoever sends to the addresses that it prints, until the
/// time is over or a signal ends it.
///
/// # Errors
/// When the scenario is wrong, the hub's name cannot be resolved, or no socket is to be had.
pub(super) fn run(options: &EmulateOptions, hub: &HubAddress) -> anyhow::Result<ExitCode> {
    let paths = emulated_paths(&options.scenario()?)?;
    service::run(emulate(options, hub, paths))?;
    Ok(ExitCode::SUCCESS)
}

async fn emulate(
    options: &EmulateOptions,
    hub: &HubAddress,
    paths: Vec<ScenarioPath>,
) -> anyhow::Result<()> {
    let mut stop = Stop::new()?;
    let Some(resolved) = stop.limit(resolve(hub)).await else { return Ok(()) };
    let hub = resolved?[0];
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
