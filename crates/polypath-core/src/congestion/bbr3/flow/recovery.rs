//! What losses, timeouts and idling do, and what is given back.

use super::{Flow, State};
use crate::congestion::bbr3::Bbr3Parameters;
use crate::congestion::bbr3::bounds::{self, Bounds};
use crate::congestion::{Ack, LostPacket, Subflow};
use crate::random::SplitMix64;

/// What to return to if a loss proves spurious.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Undo {
    pub(super) bounds: Bounds,
    /// Start-up or ProbeBW_UP, if the loss ended it.
    pub(super) ended: Option<State>,
}

/// What holds the window below what it was (`InLossRecovery`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recovering {
    Losses,
    /// A timeout: until the next round ends.
    TimedOut,
}

impl Flow {
    /// A packet was lost (`HandleLostPacket`).
    pub(super) fn handle_lost_packet(
        &mut self,
        lost: &LostPacket,
        subflow: &Subflow,
        parameters: &Bbr3Parameters,
        random: &mut SplitMix64,
    ) {
        if self.latest.on_loss(lost.delivered) {
            self.save_bounds();
        }
        let threshold = parameters.loss_threshold;
        if !self.probe.sampling || !bounds::is_too_much(lost.lost, lost.tx_in_flight, threshold) {
            return;
        }
        self.probe.too_high = true;
        self.probe.sampling = false;
        if !lost.app_limited {
            let least = parameters.beta * self.target_inflight(subflow);
            self.bounds.long_term = bounds::in_flight_at_loss(lost, threshold).max(least);
        }
        if self.state == State::Up {
            self.undo.ended = Some(State::Up);
            self.start_down(lost.now, lost.delivered, parameters, random);
        }
    }

    /// `SaveStateUponLoss`, beside the window.
    fn save_bounds(&mut self) {
        self.undo = Undo { bounds: self.bounds, ended: None };
    }

    /// Remembers the window for after recovery or ProbeRTT.
    pub(super) const fn save_cwnd(&mut self, subflow: &Subflow) {
        let reduced = self.recovering.is_some() || matches!(self.state, State::ProbeRtt(_));
        self.saved.save(subflow, reduced);
    }

    fn restore_cwnd(&mut self, subflow: &mut Subflow) {
        if self.recovering.take().is_some() {
            self.saved.restore(subflow);
        }
    }

    /// `OnEnterFastRecovery`.
    pub(super) const fn enter_recovery(&mut self, subflow: &Subflow) {
        self.save_cwnd(subflow);
        self.recovering = Some(Recovering::Losses);
    }

    /// `OnEnterRTO`: room for one segment.
    pub(super) fn enter_timeout(&mut self, subflow: &mut Subflow) {
        self.save_cwnd(subflow);
        if !self.latest.lost {
            self.save_bounds();
        }
        self.recovering = Some(Recovering::TimedOut);
        subflow.cwnd = (subflow.in_flight + subflow.mss) as f64;
    }

    pub(super) fn recover_from_timeout(&mut self, ack: &Ack, subflow: &mut Subflow) {
        if self.recovering == Some(Recovering::TimedOut) && ack.round_start {
            self.restore_cwnd(subflow);
        }
    }

    pub(super) fn exit_recovery(&mut self, subflow: &mut Subflow) {
        if self.recovering == Some(Recovering::Losses) {
            self.restore_cwnd(subflow);
        }
    }

    /// `HandleSpuriousLossDetection`.
    pub(super) fn undo_spurious_loss(&mut self, subflow: &mut Subflow) {
        self.restore_cwnd(subflow);
        self.latest.lost = false;
        self.plateau.restart_from(0.0);
        self.bounds.restore(&self.undo.bounds);
        let probing_rtt = matches!(self.state, State::ProbeRtt(_));
        match self.undo.ended.take() {
            Some(State::Startup) => {
                self.filled = false;
                self.state = if probing_rtt { self.state } else { State::Startup };
                subflow.ssthresh = f64::INFINITY;
            }
            Some(_) if !probing_rtt && self.state != State::Up => {
                self.start_refill(self.rounds.delivered);
            }
            _ => {}
        }
    }

    /// `HandleRestartFromIdle`: sends at the estimated rate, without the gain of an old phase.
    pub(super) fn restart_from_idle(&mut self, subflow: &mut Subflow, parameters: &Bbr3Parameters) {
        self.idle_restart = true;
        self.restore_cwnd(subflow);
        self.ack_epoch.end();
        if self.state.is_probe_bw() {
            self.set_pacing(1.0, subflow, parameters);
        }
    }
}
