//! A set of subflows under one pair of slow start and congestion avoidance.

use super::{
    Ack, Congestion, CongestionAvoidance, CongestionConfig, Loss, LostPacket, Subflow, Subflows,
};
use crate::slow_start::{Growth, SlowStart};
use polypath_units::{Bandwidth, PathId, Timestamp};

/// Pacing of a window after slow start without a controller's own rate: gain over window / srtt, as
/// Linux has it.
const AVOIDANCE_PACING_GAIN: f64 = 1.25;

/// The subflows that one controller sees: all of a connection, or a single one if uncoupled.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) subflows: Subflows,
    avoidance: Box<dyn CongestionAvoidance>,
    slow_start: Box<dyn SlowStart>,
}

impl Group {
    pub(super) fn new(config: &CongestionConfig, seed: u64) -> Self {
        Self {
            subflows: Subflows::default(),
            avoidance: config.build_avoidance(seed),
            slow_start: config.slow_start.build(),
        }
    }

    pub(super) fn add(&mut self, subflow: Subflow) {
        self.remove(subflow.id);
        self.subflows.insert(subflow);
    }

    pub(super) fn remove(&mut self, id: PathId) {
        if self.subflows.remove(id).is_some() {
            self.avoidance.on_remove(id);
            self.slow_start.on_remove(id);
        }
    }

    pub(super) fn in_slow_start(&self, subflow: &Subflow) -> bool {
        if self.avoidance.owns_start_up() {
            subflow.ssthresh.is_infinite()
        } else {
            subflow.cwnd < subflow.ssthresh
        }
    }

    pub(super) fn holds_back(&self, id: PathId) -> bool {
        self.avoidance.holds_back(id)
    }

    pub(super) fn owns_start_up(&self) -> bool {
        self.avoidance.owns_start_up()
    }

    pub(super) fn bandwidth_estimate(&self, id: PathId) -> Option<f64> {
        self.avoidance.bandwidth_estimate(id)
    }

    pub(super) fn controller_rate(&self, id: PathId) -> Option<Bandwidth> {
        self.avoidance.pacing_rate(id)
    }

    /// The pacing rate; `None` before an RTT is known. Never zero.
    pub(super) fn pacing_rate(&self, id: PathId) -> Option<Bandwidth> {
        if let Some(rate) = self.avoidance.pacing_rate(id) {
            return Some(rate.max(Bandwidth::from_bits_per_sec(8)));
        }
        let subflow = self.subflows.get(id)?;
        let gain = if self.in_slow_start(subflow) {
            self.slow_start.pacing_gain(id)
        } else {
            AVOIDANCE_PACING_GAIN
        };
        let rate = gain * subflow.flight_rate()?;
        Some(Bandwidth::from_bytes_per_sec(rate.max(1.0)))
    }

    pub(super) fn on_sent(&mut self, id: PathId, bytes: u64) {
        self.slow_start.on_sent(id, bytes);
    }

    pub(super) fn on_idle_restart(&mut self, id: PathId) {
        self.avoidance.on_idle_restart(id, &mut self.subflows);
        self.bound(id, 1.0);
    }

    pub(super) fn on_feedback(&mut self, id: PathId, now: Timestamp, rate: Bandwidth) {
        self.avoidance.on_feedback(id, now, rate, &mut self.subflows);
        self.bound(id, 1.0);
    }

    pub(super) fn on_ack(&mut self, id: PathId, ack: &Ack, recovered: bool) {
        self.avoidance.on_delivery(id, ack, &self.subflows);
        if recovered {
            self.avoidance.on_recovery_exit(id, ack, &mut self.subflows);
        }
        if ack.round_start {
            self.avoidance.on_round(id, ack, &mut self.subflows);
            self.slow_start.on_round(id, ack, self.subflows.as_slice());
        }
        let remaining = self.grow_in_slow_start(id, ack);
        if remaining > 0 {
            let rest = Ack { acked_bytes: remaining, ..*ack };
            self.avoidance.on_ack(id, &rest, &mut self.subflows);
        }
        self.bound(id, 1.0);
    }

    /// Grows the window by slow start and returns the acknowledged bytes that are left for
    /// congestion avoidance: all outside slow start, the rest where the window reaches ssthresh.
    fn grow_in_slow_start(&mut self, id: PathId, ack: &Ack) -> u64 {
        let slow = self.subflows.get(id).is_some_and(|s| self.in_slow_start(s) && !s.in_recovery);
        if !slow || self.avoidance.owns_start_up() {
            return ack.acked_bytes;
        }
        if !ack.cwnd_limited {
            return 0;
        }
        match self.slow_start.on_ack(id, ack, self.subflows.as_slice()) {
            Growth::Grow(bytes) => self.grow_to_threshold(id, bytes, ack.acked_bytes),
            Growth::Exit => {
                self.leave_slow_start(id, ack);
                0
            }
        }
    }

    fn grow_to_threshold(&mut self, id: PathId, growth: f64, acked: u64) -> u64 {
        let Some(subflow) = self.subflows.get_mut(id) else { return 0 };
        let room = subflow.ssthresh - subflow.cwnd;
        if growth < room {
            subflow.cwnd += growth;
            return 0;
        }
        subflow.cwnd = subflow.ssthresh;
        (acked as f64 * (1.0 - room / growth)) as u64
    }

    fn leave_slow_start(&mut self, id: PathId, ack: &Ack) {
        if let Some(subflow) = self.subflows.get_mut(id) {
            // No threshold is below two segments (RFC 5681 equation 4).
            subflow.ssthresh = subflow.cwnd.max(2.0 * subflow.mss as f64);
        }
        self.avoidance.on_slow_start_exit(id, ack, &mut self.subflows);
    }

    pub(super) fn on_packet_lost(&mut self, id: PathId, lost: &LostPacket) {
        self.avoidance.on_packet_lost(id, lost, &self.subflows);
    }

    pub(super) fn on_loss(&mut self, id: PathId, loss: &Loss) {
        self.leave_by_congestion(id);
        if let Some(subflow) = self.subflows.get_mut(id) {
            subflow.in_recovery = true;
        }
        self.avoidance.on_loss(id, loss, &mut self.subflows);
        self.bound(id, self.avoidance.min_window_segments());
        self.slow_start.on_threshold(id, self.subflows.as_slice());
    }

    /// `repeated`: the timer expired before and nothing new was acknowledged since. The threshold
    /// then stays (RFC 5681 section 3.1).
    pub(super) fn on_timeout(&mut self, id: PathId, loss: &Loss, repeated: bool) {
        self.leave_by_congestion(id);
        let before = self.subflows.get(id).map(|s| s.ssthresh);
        self.avoidance.on_timeout(id, loss, &mut self.subflows);
        self.slow_start.on_timeout(id);
        if let Some(subflow) = self.subflows.get_mut(id) {
            subflow.in_recovery = false;
            if let Some(ssthresh) = before.filter(|_| repeated) {
                subflow.ssthresh = ssthresh;
            }
        }
        self.bound(id, 1.0);
        self.slow_start.on_threshold(id, self.subflows.as_slice());
    }

    fn leave_by_congestion(&mut self, id: PathId) {
        if self.subflows.get(id).is_some_and(|s| self.in_slow_start(s)) {
            self.slow_start.on_congestion(id);
        }
    }

    pub(super) fn on_spurious_loss(&mut self, id: PathId) {
        self.avoidance.on_spurious_loss(id, &mut self.subflows);
    }

    /// Keeps a window between `floor` segments and [`Congestion::MAX_WINDOW`].
    fn bound(&mut self, id: PathId, floor: f64) {
        if let Some(subflow) = self.subflows.get_mut(id) {
            debug_assert!(!subflow.cwnd.is_nan(), "a controller set a window that is no number");
            // In this order not-a-number becomes the floor.
            subflow.cwnd =
                subflow.cwnd.max(floor * subflow.mss as f64).min(Congestion::MAX_WINDOW as f64);
        }
    }
}
