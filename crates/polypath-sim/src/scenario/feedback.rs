//! The keys of switches that tell senders their rate (BRF), and of their controller.

use super::declare::{Located, Probability, choices, keys};
use super::network::NodeKeys;
use super::queue::Bytes;
use crate::fabric::RoutingFeedback;
use crate::topology::Topology;
use polypath_brf::{DetectionParameters, ScaleBy, SwitchParameters};
use polypath_config::DocumentError;
use std::time::Duration;

choices! {
    /// What makes room for a new flow divides the others' allocations by.
    pub(super) enum ScaleName {
        /// Their sum, so that all together stay within the share.
        Allocated = "allocated",
        /// What was measured of them, as the paper prints it: for a period there is too much.
        Measured = "measured",
    }
}

keys! {
    /// Makes the node a switch that shares its links out among flows and tells `brf` senders their
    /// rate. The links that leave it have a constant rate and a queue without classes, of which
    /// each class of traffic has one.
    pub(super) struct SwitchKeys {
        /// Share of each link that is the limit of UDP; what exceeds it is dropped.
        udp_share: Probability = 0.05;
        /// What UDP may send at once, as time at its rate.
        udp_burst: Duration = "10 ms" where "0 s" to "10 s";
        /// Share of the rest that TCP is given.
        target_utilisation: Probability = 0.97;
        /// RTTs of the slowest flow without data after which a flow has no allocation ...
        active_rtts: f64 = 4.0 where 0.0 to 1000.0;
        /// ... and the least such time.
        active_time: Duration = "1 s" where "0 s" to "1 h";
        /// Time without data after which a flow is forgotten.
        idle_timeout: Duration = "60 s" where "0 s" to "1000 h";
        /// Flows in the table at most.
        flow_capacity: u32 = 65536 where 1 to 10000000;
        /// RTTs without an acknowledgement after which neighbours are told of a flow ...
        ack_rtts: f64 = 3.0 where 0.0 to 1000.0;
        /// ... and the least such time.
        ack_time: Duration = "200 ms" where "0 s" to "1 h";
        /// The shortest period of allocation.
        min_period: Duration = "10 ms" where "1 us" to "1 h";
        /// The longest one.
        max_period: Duration = "1 s" where "1 us" to "1 h";
        /// The RTT of flows whose handshake was not seen.
        unknown_rtt: Duration = "100 ms" where "1 us" to "1 h";
        /// Weight of a finished flow in the rate that those to the same service begin with.
        prediction_gain: Probability = 0.125;
        /// Services of which such rates are kept.
        prediction_capacity: u32 = 4096 where 0 to 10000000;
        /// How room is made for a new flow.
        scale_by: ScaleName = "allocated";
        /// A flow that sends less than this share of its allocation is limited by its application.
        limited_share: Probability = 0.95;
        /// What share it must send to count as unlimited again.
        resumed_share: Probability = 0.975;
        /// What a limited flow gets, in multiples of what it sends.
        limited_growth: f64 = 1.05 where 1.0 to 10.0;
        /// Periods in which a flow whose allocation rose is not judged.
        settling_periods: u32 = 2 where 0 to 1000;
        /// The least allocation, in packets each period.
        floor_packets: f64 = 2.0 where 0.0 to 1000000.0;
        /// Bytes of a packet.
        packet: Bytes = "1500 B" where "1 B" to "65535 B";
        /// RTTs of the slowest flow in which a queue is to be drained.
        drain_rtts: f64 = 1.0 where 0.001 to 1000.0;
        /// The least factor by which a period of reduction multiplies.
        drain_floor: Probability = 0.1;
        /// The utilisation that ends a burst.
        burst_utilisation: Probability = 0.95;
        /// Periods after which reduction ends, congested or not.
        reduction_periods: u32 = 4 where 1 to 1000;
        /// Whether the subflows of a connection on one link share one weight.
        per_connection: bool = false;
    }
}

keys! {
    /// The controller of all switches: polls the counters of their links and tells them which are
    /// congested.
    pub(super) struct ControllerKeys {
        /// How long a message takes to a switch, from it, or to a neighbour.
        control_delay: Duration = "0 s" where "0 s" to "10 s";
        /// Time between two readings of a counter.
        period: Duration = "100 ms" where "1 ms" to "1 h";
        /// Share of a link's rate above which it is congested.
        rate_threshold: f64 = 0.98 where 0.0 to 10.0;
        /// Share of the queue of `brf` above which a link is congested.
        queue_threshold: Probability = 0.1;
    }
}

/// The switches of a scenario by name, and their controller.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedbackSpec {
    /// The nodes that are switches.
    pub switches: Vec<(String, SwitchParameters)>,
    /// When the controller calls a link congested.
    pub detection: DetectionParameters,
    /// How long a message takes, one way.
    pub control_delay: Duration,
}

impl FeedbackSpec {
    /// The same with the numbers of the nodes. Names that the network does not have are left out.
    pub fn on(&self, topology: &Topology) -> RoutingFeedback {
        let switch = |(name, parameters): &(String, _)| Some((topology.node(name)?, *parameters));
        RoutingFeedback {
            switches: self.switches.iter().filter_map(switch).collect(),
            detection: self.detection,
            control_delay: self.control_delay,
        }
    }
}

/// The switches among the nodes; `None` if there are none.
pub(super) fn read_feedback(
    nodes: Option<&Located<Vec<NodeKeys>>>,
    controller: Option<&Located<ControllerKeys>>,
) -> Result<Option<FeedbackSpec>, DocumentError> {
    let nodes = nodes.map(|nodes| &nodes.value[..]).unwrap_or_default();
    let switch = |node: &NodeKeys| Some((node.name.value.clone(), node.brf.as_ref()?.parameters()));
    let switches: Vec<_> = nodes.iter().filter_map(switch).collect();
    match controller {
        Some(controller) if switches.is_empty() => {
            Err(controller.wrong("no [[node]] has `brf`; it is for the controller of switches"))
        }
        _ if switches.is_empty() => Ok(None),
        _ => {
            let detection = controller.map(|keys| keys.value.detection()).unwrap_or_default();
            let control_delay = controller.map(|keys| keys.value.control_delay).unwrap_or_default();
            Ok(Some(FeedbackSpec { switches, detection, control_delay }))
        }
    }
}

fn millis(time: Duration) -> f64 {
    1e3 * time.as_secs_f64()
}

impl SwitchKeys {
    fn parameters(&self) -> SwitchParameters {
        SwitchParameters {
            udp_share: self.udp_share.0,
            udp_burst_ms: millis(self.udp_burst),
            target_utilisation: self.target_utilisation.0,
            active_rtts: self.active_rtts,
            active_secs: self.active_time.as_secs_f64(),
            idle_secs: self.idle_timeout.as_secs_f64(),
            flow_capacity: self.flow_capacity as usize,
            ack_rtts: self.ack_rtts,
            ack_ms: millis(self.ack_time),
            min_period_ms: millis(self.min_period),
            max_period_ms: millis(self.max_period),
            unknown_rtt_ms: millis(self.unknown_rtt),
            prediction_gain: self.prediction_gain.0,
            prediction_capacity: self.prediction_capacity as usize,
            scale_by: match self.scale_by {
                ScaleName::Allocated => ScaleBy::Allocated,
                ScaleName::Measured => ScaleBy::Measured,
            },
            limited_share: self.limited_share.0,
            resumed_share: self.resumed_share.0,
            limited_growth: self.limited_growth,
            settling_periods: self.settling_periods,
            floor_packets: self.floor_packets,
            packet_bytes: self.packet.get().into(),
            drain_rtts: self.drain_rtts,
            drain_floor: self.drain_floor.0,
            burst_utilisation: self.burst_utilisation.0,
            reduction_periods: self.reduction_periods,
            per_connection: self.per_connection,
        }
    }
}

impl ControllerKeys {
    fn detection(&self) -> DetectionParameters {
        DetectionParameters {
            period_ms: millis(self.period),
            rate_threshold: self.rate_threshold,
            queue_threshold: self.queue_threshold.0,
            // The simulator counts bytes.
            ..DetectionParameters::DEFAULT
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::declare::read_literal;
    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_library() {
        let switch: Located<SwitchKeys> = read_literal("{}");
        assert_eq!(switch.value.parameters(), SwitchParameters::DEFAULT);
        let controller: Located<ControllerKeys> = read_literal("{}");
        assert_eq!(controller.value.detection(), DetectionParameters::DEFAULT);
    }
}
