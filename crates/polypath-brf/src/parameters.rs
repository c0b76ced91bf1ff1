//! What can be set of a switch.

use super::allocation::ScaleBy;
use serde::Serialize;
use std::time::Duration;

/// The parameters of a [`Switch`](super::Switch). S4 gives few of them; the others are assumptions
/// (`docs/algorithms/feedback.md` has the equation of those that S4 gives).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SwitchParameters {
    /// Share of a port that is the limit of the UDP class.
    pub udp_share: f64,
    /// How much the UDP class may send at once, in ms at its rate.
    pub udp_burst_ms: f64,
    /// `u`: share of the rest that is given to TCP.
    pub target_utilisation: f64,
    /// RTTs (of the slowest flow) without data after which a flow is no longer counted ...
    pub active_rtts: f64,
    /// ... and the least such time in seconds.
    pub active_secs: f64,
    /// Seconds without data after which a flow is forgotten.
    pub idle_secs: f64,
    /// Flows that the table holds at most.
    pub flow_capacity: usize,
    /// RTTs without an acknowledgement after which neighbours are asked ...
    pub ack_rtts: f64,
    /// ... and the least such time in ms.
    pub ack_ms: f64,
    /// The shortest period in ms.
    pub min_period_ms: f64,
    /// The longest period in ms.
    pub max_period_ms: f64,
    /// The assumed RTT of a flow whose handshake was not seen, in ms.
    pub unknown_rtt_ms: f64,
    /// Weight of a finished flow in the rate that its successors begin with.
    pub prediction_gain: f64,
    /// Services (address, port, protocol) for which such rates are kept.
    pub prediction_capacity: usize,
    /// What equation (13) divides by.
    pub scale_by: ScaleBy,
    /// `alpha` of the classification: a flow that sends less than this share of its allocation is
    /// limited by its application.
    pub limited_share: f64,
    /// What share of its allocation a limited flow must send to count as unlimited again.
    pub resumed_share: f64,
    /// `beta`: what a limited flow gets, as a multiple of what it sends.
    pub limited_growth: f64,
    /// Periods in which a flow whose allocation rose is not judged.
    pub settling_periods: u32,
    /// The least allocation, in packets each period.
    pub floor_packets: f64,
    /// Bytes of a packet.
    pub packet_bytes: f64,
    /// `gamma`: RTTs of the slowest flow in which a queue is to be drained.
    pub drain_rtts: f64,
    /// The least factor by which a period of reduction multiplies.
    pub drain_floor: f64,
    /// `alpha` of (18): the utilisation that ends a burst.
    pub burst_utilisation: f64,
    /// Periods after which reduction ends, congested or not.
    pub reduction_periods: u32,
    /// Whether the subflows of a connection on one port share one weight.
    pub per_connection: bool,
}

impl SwitchParameters {
    /// The values of S4, and assumptions where it has none.
    pub const DEFAULT: Self = Self {
        udp_share: 0.05,
        udp_burst_ms: 10.0,
        target_utilisation: 0.97,
        active_rtts: 4.0,
        active_secs: 1.0,
        idle_secs: 60.0,
        flow_capacity: 65_536,
        ack_rtts: 3.0,
        ack_ms: 200.0,
        min_period_ms: 10.0,
        max_period_ms: 1_000.0,
        unknown_rtt_ms: 100.0,
        prediction_gain: 0.125,
        prediction_capacity: 4_096,
        scale_by: ScaleBy::Allocated,
        limited_share: 0.95,
        resumed_share: 0.975,
        limited_growth: 1.05,
        settling_periods: 2,
        floor_packets: 2.0,
        packet_bytes: 1_500.0,
        drain_rtts: 1.0,
        drain_floor: 0.1,
        burst_utilisation: 0.95,
        reduction_periods: 4,
        per_connection: false,
    };

    /// A flow without data for this long is not counted, and a rate seen elsewhere is forgotten.
    pub(super) fn active_window(&self, max_rtt: Duration) -> Duration {
        secs((self.active_rtts * max_rtt.as_secs_f64()).max(self.active_secs))
    }

    /// A flow without acknowledgements for this long is taken to have them return another way.
    pub(super) fn ack_timeout(&self, rtt: Duration) -> Duration {
        secs((self.ack_rtts * rtt.as_secs_f64()).max(self.ack_ms / 1e3))
    }

    /// Equation (15), with its limits.
    pub(super) fn period(&self, max_rtt: Duration) -> Duration {
        max_rtt.min(secs(self.max_period_ms / 1e3)).max(secs(self.min_period_ms / 1e3))
    }

    pub(super) fn unknown_rtt(&self) -> Duration {
        secs(self.unknown_rtt_ms / 1e3)
    }

    pub(super) fn idle_timeout(&self) -> Duration {
        secs(self.idle_secs)
    }

    /// How long a neighbour's allocation counts without being repeated; neighbours repeat it every
    /// period.
    pub(super) fn announcement_lifetime(&self) -> Duration {
        4 * secs(self.max_period_ms / 1e3)
    }
}

impl Default for SwitchParameters {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Any number as a length of time: a nanosecond (not-a-number, too) to a century.
pub(super) fn secs(secs: f64) -> Duration {
    Duration::from_secs_f64(if secs > 1e-9 { secs.min(3e9) } else { 1e-9 })
}
