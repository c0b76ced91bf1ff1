//! Whether a port is congested, from its counters.
//!
//! Source: S4 section 3.1, equations (5) and (6). `S` transmitted packets of `MSSw` bytes, `BW` in
//! bit/s, `P` queued packets, `Q_i` capacities of the queues in packets:
//!
//! ```text
//! NetcardRate  = (S_t - S_{t-dt}) MSSw 8 / (BW dt)       Qutilization = P / sum_i Q_i
//! congested   iff  NetcardRate > 0.98  or  Qutilization > 0.1
//! ```
//!
//! S4 distinguishes two causes of congestion, but does not say how: here a queue above its
//! threshold is the first, and anything else is a burst (assumption).

use super::counter::Counter;
use polypath_units::{Bandwidth, Timestamp};
use serde::Serialize;
use std::time::Duration;

/// What a port has transmitted since it began to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmitted {
    /// Bytes on the wire: better where a switch counts them.
    Bytes(u64),
    /// Packets, which are all taken to be of full size.
    Packets(u64),
}

/// One reading of a port's counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortCounters {
    /// When the switch read them, by the switch's clock: not when they arrived.
    pub read_at: Timestamp,
    /// What was transmitted.
    pub transmitted: Transmitted,
    /// Packets in the queues that count. Report those of the BRF queue: a queue full of CUBIC
    /// flows, which fill whatever there is, would make BRF flows slow down.
    pub queued_packets: u64,
    /// How many packets these queues hold at most.
    pub queue_capacity_packets: u64,
}

/// Why a port is congested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Packets are queued (theta 1).
    Queueing,
    /// More is transmitted than is meant to be (theta 2).
    Burst,
}

/// The thresholds of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DetectionParameters {
    /// Time between two readings in ms (assumption).
    pub period_ms: f64,
    /// Bytes that a transmitted packet is taken to have (`MSSw`).
    pub packet_bytes: f64,
    /// Share of the port's rate above which it is congested.
    pub rate_threshold: f64,
    /// Share of the queues above which it is congested.
    pub queue_threshold: f64,
}

impl DetectionParameters {
    /// The values of S4, and 100 ms.
    pub const DEFAULT: Self = Self {
        period_ms: 100.0,
        packet_bytes: 1_500.0,
        rate_threshold: 0.98,
        queue_threshold: 0.1,
    };
}

impl Default for DetectionParameters {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// What is remembered of one port between readings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Detector {
    bytes: Counter,
    packets: Counter,
    read_at: Option<Timestamp>,
    verdict: Option<Cause>,
}

impl Detector {
    /// Takes a reading. One that is older than the last changes nothing.
    pub(super) fn on_counters(
        &mut self,
        counters: &PortCounters,
        capacity: Bandwidth,
        parameters: &DetectionParameters,
    ) -> Option<Cause> {
        let elapsed = match self.read_at {
            Some(last) if counters.read_at <= last => return self.verdict,
            last => last.map(|last| counters.read_at - last),
        };
        self.read_at = Some(counters.read_at);
        let grown = self.transmitted_bytes(counters.transmitted, parameters);
        let rate = elapsed.zip(grown).map(|(time, bytes)| netcard_rate(bytes, time, capacity));
        self.verdict = self.judge(rate, queue_utilization(counters), parameters);
        self.verdict
    }

    /// Bytes transmitted since the last reading of the same counter.
    fn transmitted_bytes(
        &mut self,
        transmitted: Transmitted,
        parameters: &DetectionParameters,
    ) -> Option<f64> {
        match transmitted {
            Transmitted::Bytes(bytes) => {
                self.packets = Counter::default();
                self.bytes.advance(bytes).map(|grown| grown as f64)
            }
            Transmitted::Packets(packets) => {
                self.bytes = Counter::default();
                self.packets.advance(packets).map(|grown| grown as f64 * parameters.packet_bytes)
            }
        }
    }

    /// Congestion ends with a period below both thresholds: one without a rate does not end it.
    fn judge(
        &self,
        rate: Option<f64>,
        queue: f64,
        parameters: &DetectionParameters,
    ) -> Option<Cause> {
        if queue > parameters.queue_threshold {
            return Some(Cause::Queueing);
        }
        match rate {
            Some(rate) => (rate > parameters.rate_threshold).then_some(Cause::Burst),
            None => self.verdict,
        }
    }
}

/// Equation (5).
fn netcard_rate(bytes: f64, elapsed: Duration, capacity: Bandwidth) -> f64 {
    bytes / (capacity.bytes_per_sec() * elapsed.as_secs_f64())
}

/// Equation (6); 0 without queues.
fn queue_utilization(counters: &PortCounters) -> f64 {
    counters.queued_packets as f64 / counters.queue_capacity_packets.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Bandwidth = Bandwidth::from_bits_per_sec(100_000_000);

    fn reading(secs: u64, packets: u64, queued: u64) -> PortCounters {
        PortCounters {
            read_at: Timestamp::from_millis(1_000 * secs),
            transmitted: Transmitted::Packets(packets),
            queued_packets: queued,
            queue_capacity_packets: 1_000,
        }
    }

    fn verdicts<const N: usize>(readings: [PortCounters; N]) -> [Option<Cause>; N] {
        let mut detector = Detector::default();
        readings.map(|one| detector.on_counters(&one, RATE, &DetectionParameters::DEFAULT))
    }

    #[test]
    fn t_brfd_1() {
        let second = Duration::from_secs(1);
        for (packets, rate, verdict) in [(8_300, 0.996, Some(Cause::Burst)), (8_100, 0.972, None)] {
            assert!((netcard_rate(1_500.0 * packets as f64, second, RATE) - rate).abs() < 1e-9);
            assert_eq!(verdicts([reading(0, 0, 0), reading(1, packets, 0)]), [None, verdict]);
        }
        assert_eq!(verdicts([reading(0, 0, 100)]), [None]);
        assert_eq!(verdicts([reading(0, 0, 101)]), [Some(Cause::Queueing)]);
    }

    #[test]
    fn congestion_lasts_until_a_period_is_below_both_thresholds() {
        let readings = [
            reading(0, 0, 0),
            reading(1, 8_300, 0),
            reading(2, 16_600, 200),
            reading(3, 16_700, 0),
        ];
        let [_, burst, queueing, clear] = verdicts(readings);
        assert_eq!(burst, Some(Cause::Burst));
        assert_eq!((queueing, clear), (Some(Cause::Queueing), None));
    }

    #[test]
    fn a_counter_that_wraps_or_resets_neither_ends_nor_begins_congestion() {
        let calm =
            [reading(0, u64::MAX - 10, 0), reading(1, 5_000_000, 0), reading(2, 5_008_000, 0)];
        assert_eq!(verdicts(calm), [None; 3]);
        let busy =
            [reading(0, 0, 0), reading(1, 8_300, 0), reading(2, 20, 0), reading(3, 8_320, 0)];
        assert_eq!(verdicts(busy)[1..], [Some(Cause::Burst); 3]);
    }

    #[test]
    fn readings_that_arrive_late_or_twice_change_nothing() {
        let readings =
            [reading(0, 0, 0), reading(2, 16_600, 0), reading(1, 0, 900), reading(2, 0, 0)];
        assert_eq!(verdicts(readings)[1..], [Some(Cause::Burst); 3]);
        // The next one counts from the newest: 4,000 packets in a second.
        let next = [readings[0], readings[1], readings[2], reading(3, 20_600, 0)];
        assert_eq!(verdicts(next)[3], None);
    }

    #[test]
    fn bytes_are_taken_as_they_are_and_never_mixed_with_packets() {
        let bytes = |secs, bytes| PortCounters {
            transmitted: Transmitted::Bytes(bytes),
            ..reading(secs, 0, 0)
        };
        assert_eq!(verdicts([bytes(0, 0), bytes(1, 12_400_000)])[1], Some(Cause::Burst));
        assert_eq!(verdicts([bytes(0, 0), bytes(1, 12_200_000)])[1], None);
        assert_eq!(verdicts([reading(0, 0, 0), bytes(1, 12_400_000)])[1], None);
    }

    #[test]
    fn a_port_without_rate_or_queues_does_not_panic() {
        let mut detector = Detector::default();
        for secs in 0..3 {
            let counters = PortCounters { queue_capacity_packets: 0, ..reading(secs, 5, 0) };
            detector.on_counters(&counters, Bandwidth::ZERO, &DetectionParameters::DEFAULT);
        }
    }
}
