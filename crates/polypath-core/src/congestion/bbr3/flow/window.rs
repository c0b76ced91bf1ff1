//! Pacing rate and window.

use super::{Flow, State, Step};
use crate::congestion::Subflow;
use crate::congestion::bbr_model::window;
use crate::congestion::bbr3::Bbr3Parameters;
use std::time::Duration;

/// The largest send quantum in bytes.
const MAX_QUANTUM: f64 = 65_536.0;

impl Flow {
    /// `SetPacingRate`: before the pipe was full once, it only rises.
    pub(super) fn set_pacing(&mut self, gain: f64, subflow: &Subflow, parameters: &Bbr3Parameters) {
        let rate = gain * self.bw() * (1.0 - parameters.pacing_margin);
        self.pacing.set(rate, parameters.startup_pacing_gain, subflow, self.filled);
    }

    /// `SetCwnd`.
    pub(super) fn set_cwnd(&self, step: &mut Step) {
        let (ack, parameters) = (step.ack, step.parameters);
        let gain = self.state.cwnd_gain(parameters);
        let extra = self.extra_acked.get().unwrap_or(0.0);
        let target = self.quantised(self.bdp(gain, step.subflow) + extra, ack.mss, parameters);
        let subflow = &mut *step.subflow;
        window::grow(subflow, ack, target, self.filled);
        let cap = self.volume_cap(subflow, parameters);
        subflow.cwnd = subflow.cwnd.max(parameters.min_cwnd(ack.mss)).min(cap);
    }

    /// `BoundCwndForProbeRTT` and `BoundCwndForModel`.
    fn volume_cap(&self, subflow: &Subflow, parameters: &Bbr3Parameters) -> f64 {
        let headroom = || self.bounds.with_headroom(subflow.mss, parameters);
        let long_term = match self.state {
            State::Startup | State::Drain { .. } => f64::INFINITY,
            State::Down | State::Refill | State::Up => self.bounds.long_term,
            State::Cruise => headroom(),
            State::ProbeRtt(_) => headroom().min(self.probe_rtt_cwnd(subflow, parameters)),
        };
        long_term.min(self.bounds.short_term).max(parameters.min_cwnd(subflow.mss))
    }

    /// `ProbeRTTCwnd`.
    pub(super) fn probe_rtt_cwnd(&self, subflow: &Subflow, parameters: &Bbr3Parameters) -> f64 {
        let share = self.bdp(parameters.probe_rtt_cwnd_gain, subflow);
        share.max(parameters.min_cwnd(subflow.mss))
    }

    /// `gain` bandwidth-delay products in bytes (`BDPMultiple`).
    pub(super) fn bdp(&self, gain: f64, subflow: &Subflow) -> f64 {
        bdp(self.bw(), self.propagation.min(), gain, subflow)
    }

    /// What is wanted in flight (`TargetInflight`): a BDP, unless losses cut the window.
    pub(super) fn target_inflight(&self, subflow: &Subflow) -> f64 {
        self.bdp(1.0, subflow).min(subflow.cwnd)
    }

    /// What should be in flight at a bandwidth (`Inflight(1.0)`), in bytes.
    pub(super) fn inflight(
        &self,
        bandwidth: f64,
        subflow: &Subflow,
        parameters: &Bbr3Parameters,
    ) -> f64 {
        let bytes = bdp(bandwidth, self.propagation.min(), 1.0, subflow);
        self.quantised(bytes, subflow.mss, parameters)
    }

    /// Room for three send quanta (`QuantizationBudget`).
    fn quantised(&self, bytes: f64, mss: u64, parameters: &Bbr3Parameters) -> f64 {
        let probing = if self.state == State::Up { 2.0 * mss as f64 } else { 0.0 };
        bytes.max(3.0 * self.quantum(mss)).max(parameters.min_cwnd(mss)) + probing
    }

    /// The send quantum in bytes (`SetSendQuantum`): a millisecond of pacing.
    fn quantum(&self, mss: u64) -> f64 {
        (self.pacing.rate().unwrap_or(0.0) / 1e3).min(MAX_QUANTUM).max(2.0 * mss as f64)
    }
}

fn bdp(bandwidth: f64, min_rtt: Option<Duration>, gain: f64, subflow: &Subflow) -> f64 {
    min_rtt.map_or_else(|| subflow.initial_window(), |rtt| gain * bandwidth * rtt.as_secs_f64())
}
