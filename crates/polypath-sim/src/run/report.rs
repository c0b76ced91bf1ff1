//! What a run tells.

use super::FlowTotals;
use polypath_steering::RuleUse;
use serde::Serialize;

/// The results of a run. All rates are means from the end of the warm-up on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunReport {
    /// The seed; a run of this seed gives this report again.
    pub seed: u64,
    /// Simulated time in seconds.
    pub sim_s: f64,
    /// Data segments, or datagrams, that endpoints received, duplicates left out.
    pub segments_delivered: u64,
    /// Jain's index of the goodputs of the connections whose flows have begun
    /// (`docs/algorithms/metrics.md`); none without any.
    pub jain_index: Option<f64>,
    /// The connections.
    pub connections: Vec<ConnectionReport>,
    /// The links' queues, each link in both directions.
    pub queues: Vec<LinkReport>,
}

/// What a connection did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConnectionReport {
    /// Its name.
    pub name: String,
    /// How it transports.
    pub transport: &'static str,
    /// Payload that came in order, both directions together, until the last of its flows ended.
    pub goodput_mbit_s: f64,
    /// Of it, from the end that opened the connection.
    pub up_mbit_s: f64,
    /// Of it, to the end that opened the connection.
    pub down_mbit_s: f64,
    /// What the busier direction gained by several paths (`docs/algorithms/metrics.md`): 1 is the
    /// sum of their rates, 0 the best of them, -1 nothing. Where paths have constant rates and no
    /// link in common.
    pub aggregation_benefit: Option<f64>,
    /// Payload bytes of the whole run, both directions together.
    pub delivered_bytes: u64,
    /// Payload bytes that were sent again on another path.
    pub reinjected_bytes: u64,
    /// How often a retransmission timer expired.
    pub timeouts: u64,
    /// Its paths.
    pub paths: Vec<PathTotals>,
    /// Its flows.
    pub flows: Vec<FlowTotals>,
    /// What passed by each rule of its policy, where others go through it.
    pub rules: Vec<RuleUse>,
}

/// What a connection sent on a path, both directions together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathTotals {
    /// The name.
    pub name: String,
    /// Payload, what was sent again included.
    pub mbit_s: f64,
    /// Payload bytes of the whole run, what was sent again included.
    pub sent_bytes: u64,
    /// Packets that were declared lost.
    pub lost: u64,
    /// Packets that were sent again on this path.
    pub retransmitted: u64,
    /// The smoothed RTT at the end, of the end that sent more.
    pub srtt_ms: Option<f64>,
}

/// What a link did in one direction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkReport {
    /// The name.
    pub link: String,
    /// `up` or `down`.
    pub direction: &'static str,
    /// What came out, headers included.
    pub mbit_s: f64,
    /// The share of a constant rate that this is.
    pub utilisation: Option<f64>,
    /// The mean time that a packet spent in the queue and in service.
    pub sojourn_ms: Option<f64>,
    /// Packets that came out, of the whole run.
    pub delivered_packets: u64,
    /// Packets that were dropped, of the whole run.
    pub dropped_packets: Dropped,
    /// Packets that queue management marked (ECN), of the whole run.
    pub marked_packets: u64,
}

/// Dropped packets by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// The queue had no room.
    pub queue_full: u64,
    /// Queue management took them.
    pub aqm: u64,
    /// The loss model took them.
    pub loss: u64,
    /// The link was down.
    pub blackout: u64,
    /// They were too large.
    pub mtu: u64,
}
