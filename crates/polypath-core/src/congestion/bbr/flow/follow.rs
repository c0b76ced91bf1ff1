//! The bandwidth follows standing queues, for controllers without gain cycle.

use super::Flow;
use crate::congestion::Ack;
use crate::congestion::bbr::BbrParameters;
use crate::congestion::bbr::steady::{QueueLimits, Steady};
use std::time::Duration;

impl Flow {
    /// The bandwidth follows a standing queue. Whether one stands that is not ours.
    pub(super) fn follow_queue(
        &mut self,
        ack: &Ack,
        parameters: &BbrParameters,
        steady: Steady,
    ) -> bool {
        self.queue.on_ack(ack, self.queue_limits(ack.mss, parameters, steady));
        if ack.round_start && self.full_pipe.reached() {
            match self.queue.stands() {
                true => self.model.lower_bandwidth(self.queue.drained_at()),
                false => self.model.trust_bandwidth(),
            }
        }
        f64::from(self.queue.foreign_rounds()) >= steady.patience_rounds
    }

    fn queue_limits(
        &self,
        mss: u64,
        parameters: &BbrParameters,
        steady: Steady,
    ) -> Option<QueueLimits> {
        let rtprop = self.model.rtprop()?.as_secs_f64();
        let bandwidth = self.model.bandwidth();
        // A window takes so long to drain: at a low rate it is mostly send quanta.
        let target = self.inflight(parameters.cwnd_gain, mss);
        let window = if bandwidth > 0.0 { target / bandwidth } else { 0.0 };
        let limit = |secs: f64| Duration::try_from_secs_f64(steady.queue_rtts * secs);
        let own = limit(rtprop.max(window)).unwrap_or(Duration::MAX);
        Some(QueueLimits { any: limit(rtprop).unwrap_or(Duration::MAX), own })
    }
}
