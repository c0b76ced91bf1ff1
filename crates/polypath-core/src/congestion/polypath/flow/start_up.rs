//! Start-up is BBR's, but that a sender which is limited can also fill the pipe.

use super::{Flow, Mode};
use crate::congestion::bbr_model::{Flow as _, LossLimits, full_pipe};
use crate::congestion::{Ack, Subflow};

impl Flow {
    /// Whether the pipe is full: no growth in rounds that had enough to send, or too much loss.
    ///
    /// A receive window or a scheduler that holds the sender back limits all of its rounds, but
    /// those in which the link was busy count: a start-up that never ends overflows short queues.
    pub(super) fn check_full_pipe(&mut self, ack: &Ack) {
        let unlimited = ack.rate.is_some_and(|sample| !sample.app_limited);
        if ack.round_start && (self.queue.busy() || unlimited) {
            self.full_pipe.on_round(self.bandwidth(), full_pipe::GROWTH, full_pipe::ROUNDS);
        }
        if self.mode == Mode::Startup && self.lost_too_much(ack) {
            self.full_pipe.reach();
        }
    }

    fn lost_too_much(&mut self, ack: &Ack) -> bool {
        let recovering = self.recovery.is_under_way();
        self.excess_loss.on_ack(ack, recovering, self.queued, &LossLimits::DRAFT)
    }

    pub(super) fn leave_startup(&mut self, ack: &Ack, subflow: &mut Subflow) {
        if self.mode == Mode::Startup && self.full_pipe.reached() {
            self.mode = Mode::Drain;
            subflow.ssthresh = self.inflight(1.0, ack.mss);
        }
        if self.mode == Mode::Drain && ack.bytes_in_flight as f64 <= self.inflight(1.0, ack.mss) {
            self.mode = Mode::Steady;
        }
    }
}
