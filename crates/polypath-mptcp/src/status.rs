//! What an agent says of its connections.

use std::net::IpAddr;

use polypath_units::millis;
use serde::{Deserialize, Serialize};

use crate::path::Path;
use crate::state::{DataState, Stage, Subflow};

/// Paths and connections.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// The paths that there are.
    pub paths: Vec<PathStatus>,
    /// In the order of their tokens.
    pub connections: Vec<ConnectionStatus>,
}

/// A path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathStatus {
    /// Its address identifier.
    pub id: u8,
    /// The interface.
    pub interface: String,
    /// The address.
    pub address: IpAddr,
    /// Whether it is used only while no other works.
    pub backup: bool,
    /// Of several only those with the lowest number are used.
    pub priority: u8,
}

impl From<&Path> for PathStatus {
    fn from(path: &Path) -> Self {
        let Path { id, interface, address, backup, priority, index: _ } = path.clone();
        Self { id, interface, address, backup, priority }
    }
}

/// A connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConnectionStatus {
    /// Its token, as `ss -M` has it.
    pub token: u32,
    /// Segments sent again over another subflow.
    pub reinjected: u32,
    /// Its subflows.
    pub subflows: Vec<SubflowStatus>,
}

/// A subflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubflowStatus {
    /// The interface, if it is one of a path.
    pub interface: Option<String>,
    /// This host's end.
    pub local: String,
    /// The peer's.
    pub remote: String,
    /// Its handshake: `opening`, `open` or `closing`.
    pub state: String,
    /// Whether either end wants it as a backup.
    pub backup: bool,
    /// Smoothed RTT in milliseconds; 0 before the first sample.
    pub rtt_ms: f64,
    /// The congestion window in segments.
    pub window: u32,
    /// Segments sent and not acknowledged.
    pub outstanding: u32,
    /// Time since something was heard, in milliseconds.
    pub silent_ms: f64,
    /// Segments sent again.
    pub retransmitted: u32,
    /// Bytes acknowledged.
    pub bytes_acked: u64,
    /// Bytes received.
    pub bytes_received: u64,
}

impl ConnectionStatus {
    pub(crate) fn of(token: u32, data: &DataState, subflows: &[Subflow], paths: &[Path]) -> Self {
        let subflows = subflows.iter().map(|subflow| SubflowStatus::of(subflow, paths)).collect();
        Self { token, reinjected: data.reinjected, subflows }
    }
}

impl SubflowStatus {
    fn of(subflow: &Subflow, paths: &[Path]) -> Self {
        let Subflow { ends, tcp, .. } = subflow;
        let path = paths.iter().find(|path| path.address == ends.local.ip());
        let state = match subflow.stage {
            Stage::Opening => "opening",
            Stage::Open => "open",
            Stage::Closing => "closing",
        };
        Self {
            interface: path.map(|path| path.interface.clone()),
            local: ends.local.to_string(),
            remote: ends.remote.to_string(),
            state: state.to_owned(),
            backup: subflow.backup,
            rtt_ms: millis(tcp.srtt),
            window: tcp.window,
            outstanding: tcp.outstanding,
            silent_ms: millis(tcp.since_ack),
            retransmitted: tcp.retransmitted,
            bytes_acked: tcp.bytes_acked,
            bytes_received: tcp.bytes_received,
        }
    }
}
