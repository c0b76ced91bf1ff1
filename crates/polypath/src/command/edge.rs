//! `polypath edge`: the multi-homed side.

use std::collections::BTreeSet;
use std::num::{NonZero, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;
use polypath_bond::FlowMode;
use polypath_bond::identity::JoinString;
use polypath_config::{DocumentError, Table};
use polypath_net::edge::Edge;
use polypath_net::proxy::{ProxyLimits, Steering, SteeringRule};
use polypath_units::{ByteCount, PathId};
use serde::Deserialize;

use super::CompositionArgs;
use super::surfaces::{Serving, Surfaces};
use crate::config::{
    Fault, FileBacked, Forward, IdleTimeout, ListenAddress, PathSpec, config_file, given, steering,
    text,
};
use crate::control::{ControlSocket, Role};
use crate::output;
use crate::service::{self, LogFormat, Stop};

/// Join a hub over several paths and offer the bond to applications
///
/// Every option can stand in the file of --config under the same name, with `_` for `-`; an option
/// given here wins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args, Deserialize)]
#[serde(default)]
pub struct EdgeArgs {
    /// File with options (TOML)
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub(super) config: Option<PathBuf>,
    /// What the hub printed: polypath:1/ADDRESS:PORT/ppp1...
    #[arg(long, value_name = "STRING")]
    #[serde(deserialize_with = "text::optional")]
    join: Option<JoinString>,
    /// File with this node's secret key [default: ~/.config/polypath/key]
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// A path: LOCAL is an interface, or an address whose interface it then takes; REMOTE is a hub
    /// address other than the join string's; one marked `backup` carries data only while no other
    /// works
    #[arg(long, value_name = "NAME=LOCAL[,REMOTE][,backup]")]
    #[serde(deserialize_with = "text::list")]
    path: Vec<PathSpec>,
    /// One path for each usable uplink, as they come and go
    #[arg(long, conflicts_with = "path")]
    auto: bool,
    /// Receive buffer that all paths share, such as "16 MB"
    #[arg(long, value_name = "SIZE")]
    #[serde(deserialize_with = "text::optional")]
    receive_buffer: Option<ByteCount>,
    /// Seconds for which the bond, and every connection through it, outlives its last path; the
    /// lower one of edge and hub counts [default: 30]
    #[arg(long, value_name = "SECONDS")]
    pub(super) idle_timeout: Option<IdleTimeout>,
    /// Offer a SOCKS5 proxy, such as 127.0.0.1:1080
    #[arg(long, value_name = "ADDR")]
    #[serde(deserialize_with = "text::optional")]
    pub(super) socks: Option<ListenAddress>,
    /// Offer an HTTP CONNECT proxy, such as 127.0.0.1:8080
    #[arg(long, value_name = "ADDR")]
    #[serde(deserialize_with = "text::optional")]
    pub(super) http: Option<ListenAddress>,
    /// File with one line USER:PASSWORD that the proxies ask for; it is needed where they listen on
    /// other than loopback addresses
    #[arg(long, value_name = "FILE")]
    pub(super) proxy_credentials: Option<PathBuf>,
    /// Lead a local port to a host behind the hub, such as tcp:8080=intranet.example.org:80; MODE
    /// of UDP is as in --udp-mode
    #[arg(long, value_name = "tcp|udp:LOCAL=HOST:PORT[,MODE]")]
    #[serde(deserialize_with = "text::list")]
    pub(super) forward: Vec<Forward>,
    /// Which paths the datagrams of SOCKS5 and of forwarded UDP ports take: aggregate, each one of
    /// them, for rate; redundant, each all of them, for certainty; best, all the one of lowest
    /// delay [default: aggregate]
    #[arg(long, value_name = "MODE")]
    #[serde(deserialize_with = "text::optional")]
    pub(super) udp_mode: Option<FlowMode>,
    /// The same for datagrams that are told apart by the port they go to and by the DSCP that the
    /// client gave them, such as "port 53: redundant", "dscp ef: redundant" or
    /// "port 27000-27100 dscp af41: best"; of several rules the first that matches decides
    #[arg(long, value_name = "DESCRIPTOR: MODE")]
    #[serde(deserialize_with = "text::list")]
    pub(super) udp_rule: Vec<SteeringRule>,
    /// Connections of clients to the proxies and forwarded TCP ports together. Clients, which are
    /// told apart by their addresses, share them fairly: one may have up to three times as many as
    /// are left free [default: 1024]
    #[arg(long, value_name = "COUNT")]
    pub(super) max_connections: Option<NonZeroUsize>,
    /// UDP associations of SOCKS5 and forwarded UDP ports together, which clients share in the same
    /// way [default: 1024]
    #[arg(long, value_name = "COUNT")]
    pub(super) max_associations: Option<NonZeroUsize>,
    /// Socket that `polypath status` asks [default: one that it looks for; the log says which]
    #[arg(long, value_name = "SOCKET")]
    pub(super) control: Option<PathBuf>,
    /// Form of the log
    #[arg(long, value_name = "FORMAT")]
    pub(super) log: Option<LogFormat>,
    /// What the bond is composed of
    #[command(flatten)]
    #[serde(skip)]
    composition: CompositionArgs,
}

/// How to join a hub: shared by every command that makes a bond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BondOptions {
    /// The hub.
    pub join: JoinString,
    /// The file with this node's secret key.
    pub key: PathBuf,
    /// The paths.
    pub paths: Paths,
    /// What it is composed of.
    pub composition: CompositionArgs,
    /// The receive buffer that all paths share.
    pub receive_buffer: Option<ByteCount>,
    /// How long it outlives its last path.
    pub idle_timeout: Option<IdleTimeout>,
}

/// Which paths a bond has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Paths {
    /// One for each usable uplink.
    Auto,
    /// These, at least one, with different names.
    Listed(Vec<PathSpec>),
}

/// What `polypath edge` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeOptions {
    /// How to join the hub.
    pub bond: BondOptions,
    /// Where to offer a SOCKS5 proxy.
    pub socks: Option<ListenAddress>,
    /// Where to offer an HTTP CONNECT proxy.
    pub http: Option<ListenAddress>,
    /// The file with user name and password that the proxies ask for.
    pub proxy_credentials: Option<PathBuf>,
    /// Ports that lead to hosts behind the hub.
    pub forwards: Vec<Forward>,
    /// Which paths the datagrams of SOCKS5 take, and those of forwarded ports that say nothing
    /// else.
    pub steering: Steering,
    /// Connections of clients that are served at the same time.
    pub max_connections: usize,
    /// UDP associations of clients at the same time.
    pub max_associations: usize,
    /// The socket that `polypath status` asks; `None` for the first default place that will do.
    pub control: Option<PathBuf>,
    /// The form of the log.
    pub log: LogFormat,
}

impl FileBacked for EdgeArgs {
    fn file(&self) -> Option<&Path> {
        self.config.as_deref()
    }

    fn of_table(table: &Table<'_>) -> Result<Self, DocumentError> {
        let composition = CompositionArgs::of_table(table)?;
        Ok(Self { composition, ..table.deserialize()? })
    }

    fn over(self, file: Self) -> Self {
        let paths_given = self.auto || !self.path.is_empty();
        Self {
            config: None,
            join: self.join.or(file.join),
            key: self.key.or(file.key),
            path: if paths_given { self.path } else { file.path },
            auto: if paths_given { self.auto } else { file.auto },
            composition: self.composition.or(file.composition),
            receive_buffer: self.receive_buffer.or(file.receive_buffer),
            idle_timeout: self.idle_timeout.or(file.idle_timeout),
            socks: self.socks.or(file.socks),
            http: self.http.or(file.http),
            proxy_credentials: self.proxy_credentials.or(file.proxy_credentials),
            forward: given(self.forward, file.forward),
            udp_mode: self.udp_mode.or(file.udp_mode),
            udp_rule: given(self.udp_rule, file.udp_rule),
            max_connections: self.max_connections.or(file.max_connections),
            max_associations: self.max_associations.or(file.max_associations),
            control: self.control.or(file.control),
            log: self.log.or(file.log),
        }
    }

    fn check(&self) -> Result<(), Fault> {
        if self.auto && !self.path.is_empty() {
            return Err(Fault::new("auto", "paths are listed too; allowed: path or auto = true"));
        }
        if self.path.len() > PathId::COUNT {
            let message = format!("{} paths; allowed: {}", self.path.len(), PathId::COUNT);
            return Err(Fault::new("path", message));
        }
        let mut names = BTreeSet::new();
        if let Some(twice) = self.path.iter().find(|path| !names.insert(path.name())) {
            let message = format!("two paths are named {:?}; allowed: once each", twice.name());
            return Err(Fault::new("path", message));
        }
        if self.receive_buffer == Some(ByteCount::new(0)) {
            return Err(Fault::new(
                "receive_buffer",
                "nothing fits into 0 B; allowed: 1 B or more",
            ));
        }
        steering(&self.udp_rule, self.udp_mode).map(drop)
    }
}

impl EdgeArgs {
    /// How to join the hub.
    ///
    /// # Errors
    /// When the join string or the paths are missing.
    pub(super) fn bond(&self) -> anyhow::Result<BondOptions> {
        let join = self.join.clone().ok_or_else(|| {
            let message = "missing; allowed: the line that `polypath hub` prints";
            Fault::new("join", message).on_command_line()
        })?;
        Ok(BondOptions {
            join,
            key: self.key.clone().map_or_else(|| config_file("key"), Ok)?,
            paths: self.paths()?,
            composition: self.composition,
            receive_buffer: self.receive_buffer,
            idle_timeout: self.idle_timeout,
        })
    }

    fn paths(&self) -> anyhow::Result<Paths> {
        if self.auto {
            return Ok(Paths::Auto);
        }
        if self.path.is_empty() {
            let message =
                "missing; allowed: --path NAME=LOCAL[,REMOTE][,backup] for each path, or --auto";
            return Err(Fault::new("path", message).on_command_line().into());
        }
        Ok(Paths::Listed(self.path.clone()))
    }

    /// A proxy that other hosts can reach needs a password: who uses it acts as this host, and as
    /// the hub. What is asked is known only once flags and file are one.
    fn refuse_open_proxies(&self) -> Result<(), Fault> {
        if self.proxy_credentials.is_some() {
            return Ok(());
        }
        for (key, listen) in [("socks", self.socks), ("http", self.http)] {
            if let Some(address) = listen.filter(|address| !address.is_loopback()) {
                let message = format!(
                    "other hosts can use a proxy at {address}, which needs a password then; \
                     allowed: --proxy-credentials FILE with one line USER:PASSWORD, or a loopback \
                     address such as 127.0.0.1:{}, which needs none",
                    address.get().port()
                );
                return Err(Fault::new(key, message));
            }
        }
        Ok(())
    }
}

impl TryFrom<EdgeArgs> for EdgeOptions {
    type Error = anyhow::Error;

    fn try_from(args: EdgeArgs) -> anyhow::Result<Self> {
        let args = args.resolve()?;
        args.refuse_open_proxies().map_err(Fault::on_command_line)?;
        Ok(Self {
            bond: args.bond()?,
            socks: args.socks,
            http: args.http,
            proxy_credentials: args.proxy_credentials,
            forwards: args.forward,
            steering: steering(&args.udp_rule, args.udp_mode).map_err(Fault::on_command_line)?,
            max_connections: args.max_connections.map_or(ProxyLimits::CONNECTIONS, NonZero::get),
            max_associations: args.max_associations.map_or(ProxyLimits::ASSOCIATIONS, NonZero::get),
            control: args.control,
            log: args.log.unwrap_or_default(),
        })
    }
}

/// Serves applications until a signal ends it.
///
/// # Errors
/// When it cannot start, when the hub will never let it join, and when a listener fails.
pub fn run(options: EdgeOptions) -> anyhow::Result<ExitCode> {
    service::start_log(options.log, service::DAEMON_LOG)?;
    service::run(serve(options))?;
    Ok(ExitCode::SUCCESS)
}

async fn serve(options: EdgeOptions) -> anyhow::Result<()> {
    let mut stop = Stop::new()?;
    let control = ControlSocket::open(options.control.as_deref())?;
    // Names that have to be resolved may take their time.
    let Some(started) = stop.limit(start(&options)).await else { return Ok(()) };
    let (surfaces, edge) = started?;
    output::print(&surfaces.describe()?)?;
    let mut serving = surfaces.serve(&edge.opener());
    let ended = tokio::select! {
        error = fail(&edge, &mut serving) => Err(error),
        () = control.serve(Role::Edge, edge.driver().clone()) => Ok(()),
        () = stop.wait() => Ok(()),
    };
    // Applications are cut off first; what they had finished is still delivered.
    serving.shutdown().await;
    if ended.is_ok() {
        stop.close(edge.close()).await;
    }
    ended
}

async fn start(options: &EdgeOptions) -> anyhow::Result<(Surfaces, Edge)> {
    let surfaces = Surfaces::bind(options).await?;
    Ok((surfaces, options.bond.start_waiting().await?))
}

/// Waits for what makes going on pointless.
async fn fail(edge: &Edge, serving: &mut Serving) -> anyhow::Error {
    tokio::select! {
        error = fail_to_join(edge) => error,
        Some(ended) = serving.join_next() => match ended {
            Ok(Ok(())) => anyhow!("a listener has ended"),
            Ok(Err(error)) => error,
            Err(error) => error.into(),
        },
    }
}

/// Says when the first path has joined; returns only if none ever will, or none any more.
async fn fail_to_join(edge: &Edge) -> anyhow::Error {
    if let Err(error) = edge.joined_in_the_end().await {
        return error.into();
    }
    match output::print("joined\n") {
        Ok(()) => edge.refused().await.into(),
        Err(error) => error.into(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use clap::{CommandFactory, Parser};
    use polypath_bond::identity::SecretKey;
    use polypath_core::congestion::CongestionKind;
    use polypath_core::failure::FailureKind;
    use polypath_core::registry::Configured;
    use polypath_core::scheduler::SchedulerKind;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: EdgeArgs,
    }

    pub(crate) fn join() -> String {
        let hub = SecretKey::from_seed([7; 32]).public();
        format!("polypath:1/192.0.2.1:4433/{hub}")
    }

    fn options(line: &[&str]) -> Result<EdgeOptions, String> {
        let line = [&["edge", "--key", "k", "--control", "c"], line].concat();
        let parsed = Line::try_parse_from(line).map_err(|error| error.to_string())?;
        parsed.args.try_into().map_err(|error: anyhow::Error| error.to_string())
    }

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        file
    }

    #[test]
    fn flags_become_options() {
        let scheduler = SchedulerKind::ALL[0];
        let options = options(&[
            "--join",
            &join(),
            "--path",
            "wifi=wlan0",
            "--path",
            "lte=10.0.0.2",
            "--scheduler",
            scheduler.name(),
            "--receive-buffer",
            "4 MB",
            "--socks",
            "127.0.0.1:1080",
            "--forward",
            "udp:53=dns.example.org:53,redundant",
            "--udp-mode",
            "best",
            "--max-connections",
            "7",
            "--log",
            "json",
        ])
        .unwrap();
        let paths = ["wifi=wlan0", "lte=10.0.0.2"].map(|path| path.parse().unwrap());
        assert_eq!(options.bond.paths, Paths::Listed(paths.to_vec()));
        let scheduler = Some(scheduler.into());
        assert_eq!(
            options.bond.composition,
            CompositionArgs { scheduler, ..CompositionArgs::default() }
        );
        assert_eq!(options.bond.receive_buffer, Some(ByteCount::new(4_000_000)));
        assert_eq!(options.socks.map(ListenAddress::get), Some(([127, 0, 0, 1], 1080).into()));
        assert_eq!(options.forwards, ["udp:53=dns.example.org:53,redundant".parse().unwrap()]);
        assert_eq!(options.steering, Steering::always(FlowMode::Best));
        let limits = (options.max_connections, options.max_associations);
        assert_eq!(limits, (7, ProxyLimits::ASSOCIATIONS));
        assert_eq!(options.log, LogFormat::Json);
    }

    #[test]
    fn flags_win_over_the_file() {
        let text = format!(
            "join = {:?}\nauto = true\nreceive_buffer = \"1 MB\"\nidle_timeout = 3600\nhttp = \"127.0.0.1:8080\"\n",
            join()
        );
        let file = file(&text);
        let path = file.path().to_str().unwrap();
        let from_file = options(&["--config", path]).unwrap();
        assert_eq!(from_file.bond.paths, Paths::Auto);
        assert_eq!(from_file.bond.receive_buffer, Some(ByteCount::new(1_000_000)));
        assert_eq!(from_file.bond.idle_timeout, "3600".parse().ok());

        let flags = ["--config", path, "--receive-buffer", "2 MB", "--path", "a=eth0"];
        let flags = [&flags[..], &["--idle-timeout", "60"]].concat();
        let both = options(&flags).unwrap();
        assert_eq!(both.bond.idle_timeout, "60".parse().ok());
        assert_eq!(both.bond.paths, Paths::Listed(vec!["a=eth0".parse().unwrap()]));
        assert_eq!(both.bond.receive_buffer, Some(ByteCount::new(2_000_000)));
        assert_eq!(both.http, from_file.http);
    }

    #[test]
    fn algorithms_take_parameters_in_flags_and_in_the_file() {
        let file = file(
            "auto = true\ncongestion = { name = \"cubic\", beta = 0.8 }\npenalisation = true\n\
             coupled = false\nscheduler = \"round_robin,num_segments=2\"\n\n\
             [failure]\nname = \"fpf\"\ntimer_margin = 5\n",
        );
        let join = join();
        let config = ["--join", &join, "--config", file.path().to_str().unwrap()];
        let from_file = CompositionArgs {
            congestion: Configured::with(CongestionKind::Cubic, &[("beta", 0.8)]).ok(),
            coupled: Some(false),
            scheduler: Configured::with(SchedulerKind::RoundRobin, &[("num_segments", 2.0)]).ok(),
            failure: Configured::with(FailureKind::Fpf, &[("timer_margin", 5.0)]).ok(),
            penalisation: Some(true),
            ..CompositionArgs::default()
        };
        assert_eq!(options(&config).unwrap().bond.composition, from_file);

        let flags = ["--congestion", "cubic,beta=0.6,c=0.2", "--penalisation", "false"];
        let options = options(&[config.as_slice(), &flags].concat()).unwrap();
        let settings = [("beta", 0.6), ("c", 0.2)];
        let congestion = Configured::with(CongestionKind::Cubic, &settings).ok();
        let expected = CompositionArgs { congestion, penalisation: Some(false), ..from_file };
        assert_eq!(options.bond.composition, expected);
    }

    #[test]
    fn every_flag_is_a_key_of_the_file() {
        let file = file("no_such_key = 1\n");
        let allowed = options(&["--config", file.path().to_str().unwrap()]).unwrap_err();
        let command = Line::command();
        let flags: Vec<_> = command
            .get_arguments()
            .map(|flag| flag.get_id().as_str())
            .filter(|&flag| flag != "config")
            .collect();
        assert!(flags.len() >= 19, "{flags:?}");
        for flag in flags {
            assert!(allowed.contains(&format!(" {flag}")), "{flag}: {allowed}");
        }
    }

    #[test]
    fn errors_name_file_line_key_and_what_is_allowed() {
        let join = join();
        for (text, line, expected) in [
            ("\nscheduler = \"best\"\n", 2, "scheduler: unknown scheduler \"best\"; allowed: "),
            (
                "\ncongestion = { name = \"cubic\", beta = 2 }\n",
                2,
                "beta: beta of cubic cannot be 2; allowed: numbers from 0 to 1",
            ),
            ("auto = true\n[failure]\nname = \"rto\"\nx = 1", 4, "x: rto has no parameter"),
            ("coupled = 1\n", 1, "coupled: a value of type integer is not true or false"),
            ("receive_buffer = \"4\"\n", 1, "receive_buffer: \"4\" is not a size such as \"4 MB\""),
            ("auto = true\npath = [\"wlan0\"]\n", 2, "path: \"wlan0\" is not a path"),
            ("# x\npath = [\"a=b\", \"a=c\"]", 2, "path: two paths are named \"a\""),
            ("path = [\"a=b\"]\nauto = true", 2, "auto: paths are listed too; allowed: path or"),
            ("join = \"polypath:9/h:1/x\"\n", 1, "join: the join string is for protocol version"),
            ("idle_timeout = 4\n", 1, "idle_timeout: \"4\" is not an idle time-out"),
            ("receive_buffer = \"0 B\"\n", 1, "receive_buffer: nothing fits"),
            (
                "\nudp_rule = [\"53: best\"]",
                2,
                "udp_rule: \"53: best\" is not a rule for datagrams",
            ),
            (
                "udp_rule = [\"port 1-9: best\", \"port 5: redundant\"]",
                1,
                "udp_rule: \"port 5: redundant\" is never reached, since \"port 1-9: best\"",
            ),
        ] {
            let file = file(text);
            let path = file.path().to_str().unwrap();
            let error = options(&["--join", &join, "--config", path]).unwrap_err();
            let expected = format!("{path}:{line}: {expected}");
            assert!(error.starts_with(&expected), "{error}\nexpected {expected}");
        }
    }

    #[test]
    fn a_proxy_that_other_hosts_can_use_needs_a_password() {
        let join = join();
        let proxy = |line: &[&str]| options(&[&["--join", &join, "--auto"], line].concat());
        for (flag, address) in [
            ("--socks", "0.0.0.0:1080"),
            ("--http", "0.0.0.0:1080"),
            ("--socks", "[::]:1080"),
            ("--http", "192.0.2.1:1080"),
            ("--socks", "[::ffff:192.0.2.1]:1080"),
        ] {
            let error = proxy(&[flag, address]).unwrap_err();
            let expected = format!("{flag}: other hosts can use a proxy at {address}, ");
            assert!(error.starts_with(&expected), "{error}");
            assert!(error.contains("allowed: --proxy-credentials FILE"), "{error}");
            assert!(error.contains("127.0.0.1:1080, which needs none"), "{error}");
            assert!(proxy(&[flag, address, "--proxy-credentials", "f"]).is_ok());
        }
        for address in ["127.0.0.1:1", "127.8.8.8:1", "[::1]:1", "[::ffff:127.0.0.1]:1"] {
            assert!(proxy(&["--socks", address, "--http", address]).is_ok(), "{address}");
        }
    }

    #[test]
    fn the_password_may_stand_in_the_file_and_the_address_in_a_flag() {
        let join = join();
        let file = file("auto = true\nproxy_credentials = \"here\"\nhttp = \"[::]:1\"\n");
        let line = ["--join", &join, "--config", file.path().to_str().unwrap()];
        let from_file = options(&[&line[..], &["--socks", "0.0.0.0:1"]].concat()).unwrap();
        assert_eq!(from_file.proxy_credentials, Some("here".into()));
        let flag = options(&[&line[..], &["--proxy-credentials", "there"]].concat()).unwrap();
        assert_eq!(flag.proxy_credentials, Some("there".into()));
    }

    #[test]
    fn the_help_has_the_limits_that_hold_where_none_are_given() {
        let help = Line::command().render_long_help().to_string();
        for (limit, default) in [
            ("--max-connections", ProxyLimits::CONNECTIONS),
            ("--max-associations", ProxyLimits::ASSOCIATIONS),
        ] {
            let (_, said) = help.split_once(limit).unwrap();
            let said = said.split("[default: ").nth(1).unwrap();
            assert!(said.starts_with(&format!("{default}]")), "{limit}: {said}");
        }
        assert!(options(&["--max-connections", "0"]).unwrap_err().contains("--max-connections"));
    }

    #[test]
    fn what_is_missing_or_wrong_in_flags_is_named() {
        let error = options(&["--auto"]).unwrap_err();
        assert!(error.starts_with("--join: missing"), "{error}");
        let error = options(&["--join", &join()]).unwrap_err();
        assert!(error.starts_with("--path: missing") && error.contains("--auto"), "{error}");
        let error = options(&["--join", &join(), "--path", "a=b", "--path", "a=c"]).unwrap_err();
        assert!(error.starts_with("--path: two paths"), "{error}");
        let error = options(&["--congestion", "best"]).unwrap_err();
        assert!(error.contains(CongestionKind::ALL[0].name()), "{error}");
        let error = options(&["--congestion", "cubic,beta=2"]).unwrap_err();
        assert!(error.contains("beta of cubic cannot be 2; allowed: numbers from 0"), "{error}");
        let error = options(&["--coupled", "maybe"]).unwrap_err();
        assert!(error.contains("'maybe'") && error.contains("true, false"), "{error}");
        let error = options(&["--receive-buffer", "4"]).unwrap_err();
        assert!(error.contains("--receive-buffer") && error.contains("4 MB"), "{error}");
    }
}
