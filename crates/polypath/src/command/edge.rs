//! `polypath edge`: the multi-homed side.

mod serving;
#[cfg(test)]
pub(super) mod tests;

use std::collections::BTreeSet;
use std::num::{NonZero, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use polypath_bond::FlowMode;
use polypath_bond::identity::JoinString;
use polypath_config::{DocumentError, Table};
use polypath_net::proxy::{ProxyLimits, WhenAway};
use polypath_policy::UdpRule;
use polypath_units::{ByteCount, PathId};
use serde::Deserialize;

pub use super::bonding::{BondOptions, Paths};
use super::{CompositionArgs, LifetimeArgs};
use crate::config::{
    Fault, FileBacked, Forward, ListenAddress, PATH_FORM, PathSpec, SteeringOptions, config_file,
    given, text,
};
use crate::gateway::{EdgeGatewayArgs, EdgeGatewayOptions, Transport};
use crate::service::{self, LogFormat};

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
    /// works, and one with a quota, such as quota=10GB/month or 500MB/day, becomes such a backup
    /// once it has carried so much, until the next day or month begins in UTC, or the DAY of the
    /// month
    #[arg(long, value_name = PATH_FORM)]
    #[serde(deserialize_with = "text::list")]
    path: Vec<PathSpec>,
    /// One path for each usable uplink, as they come and go
    #[arg(long, conflicts_with = "path")]
    auto: bool,
    /// File that keeps what paths have used of their quotas [default: that of --key, with .quotas
    /// behind its name]
    #[arg(long, value_name = "FILE")]
    quota_file: Option<PathBuf>,
    /// Receive buffer that all paths share, such as "16 MB"
    #[arg(long, value_name = "SIZE")]
    #[serde(deserialize_with = "text::optional")]
    receive_buffer: Option<ByteCount>,
    /// How long silence may last
    #[command(flatten)]
    #[serde(skip)]
    lifetimes: LifetimeArgs,
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
    /// What becomes of new requests at proxies and forwarded TCP ports while no path to the hub
    /// works: fail, within seconds; wait, until one works or the client gives up [default: fail]
    #[arg(long, value_name = "fail|wait")]
    #[serde(deserialize_with = "text::optional")]
    pub(super) when_away: Option<WhenAway>,
    /// File with rules (TOML) that say which traffic of clients is steered how; `polypath policy`
    /// checks it, SIGHUP reads it again [default: the rules of `polypath policy standard`]
    #[arg(long, value_name = "FILE")]
    pub(super) policy: Option<PathBuf>,
    /// Which paths the datagrams of SOCKS5 and of forwarded UDP ports take: aggregate, each one of
    /// them, for rate; redundant, each all of them, for certainty; best, all the one of lowest
    /// delay; smallest_delay, each the one of lowest delay now; load_balancing, each as much as it
    /// carries; where no rule says something else. Without --policy there are no rules then but
    /// those of --udp-rule [default: aggregate]
    #[arg(long, value_name = "MODE")]
    #[serde(deserialize_with = "text::optional")]
    pub(super) udp_mode: Option<FlowMode>,
    /// The same for datagrams that are told apart by the port they go to and by the DSCP that the
    /// client gave them, such as "port 53: redundant", "dscp ef: redundant" or
    /// "port 27000-27100 dscp af41: best"; of several rules the first that matches decides, and all
    /// of them come before those of --policy
    #[arg(long, value_name = "DESCRIPTOR: MODE")]
    #[serde(deserialize_with = "text::list")]
    pub(super) udp_rule: Vec<UdpRule>,
    /// Connections of clients to the proxies and forwarded TCP ports together. Clients, which are
    /// told apart by their addresses, share them fairly: one may have up to three times as many as
    /// are left free [default: 1024]
    #[arg(long, value_name = "COUNT")]
    pub(super) max_connections: Option<NonZeroUsize>,
    /// UDP associations of SOCKS5 and forwarded UDP ports together, which clients share in the same
    /// way [default: 1024]
    #[arg(long, value_name = "COUNT")]
    pub(super) max_associations: Option<NonZeroUsize>,
    /// Traffic that asks nothing of applications
    #[command(flatten)]
    #[serde(skip)]
    gateway: EdgeGatewayArgs,
    /// Serve metrics for Prometheus at http://ADDR/metrics, such as 127.0.0.1:9433, to whoever can
    /// reach it
    #[arg(long, value_name = "ADDR")]
    #[serde(deserialize_with = "text::optional")]
    pub(super) metrics: Option<ListenAddress>,
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

/// What `polypath edge` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeOptions {
    /// How to join the hub.
    pub bond: BondOptions,
    /// The file that keeps what paths have used of their quotas.
    pub quota_file: PathBuf,
    /// Where to offer a SOCKS5 proxy.
    pub socks: Option<ListenAddress>,
    /// Where to offer an HTTP CONNECT proxy.
    pub http: Option<ListenAddress>,
    /// The file with user name and password that the proxies ask for.
    pub proxy_credentials: Option<PathBuf>,
    /// Ports that lead to hosts behind the hub.
    pub forwards: Vec<Forward>,
    /// What becomes of new requests while no path to the hub works.
    pub when_away: WhenAway,
    /// How the traffic of clients is steered, but for forwarded ports with a mode of their own.
    pub steering: SteeringOptions,
    /// Connections of clients that are served at the same time.
    pub max_connections: usize,
    /// UDP associations of clients at the same time.
    pub max_associations: usize,
    /// The gateway, if there is to be one.
    pub gateway: Option<EdgeGatewayOptions>,
    /// Where to serve metrics.
    pub metrics: Option<ListenAddress>,
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
        let (lifetimes, gateway) = (table.deserialize()?, table.deserialize()?);
        Ok(Self { composition, lifetimes, gateway, ..table.deserialize()? })
    }

    fn over(self, file: Self) -> Self {
        let paths_given = self.auto || !self.path.is_empty();
        Self {
            config: None,
            join: self.join.or(file.join),
            key: self.key.or(file.key),
            path: if paths_given { self.path } else { file.path },
            auto: if paths_given { self.auto } else { file.auto },
            quota_file: self.quota_file.or(file.quota_file),
            composition: self.composition.or(file.composition),
            receive_buffer: self.receive_buffer.or(file.receive_buffer),
            lifetimes: self.lifetimes.or(file.lifetimes),
            socks: self.socks.or(file.socks),
            http: self.http.or(file.http),
            proxy_credentials: self.proxy_credentials.or(file.proxy_credentials),
            forward: given(self.forward, file.forward),
            when_away: self.when_away.or(file.when_away),
            policy: self.policy.or(file.policy),
            udp_mode: self.udp_mode.or(file.udp_mode),
            udp_rule: given(self.udp_rule, file.udp_rule),
            max_connections: self.max_connections.or(file.max_connections),
            max_associations: self.max_associations.or(file.max_associations),
            gateway: self.gateway.over(file.gateway),
            metrics: self.metrics.or(file.metrics),
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
        self.steering()?;
        self.gateway.options()?;
        self.refuse_uncounted()?;
        self.lifetimes.check()
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
            lifetimes: self.lifetimes,
        })
    }

    /// The key of an option that says what the edge does for others, if one was given: all but
    /// those that make the bond.
    pub(super) fn service(&self) -> Option<&'static str> {
        let Self {
            config: _,
            join: _,
            key: _,
            path: _,
            auto: _,
            quota_file,
            composition: _,
            receive_buffer: _,
            lifetimes: _,
            control: _,
            log: _,
            socks,
            http,
            proxy_credentials,
            forward,
            when_away,
            policy,
            udp_mode,
            udp_rule,
            max_connections,
            max_associations,
            gateway,
            metrics,
        } = self;
        let given = [
            ("quota_file", quota_file.is_some()),
            ("socks", socks.is_some()),
            ("http", http.is_some()),
            ("proxy_credentials", proxy_credentials.is_some()),
            ("forward", !forward.is_empty()),
            ("when_away", when_away.is_some()),
            ("policy", policy.is_some()),
            ("udp_mode", udp_mode.is_some()),
            ("udp_rule", !udp_rule.is_empty()),
            ("max_connections", max_connections.is_some()),
            ("max_associations", max_associations.is_some()),
            ("gateway", gateway.is_on()),
            ("metrics", metrics.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(key, _)| key)
    }

    /// Whether a path has a quota.
    pub(super) fn has_quota(&self) -> bool {
        self.path.iter().any(|path| path.quota().is_some())
    }

    fn paths(&self) -> anyhow::Result<Paths> {
        if self.auto {
            return Ok(Paths::Auto);
        }
        if self.path.is_empty() {
            let message = format!("missing; allowed: --path {PATH_FORM} for each path, or --auto");
            return Err(Fault::new("path", message).on_command_line().into());
        }
        Ok(Paths::Listed(self.path.clone()))
    }

    fn steering(&self) -> Result<SteeringOptions, Fault> {
        let options = SteeringOptions::new(self.policy.clone(), &self.udp_rule, self.udp_mode)?
            .with_tcp(self.gateway.tcp());
        if self.auto {
            return Ok(options);
        }
        Ok(options.among(self.path.iter().map(|path| path.name().to_owned()).collect()))
    }

    /// The kernel sends over whatever path it likes, and no quota counts that.
    fn refuse_uncounted(&self) -> Result<(), Fault> {
        if self.gateway.transport() == Transport::Mptcp && self.has_quota() {
            let message = "what Multipath TCP sends over a path does not count for its quota; \
                           allowed: bond, or paths without quotas";
            return Err(Fault::new("transport", message));
        }
        Ok(())
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
        let steering = args.steering().map_err(Fault::on_command_line)?;
        let gateway = args.gateway.options().map_err(Fault::on_command_line)?;
        let bond = args.bond()?;
        Ok(Self {
            quota_file: args.quota_file.unwrap_or_else(|| beside_key(&bond.key)),
            bond,
            socks: args.socks,
            http: args.http,
            proxy_credentials: args.proxy_credentials,
            forwards: args.forward,
            when_away: args.when_away.unwrap_or_default(),
            steering,
            max_connections: args.max_connections.map_or(ProxyLimits::CONNECTIONS, NonZero::get),
            max_associations: args.max_associations.map_or(ProxyLimits::ASSOCIATIONS, NonZero::get),
            gateway,
            metrics: args.metrics,
            control: args.control,
            log: args.log.unwrap_or_default(),
        })
    }
}

/// Where counts are kept if the user does not say: edges have keys of their own.
fn beside_key(key: &Path) -> PathBuf {
    let mut name = key.as_os_str().to_owned();
    name.push(".quotas");
    name.into()
}

/// Serves applications until a signal ends it.
///
/// # Errors
/// When it cannot start, when the hub will never let it join, and when a listener fails.
pub fn run(options: EdgeOptions) -> anyhow::Result<ExitCode> {
    service::start_log(options.log, service::DAEMON_LOG)?;
    service::run(serving::serve(options))?;
    Ok(ExitCode::SUCCESS)
}
