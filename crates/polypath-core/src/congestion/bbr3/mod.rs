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
//! says nothing after it. Measurement of bursts and plateaus, the end of start-up by loss and
//! ProbeRTT are shared with [version 1](super::Bbr). Deviations from the draft (worked examples:
//! `docs/algorithms/congestion/bbr3.md`):
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

use super::{Ack, CongestionAvoidance, Loss, LostPacket, Subflow, Subflows};
use crate::path_map::PathMap;
use crate::random::SplitMix64;
use crate::registry::{Description, Kind, Values};
use flow::{Flow, State, Step};
pub use parameters::Bbr3Parameters;
use polypath_units::{Bandwidth, PathId};

/// BBR version 3 for all subflows of a connection, each on its own.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    parameters: Bbr3Parameters,
    random: SplitMix64,
    flows: PathMap<Box<Flow>>,
}

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
    pub fn new(parameters: Bbr3Parameters, seed: u64) -> Self {
        Self { parameters, random: SplitMix64::new(seed), flows: PathMap::default() }
    }

    /// An instance for the registry.
    pub fn build(values: &Values, seed: u64) -> Box<dyn CongestionAvoidance> {
        Box::new(Self::new(Bbr3Parameters::of(values), seed))
    }

    /// The subflow and its state, made at its first event.
    fn parts<'a>(
        &'a mut self,
        id: PathId,
        subflows: &'a mut Subflows,
    ) -> Option<(&'a mut Flow, &'a mut Subflow)> {
        let subflow = subflows.get_mut(id)?;
        let parameters = &self.parameters;
        let flow = self.flows.get_or_insert_with(id, || Box::new(Flow::new(parameters)));
        Some((flow, subflow))
    }
}

impl CongestionAvoidance for Bbr3 {
    fn on_ack(&mut self, subflow: PathId, ack: &Ack, subflows: &mut Subflows) {
        let Some(state) = subflows.get_mut(subflow) else { return };
        let Self { parameters, random, flows } = self;
        flows.get_or_insert_with(subflow, || Box::new(Flow::new(parameters))).on_ack(Step {
            ack,
            subflow: state,
            parameters,
            random,
        });
    }

    fn on_packet_lost(&mut self, subflow: PathId, lost: &LostPacket, subflows: &Subflows) {
        let Self { parameters, random, flows } = self;
        if let Some((flow, state)) = flows.get_mut(subflow).zip(subflows.get(subflow)) {
            flow.on_packet_lost(lost, state, parameters, random);
        }
    }

    fn on_loss(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        if loss.ecn {
            return;
        }
        if let Some((flow, state)) = self.parts(subflow, subflows) {
            flow.on_loss(state);
        }
    }

    fn on_timeout(&mut self, subflow: PathId, _loss: &Loss, subflows: &mut Subflows) {
        if let Some((flow, state)) = self.parts(subflow, subflows) {
            flow.on_timeout(state);
        }
    }

    fn on_recovery_exit(&mut self, subflow: PathId, _ack: &Ack, subflows: &mut Subflows) {
        if let Some((flow, state)) = self.parts(subflow, subflows) {
            flow.on_recovery_exit(state);
        }
    }

    fn on_idle_restart(&mut self, subflow: PathId, subflows: &mut Subflows) {
        let parameters = self.parameters;
        if let Some((flow, state)) = self.parts(subflow, subflows) {
            flow.on_idle_restart(state, &parameters);
        }
    }

    fn on_spurious_loss(&mut self, subflow: PathId, subflows: &mut Subflows) {
        if let Some((flow, state)) = self.parts(subflow, subflows) {
            flow.on_spurious_loss(state);
        }
    }

    fn on_remove(&mut self, subflow: PathId) {
        self.flows.remove(subflow);
    }

    fn bandwidth_estimate(&self, subflow: PathId) -> Option<f64> {
        self.flows.get(subflow).map(|flow| flow.max_bandwidth()).filter(|rate| *rate > 0.0)
    }

    fn pacing_rate(&self, subflow: PathId) -> Option<Bandwidth> {
        self.flows.get(subflow)?.pacing.map(Bandwidth::from_bytes_per_sec)
    }

    fn owns_start_up(&self) -> bool {
        true
    }

    fn holds_back(&self, subflow: PathId) -> bool {
        self.flows.get(subflow).is_some_and(|flow| matches!(flow.state, State::ProbeRtt(_)))
    }

    fn min_window_segments(&self) -> f64 {
        // A timeout leaves one segment; growth restores four.
        1.0
    }
}
