//! The product's programs.

use super::GatewaySettings;
use super::error::GatewayError;
use super::log::{Log, says};
use super::profile::{EDGE, HUB};
use super::site::{LAN_DEVICE, Site};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use tempfile::TempDir;

/// The port of the hub, on all its addresses.
const PORT: u16 = 4433;
/// The networks of the gateway.
const NETWORKS: &str = "10.77.0.0/16,fd77::/48";

/// What the programs are given beside what all are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Given<'a> {
    /// The edge's policy, if it is not the standard one.
    pub(super) policy: Option<&'a str>,
    /// More options of the edge.
    pub(super) edge: &'a [&'a str],
    /// More options of the hub.
    pub(super) hub: &'a [&'a str],
}

/// A hub and an edge with a gateway, over all paths of a site.
#[derive(Debug)]
pub(super) struct Programs {
    // The edge ends first: its hub is there to be told.
    edge: Program,
    hub: Program,
    _home: TempDir,
}

/// A program that runs. Dropping it ends it in good order.
#[derive(Debug)]
struct Program {
    name: &'static str,
    child: Child,
    log: Arc<Log>,
}

impl Programs {
    /// Starts both, with what they are given, and waits until the gateway is set and all paths have
    /// joined.
    pub(super) fn start(
        site: &mut Site,
        settings: &GatewaySettings,
        given: Given<'_>,
    ) -> Result<Self, GatewayError> {
        let home = TempDir::with_prefix("polypath-gateway-").map_err(of_files)?;
        let key = make_key(&settings.program, home.path(), "edge.key")?;
        make_key(&settings.program, home.path(), "hub.key")?;
        fs::write(home.path().join("allow"), key).map_err(of_files)?;
        let transport = settings.carrier.options();
        let line = hub_line(home.path(), &[given.hub, transport].concat());
        let hub = Program::start(site, settings, HUB, home.path(), &line)?;
        let join = hub.wait(settings, "its join string came", |line| {
            line.starts_with("polypath:1/").then(|| line.to_owned())
        })?;
        hub.wait(settings, "its gateway was set", |line| says(line, "gateway", &[]))?;
        let more = [given.edge, transport].concat();
        let line = edge_line(site, home.path(), &join, Given { edge: &more, ..given })?;
        let edge = Program::start(site, settings, EDGE, home.path(), &line)?;
        edge.wait(settings, "its gateway was set", |line| says(line, "gateway", &[]))?;
        for path in site.paths() {
            let path = ("path", &*path.name);
            hub.wait(settings, "all paths had joined", |line| says(line, "joined", &[path]))?;
        }
        if settings.carrier.is_mptcp() {
            let session = "connections go over Multipath TCP";
            edge.wait(settings, "it had a session", |line| says(line, session, &[]))?;
        }
        Ok(Self { edge, hub, _home: home })
    }

    /// Ends both.
    pub(super) fn stop(mut self) -> Result<(), GatewayError> {
        self.edge.end()?;
        self.hub.end()
    }
}

impl Program {
    fn start(
        site: &mut Site,
        settings: &GatewaySettings,
        name: &'static str,
        home: &Path,
        line: &[String],
    ) -> Result<Self, GatewayError> {
        let namespaces = site.network_mut().namespaces_mut();
        let mut command = namespaces.command(name, &settings.program)?;
        command.arg(name).args(line);
        command.args(["--log", "json", "--control"]).arg(home.join(format!("{name}.sock")));
        at_home(&mut command, home).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = namespaces.spawn(&mut command)?;
        let log = Arc::<Log>::default();
        if let (Some(out), Some(error)) = (child.stdout.take(), child.stderr.take()) {
            log.follow(out);
            log.follow(error);
        }
        Ok(Self { name, child, log })
    }

    fn wait<T>(
        &self,
        settings: &GatewaySettings,
        wanted: &str,
        find: impl Fn(&str) -> Option<T>,
    ) -> Result<T, GatewayError> {
        let found = self.log.find(&settings.interrupt, find);
        found.map_err(|reason| reason.of(self.name, wanted, &self.log))
    }

    /// Asks it to end and waits for that.
    fn end(&mut self) -> Result<(), GatewayError> {
        let failed = |problem: String| {
            let log = self.log.tail();
            Err(GatewayError::Program { program: self.name, problem, log })
        };
        if let Ok(Some(status)) = self.child.try_wait() {
            return failed(format!("it has ended by itself: {status}"));
        }
        let number = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let asked = number.map(|number| kill_process(number, Signal::TERM));
        if !matches!(asked, Some(Ok(()))) {
            return failed("it cannot be asked to end".to_owned());
        }
        match self.child.wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => failed(format!("it did not end in good order: {status}")),
            Err(error) => failed(format!("it cannot be waited for: {error}")),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // One that has ended is waited for already; of others the first error is what is told.
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.end();
        }
    }
}

fn of_files(error: std::io::Error) -> GatewayError {
    GatewayError::of("files of the programs")(error)
}

/// With nothing of the user's own settings.
fn at_home<'a>(command: &'a mut Command, home: &Path) -> &'a mut Command {
    command.env("HOME", home).env_remove("RUST_LOG").env_remove("NOTIFY_SOCKET")
}

/// Makes a key, and gives its public half.
fn make_key(program: &Path, home: &Path, name: &str) -> Result<Vec<u8>, GatewayError> {
    let mut command = Command::new(program);
    command.args(["key", "--out"]).arg(home.join(name));
    let failed = GatewayError::of("cannot make a key with the program");
    let output = at_home(&mut command, home).output().map_err(failed)?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(failed(std::io::Error::other(String::from_utf8_lossy(&output.stderr).trim()))),
    }
}

fn hub_line(home: &Path, more: &[&str]) -> Vec<String> {
    let file = |name| home.join(name).display().to_string();
    let listen = format!("0.0.0.0:{PORT}");
    let [key, allow, leases] = ["hub.key", "allow", "leases"].map(file);
    let options = [
        ["--key", &key],
        ["--allow", &allow],
        ["--listen", &listen],
        ["--gateway", NETWORKS],
        ["--gateway-leases", &leases],
        ["--target", "198.18.0.0/15:*"],
    ];
    options.concat().into_iter().chain(more.iter().copied()).map(str::to_owned).collect()
}

fn edge_line(
    site: &Site,
    home: &Path,
    join: &str,
    given: Given<'_>,
) -> Result<Vec<String>, GatewayError> {
    let key = home.join("edge.key").display().to_string();
    let known = ["--key", &key, "--join", join, "--gateway", "--lan", LAN_DEVICE];
    let mut line: Vec<_> =
        known.iter().chain(given.edge).map(|option| (*option).to_owned()).collect();
    for path in site.paths() {
        line.push("--path".to_owned());
        line.push(format!("{}={},{}:{PORT}", path.name, path.device, path.hub));
    }
    if let Some(policy) = given.policy {
        let file = home.join("policy.toml");
        fs::write(&file, policy).map_err(of_files)?;
        line.extend(["--policy".to_owned(), file.display().to_string()]);
    }
    Ok(line)
}
