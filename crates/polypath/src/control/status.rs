//! What is said, in the form of programs.

use std::net::SocketAddr;
use std::time::Duration;

use polypath_bond::{PathRates, PathState, PathStatus, SameKey};
use polypath_net::driver::{BondSnapshot, Driver};
use polypath_net::gateway::GatewayCounts;
use polypath_net::mptcp::MptcpCounts;
use polypath_net::proxy::RuleUse;
use polypath_units::{Timestamp, millis};
use serde::{Deserialize, Serialize};

use super::table;

/// A running hub or edge at one time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// What is running.
    pub role: Role,
    /// Its version.
    pub version: String,
    /// Time since its start, in seconds.
    pub uptime_s: f64,
    /// Its bonds, by number.
    pub bonds: Vec<BondReport>,
    /// At an edge: what has passed by each rule of its policy, in their order, and by none of them.
    #[serde(default)]
    pub rules: Vec<RuleUse>,
    /// At an edge: what its paths have used of their quotas, of those that have one.
    #[serde(default)]
    pub quotas: Vec<QuotaReport>,
    /// What has become of the packets of a gateway; null without one.
    #[serde(default)]
    pub gateway: Option<GatewayCounts>,
    /// What has become of connections over Multipath TCP beside the bond; null without them.
    #[serde(default)]
    pub mptcp_transport: Option<MptcpCounts>,
    /// Of a path manager: the connections of the kernel's Multipath TCP, up to a quarter of a
    /// second ago; null of others.
    #[serde(default)]
    pub mptcp: Option<polypath_mptcp::Status>,
}

/// The quota of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaReport {
    /// The name of the path, which need not be up.
    pub path: String,
    /// What the quota is for: `day` or `month`.
    pub period: String,
    /// How much the path may carry in a period, in bytes of IP packets, sent and received.
    pub quota_bytes: u64,
    /// How much it has carried in this one.
    pub used_bytes: u64,
    /// When the next one begins (RFC 3339).
    pub until: String,
    /// Whether all of it is used: then the path is a backup until that time.
    pub used_up: bool,
}

/// What is running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The aggregation side.
    Hub,
    /// The multi-homed side.
    Edge,
    /// The multi-homed side while it sends a file.
    Send,
    /// A path manager for the kernel's Multipath TCP.
    Agent,
}

/// A bond.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BondReport {
    /// Its number at this end.
    pub id: u64,
    /// The public key of the other end.
    pub peer: String,
    /// At a hub: other bonds that this key has at the same time.
    pub same_key: Vec<SameKeyReport>,
    /// Its paths.
    pub paths: Vec<PathReport>,
    /// Bytes that wait to be sent.
    pub unsent: u64,
    /// Bytes sent and not acknowledged.
    pub unacked: u64,
    /// Bytes received and not read.
    pub buffered: u64,
    /// Ranges received beyond the first missing byte.
    pub gaps: usize,
    /// Stream bytes that applications have read.
    pub bytes_read: u64,
    /// Stream bytes that the other end has acknowledged.
    pub bytes_delivered: u64,
    /// Bytes sent again on any path.
    pub bytes_reinjected: u64,
    /// Bytes that arrived more than once.
    pub bytes_duplicate: u64,
}

/// Another bond of the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SameKeyReport {
    /// Its number.
    pub bond: u64,
    /// Whether no path of it comes from an address of this one: then two edges may share the key.
    pub elsewhere: bool,
}

/// A path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathReport {
    /// Its number.
    pub id: u8,
    /// What people call it.
    pub name: String,
    /// The other end's address: at a hub where the edge's packets come from, at an edge the hub's.
    /// Null when the path's connection has ended.
    pub remote: Option<SocketAddr>,
    /// `active` or `failed`.
    pub state: String,
    /// Used only when no other path works.
    pub backup: bool,
    /// Smoothed round-trip time in milliseconds; null before the first sample.
    pub srtt_ms: Option<f64>,
    /// Smallest round-trip time in milliseconds.
    pub min_rtt_ms: Option<f64>,
    /// Data sent in the last second, in Mbit/s: zero on an idle path.
    pub sent_mbit_s: f64,
    /// Data received in the last second, in Mbit/s.
    pub received_mbit_s: f64,
    /// What the path can carry of what this end sends, in Mbit/s: the delivery rate measured when
    /// there was data to send, and kept since.
    pub mbit_s: f64,
    /// Congestion window.
    pub cwnd_bytes: u64,
    /// Bytes in flight.
    pub in_flight_bytes: u64,
    /// Share of packets lost recently, 0 to 1.
    pub loss: f64,
    /// Packets sent since the path joined, and so on below.
    pub packets_sent: u64,
    /// Bytes sent, as UDP payload.
    pub bytes_sent: u64,
    /// Bytes received, repeated ones included.
    pub bytes_received: u64,
    /// Bytes sent that another packet had carried before.
    pub bytes_reinjected: u64,
    /// How often the path was declared failed.
    pub failures: u64,
    /// Why it was declared failed last; null if it never was.
    pub last_failure: Option<String>,
}

impl Status {
    /// What `driver` says now.
    pub fn of(role: Role, driver: &Driver) -> Self {
        let bonds = driver.bonds().into_iter();
        Self {
            role,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            uptime_s: driver.now().since(Timestamp::ZERO).as_secs_f64(),
            bonds: bonds
                .filter_map(|(key, _)| driver.snapshot(key))
                .map(BondReport::from)
                .collect(),
            rules: Vec::new(),
            quotas: Vec::new(),
            gateway: None,
            mptcp_transport: None,
            mptcp: None,
        }
    }

    /// Of a path manager that has run for so long.
    pub fn of_agent(uptime: Duration, mptcp: polypath_mptcp::Status) -> Self {
        Self {
            role: Role::Agent,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            uptime_s: uptime.as_secs_f64(),
            bonds: Vec::new(),
            rules: Vec::new(),
            quotas: Vec::new(),
            gateway: None,
            mptcp_transport: None,
            mptcp: Some(mptcp),
        }
    }

    /// With what has passed by the rules of an edge.
    #[must_use]
    pub fn with_rules(self, rules: Vec<RuleUse>) -> Self {
        Self { rules, ..self }
    }

    /// With what has been used of quotas.
    #[must_use]
    pub fn with_quotas(self, quotas: Vec<QuotaReport>) -> Self {
        Self { quotas, ..self }
    }

    /// With what has become of the packets of a gateway.
    #[must_use]
    pub fn with_gateway(self, gateway: Option<GatewayCounts>) -> Self {
        Self { gateway, ..self }
    }

    /// With what has become of connections over Multipath TCP.
    #[must_use]
    pub fn with_mptcp_transport(self, mptcp_transport: Option<MptcpCounts>) -> Self {
        Self { mptcp_transport, ..self }
    }

    /// The status for people.
    pub fn table(&self) -> String {
        table::render(self)
    }
}

impl From<BondSnapshot> for BondReport {
    fn from(bond: BondSnapshot) -> Self {
        let BondSnapshot { key, peer, status, remotes, rates, same_key } = bond;
        let path = |path: PathStatus| {
            let remote = remotes.get(&path.id).copied();
            let rates = rates.get(&path.id).copied().unwrap_or_default();
            PathReport::new(path, remote, rates)
        };
        Self {
            id: key.0,
            peer: peer.to_string(),
            same_key: same_key.into_iter().map(SameKeyReport::from).collect(),
            paths: status.paths.into_iter().map(path).collect(),
            unsent: status.unsent,
            unacked: status.unacked,
            buffered: status.buffered,
            gaps: status.gaps,
            bytes_read: status.counters.bytes_read,
            bytes_delivered: status.counters.bytes_delivered,
            bytes_reinjected: status.counters.bytes_reinjected,
            bytes_duplicate: status.counters.bytes_duplicate,
        }
    }
}

impl From<SameKey> for SameKeyReport {
    fn from(SameKey { bond, is_elsewhere }: SameKey) -> Self {
        Self { bond: bond.0, elsewhere: is_elsewhere }
    }
}

impl PathReport {
    fn new(path: PathStatus, remote: Option<SocketAddr>, rates: PathRates) -> Self {
        Self {
            id: path.id.get(),
            name: path.name,
            remote,
            state: match path.state {
                PathState::Active => "active",
                PathState::Failed => "failed",
            }
            .to_owned(),
            backup: path.backup,
            srtt_ms: path.srtt.map(millis),
            min_rtt_ms: path.min_rtt.map(millis),
            sent_mbit_s: rates.sent.mbit_per_sec(),
            received_mbit_s: rates.received.mbit_per_sec(),
            mbit_s: path.delivery_rate * 8.0 / 1e6,
            cwnd_bytes: path.cwnd,
            in_flight_bytes: path.in_flight,
            loss: path.loss,
            packets_sent: path.counters.packets_sent,
            bytes_sent: path.counters.bytes_sent,
            bytes_received: path.counters.bytes_received,
            bytes_reinjected: path.counters.bytes_reinjected,
            failures: path.counters.failures,
            last_failure: path.counters.last_failure.map(|cause| cause.to_string()),
        }
    }
}
