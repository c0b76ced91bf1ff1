//! Pacing rate and window.

use super::cycle::{PHASE_PROBE, Phase};
use super::{Flow, Mode};
use crate::congestion::bbr::BbrParameters;
use crate::congestion::bbr_model::window;
use crate::congestion::{Ack, Subflow};

impl Flow {
    pub(super) const fn pacing_gain(&self, parameters: &BbrParameters) -> f64 {
        match self.mode {
            Mode::Startup => parameters.high_gain,
            Mode::Drain => 1.0 / parameters.high_gain,
            Mode::ProbeBw(phase) => phase.gain(),
            Mode::ProbeRtt(_) => 1.0,
        }
    }

    const fn cwnd_gain(&self, parameters: &BbrParameters) -> f64 {
        match self.mode {
            Mode::Startup | Mode::Drain => parameters.startup_cwnd_gain,
            Mode::ProbeBw(_) => parameters.cwnd_gain,
            Mode::ProbeRtt(_) => 1.0,
        }
    }

    pub(super) fn set_pacing(&mut self, gain: f64, subflow: &Subflow, parameters: &BbrParameters) {
        let rate = gain * self.model.bandwidth() * (1.0 - parameters.pacing_margin);
        self.pacing.set(rate, parameters.high_gain, subflow, self.full_pipe.reached());
    }

    pub(super) fn set_cwnd(
        &mut self,
        ack: &Ack,
        subflow: &mut Subflow,
        parameters: &BbrParameters,
    ) {
        let least = parameters.min_cwnd(ack.mss);
        if !self.recovery.conserve(ack, subflow) {
            let target = self.target(self.cwnd_gain(parameters), ack.mss);
            window::grow(subflow, ack, target, self.full_pipe.reached());
            subflow.cwnd = subflow.cwnd.max(least);
        }
        if matches!(self.mode, Mode::ProbeRtt(_)) {
            subflow.cwnd = subflow.cwnd.min(least);
        }
    }

    /// Room for three send quanta, so that batching and delayed ACKs do not stop the sender
    /// (`bbr_quantization_budget`): an even number of segments, two more while probing.
    fn quantised(&self, bytes: f64, mss: u64) -> f64 {
        let even = window::even_segments(bytes, 3.0 * self.pacing.quantum(mss), mss);
        let probing = matches!(self.mode, Mode::ProbeBw(Phase { number: PHASE_PROBE, .. }));
        (even + if probing { 2.0 } else { 0.0 }) * mss as f64
    }

    /// What should be in flight at a gain (`bbr_inflight`), in bytes.
    pub(super) fn inflight(&self, gain: f64, mss: u64) -> f64 {
        self.quantised(self.model.whole_bdp(gain, mss), mss)
    }

    /// The window to reach, in bytes.
    pub(super) fn target(&self, gain: f64, mss: u64) -> f64 {
        let extra = match self.full_pipe.reached() {
            true => self.aggregation.allowance(self.model.bandwidth()),
            false => 0.0,
        };
        self.quantised(self.model.whole_bdp(gain, mss) + extra, mss)
    }
}
