//! What BBR version 3 measures: rounds, bandwidth, propagation time, and the latest deliveries.

use super::Bbr3Parameters;
use crate::congestion::Ack;
use polypath_units::Timestamp;
use std::time::Duration;

/// Packet-timed rounds that begin anew with each phase (`UpdateRound`, `StartRound`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rounds {
    next: u64,
    /// Total bytes delivered as of the last ACK.
    pub(super) delivered: u64,
    /// How many have ended.
    pub(super) count: u64,
    /// Whether the present ACK ended one.
    pub(super) ended: bool,
}

impl Rounds {
    pub(super) const fn on_ack(&mut self, ack: &Ack) {
        self.delivered = ack.delivered;
        self.ended = ack.prior_delivered >= self.next;
        if self.ended {
            self.next = ack.delivered;
            self.count += 1;
        }
    }

    /// A round begins now, with `delivered` bytes delivered so far.
    pub(super) const fn begin(&mut self, delivered: u64) {
        self.next = delivered;
    }
}

/// The largest rate sample of the present and the last cycle of probing, in bytes/s
/// (`MaxBwFilterLen`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct MaxBandwidth {
    last: f64,
    present: f64,
}

impl MaxBandwidth {
    /// 0 before the first sample.
    pub(super) const fn get(&self) -> f64 {
        self.last.max(self.present)
    }

    /// Takes the sample, unless it is only a lower bound below the estimate (`UpdateMaxBw`).
    pub(super) fn on_ack(&mut self, ack: &Ack) {
        let sample = ack.rate.filter(|s| !s.app_limited || s.bytes_per_sec >= self.get());
        self.present = self.present.max(sample.map_or(0.0, |s| s.bytes_per_sec));
    }

    /// A cycle is over. One without a sample does not count.
    pub(super) fn end_cycle(&mut self) {
        if self.present > 0.0 {
            self.last = core::mem::take(&mut self.present);
        }
    }
}

/// The propagation time, and when it must be measured anew (`UpdateMinRTT`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Propagation {
    min: Option<Aged>,
    /// The minimum since the last ProbeRTT.
    recent: Option<Aged>,
    /// Whether that was not confirmed for too long.
    pub(super) expired: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Aged {
    rtt: Duration,
    at: Timestamp,
}

impl Propagation {
    pub(super) fn min(&self) -> Option<Duration> {
        self.min.map(|min| min.rtt)
    }

    pub(super) fn on_ack(&mut self, ack: &Ack, parameters: &Bbr3Parameters) {
        let older = |aged: Aged, secs| ack.now - aged.at > Duration::from_secs_f64(secs);
        let interval = parameters.probe_rtt_interval_secs;
        self.expired = self.recent.is_some_and(|recent| older(recent, interval));
        let Some(rtt) = ack.rtt else { return };
        let recent = match self.recent {
            Some(recent) if rtt >= recent.rtt && !self.expired => recent,
            _ => Aged { rtt, at: ack.now },
        };
        self.recent = Some(recent);
        self.min = match self.min {
            Some(min) if recent.rtt >= min.rtt && !older(min, parameters.min_rtt_secs) => Some(min),
            _ => Some(recent),
        };
    }

    /// ProbeRTT has measured: the next one is due an interval later.
    pub(super) fn confirm(&mut self, now: Timestamp) {
        if let Some(recent) = &mut self.recent {
            recent.at = now;
        }
    }
}

/// The latest deliveries: their maxima over the present round of losses
/// (`UpdateLatestDeliverySignals`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Latest {
    /// `bw_latest` in bytes/s.
    pub(super) bandwidth: f64,
    /// `inflight_latest` in bytes.
    pub(super) in_flight: f64,
    round_end: u64,
    /// Whether the present ACK ended the round (`loss_round_start`).
    pub(super) round_ended: bool,
    /// Whether something was lost in it.
    pub(super) lost: bool,
}

impl Latest {
    pub(super) fn on_ack(&mut self, ack: &Ack) {
        let (bandwidth, in_flight) = sample(ack);
        self.bandwidth = self.bandwidth.max(bandwidth);
        self.in_flight = self.in_flight.max(in_flight);
        self.round_ended = ack.prior_delivered >= self.round_end;
        if self.round_ended {
            self.round_end = ack.delivered;
        }
    }

    /// All that concerns the ACK is done: the next round starts from its sample.
    pub(super) fn end_ack(&mut self, ack: &Ack) {
        if self.round_ended {
            (self.bandwidth, self.in_flight) = sample(ack);
        }
    }

    /// A packet was lost; whether it is the first of the round (`NoteLoss`).
    pub(super) const fn on_loss(&mut self, delivered: u64) -> bool {
        let first = !self.lost;
        if first {
            self.round_end = delivered;
        }
        self.lost = true;
        first
    }

    /// `ResetCongestionSignals`.
    pub(super) const fn reset(&mut self) {
        (self.lost, self.bandwidth, self.in_flight) = (false, 0.0, 0.0);
    }
}

fn sample(ack: &Ack) -> (f64, f64) {
    ack.rate.map_or((0.0, 0.0), |sample| (sample.bytes_per_sec, sample.delivered as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::RateSample;
    use crate::congestion::testing::{ack, rate};

    fn sampled(bytes_per_sec: f64, app_limited: bool) -> Ack {
        Ack { rate: Some(RateSample { app_limited, ..rate(bytes_per_sec) }), ..ack(1, 1) }
    }

    #[test]
    fn the_bandwidth_is_remembered_for_two_cycles() {
        let mut bandwidth = MaxBandwidth::default();
        bandwidth.on_ack(&sampled(100.0, false));
        bandwidth.on_ack(&sampled(10.0, true));
        bandwidth.end_cycle();
        bandwidth.end_cycle();
        assert_eq!(bandwidth.get(), 100.0, "a cycle without a sample does not count");
        bandwidth.on_ack(&sampled(50.0, false));
        assert_eq!(bandwidth.get(), 100.0);
        bandwidth.end_cycle();
        assert_eq!(bandwidth.get(), 50.0);
        bandwidth.on_ack(&sampled(70.0, true));
        assert_eq!(bandwidth.get(), 70.0, "a lower bound above the estimate");
    }

    #[test]
    fn the_propagation_time_outlives_the_interval_between_probes() {
        let mut propagation = Propagation::default();
        let mut at = |millis, rtt| {
            let (now, rtt) = (Timestamp::from_millis(millis), Some(Duration::from_millis(rtt)));
            propagation.on_ack(&Ack { now, rtt, ..ack(1, 1) }, &Bbr3Parameters::DEFAULT);
            (propagation.min().unwrap().as_millis(), propagation.expired)
        };
        assert_eq!(at(0, 20), (20, false));
        assert_eq!(at(5_000, 30), (20, false));
        assert_eq!(at(5_001, 30), (20, true));
        assert_eq!(at(5_002, 40), (20, false), "30 ms are recent");
        assert_eq!(at(10_001, 40), (30, false), "20 ms are too old");
    }

    #[test]
    fn rounds_begin_anew_where_they_are_told_to() {
        let mut rounds = Rounds::default();
        let mut ended = |prior_delivered, delivered| {
            rounds.on_ack(&Ack { prior_delivered, delivered, ..ack(1, 1) });
            rounds.ended
        };
        assert!(ended(0, 10));
        assert!(!ended(9, 15));
        assert!(ended(10, 20));
        rounds.begin(25);
        rounds.on_ack(&Ack { prior_delivered: 20, delivered: 30, ..ack(1, 1) });
        assert!(!rounds.ended);
        assert_eq!(rounds.count, 2);
    }
}
