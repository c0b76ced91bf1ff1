//! What an endpoint tells of a run.

use std::time::Duration;

/// What one end of a connection has done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EndReport {
    /// Payload bytes that have come in order.
    pub delivered: u64,
    /// Data segments, or datagrams, that have come, duplicates left out.
    pub segments_delivered: u64,
    /// Payload bytes that were sent again on another path.
    pub reinjected_bytes: u64,
    /// How often a retransmission timer expired.
    pub timeouts: u64,
    /// What was sent on each path.
    pub paths: Vec<PathReport>,
}

/// What one end has sent on a path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathReport {
    /// Its name.
    pub name: String,
    /// Payload bytes, those sent again included.
    pub sent_bytes: u64,
    /// Packets that were declared lost.
    pub lost: u64,
    /// Packets that were sent again on this path.
    pub retransmitted: u64,
    /// The smoothed RTT, once there is one.
    pub srtt: Option<Duration>,
}
