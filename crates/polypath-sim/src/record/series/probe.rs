//! How quantities are taken from what the simulator reports.

use super::column::{Column, Quantity, Unit, Values};
use crate::endpoint::{EndReport, PathReport};
use crate::scenario::Series;
use polypath_link::Tally;
use std::time::Duration;

/// A quantity, who asks for it, and how it is read from a `T`.
#[derive(Debug)]
pub(super) struct Probe<T: 'static> {
    series: Series,
    pub(super) quantity: Quantity,
    read: Read<T>,
}

#[derive(Debug)]
enum Read<T: 'static> {
    Count(fn(&Look<'_, T>) -> Option<u64>),
    Number(fn(&Look<'_, T>) -> Option<f64>),
}

/// A subject at two times.
#[derive(Debug)]
pub(super) struct Look<'a, T> {
    pub(super) now: &'a T,
    pub(super) before: &'a T,
    /// What lies between the two.
    pub(super) elapsed: Duration,
}

/// The probes that take the series asked for.
pub(super) fn asked_for<T>(all: &'static [Probe<T>], series: &[Series]) -> Vec<&'static Probe<T>> {
    all.iter().filter(|probe| series.contains(&probe.series)).collect()
}

impl<T> Probe<T> {
    /// A column for its values, none of `missed` samples.
    pub(super) fn column(&'static self, missed: usize) -> Column {
        let values = match self.read {
            Read::Count(_) => Values::Counts(vec![None; missed]),
            Read::Number(_) => Values::Numbers(vec![None; missed]),
        };
        Column { quantity: &self.quantity, values }
    }

    /// Puts a value into the column that it made.
    pub(super) fn take(&self, look: Option<&Look<'_, T>>, column: &mut Column) {
        match (&self.read, &mut column.values) {
            (Read::Count(read), Values::Counts(values)) => values.push(look.and_then(read)),
            (Read::Number(read), Values::Numbers(values)) => values.push(look.and_then(read)),
            _ => unreachable!("a column of another probe"),
        }
    }

    const fn count(
        series: Series,
        name: &'static str,
        unit: Unit,
        description: &'static str,
        read: fn(&Look<'_, T>) -> Option<u64>,
    ) -> Self {
        let quantity = Quantity { name, unit, description };
        Self { series, quantity, read: Read::Count(read) }
    }

    const fn number(
        series: Series,
        name: &'static str,
        unit: Unit,
        description: &'static str,
        read: fn(&Look<'_, T>) -> Option<f64>,
    ) -> Self {
        let quantity = Quantity { name, unit, description };
        Self { series, quantity, read: Read::Number(read) }
    }
}

/// What is known of what an end sends on a path.
pub(super) static PATH: [Probe<PathReport>; 9] = [
    Probe::count(
        Series::Cwnd,
        "cwnd",
        Unit::Bytes,
        "congestion window; null without congestion control",
        |look| Some(look.now.cwnd).filter(|&window| window > 0),
    ),
    Probe::count(
        Series::Ssthresh,
        "ssthresh",
        Unit::Bytes,
        "slow-start threshold; null while it is infinite",
        |look| look.now.ssthresh,
    ),
    Probe::number(
        Series::Srtt,
        "srtt",
        Unit::Seconds,
        "smoothed round-trip time; null before the first measurement",
        |look| look.now.srtt.map(|srtt| srtt.as_secs_f64()),
    ),
    Probe::count(Series::InFlight, "in_flight", Unit::Bytes, "bytes in flight", |look| {
        Some(look.now.in_flight)
    }),
    Probe::number(
        Series::PacingRate,
        "pacing_rate",
        Unit::BitsPerSecond,
        "pacing rate; null before the first measurement of the round-trip time",
        |look| look.now.pacing_rate.map(|rate| rate.bits_per_sec() as f64),
    ),
    Probe::number(
        Series::DeliveryRate,
        "delivery_rate",
        Unit::BitsPerSecond,
        "what congestion control takes the path to deliver; null before it has measured it",
        |look| look.now.delivery_rate.map(|rate| rate.bits_per_sec() as f64),
    ),
    Probe::number(
        Series::BandwidthEstimate,
        "bandwidth_estimate",
        Unit::BitsPerSecond,
        "what the estimator of the congestion control takes the bandwidth to be; null before its \
         first estimate, and of controls without one",
        |look| look.now.bandwidth_estimate.map(|rate| rate.bits_per_sec() as f64),
    ),
    Probe::number(
        Series::Throughput,
        "throughput",
        Unit::BitsPerSecond,
        "payload sent since the sample before, repetitions included",
        |look| Some(rate(look.now.sent_bytes, look.before.sent_bytes, look.elapsed)),
    ),
    Probe::count(
        Series::Losses,
        "losses",
        Unit::Packets,
        "packets declared lost since the sample before",
        |look| Some(growth(look.now.lost, look.before.lost)),
    ),
];

/// What is known of the end that receives.
pub(super) static CONNECTION: [Probe<EndReport>; 3] = [
    Probe::number(
        Series::Goodput,
        "goodput",
        Unit::BitsPerSecond,
        "payload that came in order at the other end since the sample before",
        |look| Some(rate(look.now.delivered, look.before.delivered, look.elapsed)),
    ),
    Probe::count(
        Series::ReceiveBuffer,
        "receive_buffer",
        Unit::Bytes,
        "bytes in the receive buffer of the other end",
        |look| Some(look.now.receive_buffered),
    ),
    Probe::count(
        Series::OutOfOrder,
        "out_of_order",
        Unit::Bytes,
        "bytes in the receive buffer of the other end that wait for earlier ones",
        |look| Some(look.now.out_of_order),
    ),
];

/// What is known of what waits at a link.
pub(super) static LINK: [Probe<Tally>; 2] = [
    Probe::count(
        Series::Queue,
        "queue",
        Unit::Bytes,
        "bytes of the packets in the queue and of the one in service",
        |look| Some(look.now.bytes),
    ),
    Probe::count(
        Series::Queue,
        "queue_packets",
        Unit::Packets,
        "packets in the queue and the one in service",
        |look| Some(look.now.packets),
    ),
];

/// What a count of bytes grew, in bit/s.
fn rate(now: u64, before: u64, elapsed: Duration) -> f64 {
    growth(now, before) as f64 * 8.0 / elapsed.as_secs_f64()
}

/// What a count grew; one that is lower than before began anew.
fn growth(now: u64, before: u64) -> u64 {
    now.checked_sub(before).unwrap_or(now)
}
