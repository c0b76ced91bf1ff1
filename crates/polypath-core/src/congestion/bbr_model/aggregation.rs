//! How much more is acknowledged at once than the bandwidth explains (Linux `tcp_bbr.c`,
//! `bbr_update_ack_aggregation`).

use crate::congestion::Ack;
use polypath_units::Timestamp;

/// Rounds of each of the two windows over which the maximum is kept.
const WINDOW_ROUNDS: u32 = 5;
/// The excess is worth at most this much time at the estimated bandwidth, in seconds.
const MAX_SECS: f64 = 0.1;

/// The time over which more was acknowledged than the bandwidth explains.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct AckEpoch {
    began_at: Timestamp,
    acked: f64,
}

impl AckEpoch {
    /// Sending resumes after idling: the next ACK begins a new epoch.
    pub(crate) const fn end(&mut self) {
        self.acked = 0.0;
    }

    /// Bytes acknowledged beyond what `bandwidth` explains, a window at most.
    pub(crate) fn on_ack(&mut self, ack: &Ack, bandwidth: f64, cwnd: f64) -> f64 {
        let mut expected = bandwidth * (ack.now - self.began_at).as_secs_f64();
        if self.acked <= expected {
            *self = Self { began_at: ack.now, acked: 0.0 };
            expected = 0.0;
        }
        self.acked += ack.acked_bytes as f64;
        (self.acked - expected).min(cwnd)
    }
}

/// The excess of acknowledged over expected bytes: its maximum over two windows of five rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Aggregation {
    epoch: AckEpoch,
    extra: [f64; 2],
    window: usize,
    rounds: u32,
}

impl Aggregation {
    /// Sending resumes after idling: the next ACK begins a new epoch of measurement.
    pub(crate) const fn end_epoch(&mut self) {
        self.epoch.end();
    }

    pub(crate) fn on_ack(&mut self, ack: &Ack, bandwidth: f64, cwnd: f64) {
        if ack.round_start {
            self.on_round();
        }
        let extra = self.epoch.on_ack(ack, bandwidth, cwnd);
        self.extra[self.window] = self.extra[self.window].max(extra);
    }

    fn on_round(&mut self) {
        self.rounds += 1;
        if self.rounds >= WINDOW_ROUNDS {
            self.rounds = 0;
            self.window ^= 1;
            self.extra[self.window] = 0.0;
        }
    }

    /// Bytes to add to the window.
    pub(crate) fn allowance(&self, bandwidth: f64) -> f64 {
        self.extra[0].max(self.extra[1]).min(bandwidth * MAX_SECS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::ack;

    fn acked(millis: u64, bytes: u64) -> Ack {
        Ack { now: Timestamp::from_millis(millis), ..ack(bytes, 1_000) }
    }

    #[test]
    fn a_burst_counts_as_what_exceeds_the_bandwidth() {
        let mut aggregation = Aggregation::default();
        aggregation.on_ack(&acked(0, 1_000), 1e6, 1e9);
        // 2 ms at 1 MB/s explain 2,000 of the 9,000 bytes acknowledged in this epoch. The first
        // ACK alone exceeds nothing but itself.
        aggregation.on_ack(&acked(2, 8_000), 1e6, 1e9);
        assert_eq!(aggregation.allowance(1e6), 8_000.0);
        assert_eq!(aggregation.allowance(1e4), 1_000.0, "at most 100 ms of the bandwidth");
    }

    #[test]
    fn the_maximum_is_forgotten_after_two_windows() {
        let mut aggregation = Aggregation::default();
        aggregation.on_ack(&acked(0, 50_000), 1e6, 1e9);
        for round in 1..=10 {
            let quiet = Ack { round_start: true, ..acked(round * 1_000, 10) };
            aggregation.on_ack(&quiet, 1e6, 1e9);
        }
        assert_eq!(aggregation.allowance(1e6), 10.0);
    }
}
