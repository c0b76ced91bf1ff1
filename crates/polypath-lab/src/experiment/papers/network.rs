//! What several experiments observe.

use crate::experiment::seen::Seen;
use core::iter;
use polypath_sim::record::series::{Column, Recording};
use polypath_sim::scenario::{Scenario, Transport};
use polypath_sim::tcp::ReceiveBuffer;
use polypath_units::Timestamp;

/// The goodput of the first connection in Mbit/s.
pub(super) fn goodput(seen: &impl Seen) -> Option<f64> {
    seen.goodput_mbit_s()
}

/// The times of samples in seconds.
pub(super) fn times(recording: &Recording) -> impl Iterator<Item = f64> {
    recording.times.iter().map(|at| at.since(Timestamp::ZERO).as_secs_f64())
}

/// A series of the first connection over time.
pub(super) fn of_connection(recording: &Recording, name: &str) -> Option<Vec<(f64, f64)>> {
    Some(over_time(recording, recording.connections.lines.first()?.column(name)?))
}

/// A series of each connection over time, in the order of the scenario; of none if it is not
/// recorded.
pub(super) fn of_each_connection(recording: &Recording, name: &str) -> Vec<Vec<(f64, f64)>> {
    let columns = recording.connections.lines.iter().filter_map(|line| line.column(name));
    columns.map(|column| over_time(recording, column)).collect()
}

/// A series of a path of the first connection over time.
pub(super) fn of_path(recording: &Recording, path: &str, name: &str) -> Option<Vec<(f64, f64)>> {
    let line = recording.paths.lines.iter().find(|line| line.key.path == path)?;
    Some(over_time(recording, line.column(name)?))
}

fn over_time(recording: &Recording, column: &Column) -> Vec<(f64, f64)> {
    let samples = iter::zip(times(recording), column.iter());
    samples.filter_map(|(at, value)| Some((at, value?))).collect()
}

/// The share of the first connection's receive buffer, at its largest, that is free, over time;
/// `None` if its size is not said.
pub(in crate::experiment) fn free_share(
    scenario: &Scenario,
    recording: &Recording,
) -> Option<Vec<(f64, f64)>> {
    let receive = match &scenario.connections.first()?.transport {
        Transport::Mptcp(mptcp) => mptcp.receive,
        Transport::Bond(bond) => bond.receive,
        Transport::Tcp(tcp) => tcp.receive,
        Transport::Tunnel(_) | Transport::Quic(_) | Transport::Udp(_) => return None,
    };
    let (ReceiveBuffer::Fixed(size) | ReceiveBuffer::Auto { max: size, .. }) = receive.buffer?;
    let taken = of_connection(recording, "receive_buffer")?;
    Some(taken.into_iter().map(|(at, bytes)| (at, 1.0 - bytes / size as f64)).collect())
}

/// The mean of the samples after `from` and until `to`, in seconds; `None` without any.
pub(super) fn mean_between(series: &[(f64, f64)], from: f64, to: f64) -> Option<f64> {
    let inside: Vec<_> =
        series.iter().filter(|(at, _)| *at > from && *at <= to).map(|(_, value)| *value).collect();
    polypath_model::metrics::mean(&inside)
}

/// Rates in Mbit/s.
pub(super) fn in_mbit_s(series: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    series.into_iter().map(|(at, bit_s)| (at, bit_s * 1e-6)).collect()
}
