//! The state machine of BBR version 3 for one subflow, in the order of the draft's
//! `UpdateModelAndState`.

mod cycle;
mod recovery;
#[cfg(test)]
mod tests;
mod window;

use self::cycle::{Cycle, Probe};
use self::recovery::{Recovering, Undo};
use super::Bbr3Parameters;
use super::bounds::Bounds;
use super::model::{Latest, MaxBandwidth, Propagation, Rounds};
use crate::congestion::bbr_model::{
    self, AckEpoch, ExcessLoss, FullPipe, LossLimits, Pacing, ProbeRtt, SavedWindow,
};
use crate::congestion::{LostPacket, Subflow};
use crate::estimator::WindowedMax;
use crate::random::SplitMix64;
use std::time::Duration;

/// Rounds after which Drain ends although more than a BDP is in flight.
const DRAIN_ROUNDS: u64 = 3;

/// An ACK and what it works on.
type Step<'a> = bbr_model::Step<'a, Bbr3Parameters>;

/// A state of the draft; its states of ProbeBW by their last names.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Startup,
    Drain { since_round: u64 },
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt(ProbeRtt),
}

impl State {
    /// `IsInAProbeBWState`.
    const fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// `IsProbingBW`: it sends more than is known to fit.
    const fn accelerates(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }

    const fn pacing_gain(self, parameters: &Bbr3Parameters) -> f64 {
        match self {
            Self::Startup => parameters.startup_pacing_gain,
            Self::Drain { .. } => parameters.drain_pacing_gain,
            Self::Down => parameters.down_pacing_gain,
            Self::Up => parameters.up_pacing_gain,
            Self::Cruise | Self::Refill | Self::ProbeRtt(_) => 1.0,
        }
    }

    const fn cwnd_gain(self, parameters: &Bbr3Parameters) -> f64 {
        match self {
            Self::Up => parameters.up_cwnd_gain,
            Self::ProbeRtt(_) => parameters.probe_rtt_cwnd_gain,
            _ => parameters.cwnd_gain,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Flow {
    state: State,
    pacing: Pacing,
    rounds: Rounds,
    bandwidth: MaxBandwidth,
    propagation: Propagation,
    latest: Latest,
    bounds: Bounds,
    plateau: FullPipe,
    /// Whether the pipe was full once (`full_bw_reached`).
    filled: bool,
    excess_loss: ExcessLoss,
    ack_epoch: AckEpoch,
    extra_acked: WindowedMax<f64>,
    cycle: Cycle,
    probe: Probe,
    undo: Undo,
    saved: SavedWindow,
    idle_restart: bool,
    recovering: Option<Recovering>,
}

impl bbr_model::Flow for Flow {
    type Parameters = Bbr3Parameters;

    fn new(parameters: &Bbr3Parameters) -> Self {
        Self {
            state: State::Startup,
            pacing: Pacing::default(),
            rounds: Rounds::default(),
            bandwidth: MaxBandwidth::default(),
            propagation: Propagation::default(),
            latest: Latest::default(),
            bounds: Bounds::default(),
            plateau: FullPipe::default(),
            filled: false,
            excess_loss: ExcessLoss::default(),
            ack_epoch: AckEpoch::default(),
            extra_acked: WindowedMax::new(parameters.extra_acked_rounds as u64),
            cycle: Cycle::default(),
            probe: Probe::default(),
            undo: Undo::default(),
            saved: SavedWindow::default(),
            idle_restart: false,
            recovering: None,
        }
    }

    fn on_ack(&mut self, mut step: Step) {
        let step = &mut step;
        self.rounds.on_ack(step.ack);
        self.latest.on_ack(step.ack);
        self.update_congestion(step);
        self.update_aggregation(step);
        self.check_plateau(step);
        self.leave_startup(step);
        self.leave_drain(step);
        self.advance_cycle(step);
        self.propagation.on_ack(step.ack, step.parameters);
        self.probe_rtt(step);
        self.latest.end_ack(step.ack);
        self.recover_from_timeout(step.ack, step.subflow);
        self.set_pacing(self.state.pacing_gain(step.parameters), step.subflow, step.parameters);
        self.set_cwnd(step);
    }

    fn on_packet_lost(
        &mut self,
        lost: &LostPacket,
        subflow: &Subflow,
        parameters: &Bbr3Parameters,
        random: &mut SplitMix64,
    ) {
        self.handle_lost_packet(lost, subflow, parameters, random);
    }

    fn on_loss(&mut self, subflow: &mut Subflow) {
        self.enter_recovery(subflow);
    }

    fn on_timeout(&mut self, subflow: &mut Subflow) {
        self.enter_timeout(subflow);
    }

    fn on_recovery_exit(&mut self, subflow: &mut Subflow) {
        self.exit_recovery(subflow);
    }

    fn on_idle_restart(&mut self, subflow: &mut Subflow, parameters: &Bbr3Parameters) {
        self.restart_from_idle(subflow, parameters);
    }

    fn on_spurious_loss(&mut self, subflow: &mut Subflow) {
        self.undo_spurious_loss(subflow);
    }

    /// `MaxBw`.
    fn bandwidth(&self) -> f64 {
        self.bandwidth.get()
    }

    fn pacing(&self) -> Option<f64> {
        self.pacing.rate()
    }

    fn probes_rtt(&self) -> bool {
        matches!(self.state, State::ProbeRtt(_))
    }
}

impl Flow {
    /// The bandwidth to send at (`BoundBWForModel`), in bytes/s.
    fn bw(&self) -> f64 {
        self.bandwidth.get().min(self.bounds.bandwidth)
    }

    /// `UpdateCongestionSignals`: once in a round, losses lower the short-term bounds.
    fn update_congestion(&mut self, step: &Step) {
        self.bandwidth.on_ack(step.ack);
        if !self.latest.round_ended {
            return;
        }
        if self.latest.lost && !self.state.accelerates() {
            let (max, cwnd) = (self.bandwidth.get(), step.subflow.cwnd);
            self.bounds.lower(&self.latest, max, cwnd, step.parameters.beta);
        }
        self.latest.lost = false;
    }

    /// `UpdateACKAggregation`; in start-up only the present round counts.
    fn update_aggregation(&mut self, step: &Step) {
        if !self.filled && self.rounds.ended {
            self.extra_acked.reset();
        }
        let extra = self.ack_epoch.on_ack(step.ack, self.bw(), step.subflow.cwnd);
        self.extra_acked.update(self.rounds.count, extra);
    }

    /// `CheckFullBWReached`.
    fn check_plateau(&mut self, step: &Step) {
        let sample = step.ack.rate.filter(|sample| self.rounds.ended && !sample.app_limited);
        if let Some(sample) = sample {
            let Bbr3Parameters { full_pipe_growth, full_pipe_rounds, .. } = *step.parameters;
            self.plateau.on_round(sample.bytes_per_sec, full_pipe_growth, full_pipe_rounds);
            self.filled |= self.plateau.reached();
        }
    }

    /// `CheckStartupDone`.
    fn leave_startup(&mut self, step: &mut Step) {
        if self.state != State::Startup {
            return;
        }
        let Bbr3Parameters { loss_threshold: share, startup_loss_events: events, .. } =
            *step.parameters;
        let recovering = self.recovering.is_some();
        if self.excess_loss.on_ack(step.ack, recovering, true, &LossLimits { share, events }) {
            self.undo.ended = Some(State::Startup);
            self.filled = true;
            self.bounds.long_term = self.bdp(1.0, step.subflow).max(self.latest.in_flight);
        }
        if self.filled {
            self.state = State::Drain { since_round: self.rounds.count };
            step.subflow.ssthresh = self.inflight(self.bw(), step.subflow, step.parameters);
        }
    }

    /// `CheckDrainDone`.
    fn leave_drain(&mut self, step: &mut Step) {
        let State::Drain { since_round } = self.state else { return };
        let fits = self.inflight(self.bw(), step.subflow, step.parameters);
        let drained = step.ack.bytes_in_flight as f64 <= fits;
        if drained || self.rounds.count > since_round + DRAIN_ROUNDS {
            self.start_down(step.ack.now, step.ack.delivered, step.parameters, step.random);
        }
    }

    /// `CheckProbeRTT`.
    fn probe_rtt(&mut self, step: &mut Step) {
        let probing = matches!(self.state, State::ProbeRtt(_));
        if self.propagation.expired && !self.idle_restart && !probing {
            self.save_cwnd(step.subflow);
            self.probe.stopping = true;
            self.rounds.begin(step.ack.delivered);
            self.state = State::ProbeRtt(ProbeRtt::Draining);
        }
        self.idle_restart = false;
        let State::ProbeRtt(stage) = self.state else { return };
        let duration = Duration::from_secs_f64(step.parameters.probe_rtt_ms / 1e3);
        let floor = self.probe_rtt_cwnd(step.subflow, step.parameters);
        match stage.on_ack(step.ack, floor, duration) {
            Some(stage) => self.state = State::ProbeRtt(stage),
            None => self.leave_probe_rtt(step),
        }
    }

    /// `ExitProbeRTT`.
    fn leave_probe_rtt(&mut self, step: &mut Step) {
        self.propagation.confirm(step.ack.now);
        self.saved.restore(step.subflow);
        self.bounds.reset_short_term();
        if self.filled {
            self.start_down(step.ack.now, step.ack.delivered, step.parameters, step.random);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }
}
