//! What schedulers and failure detectors are shown of a subflow, as far as congestion control
//! knows it.

use super::Congestion;
use super::flow::Flow;
use crate::failure::PathHealth;
use crate::scheduler::PathView;
use polypath_units::{PathId, Timestamp};
use std::time::Duration;

/// Timeout of a subflow that is not known.
const UNKNOWN_RTO: Duration = Duration::from_secs(1);

impl Congestion {
    /// A subflow as a scheduler sees it. What the world knows is left for it to fill in: the
    /// subflow shows as a regular one that works but is not available, without pacing and weight.
    pub fn view(&self, id: PathId, now: Timestamp) -> PathView {
        let (flow, group) = (self.flow(id), self.group(id));
        let rtt = flow.map(|flow| &flow.rtt);
        let subflow = group.and_then(|group| group.subflows.get(id));
        let slow = group.zip(subflow).is_some_and(|(group, subflow)| group.in_slow_start(subflow));
        PathView {
            id,
            srtt: rtt.and_then(|rtt| rtt.srtt()),
            rtt_var: rtt.map_or(Duration::ZERO, |rtt| rtt.rttvar()),
            min_rtt: rtt.and_then(|rtt| rtt.min()),
            cwnd: subflow.map_or(0, |subflow| subflow.cwnd as u64),
            in_flight: subflow.map_or(0, |subflow| subflow.in_flight),
            mss: subflow.map_or(0, |subflow| subflow.mss),
            rate: flow.map_or(0.0, Flow::delivery_rate),
            in_slow_start: slow,
            ssthresh: subflow.map_or(f64::INFINITY, |subflow| subflow.ssthresh),
            available: false,
            paced_until: Timestamp::ZERO,
            failed: false,
            backup: false,
            weight: 0.0,
            loss: flow.map_or(0.0, |flow| flow.steady_loss_rate(now)),
        }
    }

    /// What the sender half of a failure detector is told of a subflow, whose peer may hold back
    /// acknowledgements for `max_ack_delay`.
    pub fn health(&self, id: PathId, max_ack_delay: Duration) -> PathHealth {
        let rtt = self.rtt(id);
        PathHealth {
            id,
            srtt: rtt.and_then(|rtt| rtt.srtt()),
            rtt_var: rtt.map_or(Duration::ZERO, |rtt| rtt.rttvar()),
            max_ack_delay,
            rto: rtt.map_or(UNKNOWN_RTO, |rtt| rtt.base_rto()),
            in_flight: self.bytes_in_flight(id),
        }
    }
}
