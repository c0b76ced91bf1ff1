//! What is taken from a run.

use super::BOND;
use polypath_sim::record::End;
use polypath_sim::run::{ConnectionReport, FlowTotals, Observed, Outcome};
use polypath_sim::traffic::Delays;
use serde::{Deserialize, Serialize};

/// The results of a run, in whole numbers: what is written is what is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// Payload of the bond that came in order, from the start to the end of its flow or of the run,
    /// in bit/s.
    pub goodput_bit_s: u64,
    /// The same of all other connections together, if there are any.
    pub others_bit_s: Option<u64>,
    /// The 99th percentile of a delay in us. Of messages from production to delivery in order; of
    /// requests until the response is complete; of transfers that of each packet with data on its
    /// way, from the sender's link on: queues, service and propagation, whichever path it took.
    /// `None` if there was nothing to measure.
    pub delay_p99_us: Option<u64>,
    /// The median time until a response is complete, or the time of a transfer with an end, in us.
    pub completion_us: Option<u64>,
    /// Of a million messages so many came within their deadline. Those under way at the end did
    /// not.
    pub in_time_ppm: Option<u64>,
}

impl Measured {
    /// What the bond of a run did.
    pub(super) fn of(outcome: &Outcome) -> Self {
        let (bond, others): (Vec<_>, Vec<_>) =
            outcome.report.connections.iter().partition(|connection| connection.name == BOND);
        let bit_s = |all: &[&ConnectionReport]| {
            whole(all.iter().map(|connection| connection.goodput_mbit_s).sum::<f64>() * 1e6)
        };
        let flow = bond.first().and_then(|connection| connection.flows.first());
        let measured = Self {
            goodput_bit_s: bit_s(&bond),
            others_bit_s: (!others.is_empty()).then(|| bit_s(&others)),
            ..Self::default()
        };
        flow.map_or(measured, |flow| measured.with_flow(flow, outcome))
    }

    fn with_flow(self, flow: &FlowTotals, outcome: &Outcome) -> Self {
        let us = |ms: f64| whole(ms * 1e3);
        match flow.observed {
            Observed::Messages { produced, in_time, delay_ms, .. } => Self {
                delay_p99_us: delay_ms.map(|delay| us(delay.p99)),
                in_time_ppm: in_time.map(|messages| messages * 1_000_000 / produced.max(1)),
                ..self
            },
            Observed::Requests { completion_ms, .. } => Self {
                delay_p99_us: completion_ms.map(|time| us(time.p99)),
                completion_us: completion_ms.map(|time| us(time.p50)),
                ..self
            },
            Observed::Transfer {} | Observed::Bursts { .. } | Observed::Video { .. } => Self {
                delay_p99_us: packet_delay(flow, outcome),
                completion_us: flow.finished_s.map(|end| us((end - flow.start_s) * 1e3)),
                ..self
            },
        }
    }
}

/// The 99th percentile of the delay of what the sending end of a flow sent, in us.
fn packet_delay(flow: &FlowTotals, outcome: &Outcome) -> Option<u64> {
    let sender = if flow.direction == "up" { End::Client } else { End::Server };
    let mut all = Delays::default();
    for path in &outcome.delays {
        if path.key.connection == BOND && path.key.end == sender {
            all.absorb(&path.delays);
        }
    }
    all.quantile(0.99).map(|delay| delay.as_micros() as u64)
}

fn whole(value: f64) -> u64 {
    value.round() as u64
}
