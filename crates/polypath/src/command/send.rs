//! `polypath send`: sends a file to a hub's inbox.

mod sending;
mod transfer;
mod watch;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use polypath_net::tunnel::FileName;

use super::edge::{BondOptions, EdgeArgs};
use crate::config::{Fault, FileBacked};
use crate::output;
use crate::service::{self, LogFormat};

/// How long a hub that has answered before may be away: a restart, a change of networks.
const PATIENCE: Duration = Duration::from_secs(300);
/// How long one may be away that never answered: uplinks come up, or the address is wrong.
const FIRST_PATIENCE: Duration = Duration::from_secs(30);

/// Send a file to the hub's inbox over all paths
///
/// A transfer that was cut off goes on where it stopped, by itself or when the same command is run
/// again.
///
/// Takes the options of `polypath edge` that make the bond; what its file says of proxies,
/// forwarded ports and the control socket is of no concern here. `polypath status` can ask a
/// transfer that was given a socket of its own as --control.
#[derive(Clone, Debug, Args)]
pub struct SendArgs {
    /// The file to send
    file: PathBuf,
    /// Its name at the hub [default: its name here]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Seconds to go on trying while the hub does not answer [default: 30, and 300 once it has]
    #[arg(long, value_name = "SECONDS")]
    patience: Option<u64>,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    edge: EdgeArgs,
}

/// What `polypath send` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendOptions {
    /// The file to send.
    pub file: PathBuf,
    /// Its name at the hub.
    pub name: FileName,
    /// How long to go on trying while the hub has not answered yet.
    pub first_patience: Duration,
    /// How long to go on trying while a hub that has answered before does not.
    pub patience: Duration,
    /// Whether to print JSON.
    pub json: bool,
    /// The socket that `polypath status` asks; `None` for no socket.
    pub control: Option<PathBuf>,
    /// How to join the hub.
    pub bond: BondOptions,
    /// The form of the log.
    pub log: LogFormat,
}

impl TryFrom<SendArgs> for SendOptions {
    type Error = anyhow::Error;

    fn try_from(args: SendArgs) -> anyhow::Result<Self> {
        refuse_services(&args.edge).map_err(Fault::on_command_line)?;
        let name = name_at_hub(&args).map_err(Fault::on_command_line)?;
        // That of the file is the edge's, which may be running.
        let control = args.edge.control.clone();
        let edge = args.edge.resolve()?;
        let patience = args.patience.map(Duration::from_secs);
        Ok(Self {
            file: args.file,
            name,
            first_patience: patience.unwrap_or(FIRST_PATIENCE),
            patience: patience.unwrap_or(PATIENCE),
            json: args.json,
            control,
            bond: edge.bond()?,
            log: edge.log.unwrap_or_default(),
        })
    }
}

fn refuse_services(edge: &EdgeArgs) -> Result<(), Fault> {
    match edge.service() {
        Some(key) => {
            Err(Fault::new(key, "this belongs to `polypath edge`; send has no use for it"))
        }
        None if edge.has_quota() => {
            let message = "quotas belong to `polypath edge`, which counts; send does not";
            Err(Fault::new("path", message))
        }
        None => Ok(()),
    }
}

fn name_at_hub(args: &SendArgs) -> Result<FileName, Fault> {
    let own = || args.file.file_name().and_then(|name| name.to_str()).map(str::to_owned);
    let name = args.name.clone().or_else(own).ok_or_else(|| {
        Fault::new("name", "the file has no name that is text; allowed: --name NAME")
    })?;
    FileName::new(&name).map_err(|error| Fault::new("name", error.to_string()))
}

/// Sends the file and says how that went. A signal ends it early.
///
/// # Errors
/// When the file cannot be read, no path joins the hub, or the hub does not store the file.
pub fn run(options: SendOptions) -> anyhow::Result<ExitCode> {
    service::start_log(options.log, service::QUIET_LOG)?;
    let json = options.json;
    let Some(sent) = service::run(sending::send(&options))? else {
        let name = options.name;
        output::tell(&format!(
            "stopped before the hub had said that {name} is stored; the same command goes on\n"
        ));
        return Ok(service::INTERRUPTED.into());
    };
    output::print(&if json { sent.json()? } else { sent.text() })?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::super::edge::tests::join;
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: SendArgs,
    }

    fn options(line: &[&str]) -> Result<SendOptions, String> {
        let join = join();
        let line = [&["send", "--key", "k", "--join", &join, "--auto"], line].concat();
        let parsed = Line::try_parse_from(line).map_err(|error| error.to_string())?;
        parsed.args.try_into().map_err(|error: anyhow::Error| error.to_string())
    }

    #[test]
    fn the_name_at_the_hub_is_one_component() {
        assert_eq!(options(&["/tmp/a.bin"]).unwrap().name.as_str(), "a.bin");
        assert_eq!(options(&["/tmp/a.bin", "--name", "b"]).unwrap().name.as_str(), "b");
        for bad in ["", ".", "..", "a/b", "/etc/passwd", "a\nb"] {
            let error = options(&["a", "--name", bad]).unwrap_err();
            assert!(error.starts_with("--name: file name "), "{error}");
        }
        let error = options(&[".."]).unwrap_err();
        assert!(error.contains("allowed: --name NAME"), "{error}");
    }

    /// A transfer would otherwise take the place of an edge that is to be started with this file.
    #[test]
    fn the_control_socket_of_the_file_is_left_to_the_edge() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "control = \"edge.sock\"\n").unwrap();
        let config = file.path().to_str().unwrap();
        assert_eq!(options(&["f", "--config", config]).unwrap().control, None);
        let own = options(&["f", "--config", config, "--control", "own.sock"]).unwrap();
        assert_eq!(own.control, Some("own.sock".into()));
    }

    #[test]
    fn a_hub_that_never_answered_has_less_time_unless_it_is_said() {
        let times = |line: &[&str]| {
            let options = options(line).unwrap();
            (options.first_patience, options.patience)
        };
        assert_eq!(times(&["f"]), (FIRST_PATIENCE, PATIENCE));
        let second = Duration::from_secs(1);
        assert_eq!(times(&["f", "--patience", "1"]), (second, second));
    }

    #[test]
    fn what_only_an_edge_does_is_refused() {
        for surface in [
            ["--quota-file", "f"],
            ["--socks", "127.0.0.1:1"],
            ["--proxy-credentials", "f"],
            ["--forward", "tcp:1=h:1"],
            ["--when-away", "wait"],
            ["--policy", "f"],
            ["--udp-mode", "best"],
            ["--udp-rule", "port 53: redundant"],
            ["--max-connections", "1"],
            ["--max-associations", "1"],
        ] {
            let error = options(&[&["f"], surface.as_slice()].concat()).unwrap_err();
            assert!(error.contains("`polypath edge`"), "{error}");
        }
    }
    /// It would carry what nobody counts.
    #[test]
    fn a_path_with_a_quota_is_refused() {
        let line = ["send", "f", "--key", "k", "--join", &join(), "--path", "a=eth0,quota=1GB/day"];
        let args = Line::try_parse_from(line).unwrap().args;
        let error = SendOptions::try_from(args).unwrap_err().to_string();
        assert!(error.starts_with("--path: quotas belong to `polypath edge`"), "{error}");
    }
}
