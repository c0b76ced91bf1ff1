//! `polypath emulate --netns`: a scenario's network as network namespaces.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitCode, ExitStatus};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use polypath_emulator::live::{Network, NetworkOptions, NetworkReport};
use polypath_emulator::plan::{NetworkPlan, Prefix, Role};
use tokio::sync::oneshot;

use super::{EmulateOptions, text, time_is_over};
use polypath::config::UsageError;
use polypath::output;
use polypath::service::LogFormat;
use polypath::service::{self, QUIET_LOG, Stop};

/// How often it is looked whether the host keeps up.
const LOOK: Duration = Duration::from_secs(1);
/// A shell's exit code of a command that a signal ended: this and the signal's number.
const SIGNALLED: i32 = 128;
const SWITCHES: &str = "a [[node]] has `brf`: switches that tell rates can only be simulated";

pub(super) fn run(options: &EmulateOptions, prefix: &Prefix) -> anyhow::Result<ExitCode> {
    service::start_log(LogFormat::Text, QUIET_LOG)?;
    let scenario = options.scenario()?;
    if scenario.feedback.is_some() {
        return Err(UsageError::new(SWITCHES).into());
    }
    let topology = scenario.topology();
    if let Some(node) = &options.node
        && topology.node(node).is_none()
    {
        let nodes = topology.nodes().join(", ");
        return Err(UsageError::new(format!("no node {node:?}; there are {nodes}")).into());
    }
    service::run(async {
        // Before anything is made: a signal must not end this with namespaces left.
        let stop = Stop::new()?;
        let network_options =
            NetworkOptions { prefix: prefix.clone(), seed: options.seed, host_sysctls: Vec::new() };
        let network = Network::start(&topology, &scenario.events, &network_options)
            .context("cannot emulate the network")?;
        emulate(options, network, stop).await
    })
}

async fn emulate(
    options: &EmulateOptions,
    mut network: Network,
    mut stop: Stop,
) -> anyhow::Result<ExitCode> {
    let plan = network.namespaces().plan().clone();
    if !options.json {
        tell(options, &text::description(&plan))?;
    }
    let command = start(options, &plan, &mut network)?;
    let ended = tokio::select! {
        () = stop.wait() => None,
        () = time_is_over(options.duration) => None,
        status = end_of(command) => Some(status?),
        () = warn(&network) => None,
    };
    let report = network.stop().context("cannot remove the namespaces")?;
    tell(
        options,
        &match options.json {
            true => serde_json::to_string_pretty(&report)? + "\n",
            false => text::report(&report),
        },
    )?;
    Ok(ended.map_or(ExitCode::SUCCESS, exit_code))
}

/// On standard output, which is the command's if there is one.
fn tell(options: &EmulateOptions, text: &str) -> anyhow::Result<()> {
    match options.command.is_empty() {
        true => output::print(text)?,
        false => output::tell(text),
    }
    Ok(())
}

/// Starts the command, if there is one. The status comes when it has ended.
fn start(
    options: &EmulateOptions,
    plan: &NetworkPlan,
    network: &mut Network,
) -> anyhow::Result<Option<oneshot::Receiver<std::io::Result<ExitStatus>>>> {
    let Some((program, arguments)) = options.command.split_first() else { return Ok(None) };
    let opener = plan.nodes.iter().find(|node| node.role == Role::Opener);
    let node = options.node.as_deref().or(opener.map(|node| node.name.as_str()));
    let node =
        node.ok_or_else(|| UsageError::new("--node is needed: no host opens connections"))?;
    let mut command = network.namespaces().command(node, program)?;
    command.args(arguments).envs(addresses(plan));
    let mut child = network.namespaces_mut().spawn(&mut command)?;
    let (tell, told) = oneshot::channel();
    thread::spawn(move || {
        // Nobody listens if something else has ended the emulator first.
        let _ = tell.send(child.wait());
    });
    Ok(Some(told))
}

/// Where the command finds the nodes: `POLYPATH_SERVER` is the first address of `server`, and so
/// on.
fn addresses(plan: &NetworkPlan) -> impl Iterator<Item = (String, OsString)> {
    plan.nodes.iter().filter_map(|node| {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
        let name: String = node.name.chars().map(plain).collect();
        let first = node.addresses().next()?;
        Some((format!("POLYPATH_{name}"), first.to_string().into()))
    })
}

/// The end of the command; never, if there is none.
async fn end_of(
    command: Option<oneshot::Receiver<std::io::Result<ExitStatus>>>,
) -> anyhow::Result<ExitStatus> {
    match command {
        Some(told) => Ok(told.await.context("nobody waited for the command")??),
        None => std::future::pending().await,
    }
}

/// Warns once of each link with which the host does not keep up. Does not end.
async fn warn(network: &Network) {
    let mut warned = BTreeSet::new();
    loop {
        tokio::time::sleep(LOOK).await;
        warn_of(&network.report(), &mut warned);
    }
}

fn warn_of(report: &NetworkReport, warned: &mut BTreeSet<String>) {
    for shortfall in report.shortfalls() {
        if warned.insert(shortfall.link.clone()) {
            tracing::warn!("{}", text::shortfall(&shortfall));
        }
    }
}

/// As a shell has it.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| SIGNALLED + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
