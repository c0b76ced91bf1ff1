//! What a bond says of itself.

use super::{Bond, BondCounters};
use crate::codec::StreamId;
use crate::path::{Path, PathCounters, PathState};
use polypath_core::congestion::Congestion;
use polypath_units::PathId;
use std::time::Duration;

/// A path as shown to people and programs.
#[derive(Clone, Debug, PartialEq)]
pub struct PathStatus {
    /// Which path.
    pub id: PathId,
    /// What people call it.
    pub name: String,
    /// Whether it carries data.
    pub state: PathState,
    /// Used only when no other path works.
    pub backup: bool,
    /// Smoothed RTT.
    pub srtt: Option<Duration>,
    /// Smallest RTT.
    pub min_rtt: Option<Duration>,
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Measured delivery rate in bytes/s.
    pub delivery_rate: f64,
    /// Share of packets lost recently.
    pub loss: f64,
    /// Counters since the path joined.
    pub counters: PathCounters,
}

/// A bond as shown to people and programs.
#[derive(Clone, Debug, PartialEq)]
pub struct BondStatus {
    /// Its paths, by number.
    pub paths: Vec<PathStatus>,
    /// Its counters.
    pub counters: BondCounters,
    /// Bytes that wait to be sent.
    pub unsent: u64,
    /// Bytes sent and not acknowledged.
    pub unacked: u64,
    /// Bytes received and not read.
    pub buffered: u64,
    /// Ranges received beyond the first missing byte.
    pub gaps: usize,
}

impl Bond {
    /// A snapshot of the bond.
    pub fn status(&self) -> BondStatus {
        BondStatus {
            paths: self.paths.iter().map(|path| self.path_status(path)).collect(),
            counters: self.counters,
            unsent: self.send.unsent(),
            unacked: self.chunks.unacked(),
            buffered: self.recv.buffered(),
            gaps: self.acks.data.gaps(),
        }
    }

    /// Its congestion control.
    pub const fn congestion(&self) -> &Congestion {
        &self.congestion
    }

    fn path_status(&self, path: &Path) -> PathStatus {
        let id = path.id;
        let rtt = self.congestion.rtt(id);
        PathStatus {
            id,
            name: path.name.clone(),
            state: path.state,
            backup: path.backup,
            srtt: rtt.and_then(|rtt| rtt.srtt()),
            min_rtt: rtt.and_then(|rtt| rtt.min()),
            cwnd: self.congestion.window(id),
            in_flight: self.congestion.bytes_in_flight(id),
            delivery_rate: self.congestion.delivery_rate(id),
            loss: self.congestion.loss_rate(id),
            counters: path.counters,
        }
    }

    /// Whether anything written on a stream, its end included, is unacknowledged.
    pub fn is_sending(&self, id: StreamId) -> bool {
        self.send.get(id).is_some()
    }

    /// What received data costs, book-keeping included: at most twice the receive buffer, and
    /// 64 bytes for each stream.
    // For tests of what a peer can make this end hold.
    #[doc(hidden)]
    pub fn buffer_cost(&self) -> u64 {
        self.recv.cost()
    }

    /// What received datagrams cost, those included of which a part is missing: at most the receive
    /// buffer.
    // For tests of what a peer can make this end hold.
    #[doc(hidden)]
    pub fn datagram_cost(&self) -> u64 {
        self.flows.cost()
    }

    /// Bytes of received data held for the application, at most the receive buffer.
    pub fn buffered(&self) -> u64 {
        self.recv.buffered()
    }
}
