//! What losses have taught of how much may be in flight: bounds for long and for now.

use super::Bbr3Parameters;
use super::model::Latest;
use crate::congestion::LostPacket;

/// Doublings after which a probe grows no faster.
const MAX_GROWTH_ROUNDS: u32 = 30;

/// Bounds in bytes and bytes/s; infinite where nothing was learnt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    /// What the path carried when it was probed without too much loss (`inflight_longterm`).
    pub(super) long_term: f64,
    /// What it delivers at present (`inflight_shortterm`).
    pub(super) short_term: f64,
    /// The same as a rate (`bw_shortterm`).
    pub(super) bandwidth: f64,
    growth: Growth,
}

/// How fast a probe raises the long-term bound: by twice as much in each round.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Growth {
    rounds: u32,
    acked: f64,
    /// Bytes acknowledged for each segment.
    per_segment: f64,
}

impl Default for Growth {
    fn default() -> Self {
        Self { rounds: 0, acked: 0.0, per_segment: f64::INFINITY }
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            long_term: f64::INFINITY,
            short_term: f64::INFINITY,
            bandwidth: f64::INFINITY,
            growth: Growth::default(),
        }
    }
}

impl Bounds {
    /// The long-term bound less what is left to others (`InflightWithHeadroom`).
    pub(super) fn with_headroom(&self, mss: u64, parameters: &Bbr3Parameters) -> f64 {
        let headroom = (parameters.headroom * self.long_term).max(mss as f64);
        if self.long_term.is_infinite() {
            return f64::INFINITY;
        }
        (self.long_term - headroom).max(parameters.min_cwnd(mss))
    }

    /// A round with loss while not probing (`InitLowerBounds`, `LossLowerBounds`).
    pub(super) fn lower(&mut self, latest: &Latest, max_bandwidth: f64, cwnd: f64, beta: f64) {
        let present = |bound: f64, unknown| if bound.is_infinite() { unknown } else { bound };
        let bandwidth = present(self.bandwidth, max_bandwidth);
        let in_flight = present(self.short_term, cwnd);
        self.bandwidth = latest.bandwidth.max(beta * bandwidth);
        self.short_term = latest.in_flight.max(beta * in_flight);
    }

    /// `ResetShortTermModel`.
    pub(super) const fn reset_short_term(&mut self) {
        (self.short_term, self.bandwidth) = (f64::INFINITY, f64::INFINITY);
    }

    /// This much was in flight without too much loss.
    pub(super) const fn raise_to(&mut self, tx_in_flight: f64) {
        if self.long_term.is_finite() {
            self.long_term = self.long_term.max(tx_in_flight);
        }
    }

    /// A probe is about to begin.
    pub(super) fn reset_growth(&mut self) {
        self.growth = Growth::default();
    }

    /// A round of a probe begins (`RaiseInflightLongtermSlope`).
    pub(super) fn steepen(&mut self, cwnd: f64, mss: u64) {
        let Growth { rounds, per_segment, .. } = &mut self.growth;
        *per_segment = (cwnd / f64::from(1u32 << *rounds)).max(mss as f64);
        *rounds = (*rounds + 1).min(MAX_GROWTH_ROUNDS);
    }

    /// The bound limits a probe and `acked` bytes were acknowledged
    /// (`ProbeInflightLongtermUpward`).
    pub(super) fn grow(&mut self, acked: u64, mss: u64) {
        let Growth { acked: sum, per_segment, .. } = &mut self.growth;
        *sum += acked as f64;
        if self.long_term.is_finite() && per_segment.is_finite() {
            let segments = (*sum / *per_segment).floor();
            *sum -= segments * *per_segment;
            self.long_term += segments * mss as f64;
        }
    }

    /// A loss was spurious: what was known before it is back.
    pub(super) const fn restore(&mut self, before: &Self) {
        self.long_term = self.long_term.max(before.long_term);
        self.short_term = self.short_term.max(before.short_term);
        self.bandwidth = self.bandwidth.max(before.bandwidth);
    }
}

/// Whether the share that was lost shows that a flight was too large (`IsInflightTooHigh`).
pub(super) fn is_too_much(lost: u64, tx_in_flight: u64, threshold: f64) -> bool {
    lost as f64 > threshold * tx_in_flight as f64
}

/// Bytes in flight at which the share lost crossed the threshold (`InflightAtLoss`).
pub(super) fn in_flight_at_loss(packet: &LostPacket, threshold: f64) -> f64 {
    let before = packet.tx_in_flight.saturating_sub(packet.bytes) as f64;
    let lost_before = packet.lost.saturating_sub(packet.bytes) as f64;
    before + (threshold * before - lost_before) / (1.0 - threshold)
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_units::Timestamp;

    const PARAMETERS: Bbr3Parameters = Bbr3Parameters::DEFAULT;

    #[test]
    fn t_bbr3_1() {
        for (long_term, with_headroom) in [(100.0, 85.0), (5.0, 4.0)] {
            let bounds = Bounds { long_term, ..Bounds::default() };
            assert!((bounds.with_headroom(1, &PARAMETERS) - with_headroom).abs() < 1e-9);
        }
        assert!(Bounds::default().with_headroom(1, &PARAMETERS).is_infinite());
    }

    #[test]
    fn t_bbr3_2() {
        let packet = LostPacket {
            now: Timestamp::ZERO,
            bytes: 1,
            lost: 3,
            tx_in_flight: 100,
            app_limited: false,
            delivered: 0,
        };
        assert!(is_too_much(3, 100, 0.02) && !is_too_much(2, 100, 0.02));
        let at_loss = in_flight_at_loss(&packet, 0.02);
        assert!((at_loss - (99.0 - 0.02 / 0.98)).abs() < 1e-9);
        assert_eq!(at_loss.max(0.7 * 120.0), at_loss);
    }

    #[test]
    fn t_bbr3_3() {
        let mut bounds = Bounds::default();
        let latest = |bandwidth, in_flight| {
            let mut latest = Latest::default();
            (latest.bandwidth, latest.in_flight) = (bandwidth, in_flight);
            latest
        };
        bounds.lower(&latest(8.0, 60.0), 10.0, 100.0, 0.7);
        assert_eq!((bounds.bandwidth, bounds.short_term), (8.0, 70.0));
        bounds.lower(&latest(5.0, 60.0), 10.0, 100.0, 0.7);
        assert!((bounds.bandwidth - 5.6).abs() < 1e-9);
        assert_eq!(bounds.short_term, 60.0);
        bounds.reset_short_term();
        assert_eq!(bounds, Bounds::default());
    }

    #[test]
    fn a_probe_grows_by_twice_as_much_in_each_round() {
        let mut bounds = Bounds { long_term: 100.0, ..Bounds::default() };
        for grown in [101.0, 103.0, 107.0, 115.0] {
            bounds.steepen(64.0, 1);
            bounds.grow(64, 1);
            assert_eq!(bounds.long_term, grown);
        }
        bounds.reset_growth();
        bounds.grow(1_000, 1);
        assert_eq!(bounds.long_term, 115.0, "no probe is under way");
    }
}
