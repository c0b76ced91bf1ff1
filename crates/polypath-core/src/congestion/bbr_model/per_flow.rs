//! A controller whose subflows know nothing of each other.

use crate::congestion::{Ack, CongestionAvoidance, Loss, LostPacket, Subflow, Subflows};
use crate::path_map::PathMap;
use crate::random::SplitMix64;
use polypath_units::{Bandwidth, PathId};

/// The state machine of one subflow, with a start-up of its own.
///
/// Its methods are those of [`CongestionAvoidance`] for the subflow that it belongs to. ECN marks
/// do not reach it.
pub(crate) trait Flow: core::fmt::Debug + Send {
    /// The constants, which are the same for all subflows.
    type Parameters: Copy + core::fmt::Debug + Send;

    /// The state before the first event.
    fn new(parameters: &Self::Parameters) -> Self;

    /// Data was acknowledged.
    fn on_ack(&mut self, step: Step<'_, Self::Parameters>);

    /// A packet was declared lost.
    fn on_packet_lost(
        &mut self,
        _lost: &LostPacket,
        _subflow: &Subflow,
        _parameters: &Self::Parameters,
        _random: &mut SplitMix64,
    ) {
    }

    /// A recovery episode begins.
    fn on_loss(&mut self, subflow: &mut Subflow);

    /// The retransmission timer expired.
    fn on_timeout(&mut self, subflow: &mut Subflow);

    /// A packet sent after recovery began was acknowledged.
    fn on_recovery_exit(&mut self, _subflow: &mut Subflow) {}

    /// The subflow sends again after idling.
    fn on_idle_restart(&mut self, subflow: &mut Subflow, parameters: &Self::Parameters);

    /// The loss that began the last episode was spurious.
    fn on_spurious_loss(&mut self, subflow: &mut Subflow);

    /// The bandwidth estimate in bytes/s; 0 before the first sample.
    fn bandwidth(&self) -> f64;

    /// The pacing rate in bytes/s; `None` before the first RTT sample.
    fn pacing(&self) -> Option<f64>;

    /// Whether it is in ProbeRTT.
    fn probes_rtt(&self) -> bool;
}

/// An ACK and what it works on.
pub(crate) struct Step<'a, P> {
    pub(crate) ack: &'a Ack,
    pub(crate) subflow: &'a mut Subflow,
    pub(crate) parameters: &'a P,
    pub(crate) random: &'a mut SplitMix64,
}

/// A [`Flow`] for each subflow of a connection.
#[derive(Debug)]
pub(crate) struct PerFlow<F: Flow> {
    parameters: F::Parameters,
    random: SplitMix64,
    flows: PathMap<Box<F>>,
}

impl<F: Flow> PerFlow<F> {
    /// Without subflows. The flows draw from one generator that starts from `seed`.
    pub(crate) fn new(parameters: F::Parameters, seed: u64) -> Self {
        Self { parameters, random: SplitMix64::new(seed), flows: PathMap::default() }
    }

    /// The subflow and its state, made at its first event.
    fn parts<'a>(
        &'a mut self,
        id: PathId,
        subflows: &'a mut Subflows,
    ) -> Option<(&'a mut F, &'a mut Subflow)> {
        let subflow = subflows.get_mut(id)?;
        let parameters = &self.parameters;
        let flow = self.flows.get_or_insert_with(id, || Box::new(F::new(parameters)));
        Some((flow, subflow))
    }
}

impl<F: Flow> CongestionAvoidance for PerFlow<F> {
    fn on_ack(&mut self, subflow: PathId, ack: &Ack, subflows: &mut Subflows) {
        let Some(state) = subflows.get_mut(subflow) else { return };
        let Self { parameters, random, flows } = self;
        let flow = flows.get_or_insert_with(subflow, || Box::new(F::new(parameters)));
        flow.on_ack(Step { ack, subflow: state, parameters, random });
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
        self.flows.get(subflow).map(|flow| flow.bandwidth()).filter(|rate| *rate > 0.0)
    }

    fn pacing_rate(&self, subflow: PathId) -> Option<Bandwidth> {
        self.flows.get(subflow)?.pacing().map(Bandwidth::from_bytes_per_sec)
    }

    fn owns_start_up(&self) -> bool {
        true
    }

    fn holds_back(&self, subflow: PathId) -> bool {
        self.flows.get(subflow).is_some_and(|flow| flow.probes_rtt())
    }

    fn min_window_segments(&self) -> f64 {
        // Packet conservation and timeouts may go down to a segment; growth restores four.
        1.0
    }
}
