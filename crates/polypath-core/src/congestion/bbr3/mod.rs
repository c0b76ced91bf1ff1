//! BBR version 3.
//!
//! Source: draft-ietf-ccwg-bbr-06, sections 5.3 to 5.6, whose names the items bear. Bandwidths in
//! bytes/s, windows in bytes:
//!
//! ```text
//! bw      = min(max of rate samples over two probes, bw_shortterm)
//! pacing  = gain * bw * 0.99               BDP = bw * min RTT over 10 s
//! cwnd   -> max(gain * BDP + extra acked, 3 quanta, 4 segments), at most the bounds below
//! Startup (2.77, 2) -> Drain (0.5, 2) -> ProbeBW: DOWN (0.9, 2) -> CRUISE (1, 2) -> REFILL (1, 2)
//!     -> UP (1.25, 2.25) -> DOWN;   every 5 s ProbeRTT (1, 0.5)
//! probing, more than 2 % of a flight lost:
//!     inflight_longterm  = max(flight at which it was 2 %, 0.7 * min(BDP, cwnd)), back to DOWN
//! not probing, each round with loss:
//!     inflight_shortterm = max(delivered in the round, 0.7 * inflight_shortterm)
//!     bw_shortterm likewise
//! ```
//!
//! Each subflow on its own: nothing is coupled. The subflow's ssthresh is infinite in start-up and
//! says nothing after it. What measures bursts and plateaus, the end of start-up by loss and
//! ProbeRTT are shared with version 1: see [`bbr_model`](super::bbr_model). Deviations from the
//! draft:
//!
//! - losses of start-up are counted in ACKs that reported them, not in discontiguous ranges;
//! - a carrier without selective acknowledgements is not treated differently;
//! - before an RTT sample there is no pacing rate (the draft takes 1 ms for the RTT);
//! - after a timeout the window is restored with the first round that ends;
//! - a ProbeRTT that began before the subflow idled ends with the first ACK after that, not with
//!   the first packet sent;
//! - the offload budget is three quanta, that of TCP, on every carrier;
//! - ECN marks are ignored: the draft leaves them out.

mod bounds;
mod flow;
mod model;
mod parameters;

use super::CongestionAvoidance;
use super::bbr_model::PerFlow;
use crate::registry::{Description, Kind, Values};
use flow::Flow;
pub use parameters::Bbr3Parameters;

/// BBR version 3 for all subflows of a connection, each on its own.
#[derive(Clone, Copy, Debug)]
pub enum Bbr3 {}

impl Bbr3 {
    /// The registry row.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Congestion,
        name: "bbr3",
        purpose: "follows measured bandwidth and RTT, bounded by what loss has taught (version 3)",
        source: "draft-ietf-ccwg-bbr-06 section 5",
        parameters: Bbr3Parameters::PARAMETERS,
    };

    /// BBR version 3 with other constants. `seed` decides when each cycle probes.
    pub fn controller(parameters: Bbr3Parameters, seed: u64) -> impl CongestionAvoidance {
        PerFlow::<Flow>::new(parameters, seed)
    }

    /// An instance for the registry.
    pub fn build(values: &Values, seed: u64) -> Box<dyn CongestionAvoidance> {
        Box::new(Self::controller(Bbr3Parameters::of(values), seed))
    }
}
