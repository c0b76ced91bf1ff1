//! What an endpoint tells of a run.

use polypath_bond::Bond;
use polypath_core::congestion::Congestion;
use polypath_units::{Bandwidth, PathId};
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
    /// Bytes in the receive buffer.
    pub receive_buffered: u64,
    /// Those of them that wait for earlier ones.
    pub out_of_order: u64,
    /// What was sent on each path.
    pub paths: Vec<PathReport>,
}

impl EndReport {
    /// Whether it has sent any payload.
    pub(crate) fn has_sent(&self) -> bool {
        self.paths.iter().any(|path| path.sent_bytes > 0)
    }

    /// One end of a bond that has delivered so many bytes in so many datagrams, with these paths,
    /// joined or not.
    pub(super) fn of_bond<'a>(
        bond: &Bond,
        paths: impl Iterator<Item = (PathId, &'a str)>,
        delivered: u64,
        datagrams: u64,
    ) -> Self {
        let status = bond.status();
        let path = |(id, name): (PathId, &str)| {
            let joined = status.paths.iter().find(|path| path.id == id);
            let counters = joined.map(|path| path.counters).unwrap_or_default();
            PathReport {
                sent_bytes: counters.bytes_new + counters.bytes_reinjected,
                lost: counters.packets_lost,
                ..PathReport::of(name, bond.congestion(), id)
            }
        };
        Self {
            delivered,
            segments_delivered: datagrams,
            reinjected_bytes: status.counters.bytes_reinjected,
            timeouts: 0,
            receive_buffered: status.buffered,
            out_of_order: status.buffered,
            paths: paths.map(path).collect(),
        }
    }
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
    /// The congestion window in bytes.
    pub cwnd: u64,
    /// The slow-start threshold in bytes, once there is one.
    pub ssthresh: Option<u64>,
    /// Bytes in flight.
    pub in_flight: u64,
    /// The pacing rate, if the congestion control has one.
    pub pacing_rate: Option<Bandwidth>,
    /// The measured delivery rate, once there is one.
    pub delivery_rate: Option<Bandwidth>,
    /// What the estimator of the congestion control takes the bandwidth to be, if it has one.
    pub bandwidth_estimate: Option<Bandwidth>,
}

impl PathReport {
    /// A path with what congestion control knows of its subflow; the counters are zero.
    pub(super) fn of(name: &str, congestion: &Congestion, path: PathId) -> Self {
        Self {
            name: name.to_owned(),
            srtt: congestion.rtt(path).and_then(|rtt| rtt.srtt()),
            cwnd: congestion.window(path),
            ssthresh: congestion.ssthresh(path),
            in_flight: congestion.bytes_in_flight(path),
            pacing_rate: congestion.pacing_rate(path),
            delivery_rate: Some(congestion.delivery_rate(path))
                .filter(|&rate| rate > 0.0)
                .map(Bandwidth::from_bytes_per_sec),
            bandwidth_estimate: congestion
                .bandwidth_estimate(path)
                .map(Bandwidth::from_bytes_per_sec),
            ..Self::default()
        }
    }
}
