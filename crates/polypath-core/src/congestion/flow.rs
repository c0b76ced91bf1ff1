//! What [`super::Congestion`] keeps for each subflow beside its window: estimators, and the ACK and
//! loss events while they are being put together from packets.

use super::queued::is_queued;
use super::recovery::Recovery;
use super::{Ack, Loss, LostPacket, RateSample, Subflow};
use crate::estimator::{DeliveryTracker, FlightTime, RttEstimator, SentPacket, WindowedMax};
use polypath_units::Timestamp;
use std::time::Duration;

/// Rounds over which the delivery rate is the maximum of its samples.
const RATE_ROUNDS: u64 = 10;
/// While no data is sent, what is known of a path's loss is worth half as much after this.
const LOSS_HALF_LIFE: Duration = Duration::from_secs(2);
/// Weight of one packet in the smoothed loss rate: it remembers about 256 packets.
const LOSS_GAIN: f64 = 1.0 / 256.0;

#[derive(Debug)]
pub(super) struct Flow {
    pub(super) rtt: RttEstimator,
    pub(super) recovery: Recovery,
    incarnation: u32,
    /// See [`CongestionConfig::counted_segment`](super::CongestionConfig::counted_segment).
    counted_segment: Option<u32>,
    delivery: DeliveryTracker,
    usage: WindowUsage,
    rate: WindowedMax<f64>,
    loss_rate: f64,
    /// The same without what was sent in slow start and met a queue, because its own growth caused
    /// those losses.
    steady_loss_rate: f64,
    last_sent: Option<Timestamp>,
    /// When data was sent last: probes of a path that is not used are too few to tell of losses.
    last_data: Option<Timestamp>,
    restarts_after_idle: bool,
    acked: Acked,
    lost: Lost,
    last_ack: Option<LastAck>,
    /// When it was last penalised.
    penalised: Option<Timestamp>,
}

/// The ACK event under way.
#[derive(Clone, Copy, Debug, Default)]
struct Acked {
    bytes: u64,
    newest: Option<SentPacket>,
    flight_time: FlightTime,
    prior_in_flight: u64,
    ecn_ce_bytes: u64,
    growth_held: bool,
}

/// Losses since the last ACK event, and those of the batch under way.
#[derive(Clone, Copy, Debug, Default)]
struct Lost {
    since_ack: u64,
    batch: u64,
    prior_in_flight: u64,
    /// Bytes in flight that do not count.
    excluded: u64,
}

/// The last ACK event: a loss declared at the same time was revealed by it.
#[derive(Clone, Copy, Debug)]
struct LastAck {
    at: Timestamp,
    prior_in_flight: u64,
}

/// How much of the window was used: the largest flight of the present and of the last round.
#[derive(Clone, Copy, Debug, Default)]
struct WindowUsage {
    present: u64,
    last: u64,
}

impl WindowUsage {
    fn on_sent(&mut self, in_flight: u64) {
        self.present = self.present.max(in_flight);
    }

    fn on_round(&mut self, in_flight: u64) {
        self.last = core::mem::replace(&mut self.present, in_flight);
    }

    /// In slow start half of the window is enough, because it doubled within the round.
    fn cwnd_limited(&self, subflow: &Subflow) -> bool {
        let used = self.present.max(self.last) as f64;
        if subflow.cwnd < subflow.ssthresh {
            subflow.cwnd < 2.0 * used
        } else {
            used >= subflow.cwnd - subflow.mss as f64
        }
    }
}

impl Flow {
    pub(super) fn new(incarnation: u32, counted_segment: Option<u32>) -> Self {
        Self {
            rtt: RttEstimator::default(),
            recovery: Recovery::default(),
            incarnation,
            counted_segment,
            delivery: DeliveryTracker::default(),
            usage: WindowUsage::default(),
            rate: WindowedMax::new(RATE_ROUNDS),
            loss_rate: 0.0,
            steady_loss_rate: 0.0,
            last_sent: None,
            last_data: None,
            restarts_after_idle: true,
            acked: Acked::default(),
            lost: Lost::default(),
            last_ack: None,
            penalised: None,
        }
    }

    /// Whether `packet` was sent by this subflow, not by an earlier one on the same path.
    pub(super) fn sent(&self, packet: &SentPacket) -> bool {
        packet.incarnation == self.incarnation
    }

    /// Whether the window must restart: nothing was in flight for longer than one RTO.
    pub(super) fn idled(&self, now: Timestamp, in_flight: u64) -> bool {
        in_flight == 0
            && self.restarts_after_idle
            && self.last_sent.is_some_and(|last| now - last > self.rtt.rto())
    }

    pub(super) fn set_restart_after_idle(&mut self, on: bool) {
        self.restarts_after_idle = on;
    }

    pub(super) fn on_sent(
        &mut self,
        now: Timestamp,
        bytes: u64,
        subflow: &mut Subflow,
        in_slow_start: bool,
    ) -> SentPacket {
        let mut packet = self.delivery.on_sent(now, bytes, subflow.in_flight);
        packet.incarnation = self.incarnation;
        packet.in_slow_start = in_slow_start;
        subflow.in_flight = packet.in_flight();
        self.usage.on_sent(subflow.in_flight);
        self.last_sent = Some(now);
        if bytes >= subflow.mss / 2 {
            self.steady_loss_rate = self.steady_loss_rate(now);
            self.last_data = Some(now);
        }
        packet
    }

    pub(super) fn on_packet_acked(
        &mut self,
        now: Timestamp,
        packet: &SentPacket,
        subflow: &mut Subflow,
    ) {
        if self.acked.newest.is_none() {
            self.acked.prior_in_flight = subflow.in_flight;
        }
        if self.acked.newest.is_none_or(|newest| packet.sent_at >= newest.sent_at) {
            self.acked.newest = Some(*packet);
        }
        self.acked.bytes = self.acked.bytes.saturating_add(packet.bytes);
        if !packet.ambiguous {
            self.acked.flight_time.add(now.since(packet.sent_at), packet.bytes);
        }
        self.delivery.on_acked(now, packet);
        self.count(packet, 0.0);
        subflow.in_flight = subflow.in_flight.saturating_sub(packet.bytes);
    }

    pub(super) fn on_packet_lost(
        &mut self,
        now: Timestamp,
        packet: &SentPacket,
        subflow: &mut Subflow,
    ) -> LostPacket {
        if self.lost.batch == 0 {
            self.lost.prior_in_flight = subflow.in_flight;
        }
        self.lost.batch = self.lost.batch.saturating_add(packet.bytes);
        self.lost.since_ack = self.lost.since_ack.saturating_add(packet.bytes);
        self.delivery.on_lost(packet);
        self.count(packet, 1.0);
        subflow.in_flight = subflow.in_flight.saturating_sub(packet.bytes);
        LostPacket {
            now,
            bytes: packet.bytes,
            lost: self.delivery.lost_since(packet),
            tx_in_flight: packet.in_flight(),
            app_limited: packet.app_limited(),
            delivered: self.delivery.delivered(),
        }
    }

    /// A packet that was declared lost is in flight after all.
    pub(super) fn on_loss_reverted(&mut self, packet: &SentPacket, subflow: &mut Subflow) {
        self.lost.since_ack = self.lost.since_ack.saturating_sub(packet.bytes);
        self.delivery.on_loss_reverted(packet);
        subflow.in_flight = subflow.in_flight.saturating_add(packet.bytes);
    }

    /// A round trip that no packet of [`Flow::on_sent`] measured.
    pub(super) fn on_rtt_sample(&mut self, sample: Duration, subflow: &mut Subflow) {
        self.rtt.on_sample(sample);
        subflow.srtt = self.rtt.srtt();
        subflow.min_rtt = self.rtt.min();
    }

    /// Takes a packet that was lost (1) or not (0) into the loss rates.
    fn count(&mut self, packet: &SentPacket, lost: f64) {
        self.loss_rate += (lost - self.loss_rate) * LOSS_GAIN;
        if !(packet.in_slow_start && is_queued(self.rtt.latest(), self.rtt.min())) {
            self.steady_loss_rate += (lost - self.steady_loss_rate) * LOSS_GAIN;
        }
    }

    pub(super) fn on_ecn_bytes(&mut self, bytes: u64) {
        self.acked.ecn_ce_bytes = self.acked.ecn_ce_bytes.saturating_add(bytes);
    }

    pub(super) fn hold_growth(&mut self) {
        self.acked.growth_held = true;
    }

    /// Whether the last penalty, if there was one, was at least `interval` ago; if so, the next one
    /// counts as now.
    pub(super) fn may_be_penalised(&mut self, now: Timestamp, interval: Duration) -> bool {
        let due = self.penalised.is_none_or(|at| now.since(at) >= interval);
        if due {
            self.penalised = Some(now);
        }
        due
    }

    fn as_counted(&self, sample: RateSample, mss: u64) -> RateSample {
        let Some(counted) = self.counted_segment else { return sample };
        let bytes_per_sec = sample.bytes_per_sec * f64::from(counted) / mss as f64;
        RateSample { bytes_per_sec, ..sample }
    }

    /// The ACK event is complete: updates the estimators. `None` if it acknowledged nothing. The
    /// second part says whether it ended a recovery episode.
    pub(super) fn end_ack(&mut self, now: Timestamp, subflow: &mut Subflow) -> Option<(Ack, bool)> {
        let newest = self.acked.newest?;
        let acked = core::mem::take(&mut self.acked);
        let rtt = self.sample_rtt(now, &newest, subflow);
        let rtt_min = self.rtt.min().unwrap_or(Duration::ZERO);
        let rate = self.delivery.sample(&newest, rtt_min);
        let rate = rate.map(|sample| self.as_counted(sample, subflow.mss));
        let ack = Ack {
            now,
            acked_bytes: acked.bytes,
            rtt,
            flight_time: acked.flight_time.mean(),
            rate,
            delivered: self.delivery.delivered(),
            prior_delivered: newest.delivered(),
            cwnd_limited: !acked.growth_held && self.usage.cwnd_limited(subflow),
            round_start: self.delivery.end_round(&newest),
            ecn_ce_bytes: acked.ecn_ce_bytes,
            lost_bytes: core::mem::take(&mut self.lost.since_ack),
            prior_in_flight: acked.prior_in_flight,
            bytes_in_flight: subflow.in_flight,
            mss: subflow.mss,
        };
        self.after_ack(&ack);
        let exit = subflow.in_recovery && self.recovery.is_ended_by(newest.sent_at);
        subflow.in_recovery &= !exit;
        Some((ack, exit))
    }

    fn sample_rtt(
        &mut self,
        now: Timestamp,
        newest: &SentPacket,
        subflow: &mut Subflow,
    ) -> Option<Duration> {
        self.rtt.reset_back_off();
        if newest.ambiguous {
            return None;
        }
        self.on_rtt_sample(now.since(newest.sent_at), subflow);
        self.rtt.latest()
    }

    fn after_ack(&mut self, ack: &Ack) {
        self.last_ack = Some(LastAck { at: ack.now, prior_in_flight: ack.prior_in_flight });
        if ack.round_start {
            self.usage.on_round(ack.bytes_in_flight);
        }
        // An application-limited sample is a lower bound: it may raise the maximum only.
        if let Some(sample) = ack.rate.filter(|s| {
            !s.app_limited || self.rate.get().is_none_or(|best| s.bytes_per_sec >= best)
        }) {
            self.rate.update(self.delivery.round(), sample.bytes_per_sec);
        }
    }

    pub(super) fn exclude_from_flight(&mut self, bytes: u64) {
        self.lost.excluded = bytes;
    }

    /// A batch of losses (or a mark, or a timeout) is complete: what to tell the controller.
    pub(super) fn end_loss(&mut self, now: Timestamp, ecn: bool, subflow: &Subflow) -> Loss {
        let lost = core::mem::take(&mut self.lost.batch);
        let before = if lost > 0 { self.lost.prior_in_flight } else { subflow.in_flight };
        let revealed_by = self.last_ack.filter(|ack| ack.at == now).map(|ack| ack.prior_in_flight);
        let pending = self.acked.newest.map(|_| self.acked.prior_in_flight);
        let in_flight = before.max(revealed_by.unwrap_or(0)).max(pending.unwrap_or(0));
        let excluded = core::mem::take(&mut self.lost.excluded);
        Loss {
            now,
            lost_bytes: if ecn { 0 } else { lost },
            bytes_in_flight: in_flight.saturating_sub(excluded),
            ecn,
            mss: subflow.mss,
        }
    }

    pub(super) fn set_app_limited(&mut self, subflow: &Subflow) {
        self.delivery.set_app_limited(subflow.in_flight);
    }

    pub(super) fn delivery_rate(&self) -> f64 {
        self.rate.get().unwrap_or(0.0)
    }

    pub(super) const fn loss_rate(&self) -> f64 {
        self.loss_rate
    }

    pub(super) fn steady_loss_rate(&self, now: Timestamp) -> f64 {
        let idle = self.last_data.map_or(Duration::ZERO, |last| now - last);
        // On a path that carries data this is asked for each packet.
        if idle < LOSS_HALF_LIFE {
            return self.steady_loss_rate;
        }
        let half_lives = (idle.as_nanos() / LOSS_HALF_LIFE.as_nanos()).min(1_000) as i32;
        self.steady_loss_rate * 0.5f64.powi(half_lives)
    }
}
