//! How a flow follows its path: down by the queue that stands, up by growth.

use super::{Flow, Mode};
use crate::congestion::Ack;
use crate::congestion::bbr_model::{Flow as _, full_pipe};
use crate::congestion::polypath::PolypathParameters;
use crate::congestion::polypath::standing_queue::QueueLimits;
use crate::congestion::queued::is_queued;
use std::time::Duration;

impl Flow {
    /// The bandwidth follows a standing queue, the room above a BDP one that overflows. Whether one
    /// stands that is not ours.
    pub(super) fn follow_queue(&mut self, ack: &Ack, parameters: &PolypathParameters) -> bool {
        // Only the end of a round is judged by them.
        let limits = match ack.round_start {
            true => self.queue_limits(ack.mss, parameters),
            false => None,
        };
        let queued = is_queued(ack.rtt, self.path.model.rtprop());
        self.queue.on_ack(ack, queued, limits);
        // Start-up and what it leaves overflow queues of any length.
        if self.mode == Mode::Steady {
            self.overflow.on_ack(ack, queued, parameters.overflow_loss);
        }
        if !self.full_pipe.reached() {
            // The window does not follow yet: a sender that the receive window holds in start-up
            // has a queue of its own.
            self.queue.restart();
            return false;
        }
        if ack.round_start {
            match self.queue.stands() {
                true => self.path.lower_bandwidth(self.queue.drained_at()),
                false => self.path.trust_bandwidth(),
            }
        }
        self.queue.is_foreign()
    }

    /// Counts the rounds in which the bandwidth grew.
    pub(super) fn follow_growth(&mut self, ack: &Ack) {
        if ack.round_start {
            self.growth.on_round(self.bandwidth(), self.queue.stands());
        }
    }

    /// Takes the times that packets take.
    pub(super) fn follow_jitter(&mut self, ack: &Ack) {
        let growing = self.mode == Mode::Startup && self.growth.grew_by(full_pipe::GROWTH);
        self.usual_rtt.on_ack(ack, growing);
        if ack.rtt.is_some() {
            let usual = self.path.model.rtprop().map(|rtprop| self.usual_rtt.in_start_up(rtprop));
            self.queued = is_queued(ack.rtt, usual);
        }
    }

    /// What packets take without a queue, by which the window is made.
    pub(super) fn usual_rtt(&self) -> Option<Duration> {
        let rtprop = self.path.model.rtprop()?;
        Some(match self.mode {
            Mode::Startup => self.usual_rtt.in_start_up(rtprop),
            Mode::Steady => self.usual_rtt.in_steady_state(rtprop),
            Mode::Drain | Mode::ProbeRtt(_) => rtprop,
        })
    }

    fn queue_limits(&self, mss: u64, parameters: &PolypathParameters) -> Option<QueueLimits> {
        let rtprop = self.path.model.rtprop()?;
        let usual = self.usual_rtt.in_steady_state(rtprop).as_secs_f64();
        let bandwidth = self.bandwidth();
        // A window takes so long to drain: at a low rate it is mostly send quanta.
        let target = self.inflight(parameters.cwnd_gain, mss);
        let window = if bandwidth > 0.0 { target / bandwidth } else { 0.0 };
        Some(QueueLimits::new(usual, window))
    }
}
