//! `polypath hub`: the aggregation side.

use core::num::NonZeroU32;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use polypath_bond::identity::HubAddress;
use polypath_config::{DocumentError, Table};
use polypath_net::exit::{ExitOptions, FileStoreOptions, InboxQuota, TargetPolicy, TargetRule};
use polypath_net::mptcp::MptcpOptions;
use polypath_units::{Bandwidth, ByteCount};
use serde::Deserialize;

mod reachable;
mod serving;

use super::{CompositionArgs, LifetimeArgs};
use crate::allocator;
use crate::config::{Fault, FileBacked, ListenAddress, config_file, given, text};
use crate::gateway::{HubGatewayArgs, HubGatewaySettings, Transport};
use crate::service::{self, LogFormat};

/// The UDP port of a hub when none is given.
const DEFAULT_PORT: u16 = 4433;
/// Memory for one bond: a quarter is the receive buffer, which is that of 1 Gbit/s for 500 ms.
const DEFAULT_MAX_MEMORY: ByteCount = ByteCount::new(256_000_000);
/// The receive buffer, a quarter of it, is at least 64 KiB, and 16 streams need 32 KiB each.
const MIN_MEMORY: ByteCount = ByteCount::new(1_000_000);
/// An edge may open this many streams before it knows more.
const MIN_STREAMS: u32 = 16;
/// Streams of one bond: as many as a browser behind a proxy opens, several times over.
const DEFAULT_MAX_STREAMS: NonZeroU32 = NonZeroU32::new(4096).unwrap();
/// What an edge may have in the inbox: less than the free space of any disk of today.
const DEFAULT_INBOX_QUOTA: ByteCount = ByteCount::new(10_000_000_000);
/// What all edges together may have there.
const DEFAULT_INBOX_QUOTA_TOTAL: ByteCount = ByteCount::new(100_000_000_000);
/// An unfinished file outlives a weekend and a holiday.
const DEFAULT_INBOX_KEEP_DAYS: NonZeroU32 = NonZeroU32::new(7).unwrap();
const SECONDS_OF_A_DAY: u64 = 24 * 3600;

/// Accept edges and connect their streams to their targets
///
/// Every option can stand in the file of --config under the same name, with `_` for `-`; an option
/// given here wins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args, Deserialize)]
#[serde(default)]
pub struct HubArgs {
    /// File with options (TOML)
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    config: Option<PathBuf>,
    /// Address to listen on, any number of times; port 0 takes a free one
    /// [default: 0.0.0.0:4433 and [::]:4433]
    #[arg(long, value_name = "ADDR")]
    #[serde(deserialize_with = "text::list")]
    listen: Vec<ListenAddress>,
    /// Address to print in the join string, where edges reach this hub from outside
    #[arg(long, value_name = "HOST:PORT")]
    #[serde(deserialize_with = "text::list")]
    advertise: Vec<HubAddress>,
    /// File with this node's secret key [default: ~/.config/polypath/key, made if missing]
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// File with the public keys that may join, one a line [default: ~/.config/polypath/allow]
    #[arg(long, value_name = "FILE")]
    allow: Option<PathBuf>,
    /// Directory for files that edges send, made if missing; without it none are accepted
    #[arg(long, value_name = "DIR")]
    inbox: Option<PathBuf>,
    /// What one edge may have in the inbox, unfinished files included; what is taken out of the
    /// inbox makes room [default: 10 GB]
    #[arg(long, value_name = "SIZE")]
    #[serde(deserialize_with = "text::optional")]
    inbox_quota: Option<ByteCount>,
    /// What all edges together may have in the inbox [default: 100 GB]
    #[arg(long, value_name = "SIZE")]
    #[serde(deserialize_with = "text::optional")]
    inbox_quota_total: Option<ByteCount>,
    /// Days for which an unfinished file is kept that nobody goes on with [default: 7]
    #[arg(long, value_name = "DAYS")]
    inbox_keep_days: Option<NonZeroU32>,
    /// Memory for one bond, 1 MB or more; an edge usually has one bond [default: 256 MB]
    #[arg(long, value_name = "SIZE")]
    #[serde(deserialize_with = "text::optional")]
    max_memory: Option<ByteCount>,
    /// Open streams of one bond, 16 or more, and at most one for each 32 KiB of memory
    /// [default: 4096]
    #[arg(long, value_name = "COUNT")]
    max_streams: Option<NonZeroU32>,
    /// Rate of one bond, in each direction: data to the edge is sent no faster, data from it is
    /// read no faster, UDP from it above the rate is dropped [default: no limit]
    #[arg(long, value_name = "RATE")]
    #[serde(deserialize_with = "text::optional")]
    max_bandwidth: Option<Bandwidth>,
    /// How long silence may last
    #[command(flatten)]
    #[serde(skip)]
    lifetimes: LifetimeArgs,
    /// TCP connections to targets, over all edges, which share them fairly: an edge may have up to
    /// three times as many as are left free [default: 4096]
    #[arg(long, value_name = "COUNT")]
    max_connections: Option<usize>,
    /// UDP associations, over all edges, which share them in the same way [default: 1024]
    #[arg(long, value_name = "COUNT")]
    max_associations: Option<usize>,
    /// Take connections of edges with --transport mptcp beside the bond: by Multipath TCP of the
    /// kernel, WITHOUT ENCRYPTION between edge and hub unless --mptcp-tls is given at either
    #[arg(long, value_name = "bond|mptcp")]
    #[serde(deserialize_with = "text::optional")]
    transport: Option<Transport>,
    /// The TCP port for that [default: the number of the UDP port of the first --listen]
    #[arg(long, value_name = "PORT")]
    mptcp_port: Option<NonZeroU16>,
    /// Encrypt what goes over Multipath TCP, by TLS 1.3 with this node's key, of all edges
    #[arg(long)]
    mptcp_tls: bool,
    /// Where edges may connect to, such as '*:443' or '10.0.0.0/8:*', any number of times
    /// [default: everywhere but the hub itself, link-local addresses and metadata services]
    #[arg(long, value_name = "RULE")]
    #[serde(deserialize_with = "text::list")]
    target: Vec<TargetRule>,
    /// IP packets of edges
    #[command(flatten)]
    #[serde(skip)]
    gateway: HubGatewayArgs,
    /// Serve metrics for Prometheus at http://ADDR/metrics, such as 127.0.0.1:9433, to whoever can
    /// reach it
    #[arg(long, value_name = "ADDR")]
    #[serde(deserialize_with = "text::optional")]
    metrics: Option<ListenAddress>,
    /// Socket that `polypath status` asks [default: one that it looks for; the log says which]
    #[arg(long, value_name = "SOCKET")]
    control: Option<PathBuf>,
    /// Form of the log
    #[arg(long, value_name = "FORMAT")]
    log: Option<LogFormat>,
    /// What the bond is composed of
    #[command(flatten)]
    #[serde(skip)]
    composition: CompositionArgs,
}

/// What `polypath hub` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubOptions {
    /// Where to listen; at least one.
    pub listen: Vec<SocketAddr>,
    /// The addresses of the join string; may be empty, then those of `listen` that are not
    /// wildcards stand.
    pub advertise: Vec<HubAddress>,
    /// The file with this node's secret key.
    pub key: PathBuf,
    /// Whether to make that file if it is missing.
    pub make_key: bool,
    /// The file with the public keys that may join.
    pub allow: PathBuf,
    /// Where received files go; `None` refuses them.
    pub inbox: Option<PathBuf>,
    /// What the inbox may hold, and for how long.
    pub store: FileStoreOptions,
    /// What one edge may use.
    pub limits: EdgeLimits,
    /// How long silence may last.
    pub lifetimes: LifetimeArgs,
    /// What the bonds are composed of at this end.
    pub composition: CompositionArgs,
    /// Where edges may connect to, and what they share.
    pub exit: ExitOptions,
    /// How TCP connections beside bonds are taken, if they are.
    pub mptcp: Option<MptcpOptions>,
    /// The gateway, if there is to be one.
    pub gateway: Option<HubGatewaySettings>,
    /// Where to serve metrics.
    pub metrics: Option<ListenAddress>,
    /// The socket that `polypath status` asks; `None` for the first default place that will do.
    pub control: Option<PathBuf>,
    /// The form of the log.
    pub log: LogFormat,
}

/// What one bond of an edge may use of a hub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeLimits {
    /// Buffers of all its paths and streams, in both directions.
    pub memory: ByteCount,
    /// Streams open at the same time.
    pub streams: NonZeroU32,
    /// Rate in each direction; `None` for no limit.
    pub bandwidth: Option<Bandwidth>,
}

impl FileBacked for HubArgs {
    fn file(&self) -> Option<&Path> {
        self.config.as_deref()
    }

    fn of_table(table: &Table<'_>) -> Result<Self, DocumentError> {
        let composition = CompositionArgs::of_table(table)?;
        let (lifetimes, gateway) = (table.deserialize()?, table.deserialize()?);
        Ok(Self { composition, lifetimes, gateway, ..table.deserialize()? })
    }

    fn over(self, file: Self) -> Self {
        Self {
            config: None,
            listen: given(self.listen, file.listen),
            advertise: given(self.advertise, file.advertise),
            key: self.key.or(file.key),
            allow: self.allow.or(file.allow),
            inbox: self.inbox.or(file.inbox),
            inbox_quota: self.inbox_quota.or(file.inbox_quota),
            inbox_quota_total: self.inbox_quota_total.or(file.inbox_quota_total),
            inbox_keep_days: self.inbox_keep_days.or(file.inbox_keep_days),
            max_memory: self.max_memory.or(file.max_memory),
            max_streams: self.max_streams.or(file.max_streams),
            max_bandwidth: self.max_bandwidth.or(file.max_bandwidth),
            lifetimes: self.lifetimes.or(file.lifetimes),
            max_connections: self.max_connections.or(file.max_connections),
            max_associations: self.max_associations.or(file.max_associations),
            transport: self.transport.or(file.transport),
            mptcp_port: self.mptcp_port.or(file.mptcp_port),
            mptcp_tls: self.mptcp_tls || file.mptcp_tls,
            target: given(self.target, file.target),
            gateway: self.gateway.over(file.gateway),
            metrics: self.metrics.or(file.metrics),
            control: self.control.or(file.control),
            log: self.log.or(file.log),
            composition: self.composition.or(file.composition),
        }
    }

    fn check(&self) -> Result<(), Fault> {
        if self.max_memory.is_some_and(|memory| memory < MIN_MEMORY) {
            let message = format!("an edge needs memory; allowed: {MIN_MEMORY} or more");
            return Err(Fault::new("max_memory", message));
        }
        if self.max_streams.is_some_and(|streams| streams.get() < MIN_STREAMS) {
            let message = format!("too few streams; allowed: {MIN_STREAMS} or more");
            return Err(Fault::new("max_streams", message));
        }
        for (key, quota) in
            [("inbox_quota", self.inbox_quota), ("inbox_quota_total", self.inbox_quota_total)]
        {
            if quota == Some(ByteCount::new(0)) {
                let message = "nothing would fit; allowed: 1 B or more, or no inbox";
                return Err(Fault::new(key, message));
            }
        }
        if self.max_bandwidth == Some(Bandwidth::ZERO) {
            let message = "an edge needs a rate; allowed: 1 bit/s or more, or no limit";
            return Err(Fault::new("max_bandwidth", message));
        }
        self.check_transport()?;
        self.gateway.settings()?;
        self.lifetimes.check()
    }
}

impl HubArgs {
    fn check_transport(&self) -> Result<(), Fault> {
        match self.transport.unwrap_or_default() {
            Transport::Mptcp if self.max_bandwidth.is_some() => {
                let message = "the kernel sends as fast as it can, whatever max_bandwidth says; \
                               allowed: bond, or no max_bandwidth";
                Err(Fault::new("transport", message))
            }
            Transport::Bond if self.mptcp_port.is_some() => {
                let message = "there is no such port; allowed: with --transport mptcp";
                Err(Fault::new("mptcp_port", message))
            }
            Transport::Bond if self.mptcp_tls => {
                let message = "there are no such connections; allowed: with --transport mptcp";
                Err(Fault::new("mptcp_tls", message))
            }
            Transport::Mptcp | Transport::Bond => Ok(()),
        }
    }

    fn mptcp(&self) -> Option<MptcpOptions> {
        match self.transport.unwrap_or_default() {
            Transport::Mptcp => Some(MptcpOptions { port: self.mptcp_port, tls: self.mptcp_tls }),
            Transport::Bond => None,
        }
    }

    const fn limits(&self) -> EdgeLimits {
        EdgeLimits {
            memory: match self.max_memory {
                Some(memory) => memory,
                None => DEFAULT_MAX_MEMORY,
            },
            streams: match self.max_streams {
                Some(streams) => streams,
                None => DEFAULT_MAX_STREAMS,
            },
            bandwidth: self.max_bandwidth,
        }
    }

    fn store(&self) -> FileStoreOptions {
        let days = self.inbox_keep_days.unwrap_or(DEFAULT_INBOX_KEEP_DAYS);
        FileStoreOptions {
            quota: InboxQuota {
                edge: self.inbox_quota.unwrap_or(DEFAULT_INBOX_QUOTA),
                total: self.inbox_quota_total.unwrap_or(DEFAULT_INBOX_QUOTA_TOTAL),
            },
            keep: Duration::from_secs(u64::from(days.get()) * SECONDS_OF_A_DAY),
        }
    }
}

impl TryFrom<HubArgs> for HubOptions {
    type Error = anyhow::Error;

    fn try_from(args: HubArgs) -> anyhow::Result<Self> {
        let args = args.resolve()?;
        let exit = ExitOptions::default();
        let gateway = args.gateway.settings().map_err(Fault::on_command_line)?;
        Ok(Self {
            gateway: gateway.map(HubGatewaySettings::with_usual_leases).transpose()?,
            mptcp: args.mptcp(),
            limits: args.limits(),
            lifetimes: args.lifetimes,
            store: args.store(),
            composition: args.composition,
            listen: match args.listen.is_empty() {
                true => everywhere(),
                false => args.listen.into_iter().map(ListenAddress::get).collect(),
            },
            advertise: args.advertise,
            make_key: args.key.is_none(),
            key: args.key.map_or_else(|| config_file("key"), Ok)?,
            allow: args.allow.map_or_else(|| config_file("allow"), Ok)?,
            inbox: args.inbox,
            exit: ExitOptions {
                policy: TargetPolicy::new(args.target),
                max_connections: args.max_connections.unwrap_or(exit.max_connections),
                max_associations: args.max_associations.unwrap_or(exit.max_associations),
                ..exit
            },
            metrics: args.metrics,
            control: args.control,
            log: args.log.unwrap_or_default(),
        })
    }
}

/// The wildcards of IPv4 and, where the system has it, IPv6: a socket serves one family.
fn everywhere() -> Vec<SocketAddr> {
    let v4 = SocketAddr::from((Ipv4Addr::UNSPECIFIED, DEFAULT_PORT));
    let v6 = SocketAddr::from((Ipv6Addr::UNSPECIFIED, DEFAULT_PORT));
    let has_v6 = UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).is_ok();
    if has_v6 { vec![v4, v6] } else { vec![v4] }
}

/// Serves edges until a signal ends it.
///
/// # Errors
/// When it cannot start.
pub fn run(args: HubArgs) -> anyhow::Result<ExitCode> {
    // Before the configuration is read: one that comes through a pipe can be read once.
    let settled = allocator::settle();
    let options = HubOptions::try_from(args)?;
    service::start_log(options.log, service::DAEMON_LOG)?;
    if let Err(error) = settled {
        tracing::warn!(%error, "memory that strangers take may stay: the allocator cannot be set");
    }
    service::run(serving::serve(options))?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::super::installed::Installed;
    use super::*;
    use crate::config::AllowedKeys;
    use clap::{CommandFactory, Parser};
    use polypath_core::congestion::CongestionKind;
    use polypath_core::registry::Configured;
    use polypath_core::scheduler::SchedulerKind;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: HubArgs,
    }

    fn options(line: &[&str]) -> Result<HubOptions, String> {
        let line = [&["hub", "--key", "k", "--allow", "a", "--control", "c"], line].concat();
        let parsed = Line::try_parse_from(line).map_err(|error| error.to_string())?;
        parsed.args.try_into().map_err(|error: anyhow::Error| error.to_string())
    }

    #[test]
    fn defaults_listen_everywhere_and_reach_all_but_the_hub_itself() {
        let options = options(&[]).unwrap();
        assert_eq!(options.listen[0], "0.0.0.0:4433".parse().unwrap());
        assert!(options.listen[1..].iter().all(|a| *a == "[::]:4433".parse().unwrap()));
        assert!(!options.make_key, "a key that was named must be there");
        assert_eq!(options.exit, ExitOptions::default());
        assert_eq!(options.limits.streams.get(), 4096);
        assert_eq!(options.limits.memory, "256 MB".parse().unwrap());
        assert_eq!(options.limits.bandwidth, None);
        assert_eq!(options.inbox, None);
        assert_eq!(options.store.quota.edge, DEFAULT_INBOX_QUOTA);
        assert_eq!(options.store.quota.total, DEFAULT_INBOX_QUOTA_TOTAL);
        assert_eq!(options.store.keep, Duration::from_secs(7 * SECONDS_OF_A_DAY));
    }

    #[test]
    fn help_shows_the_defaults_that_stand() {
        let help = Line::command().render_help().to_string();
        assert!(help.contains(&format!("[default: {DEFAULT_MAX_MEMORY}]")), "{help}");
        assert!(help.contains(&format!("[default: {DEFAULT_MAX_STREAMS}]")), "{help}");
        assert!(help.contains(&format!("and [::]:{DEFAULT_PORT}]")), "{help}");
    }

    #[test]
    fn the_bonds_are_composed_as_file_and_flags_say() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap();
        let text = "max_memory = \"4 MB\"\nidle_timeout = 3600\nscheduler = \"blest\"\nblocking_protection = true\n\
                    congestion = { name = \"cubic\", beta = 0.8 }\n";
        std::fs::write(path, text).unwrap();
        let bond = options(&["--config", path, "--scheduler", "ecf"]).unwrap().bond_config();
        let cubic = Configured::with(CongestionKind::Cubic, &[("beta", 0.8)]).unwrap();
        assert_eq!(bond.composition.congestion.avoidance, cubic);
        assert_eq!(bond.composition.scheduler, SchedulerKind::Ecf.into());
        assert!(bond.composition.blocking_protection);
        assert_eq!(bond.max_streams, 4_000_000 / (32 << 10));
        assert_eq!((bond.receive_buffer, bond.send_buffer), (1_000_000, 800_000));
        assert_eq!(bond.idle_timeout, Duration::from_secs(3600));
    }

    #[test]
    fn flags_win_over_the_file_and_errors_name_the_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap();
        let text = "listen = [\"0.0.0.0:1\"]\nmax_streams = 70\nmax_bandwidth = \"5 Mbit/s\"\n";
        std::fs::write(path, text).unwrap();
        let options_here = options(&["--config", path, "--max-streams", "90"]).unwrap();
        assert_eq!(options_here.listen, ["0.0.0.0:1".parse().unwrap()]);
        assert_eq!(options_here.limits.streams.get(), 90);
        assert_eq!(options_here.limits.bandwidth, Some(Bandwidth::from_mbit_per_sec(5.0)));

        for (text, expected) in [
            ("\nmax_streams = 0", "2: max_streams: "),
            ("max_streams = 15", "1: max_streams: too few streams; allowed: 16"),
            ("max_bandwidth = \"5\"", "1: max_bandwidth: \"5\" is not a rate"),
            ("max_memory = \"0 B\"", "1: max_memory: an edge needs memory"),
            ("inbox_quota = \"0 B\"", "1: inbox_quota: nothing would fit"),
            ("inbox_keep_days = 0", "1: inbox_keep_days: "),
            (
                "target = [\"*:443\", \"*\"]",
                "1: target: target rule \"*\": no ports; write HOST:PORTS",
            ),
            ("transport = \"quic\"", "1: transport: \"quic\" is no transport of connections"),
            ("mptcp_port = 1", "1: mptcp_port: there is no such port"),
            ("\nmptcp_tls = true", "2: mptcp_tls: there are no such connections"),
            (
                "max_bandwidth = \"5 Mbit/s\"\ntransport = \"mptcp\"",
                "2: transport: the kernel sends as fast as it can",
            ),
            ("failure = \"best\"", "1: failure: unknown failure detector \"best\"; allowed: "),
            (
                "congestion = { name = \"cubic\", gamma = 1 }",
                "1: gamma: cubic has no parameter \"gamma\"; allowed: c, beta, ",
            ),
            ("log = \"xml\"", "1: log: unknown variant `xml`, expected `text` or `json`"),
            ("port = 1", "1: unknown key `port` in a configuration file; allowed are listen, "),
        ] {
            std::fs::write(path, text).unwrap();
            let error = options(&["--config", path]).unwrap_err();
            assert!(error.starts_with(&format!("{path}:{expected}")), "{error}");
        }
    }

    #[test]
    fn the_installed_file_shows_every_option_and_each_of_them_is_allowed() {
        let installed = Installed::new(include_str!("../../debian/hub.toml"));
        installed.assert_complete(&Line::command());
        let load = |text: &str| {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), text).unwrap();
            let config = ["--config", file.path().to_str().unwrap()];
            let parsed = Line::try_parse_from(["hub", "--key", "k"].iter().chain(&config));
            let options: anyhow::Result<HubOptions> = parsed.unwrap().args.try_into();
            options.map_err(|error| error.to_string())
        };
        let as_it_is = load(installed.text()).unwrap();
        assert_eq!(as_it_is.allow, Path::new("/etc/polypath/allow"));
        let of_gateways: &[_] =
            &["gateway_leases", "gateway_routed", "edge_to_edge", "publish", "gateway_device"];
        let needing = [("gateway", of_gateways), ("transport", &["mptcp_port", "mptcp_tls"])];
        for text in installed.with_each_option(["", ""], &needing) {
            load(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
        }
    }

    #[test]
    fn the_installed_list_of_keys_is_empty_and_its_examples_are_entries() {
        let list = include_str!("../../debian/allow");
        assert!(AllowedKeys::parse(list, Path::new("allow")).unwrap().is_empty());
        for (number, example) in
            list.lines().filter_map(|line| line.strip_prefix("#ppp1...")).enumerate()
        {
            let key = polypath_bond::identity::SecretKey::from_seed([7; 32]).public();
            let entry = AllowedKeys::parse(&format!("{key}{example}"), Path::new("allow"));
            assert_eq!(entry.unwrap().keys().count(), 1, "example {number}");
        }
        assert_eq!(list.matches("#ppp1...").count(), 2);
    }
}
