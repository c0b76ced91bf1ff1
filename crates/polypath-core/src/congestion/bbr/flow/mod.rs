//! BBR's state machine for one subflow, in the order of Linux `bbr_main`.

mod cycle;
#[cfg(test)]
mod tests;
mod window;

use super::BbrParameters;
use crate::congestion::bbr_model::{
    self, Aggregation, ExcessLoss, FullPipe, LossLimits, Model, Pacing, ProbeRtt, Recovery,
};
use crate::congestion::queued::is_queued;
use crate::congestion::{Ack, Subflow};
use crate::random::SplitMix64;
use cycle::Phase;
use std::time::Duration;

type Step<'a> = bbr_model::Step<'a, BbrParameters>;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw(Phase),
    ProbeRtt(ProbeRtt),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Flow {
    mode: Mode,
    model: Model,
    full_pipe: FullPipe,
    excess_loss: ExcessLoss,
    aggregation: Aggregation,
    pacing: Pacing,
    recovery: Recovery,
    idle_restart: bool,
}

impl bbr_model::Flow for Flow {
    type Parameters = BbrParameters;

    fn new(parameters: &BbrParameters) -> Self {
        Self {
            mode: Mode::Startup,
            model: Model::new(parameters.bandwidth_rounds),
            full_pipe: FullPipe::default(),
            excess_loss: ExcessLoss::default(),
            aggregation: Aggregation::default(),
            pacing: Pacing::default(),
            recovery: Recovery::default(),
            idle_restart: false,
        }
    }

    fn on_ack(&mut self, step: Step) {
        let Step { ack, subflow, parameters, random } = step;
        self.model.update_bandwidth(ack);
        self.aggregation.on_ack(ack, self.model.bandwidth(), subflow.cwnd);
        self.advance_cycle(ack, subflow.departs_ahead);
        self.check_full_pipe(ack, parameters);
        self.leave_startup(ack, subflow, random);
        self.update_rtprop(ack, parameters);
        self.probe_rtt(ack, subflow, parameters, random);
        self.set_pacing(self.pacing_gain(parameters), subflow, parameters);
        self.set_cwnd(ack, subflow, parameters);
    }

    fn on_loss(&mut self, subflow: &mut Subflow) {
        self.recovery.on_loss(subflow, self.probes_rtt());
    }

    fn on_timeout(&mut self, subflow: &mut Subflow) {
        self.recovery.on_timeout(subflow, self.probes_rtt());
        self.full_pipe.restart();
    }

    fn on_spurious_loss(&mut self, subflow: &mut Subflow) {
        self.full_pipe.restart();
        self.recovery.end(subflow);
    }

    /// Sends again after idling: at the estimated rate, without the gain of an old phase
    /// (`bbr_cwnd_event`). The window stays, or is restored if what was lost last ended the flight:
    /// pacing prevents the burst.
    fn on_idle_restart(&mut self, subflow: &mut Subflow, parameters: &BbrParameters) {
        self.idle_restart = true;
        self.recovery.end(subflow);
        self.aggregation.end_epoch();
        if matches!(self.mode, Mode::ProbeBw(_)) {
            self.set_pacing(1.0, subflow, parameters);
        }
    }

    fn bandwidth(&self) -> f64 {
        self.model.bandwidth()
    }

    fn pacing(&self) -> Option<f64> {
        self.pacing.rate()
    }

    fn probes_rtt(&self) -> bool {
        matches!(self.mode, Mode::ProbeRtt(_))
    }
}

impl Flow {
    /// Whether the pipe is full: no growth, or in start-up too much loss.
    fn check_full_pipe(&mut self, ack: &Ack, parameters: &BbrParameters) {
        if ack.round_start && ack.rate.is_some_and(|it| !it.app_limited) {
            let BbrParameters { full_pipe_growth, full_pipe_rounds, .. } = *parameters;
            self.full_pipe.on_round(self.model.bandwidth(), full_pipe_growth, full_pipe_rounds);
        }
        if self.mode == Mode::Startup && self.lost_too_much(ack, parameters) {
            self.full_pipe.reach();
        }
    }

    fn lost_too_much(&mut self, ack: &Ack, parameters: &BbrParameters) -> bool {
        let limits = LossLimits {
            share: parameters.startup_loss_share,
            events: parameters.startup_loss_events,
        };
        // Random loss shows no queue.
        let queued = is_queued(ack.rtt, self.model.rtprop());
        self.excess_loss.on_ack(ack, self.recovery.is_under_way(), queued, &limits)
    }

    fn leave_startup(&mut self, ack: &Ack, subflow: &mut Subflow, random: &mut SplitMix64) {
        if self.mode == Mode::Startup && self.full_pipe.reached() {
            self.mode = Mode::Drain;
            subflow.ssthresh = self.inflight(1.0, ack.mss);
        }
        if self.mode == Mode::Drain && ack.bytes_in_flight as f64 <= self.inflight(1.0, ack.mss) {
            self.enter_probe_bw(ack.now, random);
        }
    }

    /// Takes the RTT sample if it is not above the estimate, or if the estimate has expired
    /// (`bbr_update_min_rtt`).
    fn update_rtprop(&mut self, ack: &Ack, parameters: &BbrParameters) {
        self.model.update_rtprop(ack, parameters.rtprop_secs);
        if let Some(rtt) = ack.rtt.filter(|_| self.model.rtprop_expired()) {
            self.model.replace_rtprop(rtt, ack.now);
        }
    }

    fn probe_rtt(
        &mut self,
        ack: &Ack,
        subflow: &mut Subflow,
        parameters: &BbrParameters,
        random: &mut SplitMix64,
    ) {
        let idle = core::mem::take(&mut self.idle_restart);
        let probing = matches!(self.mode, Mode::ProbeRtt(_));
        if self.model.rtprop_expired() && !idle && !probing {
            self.recovery.save(subflow, false);
            self.mode = Mode::ProbeRtt(ProbeRtt::Draining);
        }
        let Mode::ProbeRtt(stage) = self.mode else { return };
        let duration = Duration::from_secs_f64(parameters.probe_rtt_ms / 1e3);
        match stage.on_ack(ack, parameters.min_cwnd(ack.mss), duration) {
            Some(stage) => self.mode = Mode::ProbeRtt(stage),
            None => self.leave_probe_rtt(ack, subflow, random),
        }
    }

    fn leave_probe_rtt(&mut self, ack: &Ack, subflow: &mut Subflow, random: &mut SplitMix64) {
        self.model.confirm_rtprop(ack.now);
        self.recovery.saved().restore(subflow);
        if self.full_pipe.reached() {
            self.enter_probe_bw(ack.now, random);
        } else {
            self.mode = Mode::Startup;
        }
    }
}
