//! Pacing rate and window.

use super::{Flow, Mode};
use crate::congestion::bbr_model::{Flow as _, HIGH_GAIN, STARTUP_CWND_GAIN, pacing, window};
use crate::congestion::polypath::PolypathParameters;
use crate::congestion::{Ack, Subflow};

/// Where packets usually take this many propagation times, they are unevenly late. Everywhere else
/// the larger gain would only make four to five times the losses at the end of start-up.
const UNEVEN: f64 = 1.1;

impl Flow {
    pub(super) const fn pacing_gain(&self, parameters: &PolypathParameters) -> f64 {
        match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => 1.0 / HIGH_GAIN,
            Mode::Steady => self.growth.gain(parameters.pacing_gain),
            Mode::ProbeRtt(_) => 1.0,
        }
    }

    fn cwnd_gain(&self, parameters: &PolypathParameters) -> f64 {
        match self.mode {
            Mode::Startup if self.is_uneven() => HIGH_GAIN,
            Mode::Startup | Mode::Drain => STARTUP_CWND_GAIN,
            Mode::Steady => self.growth.gain(parameters.cwnd_gain),
            Mode::ProbeRtt(_) => 1.0,
        }
    }

    pub(super) fn set_pacing(&mut self, gain: f64, subflow: &Subflow) {
        let rate = gain * self.bandwidth() * (1.0 - pacing::MARGIN);
        self.pacing.set(rate, HIGH_GAIN, subflow, self.full_pipe.reached());
    }

    pub(super) fn set_cwnd(
        &mut self,
        ack: &Ack,
        subflow: &mut Subflow,
        parameters: &PolypathParameters,
    ) {
        if !self.recovery.conserve(ack, subflow) {
            let target = self.target(self.cwnd_gain(parameters), ack.mss);
            window::grow(subflow, ack, target, self.full_pipe.reached());
            subflow.cwnd = subflow.cwnd.max(parameters.min_cwnd(ack.mss));
        }
        if self.probes_rtt() {
            subflow.cwnd = subflow.cwnd.min(self.probe_rtt_cwnd(parameters, ack.mss));
        }
    }

    /// Room for three send quanta, so that batching and delayed ACKs do not stop the sender, and
    /// less where the queue does not hold it: an even number of segments, in bytes.
    fn quantised(&self, bytes: f64, mss: u64) -> f64 {
        let budget = 3.0 * self.pacing.quantum(mss) * self.overflow.room();
        window::even_segments(bytes, budget, mss) * mss as f64
    }

    /// `gain` times what the bandwidth brings while packets are usually on their way, in whole
    /// segments, in bytes.
    fn usual_flight(&self, gain: f64, mss: u64) -> f64 {
        self.path.model.whole_flight(gain, self.usual_rtt(), mss)
    }

    /// Whether packets take so differently long in start-up that a window of two flights would not
    /// double in a round.
    fn is_uneven(&self) -> bool {
        let rtts = self.usual_rtt().zip(self.path.model.rtprop());
        rtts.is_some_and(|(usual, rtprop)| usual > rtprop.mul_f64(UNEVEN))
    }

    /// What should be in flight at a gain, in bytes.
    pub(super) fn inflight(&self, gain: f64, mss: u64) -> f64 {
        self.quantised(self.usual_flight(gain, mss), mss)
    }

    /// The window to reach, in bytes.
    fn target(&self, gain: f64, mss: u64) -> f64 {
        let extra = match self.full_pipe.reached() {
            true => self.aggregation.allowance(self.bandwidth()) * self.overflow.room(),
            false => 0.0,
        };
        self.quantised(self.usual_flight(gain, mss) + extra, mss)
    }
}
