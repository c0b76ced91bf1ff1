//! The table of all metrics.

use core::time::Duration;

use polypath_net::gateway::GatewayCounts;
use polypath_net::mptcp::MptcpCounts;
use polypath_net::proxy::{RuleCounts, RuleUse};

use super::ledger::{Path, PathNow, Peer};
use crate::control::{QuotaReport, Role};

/// The process itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// What is running.
    pub(super) role: Role,
    /// Time of the start since 1970.
    pub(super) started: Duration,
}

/// What has passed besides, at the time of a scrape.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passed {
    /// What has become of packets of a gateway; `None` without one.
    pub(crate) gateway: Option<GatewayCounts>,
    /// What has become of connections over Multipath TCP; `None` where there are none.
    pub(crate) mptcp: Option<MptcpCounts>,
    /// At an edge, what has passed by each rule, and by none.
    pub(crate) rules: Vec<RuleUse>,
    /// At an edge, what paths have used of their quotas.
    pub(crate) quotas: Vec<QuotaReport>,
}

/// The type of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It only grows, from zero at the start.
    Counter,
    /// It goes up and down.
    Gauge,
}

impl Kind {
    /// As `# TYPE` has it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
        }
    }
}

/// A metric: all series of one name.
#[derive(Debug)]
pub(super) struct Family {
    /// Its name.
    pub(super) name: &'static str,
    /// Its type.
    pub(super) kind: Kind,
    /// What it says, in one line.
    pub(super) help: &'static str,
    /// Its series.
    pub(super) series: Series,
}

/// Series with their labels.
#[derive(Clone, Copy, Debug)]
pub(super) enum Series {
    /// The version and the role, as labels of a 1.
    Build,
    /// One of the process.
    Node(fn(&Node) -> f64),
    /// At a hub, what the operator calls an edge, as label of a 1.
    EdgeName,
    /// One for each fate that packets of a gateway may have; none without one.
    Gateway,
    /// One of connections over Multipath TCP; none without them.
    Mptcp(fn(&MptcpCounts) -> f64),
    /// At an edge, one for each reason why one of these went over the bond.
    OverBond,
    /// At a hub, one for each fault for which one of these was closed unanswered.
    Unanswered,
    /// At an edge, one for each rule, and one for what none matches.
    Rule(fn(&RuleCounts) -> f64),
    /// The same in each direction.
    RuleBoth(fn(&RuleCounts) -> Both),
    /// At an edge, one for each path that has a quota.
    Quota(fn(&QuotaReport) -> f64),
    /// One for each edge; one at an edge.
    Peer(fn(&Peer) -> f64),
    /// The same in each direction.
    PeerBoth(fn(&Peer) -> Both),
    /// One for each path of each edge; none while there is nothing to say.
    Path(fn(&Path) -> Option<f64>),
    /// The same in each direction.
    PathBoth(fn(&Path) -> Both),
}

/// What was sent and what was received.
#[derive(Clone, Copy, Debug)]
pub(super) struct Both {
    /// Label `direction="sent"`.
    pub(super) sent: f64,
    /// Label `direction="received"`.
    pub(super) received: f64,
}

const fn both(sent: u64, received: u64) -> Both {
    Both { sent: sent as f64, received: received as f64 }
}

const fn counter(name: &'static str, help: &'static str, series: Series) -> Family {
    Family { name, kind: Kind::Counter, help, series }
}

const fn gauge(name: &'static str, help: &'static str, series: Series) -> Family {
    Family { name, kind: Kind::Gauge, help, series }
}

/// A gauge of paths that there are now.
const fn now(name: &'static str, help: &'static str, of: fn(&Path) -> Option<f64>) -> Family {
    gauge(name, help, Series::Path(of))
}

fn of(path: &Path, what: fn(&PathNow) -> f64) -> Option<f64> {
    path.now.as_ref().map(what)
}

fn time(path: &Path, what: fn(&PathNow) -> Option<Duration>) -> Option<f64> {
    path.now.as_ref().and_then(what).map(|time| time.as_secs_f64())
}

/// All metrics, in the order in which they are shown.
pub(super) const FAMILIES: &[Family] = &[
    gauge("polypath_build_info", "Version and role, which is hub or edge.", Series::Build),
    gauge(
        "polypath_start_time_seconds",
        "Unix time of the start.",
        Series::Node(|node| node.started.as_secs_f64()),
    ),
    gauge("polypath_edge_info", "What the operator of a hub calls an edge.", Series::EdgeName),
    gauge(
        "polypath_bonds",
        "Bonds that there are now: one of a running edge, and one for each file it sends.",
        Series::Peer(|peer| peer.bonds as f64),
    ),
    gauge(
        "polypath_unsent_bytes",
        "Data that waits to be sent.",
        Series::Peer(|peer| peer.unsent as f64),
    ),
    gauge(
        "polypath_unacknowledged_bytes",
        "Data sent and not acknowledged.",
        Series::Peer(|peer| peer.unacknowledged as f64),
    ),
    gauge(
        "polypath_unread_bytes",
        "Data received and not read by an application.",
        Series::Peer(|peer| peer.unread as f64),
    ),
    counter(
        "polypath_stream_bytes_total",
        "Data of streams: sent, what the other end has acknowledged; received, what applications \
         have read.",
        Series::PeerBoth(|peer| both(peer.counters.bytes_delivered, peer.counters.bytes_read)),
    ),
    counter(
        "polypath_reinjected_bytes_total",
        "Data sent again.",
        Series::Peer(|peer| peer.counters.bytes_reinjected as f64),
    ),
    counter(
        "polypath_duplicate_bytes_total",
        "Data that arrived more than once.",
        Series::Peer(|peer| peer.counters.bytes_duplicate as f64),
    ),
    counter(
        "polypath_refused_datagrams_total",
        "Datagrams refused because the receive buffer was full of fragments.",
        Series::Peer(|peer| peer.counters.fragments_refused as f64),
    ),
    counter(
        "polypath_unread_streams_total",
        "Streams reset because too much waited for readers that had stopped.",
        Series::Peer(|peer| peer.counters.streams_unread as f64),
    ),
    counter(
        "polypath_gateway_packets_total",
        "Packets of the gateway, by what has become of them.",
        Series::Gateway,
    ),
    counter(
        "polypath_mptcp_connections_total",
        "Connections over Multipath TCP beside the bond.",
        Series::Mptcp(|counts| counts.connections as f64),
    ),
    counter(
        "polypath_mptcp_encrypted_total",
        "How many of these are encrypted, by TLS.",
        Series::Mptcp(|counts| counts.encrypted as f64),
    ),
    counter(
        "polypath_mptcp_plain_total",
        "How many of all the peer or a middlebox has made plain TCP.",
        Series::Mptcp(|counts| counts.plain as f64),
    ),
    counter(
        "polypath_mptcp_over_bond_total",
        "Connections that went over the bond instead, by the reason.",
        Series::OverBond,
    ),
    counter(
        "polypath_mptcp_refused_total",
        "Connections that were closed without an answer, by their fault.",
        Series::Unanswered,
    ),
    counter(
        "polypath_rule_conversations_total",
        "Connections and conversations in datagrams that came under the rule.",
        Series::Rule(|counts| counts.conversations as f64),
    ),
    counter(
        "polypath_rule_bytes_total",
        "Bytes of connections and of datagrams; sent, by clients.",
        Series::RuleBoth(|counts| both(counts.bytes_sent, counts.bytes_received)),
    ),
    counter(
        "polypath_rule_dropped_total",
        "Connections refused and datagrams dropped, by the rule or beyond its rate.",
        Series::Rule(|counts| counts.dropped as f64),
    ),
    gauge(
        "polypath_path_up",
        "1 while the path works, 0 after it has failed or ended.",
        Series::Path(|path| Some(f64::from(path.now.is_some_and(|now| now.up)))),
    ),
    gauge(
        "polypath_path_quota_bytes",
        "How much the path may carry in a day or month.",
        Series::Quota(|quota| quota.quota_bytes as f64),
    ),
    gauge(
        "polypath_path_quota_used_bytes",
        "How much it has carried in this one, as IP packets in both directions.",
        Series::Quota(|quota| quota.used_bytes as f64),
    ),
    now("polypath_path_backup", "1 where it is used only while no other path works.", |path| {
        of(path, |now| f64::from(now.backup))
    }),
    counter(
        "polypath_path_bytes_total",
        "Sent, as UDP payload; received, as payload of the bond, repeated data included.",
        Series::PathBoth(|path| both(path.counters.bytes_sent, path.counters.bytes_received)),
    ),
    counter(
        "polypath_path_sent_packets_total",
        "Packets sent.",
        Series::Path(|path| Some(path.counters.packets_sent as f64)),
    ),
    counter(
        "polypath_path_lost_packets_total",
        "Packets declared lost that did not arrive after all.",
        Series::Path(|path| Some(path.counters.packets_lost as f64)),
    ),
    counter(
        "polypath_path_reinjected_bytes_total",
        "Data sent that another packet had carried before.",
        Series::Path(|path| Some(path.counters.bytes_reinjected as f64)),
    ),
    counter(
        "polypath_path_failures_total",
        "How often the path was declared failed.",
        Series::Path(|path| Some(path.counters.failures as f64)),
    ),
    now("polypath_path_rtt_seconds", "Smoothed round-trip time.", |path| time(path, |now| now.rtt)),
    now("polypath_path_min_rtt_seconds", "Smallest round-trip time.", |path| {
        time(path, |now| now.min_rtt)
    }),
    now("polypath_path_loss_ratio", "Share of packets lost recently, 0 to 1.", |path| {
        of(path, |now| now.loss)
    }),
    now(
        "polypath_path_delivery_rate_bytes_per_second",
        "What the path can carry of what this end sends, measured when there was data to send.",
        |path| of(path, |now| now.delivery_rate),
    ),
    now("polypath_path_congestion_window_bytes", "Congestion window.", |path| {
        of(path, |now| now.congestion_window as f64)
    }),
    now("polypath_path_in_flight_bytes", "Sent and neither acknowledged nor lost.", |path| {
        of(path, |now| now.in_flight as f64)
    }),
];
