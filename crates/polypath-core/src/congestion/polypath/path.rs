//! What is known of the path: the model of BBR, and what it was before a queue changed it.

use super::foreign_queue::EXCESS_RTTS;
use crate::congestion::Ack;
use crate::congestion::bbr_model::Model;
use polypath_units::Timestamp;
use std::time::Duration;

/// The model of a path, whose bandwidth may be in doubt.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Path {
    pub(super) model: Model,
    /// The bandwidth before it was lowered because of a queue, in bytes/s.
    unlowered: Option<f64>,
    /// The least RTT of the measurement under way.
    measured: Option<Duration>,
}

impl Path {
    /// Without samples; the bandwidth is the maximum over so many rounds.
    pub(super) fn new(bandwidth_rounds: f64) -> Self {
        Self { model: Model::new(bandwidth_rounds), unlowered: None, measured: None }
    }

    /// A queue stood while no more than `bytes_per_sec` came through: that is the bandwidth.
    pub(super) fn lower_bandwidth(&mut self, bytes_per_sec: f64) {
        let present = self.model.bandwidth();
        if 0.0 < bytes_per_sec && bytes_per_sec < present {
            self.unlowered.get_or_insert(present);
            self.model.replace_bandwidth(bytes_per_sec);
        }
    }

    /// The queue is gone, so that it was one, and the bandwidth rightly lowered.
    pub(super) const fn trust_bandwidth(&mut self) {
        self.unlowered = None;
    }

    /// Takes the RTT sample of a measurement whose result shall replace the propagation time.
    pub(super) fn measure(&mut self, ack: &Ack) {
        self.measured = ack.least_rtt(self.measured);
    }

    /// The measurement is over: the estimate is as new as it can be. If it rose by more than
    /// [`EXCESS_RTTS`], what looked like a queue was the path itself, and the bandwidth was lowered
    /// without reason.
    pub(super) fn end_measurement(&mut self, now: Timestamp) {
        self.model.confirm_rtprop(now);
        let unlowered = self.unlowered.take();
        let Some(measured) = self.measured.take() else { return };
        let before = self.model.rtprop();
        let longer = before.is_some_and(|rtprop| measured > rtprop.mul_f64(EXCESS_RTTS));
        if let Some(bandwidth) = unlowered.filter(|_| longer) {
            self.model.replace_bandwidth(bandwidth);
        }
        self.model.replace_rtprop(measured, now);
    }
}
