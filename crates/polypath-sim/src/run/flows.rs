//! What flows tell, as it stands in results.

use super::{Run, RunningFlow};
use crate::application::{FlowReport, MessageReport, Observations, RequestReport, VideoReport};
use crate::scenario::{Flow, FlowKind};
use crate::traffic::Delays;
use polypath_units::{Bandwidth, Timestamp, millis};
use serde::Serialize;
use std::time::Duration;

/// What a flow did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowTotals {
    /// Its kind, as in scenario files.
    pub kind: &'static str,
    /// `up` or `down`.
    pub direction: &'static str,
    /// When it was to begin.
    pub start_s: f64,
    /// When it ended and everything it had sent was there.
    pub finished_s: Option<f64>,
    /// What its kind measures.
    #[serde(flatten)]
    pub observed: Observed,
}

/// What a flow measures, by its kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Observed {
    /// A transfer: nothing more.
    Transfer {},
    /// On-times.
    Bursts {
        /// How many have begun.
        bursts: u64,
        /// How long they have lasted together.
        on_s: f64,
    },
    /// Requests and responses.
    Requests {
        /// Requests with the whole response.
        completed: u64,
        /// Requests whose response is not complete.
        outstanding: u64,
        /// Bytes of complete responses.
        response_bytes: u64,
        /// From the request to the last byte of the response.
        completion_ms: Option<Spread>,
    },
    /// Messages.
    Messages {
        /// How many were produced.
        produced: u64,
        /// How many came whole.
        delivered: u64,
        /// How many did not come although a later one did.
        missing: u64,
        /// How many came after a later one.
        reordered: u64,
        /// How many came within their deadline, which is met within 1/128, if they have one.
        in_time: Option<u64>,
        /// From the production of a message to its delivery.
        delay_ms: Option<Spread>,
    },
    /// Video.
    Video {
        /// From the start to the first picture.
        startup_delay_s: Option<f64>,
        /// How often the picture stood still after that.
        stalls: u32,
        /// How long, all together.
        stall_s: f64,
        /// How much was played.
        played_s: f64,
        /// Chunks that came whole.
        chunks: u64,
        /// The mean of their bit rates.
        bit_rate_mbit_s: Option<f64>,
        /// How often the bit rate changed.
        switches: u32,
    },
}

/// A distribution, summed up. Quantiles are within 1/128.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The largest value.
    pub max: f64,
}

impl Spread {
    /// Of delays, in milliseconds; none without any.
    fn of(delays: &Delays) -> Option<Self> {
        let quantile = |share: f64| delays.quantile(share).map(millis);
        Some(Self {
            mean: millis(delays.mean()?),
            p50: quantile(0.5)?,
            p95: quantile(0.95)?,
            p99: quantile(0.99)?,
            max: millis(delays.maximum()?),
        })
    }
}

/// The flows of a connection.
pub(super) fn totals(run: &Run<'_>, connection: usize) -> Vec<FlowTotals> {
    let planned = &run.plan.connections()[connection];
    let specs = run.plan.flows_of(planned).map(|(_, flow)| flow);
    let reports = run.flows[connection].iter().filter_map(|flow| match flow {
        RunningFlow::Application(application) => Some(run.simulator.flow_report(*application)),
        RunningFlow::Datagrams(flow) => flow.report(&run.simulator),
    });
    specs.zip(reports).map(|(spec, report)| FlowTotals::of(spec, &report)).collect()
}

impl FlowTotals {
    fn of(spec: &Flow, report: &FlowReport) -> Self {
        Self {
            kind: spec.kind.name(),
            direction: spec.direction.name(),
            start_s: report.start.as_secs_f64(),
            finished_s: report.finished.map(Timestamp::as_secs_f64),
            observed: Observed::of(&report.observations, deadline(spec)),
        }
    }
}

/// How long each message of a flow may take, if that is said.
fn deadline(spec: &Flow) -> Option<Duration> {
    match &spec.kind {
        FlowKind::ConstantRate(flow) => flow.deadline,
        _ => None,
    }
}

impl Observed {
    fn of(observations: &Observations, deadline: Option<Duration>) -> Self {
        match observations {
            Observations::Transfer => Self::Transfer {},
            Observations::Bursts(bursts) => {
                Self::Bursts { bursts: bursts.bursts, on_s: bursts.on_time.as_secs_f64() }
            }
            Observations::Requests(requests) => Self::requests(requests),
            Observations::Messages(messages) => Self::messages(messages, deadline),
            Observations::Video(video) => Self::video(video),
        }
    }

    fn requests(report: &RequestReport) -> Self {
        let mut times = Delays::default();
        report.completed.iter().for_each(|request| times.add(request.completion_time()));
        Self::Requests {
            completed: report.completed.len() as u64,
            outstanding: report.outstanding,
            response_bytes: report.completed.iter().map(|request| request.response).sum(),
            completion_ms: Spread::of(&times),
        }
    }

    fn messages(report: &MessageReport, deadline: Option<Duration>) -> Self {
        let &MessageReport { produced, delivered, missing, reordered, .. } = report;
        let in_time = deadline.map(|deadline| report.delays.within(deadline));
        let delay_ms = Spread::of(&report.delays);
        Self::Messages { produced, delivered, missing, reordered, in_time, delay_ms }
    }

    fn video(video: &VideoReport) -> Self {
        Self::Video {
            startup_delay_s: video.startup_delay.map(|delay| delay.as_secs_f64()),
            stalls: video.stalls,
            stall_s: video.stall_time.as_secs_f64(),
            played_s: video.played.as_secs_f64(),
            chunks: video.chunks,
            bit_rate_mbit_s: video.mean_bit_rate.map(Bandwidth::mbit_per_sec),
            switches: video.switches,
        }
    }
}
