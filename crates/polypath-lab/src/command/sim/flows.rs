//! What flows have seen, for people: a line for each.

use core::fmt::Write;

use polypath_sim::run::{FlowTotals, Observed, Spread};

use super::TimedRun;
use super::table::spread;
use crate::report::{MOST_ROWS, more};

/// A flow in all runs.
#[derive(Clone, Copy)]
struct Row<'a> {
    runs: &'a [TimedRun],
    connection: usize,
    flow: usize,
}

/// Writes a line for each flow that has seen more than its own bytes. Writing to a `String` cannot
/// fail.
pub(super) fn write(text: &mut String, runs: &[TimedRun]) {
    let connections = &runs[0].report.connections;
    let rows = connections.iter().enumerate().flat_map(|(connection, report)| {
        (0..report.flows.len()).map(move |flow| Row { runs, connection, flow })
    });
    let lines: Vec<_> = rows.filter_map(Row::describe).collect();
    if lines.is_empty() {
        return;
    }
    text.push('\n');
    let hidden = more(lines.len(), "flows");
    for line in lines.into_iter().take(MOST_ROWS).chain(hidden) {
        let _ = writeln!(text, "{line}");
    }
}

impl Row<'_> {
    fn describe(self) -> Option<String> {
        let connection = &self.runs[0].report.connections[self.connection];
        let flow = &connection.flows[self.flow];
        let seen = match flow.observed {
            Observed::Transfer {} if flow.finished_s.is_none() => return None,
            Observed::Transfer {} => format!("ended at {} s", self.value(3, |f| f.finished_s)),
            Observed::Bursts { .. } => format!("{} bursts", self.value(0, bursts)),
            Observed::Requests { .. } => format!(
                "{} requests, median {} ms, p99 {} ms",
                self.value(0, completed),
                self.value(1, |f| Some(times(f)?.p50)),
                self.value(1, |f| Some(times(f)?.p99)),
            ),
            Observed::Messages { .. } => format!(
                "{} messages, {} missing{}, delay {} ms, p99 {} ms",
                self.value(0, completed),
                self.value(0, missing),
                self.in_time(),
                self.value(1, |f| Some(times(f)?.p50)),
                self.value(1, |f| Some(times(f)?.p99)),
            ),
            Observed::Video { .. } => format!(
                "{} Mbit/s, {} stalls of {} s together, first picture after {} s",
                self.value(2, |f| video(f)?.0),
                self.value(0, |f| Some(video(f)?.1)),
                self.value(1, |f| Some(video(f)?.2)),
                self.value(2, |f| video(f)?.3),
            ),
        };
        let FlowTotals { kind, direction, .. } = flow;
        Some(format!("{} {kind} {direction}: {seen}", connection.name))
    }

    /// The messages that came in time, if there is a deadline.
    fn in_time(self) -> String {
        match self.value(0, in_time).as_str() {
            "-" => String::new(),
            messages => format!(", {messages} in time"),
        }
    }

    /// A value of the flow over the runs.
    fn value(self, decimals: usize, value: impl Fn(&FlowTotals) -> Option<f64>) -> String {
        spread(self.runs, decimals, |run| {
            value(&run.report.connections[self.connection].flows[self.flow])
        })
    }
}

fn bursts(flow: &FlowTotals) -> Option<f64> {
    match flow.observed {
        Observed::Bursts { bursts, .. } => Some(bursts as f64),
        _ => None,
    }
}

/// Requests with their response, or messages that came.
fn completed(flow: &FlowTotals) -> Option<f64> {
    match flow.observed {
        Observed::Requests { completed, .. } => Some(completed as f64),
        Observed::Messages { delivered, .. } => Some(delivered as f64),
        _ => None,
    }
}

fn missing(flow: &FlowTotals) -> Option<f64> {
    match flow.observed {
        Observed::Messages { missing, .. } => Some(missing as f64),
        _ => None,
    }
}

fn in_time(flow: &FlowTotals) -> Option<f64> {
    match flow.observed {
        Observed::Messages { in_time, .. } => in_time.map(|messages| messages as f64),
        _ => None,
    }
}

/// Completion times of requests, delays of messages.
fn times(flow: &FlowTotals) -> Option<Spread> {
    match flow.observed {
        Observed::Requests { completion_ms: times, .. }
        | Observed::Messages { delay_ms: times, .. } => times,
        _ => None,
    }
}

/// Bit rate, number and time of stalls, start-up delay.
fn video(flow: &FlowTotals) -> Option<(Option<f64>, f64, f64, Option<f64>)> {
    match flow.observed {
        Observed::Video { bit_rate_mbit_s, stalls, stall_s, startup_delay_s, .. } => {
            Some((bit_rate_mbit_s, stalls.into(), stall_s, startup_delay_s))
        }
        _ => None,
    }
}
