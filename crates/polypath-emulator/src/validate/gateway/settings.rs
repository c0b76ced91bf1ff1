//! What is measured, and how.

use super::error::GatewayError;
use super::figure::Figure;
use super::profile::GatewayProfile;
use super::{Interrupt, LEAST_PACKET_BYTES, death, ping, quic, steered, tcp, udp};
use crate::plan::Prefix;
use polypath_units::Timestamp;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

/// Traffic through the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Traffic {
    /// Bulk transfers by the kernel's TCP, one and several at once, up and down.
    Tcp,
    /// Datagrams at a steady rate, up and down.
    Udp,
    /// Echo requests through the gateway and over each path alone.
    Ping,
    /// A download over QUIC through the gateway and over each path alone.
    Quic,
    /// A call of which all packets take all paths, while each path in turn dies.
    Redundant,
    /// The same, each packet on the path that is fastest then.
    SmallestDelay,
    /// Downloads, calls and echo requests, while each path in turn dies.
    Death,
}

impl Traffic {
    /// All of it.
    pub const ALL: [Self; 7] = [
        Self::Tcp,
        Self::Udp,
        Self::Ping,
        Self::Quic,
        Self::Redundant,
        Self::SmallestDelay,
        Self::Death,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
            Self::Ping => "ping",
            Self::Quic => "quic",
            Self::Redundant => "redundant",
            Self::SmallestDelay => "smallest_delay",
            Self::Death => "death",
        }
    }

    /// Makes the network of a profile, measures this traffic once, and removes the network.
    ///
    /// # Errors
    /// See [`GatewayError`]; nothing is left then either.
    pub fn run(
        self,
        profile: &GatewayProfile,
        settings: &GatewaySettings,
        seed: u64,
    ) -> Result<Vec<Figure>, GatewayError> {
        match self {
            Self::Tcp => tcp::run(profile, settings, seed),
            Self::Udp => udp::run(profile, settings, seed),
            Self::Ping => ping::run(profile, settings, seed),
            Self::Quic => quic::run(profile, settings, seed),
            Self::Redundant | Self::SmallestDelay => {
                steered::run(self.name(), profile, settings, seed)
            }
            Self::Death => death::run(profile, settings, seed),
        }
    }
}

/// What carries the TCP connections that a gateway splits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Carrier {
    /// The bond.
    #[default]
    Bond,
    /// The kernel's Multipath TCP, by its own path manager.
    Mptcp,
    /// The same with TLS.
    MptcpTls,
}

impl Carrier {
    /// All.
    pub const ALL: [Self; 3] = [Self::Bond, Self::Mptcp, Self::MptcpTls];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bond => "bond",
            Self::Mptcp => "mptcp",
            Self::MptcpTls => "mptcp-tls",
        }
    }

    /// What tells a hub or an edge of it.
    pub(super) const fn options(self) -> &'static [&'static str] {
        match self {
            Self::Bond => &["--transport", "bond"],
            Self::Mptcp => &["--transport", "mptcp"],
            Self::MptcpTls => &["--transport", "mptcp", "--mptcp-tls"],
        }
    }

    /// Whether it is the kernel's Multipath TCP.
    pub(super) const fn is_mptcp(self) -> bool {
        matches!(self, Self::Mptcp | Self::MptcpTls)
    }
}

/// What all traffic has in common.
#[derive(Clone, Debug)]
pub struct GatewaySettings {
    /// The product's program.
    pub program: PathBuf,
    /// What the names of the namespaces begin with.
    pub prefix: Prefix,
    /// What passes before the measurement begins.
    pub warm_up: Duration,
    /// How long that lasts.
    pub duration: Duration,
    /// How many flows [`Traffic::Tcp`] has at once, beside one alone.
    pub flows: usize,
    /// The payload of [`Traffic::Udp`], in Mbit/s.
    pub mbit_s: f64,
    /// The size of its datagrams, in bytes of payload: 16 at least.
    pub packet_bytes: usize,
    /// What carries TCP connections.
    pub carrier: Carrier,
    /// What ends all before its time.
    pub interrupt: Interrupt,
}

impl GatewaySettings {
    /// Of transfers that say themselves how long they last: nothing is measured of other traffic.
    pub fn of_transfers(program: PathBuf, prefix: Prefix, interrupt: Interrupt) -> Self {
        let (warm_up, duration) = (Duration::ZERO, Duration::ZERO);
        let packet_bytes = LEAST_PACKET_BYTES;
        Self {
            program,
            prefix,
            warm_up,
            duration,
            flows: 1,
            mbit_s: 0.0,
            packet_bytes,
            carrier: Carrier::Bond,
            interrupt,
        }
    }

    /// From when to when is measured, of traffic that begins at a time.
    pub(super) fn window(&self, start: Timestamp) -> (Timestamp, Timestamp) {
        let from = start + self.warm_up;
        (from, from + self.duration)
    }
}
