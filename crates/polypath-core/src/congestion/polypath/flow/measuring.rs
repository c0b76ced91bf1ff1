//! When the propagation time is measured anew, and with how much in flight.

use super::{Flow, Mode};
use crate::congestion::bbr_model::{Flow as _, ProbeRtt};
use crate::congestion::polypath::PolypathParameters;
use crate::congestion::{Ack, Subflow};
use std::time::Duration;

/// What may be in flight while it is measured, in bandwidth-delay products: little enough that the
/// flow's own queue drains. As it takes one round in ten seconds, it costs 0.1 % of the goodput;
/// four segments for 200 ms, as in BBR, cost 1 to 2 % where rates wander.
pub(in crate::congestion::polypath) const PROBE_RTT_GAIN: f64 = 0.75;

/// Rounds are told by acknowledgements: one is enough, however short.
const LEAST_TIME: Duration = Duration::ZERO;

impl Flow {
    /// ProbeRTT: once the estimate is old, or a queue of others stands.
    pub(super) fn probe_rtt(
        &mut self,
        ack: &Ack,
        subflow: &mut Subflow,
        parameters: &PolypathParameters,
        foreign_queue: bool,
    ) {
        let idle = core::mem::take(&mut self.idle_restart);
        let wanted = self.path.model.rtprop_expired() || foreign_queue;
        if wanted && !idle && !self.probes_rtt() {
            self.recovery.save(subflow, false);
            self.queue.restart();
            self.mode = Mode::ProbeRtt(ProbeRtt::Draining);
        }
        let Mode::ProbeRtt(stage) = self.mode else { return };
        if matches!(stage, ProbeRtt::Measuring { .. }) {
            self.path.measure(ack);
        }
        match stage.on_ack(ack, self.probe_rtt_cwnd(parameters, ack.mss), LEAST_TIME) {
            Some(stage) => self.mode = Mode::ProbeRtt(stage),
            None => self.leave_probe_rtt(ack, subflow),
        }
    }

    /// What may be in flight in ProbeRTT, in bytes.
    pub(super) fn probe_rtt_cwnd(&self, parameters: &PolypathParameters, mss: u64) -> f64 {
        parameters.min_cwnd(mss).max(PROBE_RTT_GAIN * self.path.model.bdp().unwrap_or(0.0))
    }

    fn leave_probe_rtt(&mut self, ack: &Ack, subflow: &mut Subflow) {
        self.path.end_measurement(ack.now);
        self.recovery.saved().restore(subflow);
        self.mode = if self.full_pipe.reached() { Mode::Steady } else { Mode::Startup };
    }
}
