//! How controllers without a gain cycle follow a path: down by a standing queue, up by growth.

use super::{Flow, Mode};
use crate::congestion::Ack;
use crate::congestion::bbr::BbrParameters;
use crate::congestion::bbr::steady::{QueueLimits, Steady};
use crate::congestion::queued::is_queued;
use std::time::Duration;

impl Flow {
    /// Lowers the bandwidth to what a standing queue shows, and the room above a BDP where the
    /// queue overflows. Returns whether a queue stands that is not the flow's own.
    pub(super) fn follow_queue(
        &mut self,
        ack: &Ack,
        parameters: &BbrParameters,
        steady: Steady,
    ) -> bool {
        // The limits apply at the end of a round only.
        let limits = match ack.round_start {
            true => self.queue_limits(ack.mss, parameters, steady),
            false => None,
        };
        let queued = is_queued(ack.rtt, self.model.rtprop());
        self.queue.on_ack(ack, queued, limits);
        // Start-up and what it leaves overflow queues of any length.
        if matches!(self.mode, Mode::ProbeBw { .. }) {
            self.overflow.on_ack(ack, queued, &steady);
        }
        if !self.full_pipe.reached() {
            // The window does not follow yet: a sender that the receive window holds back in
            // start-up has a queue of its own.
            self.queue.restart();
            return false;
        }
        if ack.round_start {
            match self.queue.stands() {
                true => self.model.lower_bandwidth(self.queue.drained_at()),
                false => self.model.trust_bandwidth(),
            }
        }
        self.queue.is_foreign(&steady)
    }

    /// Counts the rounds in which the bandwidth grew.
    pub(super) fn follow_growth(&mut self, ack: &Ack) {
        let Some(steady) = self.steady.filter(|_| ack.round_start) else { return };
        self.growth.on_round(self.model.bandwidth(), self.queue.stands(), steady.growth);
    }

    /// `gain`, or the larger one for growth while the bandwidth grows.
    pub(super) fn grown_gain(&self, steady: &Steady, gain: f64) -> f64 {
        match f64::from(self.growth.rounds()) >= steady.growth_rounds {
            true => gain.max(steady.growth_gain),
            false => gain,
        }
    }

    fn queue_limits(
        &self,
        mss: u64,
        parameters: &BbrParameters,
        steady: Steady,
    ) -> Option<QueueLimits> {
        let rtprop = self.model.rtprop()?.as_secs_f64();
        let bandwidth = self.model.bandwidth();
        // This is how long a window takes to drain: at a low rate it consists mostly of send
        // quanta.
        let target = self.inflight(parameters.cwnd_gain, mss);
        let window = if bandwidth > 0.0 { target / bandwidth } else { 0.0 };
        let limit = |secs| Duration::try_from_secs_f64(secs).unwrap_or(Duration::MAX);
        Some(QueueLimits {
            any: limit(steady.queue_rtts * rtprop),
            foreign: limit(steady.foreign_rtts * rtprop.max(window)),
            excess: limit(steady.excess_rtts * rtprop.max(window)),
        })
    }
}
