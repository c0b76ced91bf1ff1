//! The state machine for one subflow.

mod measuring;
mod start_up;
mod steady;
mod window;

use super::PolypathParameters;
use super::growth::Growth;
use super::overflow::Overflow;
use super::path::Path;
use super::standing_queue::StandingQueue;
use super::usual_rtt::UsualRtt;
use crate::congestion::Subflow;
use crate::congestion::bbr_model::{
    self, Aggregation, ExcessLoss, FullPipe, Pacing, ProbeRtt, Recovery,
};
pub(super) use measuring::PROBE_RTT_GAIN;

type Step<'a> = bbr_model::Step<'a, PolypathParameters>;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    /// Until the pipe is full.
    Startup,
    /// Until the queue that start-up has made is gone.
    Drain,
    /// One BDP and a little more: from then on.
    Steady,
    /// The propagation time is measured.
    ProbeRtt(ProbeRtt),
}

/// What a subflow knows and does.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Flow {
    mode: Mode,
    path: Path,
    full_pipe: FullPipe,
    excess_loss: ExcessLoss,
    aggregation: Aggregation,
    pacing: Pacing,
    recovery: Recovery,
    idle_restart: bool,
    queue: StandingQueue,
    growth: Growth,
    overflow: Overflow,
    usual_rtt: UsualRtt,
    /// Whether the latest RTT shows a queue, by what is usual in start-up.
    queued: bool,
}

impl bbr_model::Flow for Flow {
    type Parameters = PolypathParameters;

    fn new(parameters: &PolypathParameters) -> Self {
        Self {
            mode: Mode::Startup,
            path: Path::new(parameters.bandwidth_rounds),
            full_pipe: FullPipe::default(),
            excess_loss: ExcessLoss::default(),
            aggregation: Aggregation::default(),
            pacing: Pacing::default(),
            recovery: Recovery::default(),
            idle_restart: false,
            queue: StandingQueue::default(),
            growth: Growth::default(),
            overflow: Overflow::default(),
            usual_rtt: UsualRtt::default(),
            queued: false,
        }
    }

    fn on_ack(&mut self, step: Step) {
        let Step { ack, subflow, parameters, .. } = step;
        let foreign = self.follow_queue(ack, parameters);
        self.path.model.update_bandwidth(ack);
        self.follow_growth(ack);
        self.follow_jitter(ack);
        self.aggregation.on_ack(ack, self.bandwidth(), subflow.cwnd);
        self.check_full_pipe(ack);
        self.leave_startup(ack, subflow);
        self.path.model.update_rtprop(ack, parameters.rtprop_secs);
        self.probe_rtt(ack, subflow, parameters, foreign);
        self.set_pacing(self.pacing_gain(parameters), subflow);
        self.set_cwnd(ack, subflow, parameters);
    }

    fn on_loss(&mut self, subflow: &mut Subflow) {
        // Random loss says nothing of the window, and start-up has no time to lose.
        if self.mode != Mode::Startup || self.queued {
            self.recovery.on_loss(subflow, self.probes_rtt());
        }
    }

    fn on_timeout(&mut self, subflow: &mut Subflow) {
        self.recovery.on_timeout(subflow, self.probes_rtt());
        self.full_pipe.restart();
    }

    fn on_spurious_loss(&mut self, subflow: &mut Subflow) {
        self.full_pipe.restart();
        self.recovery.end(subflow);
    }

    /// Sends again after idling: at the estimated rate, without a gain. The window stays, or is
    /// restored if what was lost last ended the flight: pacing prevents the burst.
    fn on_idle_restart(&mut self, subflow: &mut Subflow, _parameters: &PolypathParameters) {
        self.idle_restart = true;
        self.recovery.end(subflow);
        self.aggregation.end_epoch();
        if self.mode == Mode::Steady {
            self.set_pacing(1.0, subflow);
        }
    }

    fn bandwidth(&self) -> f64 {
        self.path.model.bandwidth()
    }

    fn pacing(&self) -> Option<f64> {
        self.pacing.rate()
    }

    fn probes_rtt(&self) -> bool {
        matches!(self.mode, Mode::ProbeRtt(_))
    }
}
